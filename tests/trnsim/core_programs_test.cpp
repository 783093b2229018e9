// Programs that check themselves, made for one rule of the lowering each (tests/trnsim/programs): the reference and a
// simulated core find what they expect.
#include <gtest/gtest.h>

#include <filesystem>

#include "trnsim/run/verify_programs.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

TEST(CorePrograms, ComputeWhatTheyExpect) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator{fs::path{TRNSIM_SOURCE_DIR} / "tests/trnsim/programs"})
    for (const bool cores : {false, true})
      for (const ProgramOutcome& outcome : verify_programs(entry.path(), {.cores = cores})) {
        EXPECT_EQ(outcome.verdict, Verdict::kRight) << (cores ? "core: " : "reference: ") << outcome.reason;
        ++count;
      }
  EXPECT_GE(count, 18U);
}

}  // namespace
}  // namespace trnsim
