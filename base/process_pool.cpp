#include "base/process_pool.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <system_error>

#include "base/archive.h"

namespace base {
namespace {

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool receive_all(int fd, void* to, std::size_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::read(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// An answer as it travels: whether it is an error, then its fields or the bytes.

std::string packed(std::string_view bytes) {
  ArchiveWriter archive;
  archive(false, bytes);
  return archive.take();
}

std::string packed(const Error& error) {
  ArchiveWriter archive;
  archive(true, error.fault(), error.where(), error.problem(), error.fix());
  return archive.take();
}

void unpack(std::string_view message, ProcessPool::Answer& answer) {
  ArchiveReader archive{message, {Fault::kInternal, "child process", "its answer is incomplete", "please report this"}};
  bool failed = false;
  archive(failed);
  if (!failed) return archive(answer.bytes);
  Fault fault{};
  std::string where, problem, fix;
  archive(fault, where, problem, fix);
  answer.error.emplace(fault, where, problem, fix);
}

std::string message_of(const ProcessPool::Work& work, std::size_t item, const std::string& name) {
  try {
    return packed(work(item));
  } catch (const Error& error) {
    return packed(error);
  } catch (const std::bad_alloc&) {
    return packed(Error{Fault::kEnvironment, name, "this host has no memory left", "use fewer processes"});
  } catch (const std::system_error& error) {
    return packed(Error{Fault::kEnvironment, name, error.what(), "use fewer processes, or raise the host's limits"});
  } catch (const std::exception& error) {
    return packed(Error{Fault::kInternal, name, error.what(), "please report this"});
  }
}

/// Returns free memory between items. The lists of a large one leave holes of as many bytes as the child keeps, which
/// it would hold until its end while another child needs them. Short items that use the same pages again and again
/// would pay more for them than for their work, so that returning takes a small part of the child's time.
class FreeMemory {
 public:
  void give_back() {
    constexpr std::size_t kWorthIt = std::size_t{64} << 20;
    constexpr std::clock_t kPart = 200;
    if (::mallinfo2().fordblks <= kWorthIt) return;
    const std::clock_t begin = std::clock();
    if (spent_ * kPart > begin) return;
    ::malloc_trim(0);
    spent_ += std::clock() - begin;
  }

 private:
  std::clock_t spent_ = 0;  ///< CPU time that returning took so far, of this process
};

/// Life of a child: an item in, an answer out, until the parent closes its end.
[[noreturn]] void serve(int fd, const ProcessPool::Work& work, const std::string& name) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);                                            // no process would read the answers
  for (const int signal : {SIGINT, SIGHUP, SIGTERM}) ::signal(signal, SIG_IGN);  // the parent decides
  FreeMemory free_memory;
  std::uint64_t item = 0;
  while (receive_all(fd, &item, sizeof item)) {
    std::string message = message_of(work, item, name);
    const std::uint64_t size = message.size();
    if (!send_all(fd, {reinterpret_cast<const char*>(&size), sizeof size}) || !send_all(fd, message)) break;
    message = {};
    free_memory.give_back();
  }
  ::_exit(0);  // no destructors, no buffers: both belong to the parent
}

void set_ending(int status, ProcessPool::Answer& answer) {
  answer.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  answer.death = WIFSIGNALED(status)
                     ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                     : fmt::format("ended with exit code {} without a result", WEXITSTATUS(status));
}

}  // namespace

class ProcessPool::Child {
 public:
  Child(const std::string& name, const Work& work) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw Error{Fault::kEnvironment, name, std::strerror(errno), "close some files or raise ulimit -n"};
    ::malloc_trim(0);  // a child, and what it forks in turn, copies the page tables of all memory held
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(pair[0]);
      serve(pair[1], work, name);
    }
    const int error = errno;
    ::close(pair[1]);
    fd_ = pair[0];
    if (pid_ > 0) return;
    ::close(fd_);
    throw Error{Fault::kEnvironment, name, std::strerror(error), "use fewer processes, or free memory"};
  }
  ~Child() {
    ::close(fd_);
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);  // later children hold our end of the socket too: closing it alone would not end this one
    status();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int fd() const { return fd_; }

  void order(std::size_t number, std::uint64_t affinity_of_item) {
    const std::uint64_t wide = number;
    affinity = affinity_of_item;
    send_all(fd_, {reinterpret_cast<const char*>(&wide), sizeof wide});  // a dead child shows when it is read
    item = number;
  }
  Answer answer() {
    Answer answer{.item = *item};
    item.reset();
    std::uint64_t size = 0;
    std::string message;
    if (receive_all(fd_, &size, sizeof size)) message.resize(size);
    if (!message.empty() && receive_all(fd_, message.data(), size))
      unpack(message, answer);
    else
      set_ending(status(), answer);
    return answer;
  }

  std::optional<std::size_t> item;  // that it works on
  std::uint64_t affinity = 0;       // of that, or of its last one

 private:
  /// Waits for its end.
  int status() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  int fd_ = -1;
};

ProcessPool::ProcessPool(std::size_t processes, std::string name, Work work)
    : most_{processes}, name_{std::move(name)}, work_{std::move(work)} {}
ProcessPool::~ProcessPool() = default;

std::size_t ProcessPool::busy() const {
  return static_cast<std::size_t>(std::ranges::count_if(children_, [](const auto& c) { return c->item.has_value(); }));
}

void ProcessPool::order(std::size_t item, std::uint64_t affinity) {
  ensure(has_room(), name_, "more was ordered than there are processes");
  auto idle =
      std::ranges::find_if(children_, [affinity](const auto& c) { return !c->item && c->affinity == affinity; });
  if (idle == children_.end()) idle = std::ranges::find_if(children_, [](const auto& c) { return !c->item; });
  if (idle == children_.end()) idle = children_.insert(idle, std::make_unique<Child>(name_, work_));
  (*idle)->order(item, affinity);
}

bool ProcessPool::busy_with(std::uint64_t affinity) const {
  return std::ranges::any_of(children_, [affinity](const auto& c) { return c->item && c->affinity == affinity; });
}

std::vector<ProcessPool::Answer> ProcessPool::wait(std::optional<std::chrono::milliseconds> patience) {
  std::vector<pollfd> fds;
  for (const auto& child : children_)  // poll() passes over a negative descriptor
    fds.push_back({.fd = child->item ? child->fd() : -1, .events = POLLIN, .revents = 0});
  std::vector<Answer> answers;
  if (busy() == 0) return answers;
  if (::poll(fds.data(), fds.size(), patience ? static_cast<int>(patience->count()) : -1) <= 0) return answers;
  for (std::size_t i = fds.size(); i-- > 0;) {
    if (fds[i].revents == 0) continue;
    answers.push_back(children_[i]->answer());
    if (!answers.back().death.empty()) children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return answers;
}

}  // namespace base
