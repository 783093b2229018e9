#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>

#include "base/error.h"
#include "hw/run/machine.h"
#include "hw/run/serial.h"
#include "hw/sim_device.h"

namespace hw {
namespace {

using base::Error;
using base::Fault;

// A message of the child: 'r', the size of a result, the result and what is new of blocks; or 'e', the fault and the
// text of an error.
constexpr char kResult = 'r';
constexpr char kError = 'e';

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(1);  // the parent is gone
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string read_all(int fd) {
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(n));
  }
}

[[noreturn]] void run_child(int fd, const isa::Programs& programs, const MachineParams& machine,
                            const SimOptions& options) {
  std::string message;
  try {
    const std::string result = to_bytes(simulate_held(programs, machine, options));
    const std::uint64_t size = result.size();
    message = kResult + std::string{reinterpret_cast<const char*>(&size), sizeof size} + result;
    if (options.times) message += to_bytes(options.times->news());
  } catch (const Error& error) {
    message = std::string{kError} + static_cast<char>(error.fault()) + error.what();
  } catch (const std::exception& error) {
    message = std::string{kError} + static_cast<char>(Fault::kInternal) +
              Error{Fault::kInternal, "simulation", error.what(), "please report this"}.what();
  }
  write_all(fd, message);
  ::_exit(0);  // no destructors, no buffers: both belong to the parent
}

/// An error with the child's text: "<fault>: <where>: <what>\n  fix: <fix>".
Error rebuilt(std::string_view message) {
  const auto fault = static_cast<Fault>(message.front());
  std::string_view text = message.substr(1);
  constexpr std::string_view kColon = ": ", kFix = "\n  fix: ";
  const auto fix = text.rfind(kFix);
  const auto kind = text.find(kColon);
  const auto where = text.find(kColon, kind + kColon.size());
  base::ensure(fix != text.npos && kind < fix && where < fix, "simulation child", "its error has another form");
  const auto begin = kind + kColon.size();
  return Error{fault, text.substr(begin, where - begin),
               text.substr(where + kColon.size(), fix - where - kColon.size()), text.substr(fix + kFix.size())};
}

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {} without a result", WEXITSTATUS(status));
}

}  // namespace

SimResult simulate_in_child(const isa::Program& program, const MachineParams& machine, const SimOptions& options) {
  return simulate_in_child(isa::Programs{&program}, machine, options);
}

SimResult simulate_in_child(const isa::Programs& programs, const MachineParams& machine, const SimOptions& options) {
  return slowest(simulate_each_in_child(programs, machine, options));
}

std::vector<SimResult> simulate_each_in_child(const isa::Programs& programs, const MachineParams& machine,
                                              const SimOptions& options) {
  if (options.execute)
    throw Error{Fault::kUsage, programs.front()->name, "a child would lose the memory that the full mode computes",
                "use simulate() or make_sim_device()"};
  if (options.times) {  // what the child finds out of blocks it would forget
    for (const isa::Program* program : programs) time_program(*program, machine, *options.times);
    options.times->mark();
  }
  int pipe[2];
  if (::pipe(pipe) != 0)
    throw Error{Fault::kEnvironment, "simulation child", std::strerror(errno), "close some files or raise ulimit -n"};
  auto kernel =
      hold_kernel();  // no other thread is in the middle of a simulation, and the child holds it from the start
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(pipe[0]);
    ::close(pipe[1]);
    throw Error{Fault::kEnvironment, "simulation child", std::strerror(errno), "end some processes or free memory"};
  }
  if (child == 0) {
    ::close(pipe[0]);
    run_child(pipe[1], programs, machine, options);
  }
  kernel.unlock();
  ::close(pipe[1]);
  const std::string message = read_all(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || message.size() < 2)
    throw Error{Fault::kInternal, "simulation child", ending(status),
                "please report this with the command that you ran"};
  if (message.front() == kError) throw rebuilt(std::string_view{message}.substr(1));
  std::uint64_t size = 0;
  base::ensure(message.size() > sizeof size, "simulation child", "its result is cut short");
  std::memcpy(&size, message.data() + 1, sizeof size);
  const std::string_view parts = std::string_view{message}.substr(1 + sizeof size);
  if (options.times) options.times->learn(news_from_bytes(parts.substr(std::min(size, parts.size()))));
  return results_from_bytes(parts.substr(0, size));
}

}  // namespace hw
