#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace base {
namespace {

TEST(Interrupt, ASignalRaisesTheFlag) {
  catch_interrupts();
  EXPECT_FALSE(interrupted());
  std::raise(SIGINT);
  EXPECT_TRUE(interrupted());
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcess) {
  catch_interrupts();
  EXPECT_EXIT((std::raise(SIGTERM), std::raise(SIGTERM)), testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace base
