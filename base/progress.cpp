#include "base/progress.h"

#include <fmt/format.h>

#include <cmath>

#include "base/log.h"
#include "base/units.h"

namespace base {
namespace {

double seconds(Progress::Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

Terminal& chosen(const ProgressOptions& options) {
  return options.terminal != nullptr ? *options.terminal : stderr_terminal();
}

std::string rate_text(double rate, std::string_view unit) {
  if (rate >= 1) return fmt::format("{:.3g} {}/s", rate, unit);
  return fmt::format("{:.3g} s/{}", 1 / rate, unit);
}

}  // namespace

Progress::Progress(std::string_view what, std::string_view unit, std::uint64_t total, const ProgressOptions& options)
    : terminal_{chosen(options)},
      what_{what},
      unit_{unit},
      total_{total},
      interval_{terminal_.tty() ? options.redraw : options.line_every},
      enabled_{!options.quiet && !quiet()},
      even_{options.even} {
  if (!terminal_.tty()) next_ += interval_;  // work that takes less than an interval needs no line in a log file
}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (drawn_) terminal_.show_status("");
  drawn_ = false;
}

void Progress::update_at(Clock::time_point now, std::uint64_t done, std::string_view note) {
  if (!enabled_ || now < next_) return;
  next_ = now + interval_;
  if (terminal_.tty()) {
    terminal_.show_status(line(now, done, note));
    drawn_ = true;
  } else {
    terminal_.write_line(line(now, done, note));
  }
}

std::string Progress::line(Clock::time_point now, std::uint64_t done, std::string_view note) const {
  const double elapsed = seconds(now - start_);
  std::string text = total_ > 0 ? fmt::format("{}: {} {}/{} ({}%)", what_, unit_, done, total_, 100 * done / total_)
                                : fmt::format("{}: {} {}", what_, unit_, done);
  const bool told = even_ && done > 0;
  if (told && elapsed > 0) text += fmt::format(", {}", rate_text(static_cast<double>(done) / elapsed, unit_));
  text += fmt::format(", {} elapsed", clock_text(elapsed));
  if (told && total_ > done) {
    text +=
        fmt::format(", ETA {}", clock_text(elapsed / static_cast<double>(done) * static_cast<double>(total_ - done)));
  }
  if (!note.empty()) text += fmt::format(", {}", note);  // last: a narrow terminal cuts it first
  return text;
}

std::string clock_text(double seconds) {
  if (!(seconds >= 0) || !std::isfinite(seconds)) return "unknown";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 59.95;  // with three digits it would be 60 s
  return seconds < kMinute ? readable(seconds, Dimension::kTime, 3) : clock_text(seconds);
}

}  // namespace base
