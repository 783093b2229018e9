// trnsim sweep by several processes of the user: under mpirun, as ranks that the environment names, as shards of a
// batch system.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "isa/asm.h"
#include "tests/analysis/recorded.h"
#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;

class SweepTeamVerb : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream{folder_ / "step.asm"} << isa::print(recorded::layers());
    alone_ = run(flags("alone") + " --processes 2");
    ASSERT_EQ(alone_.code, 0) << alone_.err;
    ASSERT_EQ(std::ranges::count(slurp(at("alone/results.csv")), '\n'), 31);  // 30 points and the header
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string flags(const std::string& output) const {
    return "sweep --program " + at("step.asm") +
           " --set hbm.bandwidth=0.5x..2x:10 --set tensor.clock=0.5x,1x,2x --output_dir " + at(output);
  }
  const std::filesystem::path folder_ = recorded::folder();
  Ran alone_;
};

std::string as_rank(const std::string& rank, const std::string& size) {
  return "OMPI_COMM_WORLD_RANK=" + rank + " OMPI_COMM_WORLD_SIZE=" + size + " PMIX_NAMESPACE=1";
}

TEST_F(SweepTeamVerb, RanksShareThePointsAndTheFirstWritesTheSameFile) {
  std::vector<Ran> ranks(3);
  {
    std::vector<std::jthread> launched;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      launched.emplace_back([&, r] { ranks[r] = run(flags("team"), as_rank(std::to_string(r), "3")); });
  }
  for (const Ran& rank : ranks) EXPECT_EQ(rank.code, 0) << rank.err;
  EXPECT_EQ(slurp(at("team/results.csv")), slurp(at("alone/results.csv")));
  EXPECT_EQ(ranks[0].out, alone_.out);
  EXPECT_EQ(ranks[1].out + ranks[2].out + ranks[1].err + ranks[2].err, "");
}

TEST_F(SweepTeamVerb, TheFirstRankNeedsNoOther) {
  const Ran first = run(flags("team"), as_rank("0", "64"));
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(slurp(at("team/results.csv")), slurp(at("alone/results.csv")));
}

TEST_F(SweepTeamVerb, MpirunGivesTheSameFile) {
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun (openmpi-bin) is not installed";
  const Ran ran =
      run(flags("mpi"), "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(slurp(at("mpi/results.csv")), slurp(at("alone/results.csv")));
  EXPECT_EQ(ran.out, alone_.out);
}

TEST_F(SweepTeamVerb, ShardsFillTheStoreAndAFinalSweepWritesTheFile) {
  for (const char* shard : {"0/2", "1/2"}) {
    const Ran ran = run(flags("shards") + " --shard " + shard);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("30 of 30 points known"));  // one after the other: the first has done them all
  }
  EXPECT_FALSE(std::filesystem::exists(at("shards/results.csv")));
  EXPECT_THAT(run(flags("shards")).err, HasSubstr("30 points, 0 computed now"));
  EXPECT_EQ(slurp(at("shards/results.csv")), slurp(at("alone/results.csv")));
}

TEST_F(SweepTeamVerb, TheScriptForSlurmRunsAsItIs) {
  const Ran good = run("sweep --program " + at("step.asm") + " --set \"hbm.bandwidth=0.5x,1x\" --output_dir \"" +
                       at("it's slurm") + "\" --subject_to \"seconds<=1 h\" --minimize seconds --slurm 7");
  ASSERT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("#SBATCH --array=0-1\n"));  // no more tasks than points
  EXPECT_FALSE(std::filesystem::exists(at("it's slurm")));
  std::ofstream{folder_ / "sweep.sh"} << good.out;
  for (const char* task : {"0", "1"}) {
    const std::string slurm = std::string{"SLURM_ARRAY_TASK_ID="} + task +
                              " SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_JOB_ID=5 bash " + at("sweep.sh") + " 2>/dev/null";
    EXPECT_EQ(std::system(slurm.c_str()), 0);
  }
  EXPECT_TRUE(std::filesystem::exists(at("it's slurm/sweep.sqlite")));
  EXPECT_EQ(run("sweep --program nowhere.asm --set hbm.bandwidth=1x --slurm 2").code, 2);
  EXPECT_EQ(run("sweep --program " + at("step.asm") + " --set hbm.bandwith=1x --slurm 2").code, 2);
}

TEST_F(SweepTeamVerb, NoLineBreakGetsIntoTheScriptForSlurm) {
  const Ran ran = run("sweep --program " + at("step.asm") + " --set hbm.bandwidth=1x --output_dir \"" + at("out") +
                      "\ntouch PWNED #\" --slurm 1");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("has a control character"));
}

TEST_F(SweepTeamVerb, ARankOutsideTheTeamIsRefused) {
  EXPECT_EQ(run(flags("out"), as_rank("3", "3")).code, 2);
  EXPECT_EQ(run(flags("out"), as_rank("one", "3")).code, 2);
  for (const char* shard : {"3", "3/3", "-1/3", "a/b", "1/"})
    EXPECT_EQ(run(flags("out") + " --shard=" + shard).code, 2) << shard;
  EXPECT_FALSE(std::filesystem::exists(at("out")));
}

}  // namespace
