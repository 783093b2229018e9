// The host loses power before a call that changes a file: unsynced data is gone, names too or not. The next run
// is as any other, and a checkpoint is the old one or the new one. All calls with TRNSIM_FAULTS=all (./dev nightly),
// some of them otherwise.
#include <functional>

#include "isa/asm.h"
#include "tests/analysis/recorded.h"
#include "tests/cli/interrupted.h"
#include "tests/cli/run_job.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class PowerCuts : public cli_test::SmallJob {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime stands where the failing calls would";
    SmallJob::SetUp();
  }

  std::string cut_at(int n, const std::string& how) const {
    return "POWER_CUT_AT=" + std::to_string(n) + " POWER_CUT_HOW=" + how + " POWER_CUT_ROOT=" + at("out") +
           " POWER_CUT_COUNT=" + at("count") + " LD_PRELOAD=" TRNSIM_POWER_CUT;
  }
  std::string job(int steps) const {
    return flags() + " --dataset_path " + at("data.csv") +
           " --max_length 8 --save_steps 1 --mode numeric --max_steps " + std::to_string(steps) +
           " --overwrite_output_dir --output_dir " + at("out") + " ";
  }

  /// Calls f(how, n) for calls of `command`, which it stops there. `before` makes the folder that it begins with.
  template <class F>
  void each_cut(const std::function<void()>& before, const std::string& command, const F& f) {
    before();
    const Ran whole = run(command, cut_at(0, "DATA"));
    ASSERT_EQ(whole.code, 0) << whole.err;
    const int calls = std::stoi(slurp(at("count"))), step = std::getenv("TRNSIM_FAULTS") ? 1 : calls / 6 + 1;
    ASSERT_GT(calls, 3);
    for (const std::string how : {"DATA", "NAMES"})
      for (int n = 1; n <= calls; n += step) {
        SCOPED_TRACE(how + " at call " + std::to_string(n) + " of " + std::to_string(calls));
        before();
        const Ran ran = run(command, cut_at(n, how));
        ASSERT_EQ(ran.code, 137) << ran.err;
        f();
      }
  }
};

TEST_F(PowerCuts, ARunThatLostItsDataBeginsAgain) {
  const auto nothing = [&] { fs::remove_all(folder_ / "out"); };
  nothing();
  ASSERT_EQ(run(job(2)).code, 0);
  const std::string wanted = slurp(at("out/model/model.safetensors"));
  each_cut(nothing, job(2), [&] {
    const Ran again = run(job(2));
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(slurp(at("out/model/model.safetensors")), wanted);
  });
}

// The run that goes on reads and writes its checkpoint in the same place.
TEST_F(PowerCuts, ACheckpointIsTheOldOneOrTheNewOne) {
  ASSERT_EQ(run(job(4)).code, 0);
  const std::string wanted = slurp(at("out/model/model.safetensors"));
  fs::remove_all(folder_ / "out");
  ASSERT_EQ(cli_test::interrupted(job(4) + "--logging_steps 1", folder_ / "out"), 130);
  fs::remove_all(folder_ / "kept");
  fs::copy(folder_ / "out", folder_ / "kept", fs::copy_options::recursive);
  const std::string rest = job(4) + "--logging_steps 1 --resume_from_checkpoint " + at("out/checkpoint");
  const auto interrupted = [&] {
    fs::remove_all(folder_ / "out");
    fs::copy(folder_ / "kept", folder_ / "out", fs::copy_options::recursive);
  };
  each_cut(interrupted, rest, [&] {
    const Ran again = run(rest);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(slurp(at("out/model/model.safetensors")), wanted);
  });
}

TEST_F(PowerCuts, ASweepKeepsThePointsThatItSynced) {
  write("step.asm", isa::print(recorded::layers()));
  const std::string sweep =
      "sweep --program " + at("step.asm") + " --set hbm.bandwidth=1x,2x --processes 1 --output_dir " + at("out");
  const auto nothing = [&] { fs::remove_all(folder_ / "out"); };
  nothing();
  ASSERT_EQ(run(sweep).code, 0);
  const std::string wanted = slurp(at("out/results.csv"));
  each_cut(nothing, sweep, [&] {
    const Ran again = run(sweep);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(slurp(at("out/results.csv")), wanted);
  });
}

}  // namespace
