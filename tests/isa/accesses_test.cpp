// The thread sanitizer does not look into the kernels; they tell it what they read and write.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "isa/kernels/kernels.h"
#include "tests/sanitized.h"

namespace {

/// Two threads write the same numbers at once.
void race() {
  const std::vector<float> in(256, 1.0F);
  std::vector<std::uint16_t> out(256);
  const auto convert = [&] { isa::kernels::kernels().to_bf16(in.data(), out.data(), {.n = out.size()}); };
  std::thread other{convert};
  convert();
  other.join();
  std::_Exit(0);
}

TEST(Accesses, KernelsReportTheirAccessesToTheThreadSanitizer) {
  if (!kThreadSanitized) GTEST_SKIP() << "the build has no thread sanitizer";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      race(), [](int status) { return status != 0; }, "data race");
}

}  // namespace
