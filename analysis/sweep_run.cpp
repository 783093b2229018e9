// run_sweep(): points are handed out to child processes, results come back through a socket each.
#include <fmt/format.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "analysis/sweep.h"
#include "analysis/sweep_store.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

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

/// A child process and the point that it works on.
class Worker {
 public:
  Worker(const std::vector<SweepPoint>& points, const SweepModel& model) {
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
  ~Worker() {
    ::close(fd_);
    ::kill(pid_, SIGKILL);  // later children hold our end of the socket too: closing it alone would not end this one
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int fd() const { return fd_; }
  void order(std::size_t index) {
    const std::uint64_t number = index;
    send(fd_, {reinterpret_cast<const char*>(&number), sizeof number});  // a dead child shows when it is read
    point = index;
  }
  /// Nothing when the child died.
  std::optional<std::string> answer() {
    Length length = 0;
    if (!receive(fd_, reinterpret_cast<char*>(&length), sizeof length)) return std::nullopt;
    std::string bytes(length, '\0');
    if (!receive(fd_, bytes.data(), bytes.size())) return std::nullopt;
    return bytes;
  }

  std::optional<std::size_t> point;

 private:
  [[noreturn]] static void fail() {
    throw Error{Fault::kEnvironment, "sweep", std::strerror(errno), "choose fewer --processes, or free memory"};
  }
  pid_t pid_ = -1;
  int fd_ = -1;
};

/// Hands out the points in `waiting` until all are done.
class Pool {
 public:
  Pool(SweepRun& run, const std::vector<SweepPoint>& points, const SweepModel& model, SweepStore& store,
       std::deque<std::size_t> waiting)
      : run_{run}, points_{points}, model_{model}, store_{store}, waiting_{std::move(waiting)} {}

  void work(std::size_t processes) {
    base::Progress progress{"sweep", "point", waiting_.size()};
    workers_.resize(std::min(processes, waiting_.size()));
    for (auto& worker : workers_) start(worker);
    while (std::ranges::any_of(workers_, [](const auto& w) { return w && w->point; })) {
      if (base::interrupted()) {
        run_.interrupted = true;
        break;
      }
      wait();
      progress.update(run_.computed);
    }
    workers_.clear();
  }

 private:
  void start(std::unique_ptr<Worker>& worker) {
    if (waiting_.empty()) return;
    if (!worker) worker = std::make_unique<Worker>(points_, model_);
    worker->order(waiting_.front());
    waiting_.pop_front();
  }

  void wait() {
    std::vector<pollfd> fds;
    std::vector<std::size_t> owners;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (!workers_[w] || !workers_[w]->point) continue;
      fds.push_back({.fd = workers_[w]->fd(), .events = POLLIN, .revents = 0});
      owners.push_back(w);
    }
    constexpr int kPollMs = 200;  // how late Ctrl-C may be noticed
    if (::poll(fds.data(), fds.size(), kPollMs) <= 0) return;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents != 0) take(workers_[owners[i]]);
    }
  }

  void take(std::unique_ptr<Worker>& worker) {
    SweepResult& result = run_.results[*worker->point];
    const auto answer = worker->answer();
    if (answer && answer->front() == 'r') {
      result.metrics = unpacked(std::string_view{*answer}.substr(1));
    } else {
      result.error = answer ? answer->substr(1) : "its process died";
    }
    result.done = true;
    ++run_.computed;
    if (answer) {
      store_.put(result);
      worker->point.reset();
    } else {
      worker.reset();  // a new one takes its place; the point is tried again by the next sweep
    }
    start(worker);
  }

  SweepRun& run_;
  const std::vector<SweepPoint>& points_;
  const SweepModel& model_;
  SweepStore& store_;
  std::deque<std::size_t> waiting_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

SweepRun run_sweep(const std::vector<SweepPoint>& points, const SweepModel& model,
                   const std::filesystem::path& database, int processes) {
  if (points.empty()) throw Error{Fault::kUsage, "sweep", "has no points", "give --set KEY=VALUE,VALUE"};
  if (processes < 1) throw Error{Fault::kUsage, "--processes", "is below 1", "give a whole number from 1"};
  SweepRun run;
  for (const SweepPoint& point : points) run.results.push_back({.point = point, .hash = model.hash(point)});
  SweepStore store{database};
  std::map<std::uint64_t, std::size_t> first;  // points that are the same machine are computed once
  std::deque<std::size_t> waiting;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (store.find(run.results[i]) || !first.emplace(run.results[i].hash, i).second) continue;
    waiting.push_back(i);
  }
  if (!waiting.empty()) Pool{run, points, model, store, std::move(waiting)}.work(static_cast<std::size_t>(processes));
  for (SweepResult& result : run.results) {
    const auto same = first.find(result.hash);
    if (result.done || same == first.end()) continue;
    const SweepResult& computed = run.results[same->second];
    result.done = computed.done;
    result.error = computed.error;
    result.metrics = computed.metrics;
  }
  return run;
}

}  // namespace analysis
