// Every call that changes a file fails once, is interrupted, writes half, or is the last before kill -9: the file then
// has its old or its new content; one error says whose fault it is; and the next run is as any other. All calls with
// TRNSIM_FAULTS=all (./dev nightly), some of them otherwise.
#include <algorithm>
#include <map>
#include <vector>

#include "isa/asm.h"
#include "tests/analysis/recorded.h"
#include "tests/cli/run_job.h"
#include "tests/sanitized.h"
#include "tests/tale.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Faults : public cli_test::SmallJob {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime stands where the failing calls would";
    if (!quick() && std::getenv("TRNSIM_FAULTS") == nullptr) GTEST_SKIP() << "takes minutes: set TRNSIM_FAULTS=all";
    SmallJob::SetUp();
  }

  /// Fails a few calls only, so that every run of the tests has them.
  virtual bool quick() const { return false; }

  std::string fail_io(int n, const std::string& how) const {
    return "FAIL_IO_AT=" + std::to_string(n) + " FAIL_IO_HOW=" + how + " FAIL_IO_COUNT=" + at("count") +
           " LD_PRELOAD=" TRNSIM_FAIL_IO;
  }
  std::map<std::string, std::string> contents(const std::vector<std::string>& files) const {
    std::map<std::string, std::string> out;
    for (const std::string& file : files) out[file] = slurp(folder_ / "out" / file);
    return out;
  }
  std::vector<std::string> left_over() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator{folder_ / "out"}) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".tmp") || name.ends_with(".new") || name.ends_with(".old") || name.starts_with("."))
        names.push_back(entry.path());
    }
    return names;
  }
  /// The numbers of the calls to spoil.
  static std::vector<int> places(int calls) {
    std::vector<int> all(static_cast<std::size_t>(calls));
    for (int n = 0; n < calls; ++n) all[static_cast<std::size_t>(n)] = n + 1;
    return all;
  }

  void reset(const std::string& before) const {
    fs::remove_all(folder_ / "out");
    if (!before.empty()) {
      const Ran ran = run(before);
      ASSERT_EQ(ran.code, 0) << ran.err;
    }
  }

  /// `before`: a command that the one under test goes on from; empty: none. `or_none`: a file that a run which ends
  /// with an error does not leave.
  void walk(const std::string& before, const std::string& command, const std::vector<std::string>& files,
            const std::string& or_none = {}) {
    reset(before);
    const Ran whole = run(command, fail_io(0, "EIO"));
    ASSERT_EQ(whole.code, 0) << whole.err;
    const auto wanted = contents(files);
    const int calls = std::stoi(slurp(at("count")));
    ASSERT_GT(calls, 3);
    for (const std::string how : {"EIO", "ENOSPC", "EINTR", "SHORT", "KILL"})
      for (const int n : places(calls)) {
        SCOPED_TRACE(how + " at call " + std::to_string(n) + " of " + std::to_string(calls));
        reset(before);
        const Ran ran = run(command, fail_io(n, how));
        if (how == "KILL") {
          EXPECT_NE(ran.code, 0);
        } else if (ran.code == 0) {
          EXPECT_EQ(contents(files), wanted);
        } else {
          EXPECT_EQ(ran.code, 2) << ran.err;
          EXPECT_TRUE(how == "EIO" || how == "ENOSPC") << ran.err;
          EXPECT_THAT(ran.err, HasSubstr("\n  fix: "));
          EXPECT_THAT(ran.err, Not(HasSubstr("internal error")));
        }
        if (ran.code == 2 && !or_none.empty()) {
          EXPECT_FALSE(fs::exists(folder_ / "out" / or_none));
        }
        if (ran.code != 0) {
          const Ran again = run(command);
          EXPECT_EQ(again.code, 0) << again.err;
          EXPECT_EQ(contents(files), wanted);
        }
        EXPECT_EQ(left_over(), std::vector<std::string>{});
      }
  }

  std::string job(const std::string& mode) const {
    return flags() + " --dataset_path " + at("data.csv") + " --max_length 8 --max_steps 2 --save_steps 1 --mode " +
           mode + " --overwrite_output_dir --output_dir " + at("out") + " ";
  }
};

TEST_F(Faults, DuringATraining) {
  walk("", job("numeric"),
       {"model/model.safetensors", "checkpoint/model_tp00_pp00.safetensors", "checkpoint/shards.json",
        "model/trainer_state.json"});
}

TEST_F(Faults, DuringAProjection) {
  walk("", job("timed"), {"stats.txt", "machine.toml", "summary.md"}, "result.json");
}

class FewFaults : public Faults {
 protected:
  bool quick() const override { return true; }
};

// Its record, its page and whatever is written after its result.
TEST_F(FewFaults, AProjectionThatIsNotWrittenWholeLeavesNoResult) {
  const Ran whole = run(job("timed"), fail_io(0, "EIO"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const int calls = std::stoi(slurp(at("count")));
  int failed = 0;
  for (int n = calls / 3; n < calls; n += calls / 6) {
    fs::remove_all(folder_ / "out");
    const Ran ran = run(job("timed"), fail_io(n, "ENOSPC"));
    if (ran.code == 0) continue;
    ++failed;
    EXPECT_EQ(ran.code, 2) << ran.err;
    for (const char* file : {"result.json", "run.sqlite", "report.html"})
      EXPECT_FALSE(fs::exists(folder_ / "out" / file));
    EXPECT_FALSE(fs::exists(folder_ / "out") && fs::is_empty(folder_ / "out")) << "an empty folder is left";
  }
  EXPECT_GT(failed, 1);
}

TEST_F(Faults, DuringAResumedTraining) {
  ASSERT_EQ(run(job("numeric")).code, 0);
  fs::rename(folder_ / "out", folder_ / "first");
  walk("", job("numeric") + "--resume_from_checkpoint " + at("first/checkpoint"), {"model/model.safetensors"});
}

TEST_F(Faults, DuringACompileCacheWrite) {
  walk("", job("numeric") + "--compile_cache " + at("out/cache"), {"model/model.safetensors"});
}

/// On two cores, tensor parallel.
class DecoderFaults : public Faults {
 protected:
  std::string decoder(const std::string& out) const {
    std::string rows;
    for (int i = 0; i < 60; ++i)
      rows += R"({"question": "What comes after 1?", "answer": "2 or 3"})"
              "\n";
    write("own.jsonl", rows);
    return "run llama2_7b_dolly --model_id " + tests::tale().string() + " --dataset_path " + at("own.jsonl") +
           " --max_length 32 --per_device_train_batch_size 2 --mode numeric --nproc_per_node 2 --tensor_parallel_size "
           "2 --eval_strategy no --max_steps 2 --save_steps 1 --overwrite_output_dir --output_dir " +
           at(out);
  }
};

TEST_F(DecoderFaults, DuringATraining) {
  walk("", decoder("out"),
       {"model/model.safetensors", "checkpoint/shards.json", "checkpoint/model_tp01_pp00.safetensors"});
}

TEST_F(DecoderFaults, DuringAConsolidation) {
  ASSERT_EQ(run(decoder("first")).code, 0);
  const std::string verb = "consolidate --overwrite_output_dir " + at("first/checkpoint") + " " + at("out");
  walk("", verb, {"model.safetensors", "config.json", "tokenizer.json"});
  walk(verb, verb, {"model.safetensors", "config.json", "tokenizer.json"});
}

TEST_F(Faults, DuringASweep) {
  write("step.asm", isa::print(recorded::layers()));
  walk("", "sweep --program " + at("step.asm") + " --set hbm.bandwidth=1x,2x --processes 1 --output_dir " + at("out"),
       {"results.csv"});
}

}  // namespace
