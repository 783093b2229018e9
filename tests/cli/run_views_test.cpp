// stats, compare: from a run folder to a table.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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
  for (const std::string by : {"op", "part", "layer", "engine", "opcode", "phase", "block", "collective"}) {
    const Ran csv = run("stats " + at("fast") + " --by " + by + " --format csv");
    EXPECT_EQ(csv.code, 0) << csv.err;
    EXPECT_TRUE(csv.out.starts_with(by + ",")) << csv.out;
    EXPECT_EQ(run("stats " + at("fast") + " --by " + by + " --format md").code, 0);
  }
  EXPECT_THAT(run("stats " + at("fast") + " --by layers").err, HasSubstr("fix: write \"layer\""));
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
