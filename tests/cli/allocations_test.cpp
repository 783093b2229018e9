// Every allocation fails once: the command says that the host has no memory, or gives the same answer all the same; it
// never crashes, hangs, or blames itself. All of them are millions: a few dozen by default, hundreds with
// TRNSIM_FAULTS=all (./dev nightly).
#include <algorithm>
#include <random>
#include <regex>
#include <set>
#include <vector>

#include "tests/cli/run_job.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// SystemC 2.3.4 does not look whether its list of timed events got memory; it simulates in a process of its own.
constexpr const char* kOfSystemC = "simulation child: was killed by signal 11";

class Allocations : public cli_test::SmallJob {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's runtime allocates itself";
    SmallJob::SetUp();
  }

  std::string fail_at(long n) const {
    return "timeout 600 env FAIL_ALLOC_AT=" + std::to_string(n) + " FAIL_ALLOC_COUNT=" + at("count") +
           " LD_PRELOAD=" TRNSIM_FAIL_ALLOC;
  }

  /// The first ones, and others at random over the whole.
  static std::set<long> places(long calls) {
    const bool all = std::getenv("TRNSIM_FAULTS") != nullptr;
    std::mt19937_64 draw{20261124};
    std::set<long> out;
    for (const long n : {1L, 2L, 3L, 10L, 100L, 1000L, calls}) out.insert(std::min(n, calls));
    for (int i = 0; i < (all ? 300 : 8); ++i)
      out.insert(1 + static_cast<long>(draw() % static_cast<unsigned long>(calls)));
    return out;
  }

  /// Without the time that the host took.
  static std::string told(const Ran& ran) { return std::regex_replace(ran.out, std::regex{"the run took .*"}, ""); }

  void walk(const std::string& command) {
    const auto fresh = [&] { fs::remove_all(folder_ / "out"); };
    fresh();
    const Ran whole = run(command, fail_at(0));
    ASSERT_EQ(whole.code, 0) << whole.err;
    const long calls = std::stol(slurp(at("count")));
    ASSERT_GT(calls, 100);
    int refused = 0;
    for (const long n : places(calls)) {
      SCOPED_TRACE("allocation " + std::to_string(n) + " of " + std::to_string(calls) + " of " + command);
      fresh();
      const Ran ran = run(command, fail_at(n));
      if (ran.code == 0) {
        EXPECT_EQ(told(ran), told(whole));
        continue;
      }
      ++refused;
      if (ran.err.find(kOfSystemC) != std::string::npos) continue;
      EXPECT_EQ(ran.code, 2) << ran.err;  // 124: it hangs; 134, 139: it crashed
      EXPECT_THAT(ran.err, HasSubstr("memory"));
      EXPECT_THAT(ran.err, HasSubstr("\n  fix: "));
      EXPECT_THAT(ran.err, Not(HasSubstr("internal error")));
    }
    EXPECT_GT(refused, 2);  // the library is in front of malloc
  }
};

TEST_F(Allocations, OfAProjection) { walk("estimate llama-small --instance_type trn1.2xlarge"); }

TEST_F(Allocations, OfATrainingStep) {
  walk(flags() + " --dataset_path " + at("data.csv") +
       " --max_length 8 --max_steps 1 --mode numeric --host_threads 2 --output_dir " + at("out"));
}

TEST_F(Allocations, OfReaders) {
  walk("tokenize --vocab " + at("vocab.txt") + " 'i feel fine'");
  walk("verify " TRNSIM_TEST_DIR "/golden/gpt_tiny --host_threads 1");
  ASSERT_EQ(
      run(flags() + " --dataset_path " + at("data.csv") + " --max_length 8 --mode timed --output_dir " + at("r")).code,
      0);
  walk("stats " + at("r"));
  walk("compare " + at("r") + " " + at("r"));
}

}  // namespace
