#include "analysis/sweep/sweep_worker.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace analysis {
namespace {

/// What a child sends for a point: a length, then one byte 'r' and lines "name value", or 'e' and an error.
using Length = std::uint32_t;

bool send(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool receive(int fd, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::read(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::string packed(const Metrics& metrics) {
  std::string text = "r";
  for (const auto& [name, value] : metrics) text += fmt::format("{} {}\n", name, value);
  return text;
}

Metrics unpacked(std::string_view lines) {
  Metrics metrics;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n'), blank = lines.find(' ');
    base::ensure(end != std::string_view::npos && blank < end, "sweep", "a child sent something else than metrics");
    double& value = metrics[std::string{lines.substr(0, blank)}];
    std::from_chars(lines.data() + blank + 1, lines.data() + end, value);
    lines.remove_prefix(end + 1);
  }
  return metrics;
}

/// Life of a child: a number in, a result out, until the parent closes its end.
[[noreturn]] void work(int fd, const std::vector<SweepPoint>& points, const SweepModel& model) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the answers
  ::signal(SIGINT, SIG_IGN);           // Ctrl-C reaches the whole group: the parent decides
  std::uint64_t index = 0;
  while (receive(fd, reinterpret_cast<char*>(&index), sizeof index)) {
    std::string answer;
    try {
      answer = packed(model.evaluate(points[index]));
    } catch (const std::exception& error) {
      answer = std::string{"e"} + error.what();
    }
    const auto length = static_cast<Length>(answer.size());
    answer.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
    if (!send(fd, answer)) break;
  }
  ::_exit(0);  // no destructors, no buffers: both belong to the parent
}

}  // namespace

SweepWorker::SweepWorker(const std::vector<SweepPoint>& points, const SweepModel& model) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail();
  pid_ = ::fork();
  if (pid_ < 0) fail();
  if (pid_ == 0) {
    ::close(pair[0]);
    work(pair[1], points, model);
  }
  ::close(pair[1]);
  fd_ = pair[0];
}

SweepWorker::~SweepWorker() {
  ::close(fd_);
  ::kill(pid_, SIGKILL);  // later children hold our end of the socket too: closing it alone would not end this one
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void SweepWorker::order(std::size_t index) {
  const std::uint64_t number = index;
  send(fd_, {reinterpret_cast<const char*>(&number), sizeof number});  // a dead child shows when it is read
  point = index;
}

bool SweepWorker::answer(SweepResult& result) {
  Length length = 0;
  if (!receive(fd_, reinterpret_cast<char*>(&length), sizeof length)) return false;
  std::string bytes(length, '\0');
  if (!receive(fd_, bytes.data(), bytes.size())) return false;
  const std::string_view content = std::string_view{bytes}.substr(1);
  if (bytes.front() == 'r') {
    result.metrics = unpacked(content);
  } else {
    result.error = content;
  }
  return true;
}

void SweepWorker::fail() {
  throw base::Error{base::Fault::kEnvironment, "sweep", std::strerror(errno),
                    "choose fewer --processes, or free memory"};
}

}  // namespace analysis
