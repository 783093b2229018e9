// trnsim._core.call(): a question is answered in a child process while this one listens: the GIL is free, Ctrl-C ends
// the work at once, and a simulation that dies takes no notebook along.
#include "python/api/call.h"

#include <signal.h>
#include <sys/poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/process_pool.h"
#include "python/api/answers.h"
#include "python/api/gil.h"

namespace py = pybind11;

namespace trnsim_python {
namespace {

using base::Error;
using base::Fault;
using std::chrono_literals::operator""ms;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The answer as text. An argument of another type than the question's shows when it is read as JSON.
std::string answer_text(const std::string& question, const std::string& arguments, const Listener& hear) {
  try {
    return dump(answer_to(question, Json::parse(arguments), hear));
  } catch (const Json::exception& wrong) {  // the message is behind "[json.exception.type_error.302] "
    const std::string what = wrong.what();
    throw Error{Fault::kUsage, "trnsim." + question,
                "an argument is of a wrong type: " + what.substr(std::min(what.size(), what.find("] ") + 2)),
                "see help(trnsim." + question + ")"};
  }
}

/// Lines from the child to us.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_.data()) != 0)
      throw Error{Fault::kEnvironment, "trnsim", "a pipe cannot be created", "close some files or raise ulimit -n"};
  }
  ~Pipe() { ::close(ends_[0]), ::close(ends_[1]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void put(const std::string& line) const {
    const std::string text = line + "\n";
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(ends_[1], text.data() + done, text.size() - done);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }
  /// Whole lines that have come; waits for the first for so long at most.
  std::string take(int milliseconds) {
    std::array<char, 1 << 16> part;
    pollfd ready{.fd = ends_[0], .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, milliseconds) > 0 && (ready.revents & POLLIN)) {
      const ssize_t n = ::read(ends_[0], part.data(), part.size());
      if (n > 0) rest_.append(part.data(), static_cast<std::size_t>(n));
    }
    const std::size_t end = rest_.rfind('\n') + 1;  // npos + 1 is 0
    std::string lines = rest_.substr(0, end);
    rest_.erase(0, end);
    return lines;
  }

 private:
  std::array<int, 2> ends_{};
  std::string rest_;
};

/// The child of one question.
class PendingAnswer {
 public:
  PendingAnswer(const std::string& question, const std::string& arguments, bool listens)
      : pool_{1, "trnsim." + question, [this, question, arguments, listens](std::size_t) {
                ::setpgid(0, 0);           // a terminal's Ctrl-C goes to the parent, which passes it on
                base::catch_interrupts();  // the first asks a training for its checkpoint
                Listener hear;
                if (listens) hear = [this](const Json& event) { events_.put(dump(event)); };
                events_.put(std::to_string(::getpid()));
                return answer_text(question, arguments, hear);
              }} {
    pool_.order(0);
  }

  /// Its events, the answer if it is there. Without the GIL.
  std::string wait() {
    std::string lines = events_.take(answered() ? 0 : 20);
    if (!answered())
      for (base::ProcessPool::Answer& answer : pool_.wait(0ms)) answer_ = std::move(answer);
    if (pid_ == 0 && !lines.empty()) {  // the first line
      pid_ = static_cast<pid_t>(std::stol(lines));
      lines.erase(0, lines.find('\n') + 1);
      if (stops_) stop();
    }
    return lines;
  }
  bool answered() const { return answer_.has_value(); }
  /// Asks it to come to an end, in order.
  void stop() {
    stops_ = true;
    if (pid_ > 0) ::kill(pid_, SIGINT);
  }

  std::string result() {
    if (answer_->error) throw *answer_->error;
    if (!answer_->death.empty())
      throw Error{Fault::kEnvironment, "trnsim", "the simulator " + answer_->death,
                  "check whether the host has free memory"};
    return std::move(answer_->bytes);
  }

 private:
  Pipe events_;
  base::ProcessPool pool_;
  std::optional<base::ProcessPool::Answer> answer_;
  pid_t pid_ = 0;       // known from its first line on
  bool stops_ = false;  // stop() was called
};

/// `lines` to the callback, then handles signals. Errors: as either raises.
void deliver(const std::string& lines, const py::object& callback) {
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    if (!callback.is_none()) callback(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  if (PyErr_CheckSignals() != 0) throw py::error_already_set{};
}

/// `orderly`: after Ctrl-C, or an exception of the callback, the work may save its state; a second one ends it.
std::string call(const std::string& question, const std::string& arguments, const py::object& callback, bool orderly) {
  std::optional<PendingAnswer> pending;
  pending.emplace(question, arguments, !callback.is_none());
  std::optional<py::error_already_set> stopped;
  bool last = false;
  while (!last) {
    last = pending->answered();  // once more: its last events
    std::string lines;
    {
      const WithoutGil free;
      lines = pending->wait();
    }
    try {
      deliver(stopped ? "" : lines, callback);
    } catch (py::error_already_set& error) {
      if (stopped || !orderly) throw;
      stopped.emplace(error);
      pending->stop();
    }
  }
  if (stopped) throw py::error_already_set{*stopped};
  return pending->result();
}

std::string ask(const std::string& question, const std::string& arguments) {
  const WithoutGil free;
  return answer_text(question, arguments, {});
}

}  // namespace

void bind_api(py::module_& m) {
  m.def("call", &call, "the answer of a child process, as JSON; `callback` hears each event as JSON");
  m.def("ask", &ask, "the answer of this process, as JSON: for quick questions");
}

}  // namespace trnsim_python
