// Signals for the built trnsim while it works.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace cli_test {

/// Starts trnsim by a shell, in front of it `before`; its words are lost unless `arguments` say where to.
inline pid_t started(const std::string& arguments, const std::string& before = "") {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
    for (const int sent : {SIGHUP, SIGINT}) signal(sent, SIG_DFL);  // below nohup, or behind a shell, they are ignored
    execl("/bin/sh", "sh", "-c", ("exec " + before + " " TRNSIM_BINARY " " + arguments).c_str(), nullptr);
    _exit(127);
  }
  return child;
}

/// The exit code of a process, -1 when it has none.
inline int code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Seconds that the processors have worked for a process that has not been waited for.
inline double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A process that got a signal: its exit code, -1 when it has none, and what it took the processors before
/// and from then on.
struct Stopped {
  int code = -1;
  double cpu_seconds_before = 0, cpu_seconds = 0;
};

/// Starts trnsim, waits until `words` are in `log`, or anything at all, and presses Ctrl-C or sends another signal. On
/// a host with other work the signal may come much later: the command needs enough to do.
inline Stopped stopped(const std::string& arguments, const std::filesystem::path& log, int signal = SIGINT,
                       const std::string& words = "") {
  const pid_t child = started(arguments);
  const auto is_there = [&](const std::string& text) { return !text.empty() && text.find(words) != text.npos; };
  while (!is_there(slurp(log))) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return {};  // it ended before it logged that
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  const double before = cpu_seconds_of(child);
  kill(child, signal);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const double after = cpu_seconds_of(child);
  return {code_of(child), before, after - before};
}

inline constexpr int kSteps = kSanitized ? 100 : 20;  // enough for a signal to come before the last one

/// Starts a training into `folder` and sends it a signal as it logs its first step: at that very moment, however busy
/// the host is. A sanitizer's runtime does not let it be known: there the signal comes soon after. Returns the exit
/// code, -1 when it has none.
inline int interrupted(const std::string& arguments, const std::filesystem::path& folder, int signal = SIGINT) {
  if (kSanitized) return stopped(arguments, folder / "steps.jsonl", signal).code;
  const std::string at_the_first = "env FAIL_IO_FILE=steps.jsonl FAIL_IO_AT=1 FAIL_IO_HOW=" + std::to_string(signal);
  return code_of(started(arguments, at_the_first + " LD_PRELOAD=" TRNSIM_FAIL_IO));
}

}  // namespace cli_test
