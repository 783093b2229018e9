// Hosts that this one is not: QEMU plays processors with fewer instructions, and ends what uses one of the others.
#include <cstdlib>

#include "tests/cli/run_job.h"
#include "tests/sanitized.h"

namespace {

using cli_test::run;
using cli_test::slurp;

class OldHosts : public cli_test::SmallJob, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "QEMU has no room for a sanitizer's memory";
    if (std::system("command -v qemu-x86_64 >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "qemu-x86_64 (qemu-user) is not installed";
    SmallJob::SetUp();
  }

  /// Trains two steps; `before` precedes the command.
  cli_test::Ran train_on(const std::string& before, const std::string& numerics) const {
    return run(flags() + " --dataset_path " + at("data.csv") + " --max_length 8 --max_steps 2 --mode numeric -q " +
                   "--eval_strategy no --numerics " + numerics + " --overwrite_output_dir --output_dir " + at("out"),
               before);
  }
  static std::string processor() { return std::string{"qemu-x86_64 -cpu "} + GetParam(); }
};

TEST_P(OldHosts, TrainToTheSameWeights) {
  const auto weights = [&](const std::string& before, const std::string& numerics) {
    const auto ran = train_on(before, numerics);
    EXPECT_EQ(ran.code, 0) << before << ": " << ran.err;
    return slurp(at("out/model/model.safetensors"));
  };
  for (const char* numerics : {"bf16+sr", "fp32"}) {
    const std::string here = weights("", numerics);
    EXPECT_GT(here.size(), 1000U);
    EXPECT_TRUE(weights(processor(), numerics) == here) << numerics;
  }
}

TEST_P(OldHosts, NameTheirMissingInstructions) {
  const auto ran = train_on("TRNSIM_HOST_ISA=avx512 " + processor(), "bf16");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, testing::HasSubstr("environment error: TRNSIM_HOST_ISA: this host has no avx512\n  fix: set "));
  EXPECT_FALSE(std::filesystem::exists(at("out")));
}

// Without AVX, and with AVX2 and no more.
INSTANTIATE_TEST_SUITE_P(Processors, OldHosts, testing::Values("Nehalem", "Haswell"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
