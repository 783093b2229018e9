// One live line on stderr: progress, rate and time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/terminal.h"

namespace base {

struct ProgressOptions {
  Terminal* terminal = nullptr;                  // nullptr: stderr
  bool quiet = false;                            // print nothing; also taken from init_log
  bool even = true;                              // units take about the same time: a rate and an ETA mean something
  std::chrono::milliseconds redraw{100};         // of the live line on a TTY
  std::chrono::milliseconds line_every{10'000};  // of the plain lines when stderr is not a TTY
};

/// On a TTY a line that is redrawn in place and gone when the object ends; elsewhere one plain line every ten seconds;
/// nothing with --quiet. Never writes to stdout.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `what` is under way: "train"; `total` of `unit` ("step") make it complete; total 0: unknown, no ETA.
  Progress(std::string_view what, std::string_view unit, std::uint64_t total, const ProgressOptions& options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total`; `note` is shown beside it ("loss 1.234, simulated 412 ms/step"). Cheap when it is
  /// not yet time to draw.
  void update(std::uint64_t done, std::string_view note = {}) { update_at(Clock::now(), done, note); }
  /// True when update() would draw now: check first if the note is expensive to build.
  bool due() const { return enabled_ && Clock::now() >= next_; }
  /// Removes the line; the destructor does so too.
  void finish();

  /// For tests: the same at a given time.
  void update_at(Clock::time_point now, std::uint64_t done, std::string_view note);
  /// The line as it would be printed.
  std::string line(Clock::time_point now, std::uint64_t done, std::string_view note) const;

 private:
  Terminal& terminal_;
  const std::string what_;
  const std::string unit_;
  const std::uint64_t total_;
  const std::chrono::milliseconds interval_;
  const bool enabled_;
  const bool even_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
  bool drawn_ = false;
};

/// "41 s", "3:05", "2:14:09": a duration as people read it.
std::string clock_text(double seconds);
/// The same where a second is long: "310 ms", "2.86 s", "41.2 s", and from a minute on "3:05".
std::string duration_text(double seconds);

}  // namespace base
