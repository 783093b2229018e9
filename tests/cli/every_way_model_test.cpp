// A model's job asked of `estimate`, `plan` and `choose`: one time, one price and one memory, to the last digit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;

struct Asked {
  const char *model, *flags, *place;
  friend void PrintTo(const Asked& a, std::ostream* out) { *out << a.model << " " << a.place; }
};

class EveryWayOfAModel : public testing::TestWithParam<Asked> {
 protected:
  void SetUp() override {
    if (without_slow()) GTEST_SKIP() << kSlow;
  }
  static Json json_of(const std::string& arguments) {
    const Ran ran = run(arguments + " --format json");
    EXPECT_EQ(ran.code, 0) << arguments << ": " << ran.err;
    return ran.code == 0 ? Json::parse(ran.out) : Json{};
  }
  static std::string job() { return std::string{GetParam().model} + " " + GetParam().flags; }
  static std::string place() { return GetParam().place; }
};

TEST_P(EveryWayOfAModel, AChoiceIsItsEstimate) {
  const Json front = json_of("choose " + job() + " --samples 3000 --global_batch_size 32 --micro_batch_sizes 1,4 " +
                             "--instance_types " + place());
  ASSERT_FALSE(front.empty());
  for (const Json& choice : front) {
    const std::string flags = choice["flags"];
    const Json told = json_of("estimate " + job() + " --sequences 3000 --suggestions 0 " + flags);
    EXPECT_EQ(choice["seconds"], told["train_runtime"]) << flags;
    EXPECT_EQ(choice["dollars"], told["dollars"]) << flags;
    EXPECT_EQ(choice["hbm_bytes"], told["memory"]["hbm_bytes"]) << flags;
    EXPECT_EQ(choice["binds"], told["answer"]["binds"]) << flags;
  }
}

/// `plan` simulates some of the micro-batches, `estimate` all of them: the time differs by roundings alone.
TEST_P(EveryWayOfAModel, APlanIsItsEstimate) {
  const Json plans = json_of("plan " + job() + " --sequences 3000 --global_batch_size 128 --instance_type " + place());
  ASSERT_FALSE(plans.empty());
  for (std::size_t i = 0; i < std::min<std::size_t>(6, plans.size()); ++i) {
    const Json& plan = plans[i];
    const std::string flags = plan["flags"];
    // The flags give instance type and length again.
    const Json told =
        json_of("estimate " + std::string{GetParam().model} + " --sequences 3000 --suggestions 0 " + flags);
    const double memory = told["memory"]["hbm_bytes"];
    EXPECT_EQ(plan["hbm_bytes"].get<double>(), memory) << flags;
    const double step = told["step_seconds"];
    EXPECT_NEAR(plan["step_seconds"].get<double>(), step, 1e-12 * step) << flags;
    const double runtime = told["train_runtime"], start = told["start_seconds"], read = told["read_backs_seconds"];
    EXPECT_NEAR(plan["job_seconds"].get<double>(), runtime - start - read, 1e-9 * runtime) << flags;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, EveryWayOfAModel,
                         testing::Values(Asked{"llama-small", "--max_length 128", "trn1.2xlarge"},
                                         Asked{"llama-small", "--max_length 64", "trn2.3xlarge"},
                                         Asked{"llama-small", "--max_length 128", "trn1.32xlarge"},
                                         Asked{"gpt-small", "--max_length 128", "trn1.2xlarge"},
                                         Asked{"gpt-small", "--max_length 64", "trn1n.32xlarge"},
                                         Asked{"mixtral-small", "--max_length 64", "trn2.3xlarge"},
                                         Asked{"bert-small", "--max_length 128", "trn1.2xlarge"},
                                         Asked{"bert-small", "--max_length 64", "trn1n.32xlarge"}));

}  // namespace
