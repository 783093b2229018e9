#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace base {
namespace {

TEST(Interrupt, ASignalRaisesTheFlagWhereItIsHeld) {
  catch_interrupts();
  const HoldInterrupts hold;
  EXPECT_FALSE(interrupted());
  std::raise(SIGINT);
  EXPECT_TRUE(interrupted());
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcess) {
  catch_interrupts();
  const HoldInterrupts hold;
  EXPECT_EXIT((std::raise(SIGTERM), std::raise(SIGTERM)), testing::ExitedWithCode(kExitInterrupted), "");
}

TEST(InterruptDeathTest, ASignalEndsWhatHasNothingToSave) {
  catch_interrupts();
  EXPECT_EXIT(std::raise(SIGINT), testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace base
