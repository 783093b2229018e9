#include "base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/log.h"

namespace base {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// A terminal that writes to a temporary file.
class Progresses : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(file_ = std::tmpfile(), nullptr); }
  void TearDown() override { std::fclose(file_); }

  std::string written() {
    std::fflush(file_);
    std::string text(static_cast<std::size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file_), text.size());
    return text;
  }

  std::FILE* file_ = nullptr;
};

TEST_F(Progresses, PrintNothingWhenQuiet) {
  for (const bool tty : {true, false}) {
    Terminal terminal{file_, tty};
    Progress progress{"train", "step", 100, {.terminal = &terminal, .quiet = true}};
    progress.update_at(Progress::Clock::now() + seconds{1000}, 50, "");
    progress.finish();
  }
  EXPECT_EQ(written(), "");
}

TEST_F(Progresses, TellNoRateOfUnitsThatTakeAnyTime) {
  Terminal terminal{file_, false};
  const Progress progress{"choose", "choice", 80, {.terminal = &terminal, .even = false}};
  EXPECT_EQ(progress.line(Progress::Clock::now() + seconds{20}, 2, ""), "choose: choice 2/80 (2%), 20 s elapsed");
}

TEST_F(Progresses, PrintAPlainLineNowAndThenWhenNoTty) {
  Terminal terminal{file_, false};
  const auto start = Progress::Clock::now();
  {
    Progress progress{"train", "step", 100, {.terminal = &terminal, .line_every = seconds{10}}};
    progress.update_at(start + seconds{1}, 1, "");  // too early
    progress.update_at(start + seconds{11}, 11, "loss 1.5");
    progress.update_at(start + seconds{12}, 12, "");  // too early again
  }
  const std::string text = written();
  EXPECT_THAT(text, HasSubstr("train: step 11/100 (11%), "));
  EXPECT_THAT(text, HasSubstr("loss 1.5"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST_F(Progresses, LeaveAnEmptyLineOnATty) {
  Terminal terminal{file_, true};
  {
    Progress progress{"train", "step", 0, {.terminal = &terminal}};
    progress.update_at(Progress::Clock::now() + seconds{1}, 7, "");
  }
  const std::string text = written();
  EXPECT_THAT(text, testing::StartsWith("train: step 7"));
  EXPECT_THAT(text, testing::EndsWith("\r\033[K"));
}

TEST_F(Progresses, LetMessagesScrollAboveTheLine) {
  Terminal terminal{file_, true};
  terminal.show_status("status");
  terminal.write_line("message");
  terminal.show_status("");
  EXPECT_EQ(written(), "status\r\033[Kmessage\nstatus\r\033[K");
}

TEST_F(Progresses, CutTheLineToTheWidthOfTheTerminal) {
  Terminal terminal{file_, true};  // a file has no width: 80 columns
  terminal.show_status("深" + std::string(200, 'x'));
  EXPECT_EQ(written(), "深" + std::string(77, 'x'));
}

TEST_F(Progresses, TellRateAndTimeLeft) {
  Terminal terminal{file_, false};
  const auto start = Progress::Clock::now();
  const Progress progress{"train", "step", 400, {.terminal = &terminal}};
  const std::string line = progress.line(start + seconds{100}, 200, "loss 0.5");
  EXPECT_THAT(line, HasSubstr("step 200/400 (50%), 2 step/s, 1:40 elapsed, ETA 1:40, loss 0.5"));
  EXPECT_THAT(progress.line(start + seconds{100}, 10, ""), HasSubstr("10 s/step"));
  EXPECT_EQ(progress.line(start + seconds{100}, 400, "").find("ETA"), std::string::npos);
}

TEST(ClockText, ReadsAsPeopleWrite) {
  EXPECT_EQ(clock_text(0.4), "0 s");
  EXPECT_EQ(clock_text(41), "41 s");
  EXPECT_EQ(clock_text(185), "3:05");
  EXPECT_EQ(clock_text(8049), "2:14:09");
  EXPECT_EQ(clock_text(0.0 / 0.0), "unknown");
}

TEST(DurationText, KeepsThreeDigitsWhereASecondIsLong) {
  EXPECT_EQ(duration_text(0.02186), "21.9 ms");
  EXPECT_EQ(duration_text(2.8606), "2.86 s");
  EXPECT_EQ(duration_text(59.96), "1:00");
  EXPECT_EQ(duration_text(185), "3:05");
}

/// Messages go to stderr and never to stdout; --quiet leaves the warnings.
TEST(Log, KeepsStdoutClean) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  init_log({});
  log_info("{} rows", 3);
  log_debug("unseen");
  init_log({.quiet = true});
  log_info("unseen");
  log_warning("careful");
  EXPECT_TRUE(quiet());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "3 rows\nwarning: careful\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace base
