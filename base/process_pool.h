// Work in child processes: each has its own memory, may run out of it, and dies without taking others along.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace base {

/// Children that are forked when there is work for them, and work until the pool ends. Ctrl-C, which reaches a whole
/// group of processes, is left to the parent to decide; children do not outlive it.
class ProcessPool {
 public:
  /// Computes an item in a child, which was forked when this item or an earlier one was ordered: it does not see
  /// later changes of the parent.
  using Work = std::function<std::string(std::size_t item)>;

  /// The outcome of an item: bytes, unless one of the other two is set.
  struct Answer {
    std::size_t item = 0;
    std::string bytes{};
    std::optional<Error> error{};  // as `work` threw it; what is not a base::Error becomes Fault::kInternal
    std::string death{};           // "was killed by signal 9 (Killed)": how the child ended
    bool killed = false;           // by SIGKILL, as the system does that lacks memory: no fault of the work
  };

  /// At most `processes` children at a time; `name` is used in errors.
  ProcessPool(std::size_t processes, std::string name, Work work);
  ~ProcessPool();
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  /// Items under way.
  std::size_t busy() const;
  bool has_room() const { return busy() < most_; }
  /// Starts an item; there must be room. It goes to an idle child whose last item had the same `affinity`, if there is
  /// one: that child may have kept something. Errors: Fault::kEnvironment when no process can be started.
  void order(std::size_t item, std::uint64_t affinity = 0);
  /// Whether an item of that affinity is under way.
  bool busy_with(std::uint64_t affinity) const;
  /// Waits until an item is done, or for so long, and takes all that are done. Nothing under way: returns at once.
  std::vector<Answer> wait(std::optional<std::chrono::milliseconds> patience = {});

 private:
  class Child;

  std::size_t most_;
  std::string name_;
  Work work_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace base
