#include "base/log.h"

#include <fmt/ranges.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

#include "base/table_text.h"
#include "base/terminal.h"

namespace base {
namespace {

std::atomic<bool> is_quiet{false};
std::atomic<bool> use_color{false};

bool color_wanted(const LogOptions& options) {
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  return !options.no_color && (no_color == nullptr || *no_color == '\0') && stderr_terminal().tty();
}

/// Hands each message to the terminal, which keeps the status line below it.
class TerminalSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text{message.payload.data(), message.payload.size()};
    const std::string line = fmt::format("{}{}", prefix(message.level), without_controls(text));
    stderr_terminal().write_line(fmt::format("{}", fmt::join(wrapped(line, stderr_terminal().width()), "\n")));
  }
  void flush_() override {}

 private:
  static std::string_view prefix(spdlog::level::level_enum level) {
    if (level == spdlog::level::warn) return use_color ? "\033[33mwarning:\033[0m " : "warning: ";
    if (level == spdlog::level::debug) return use_color ? "\033[2mdebug:\033[0m " : "debug: ";
    return "";
  }
};

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    use_color = color_wanted({});
    return std::make_shared<spdlog::logger>("trnsim", std::make_shared<TerminalSink>());
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
  }
  return spdlog::level::info;
}

}  // namespace

void init_log(const LogOptions& options) {
  spdlog::logger& log = logger();
  is_quiet = options.quiet;
  use_color = color_wanted(options);
  log.set_level(options.quiet ? spdlog::level::warn : options.verbose ? spdlog::level::debug : spdlog::level::info);
}

bool quiet() { return is_quiet; }

void log(LogLevel level, std::string_view message) {
  logger().log(to_spdlog(level), spdlog::string_view_t{message.data(), message.size()});
}

void warn_once(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> given;
  const std::lock_guard lock{mutex};
  if (given.insert(message).second) log(LogLevel::kWarning, message);
}

}  // namespace base
