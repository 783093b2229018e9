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
  /// The path of a script that is written here: a kernel that doubles its argument, and `calls`.
  std::string doubled(const std::string& calls) const {
    std::ofstream{folder_ / "doubled.py"} << R"(import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def doubled(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    tile = nl.load(a)
    nl.store(out, tile + tile)
    return out

)" << calls;
    return at("doubled.py");
  }
};

}  // namespace cli_test
