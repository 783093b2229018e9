// A job of tests that hold defects which a buyer met when trnsim was tried as a new user would.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_binary.h"

namespace cli_test {

class TrialDefects : public Runs {
 protected:
  nlohmann::json ran(const std::string& name, const std::string& arguments) const {
    const Ran ran = run("run " + arguments + " --mode timed --suggestions 0 --output_dir " + at(name));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return result(name);
  }
  static nlohmann::json json_of(const std::string& arguments) {
    const Ran ran = run(arguments + " --format json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out);
  }
  /// A training of a small BERT for a few steps.
  std::string small(const std::string& name, const std::string& more = "") const {
    return "run bert_emotion --mode numeric --max_train_samples 64 --max_eval_samples 32 --logging_steps 1" +
           std::string{more.find("--max_steps") == std::string::npos ? " --max_steps 4" : ""} + " --output_dir " +
           at(name) + " " + more;
  }
};

}  // namespace cli_test
