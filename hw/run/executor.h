// Does things at their simulated time, in order: what the full mode hangs its instructions on.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include <systemc>

#include "hw/core/clock.h"
#include "hw/core/process.h"
#include "hw/trace.h"

namespace hw {

/// At equal times, retirements come before starts: an instruction may start at the time its operand is ready.
class Executor : public sc_core::sc_module {
 public:
  struct Work {
    enum class Kind : std::uint8_t { kRetire, kCollectiveEnd, kBegin, kCollectiveBegin };
    Fs when = 0;
    Kind kind = Kind::kRetire;
    std::uint64_t order = 0;  // set by at()
    std::uint32_t rank = 0;
    std::uint32_t call = 0;
    std::uint32_t index = 0;  // of the instruction in its block; collectives: of the listener's own
    bool operator>(const Work& other) const {
      return std::tie(when, kind, order) > std::tie(other.when, other.kind, other.order);
    }
  };

  SC_HAS_PROCESS(Executor);
  explicit Executor(sc_core::sc_module_name name) : sc_module{name} {
    SC_METHOD(wake);
    sensitive << due_;
    dont_initialize();
  }

  void listen(std::function<void(const Work&)> listener) { listener_ = std::move(listener); }
  void at(Work work) {
    work.order = ++count_;
    queue_.push(work);
    due_.notify(time_until(queue_.top().when));
  }

 private:
  void wake() {
    guarded([this] {
      while (!queue_.empty() && queue_.top().when <= time_now()) {
        const Work work = queue_.top();
        queue_.pop();
        listener_(work);
      }
      if (!queue_.empty()) due_.notify(time_until(queue_.top().when));
    });
  }

  std::function<void(const Work&)> listener_;
  std::priority_queue<Work, std::vector<Work>, std::greater<>> queue_;
  std::uint64_t count_ = 0;
  sc_core::sc_event due_;
};

}  // namespace hw
