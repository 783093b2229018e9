// Messages for people, on stderr; stdout is for data.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace base {

enum class LogLevel { kDebug, kInfo, kWarning };

struct LogOptions {
  bool quiet = false;     // warnings only, and no progress line (--quiet)
  bool verbose = false;   // debug messages too (--verbose)
  bool no_color = false;  // --no-color; the environment's NO_COLOR has the same effect
};

/// Call once, before the first message; without it the defaults hold.
void init_log(const LogOptions& options);
bool quiet();

/// Writes one message above the progress line, if there is one.
void log(LogLevel level, std::string_view message);

/// A warning that a process gives once, however often its reason comes up.
void warn_once(const std::string& message);

template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace base
