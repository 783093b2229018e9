#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(Interrupt, WithoutAHolderNothingIsRaised) { EXPECT_FALSE(interrupt()); }

TEST(InterruptDeathTest, ATerminalThatHangsUpIsHeldToo) {
  std::signal(SIGHUP, SIG_DFL);  // the tests themselves may run below nohup
  catch_interrupts();
  const HoldInterrupts hold;
  EXPECT_EXIT((std::raise(SIGHUP), _exit(interrupted() ? 7 : 8)), testing::ExitedWithCode(7), "");
}

TEST(InterruptDeathTest, NohupIsHonoured) {
  EXPECT_EXIT((std::signal(SIGHUP, SIG_IGN), catch_interrupts(), std::raise(SIGHUP), _exit(7)),
              testing::ExitedWithCode(7), "");
}

TEST(InterruptDeathTest, APipeWithoutAReaderIsHeldAsASignalIs) {
  const HoldInterrupts hold;
  EXPECT_EXIT(_exit(interrupt() && interrupted() ? 7 : 8), testing::ExitedWithCode(7), "");
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcess) {
  catch_interrupts();
  const HoldInterrupts hold;
  EXPECT_EXIT((std::raise(SIGTERM), std::raise(SIGTERM)), testing::ExitedWithCode(kExitInterrupted), "");
}

TEST(InterruptDeathTest, ASignalEndsAProcessWithNothingToSave) {
  catch_interrupts();
  EXPECT_EXIT(std::raise(SIGINT), testing::ExitedWithCode(kExitInterrupted), "");
}

}  // namespace
}  // namespace base
