// Shares stderr between messages, which scroll, and one status line that stays below them. Used by log and progress.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace base {

/// A stream with one status line at its end. Safe from any thread.
class Terminal {
 public:
  /// `stream` stays the caller's. `tty`: a status line may be drawn and redrawn.
  Terminal(std::FILE* stream, bool tty) : stream_{stream}, tty_{tty} {}

  bool tty() const { return tty_; }
  /// Columns of the terminal; 0: it is none.
  int width() const;
  /// Writes `text` and a newline above the status line.
  void write_line(std::string_view text);
  /// Replaces the status line, cut to the terminal's width; empty removes it. Nothing when this is not a TTY.
  void show_status(std::string_view text);

 private:
  void erase_status();
  void draw_status();

  std::mutex mutex_;
  std::FILE* stream_;
  const bool tty_;
  std::string status_;
};

/// The process's stderr; a TTY only if it is one that can move its cursor (TERM is not "dumb").
Terminal& stderr_terminal();

/// `text` as a terminal may show it: control characters but newline and tab, which could move its cursor or set its
/// title, as escape sequences do.
std::string without_controls(std::string_view text);

/// Columns that UTF-8 `text` takes on a terminal (East Asian wide characters two, combining ones none).
int display_width(std::string_view text);

}  // namespace base
