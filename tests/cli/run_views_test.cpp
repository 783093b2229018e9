// stats, compare: from a run folder to a table.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/analysis/recorded.h"
#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;
using Json = nlohmann::json;

/// Two runs of one program; the second on a machine with half the tensor clock.
class RunViews : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, set] : {std::pair{"fast", "tensor.clock=1x"}, std::pair{"slow", "tensor.clock=0.01x"}}) {
      const hw::MachineParams machine = tiny::trn1({set});
      const isa::Program program = recorded::layers();
      std::filesystem::create_directories(folder_ / name);
      write_record(folder_ / name, recorded::simulated(program, true, machine), program, recorded::info(machine));
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path folder_ = recorded::folder();
};

TEST_F(RunViews, StatsPrintsTheSummaryUnderNeuronExplorersNames) {
  const Ran ran = run("stats " + at("fast") + " --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  bool seen = false;
  for (const Json& row : Json::parse(ran.out)) seen |= row["name"] == "mfu_estimated_percent" && row["value"] > 0;
  EXPECT_TRUE(seen);
}

TEST_F(RunViews, StatsGroupsInEveryForm) {
  for (const std::string by : {"op", "part", "source", "layer", "engine", "opcode", "phase", "block", "collective"}) {
    const Ran csv = run("stats " + at("fast") + " --by " + by + " --format csv");
    EXPECT_EQ(csv.code, 0) << csv.err;
    EXPECT_TRUE(csv.out.starts_with(by + ",")) << csv.out;
    EXPECT_EQ(run("stats " + at("fast") + " --by " + by + " --format md").code, 0);
  }
  EXPECT_THAT(run("stats " + at("fast") + " --by layers").err, HasSubstr("fix: write \"layer\""));
}

// A graph says where an operation is in its program: by file and line, or by a framework's name alone.
TEST_F(RunViews, StatsOfAGraphGoByItsSource) {
  base::write_file(folder_ / "step.mlir",
                   R"(func.func @main(%x: tensor<200x300xf32>, %w: tensor<300x40xf32>) -> tensor<200x40xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<200x300xf32>, tensor<300x40xf32>) -> tensor<200x40xf32> loc(#a)
  %1 = stablehlo.tanh %0 : tensor<200x40xf32> loc("jit(step)/head/tanh")
  %2 = stablehlo.cosine %1 : tensor<200x40xf32>
  return %2 : tensor<200x40xf32>
}
#a = loc("train.py":57:3)
)");
  ASSERT_EQ(run("run " + at("step.mlir") + " --output_dir " + at("graph")).code, 0);
  const std::string by_source = run("stats " + at("graph") + " --by source --format csv").out;
  for (const char* key : {"\ntrain.py:57,", "\njit(step)/head/tanh,", "\n(no source),"})
    EXPECT_THAT(by_source, HasSubstr(key));
  EXPECT_THAT(run("stats " + at("graph") + " --by op --format csv").out, HasSubstr("\ndot_general,"));
}

TEST_F(RunViews, StatsWithoutARunNamesTheArgument) {
  const Ran ran = run("stats " + folder_.string());
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("run.sqlite: is missing"));
}

TEST_F(RunViews, CompareFailsAboveTheLimitOnly) {
  EXPECT_EQ(run("compare " + at("fast") + " " + at("fast") + " --fail_above 0%").code, 0);
  EXPECT_EQ(run("compare " + at("slow") + " " + at("fast") + " --fail_above 1%").code, 0);  // faster is fine
  const Ran ran = run("compare " + at("fast") + " " + at("slow") + " --fail_above 1% --format json");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("allowed 1 %"));
  const Json rows = Json::parse(ran.out);
  EXPECT_EQ(rows[0]["name"], "total_time");
  EXPECT_GT(rows[0]["change_percent"], 1);
  EXPECT_EQ(run("compare " + at("fast") + " " + at("slow") + " --fail_above much").code, 2);
  EXPECT_EQ(run("compare " + at("fast") + " " + at("slow") + " --fail_above -5%").code, 2);
}

}  // namespace
