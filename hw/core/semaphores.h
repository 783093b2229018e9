// The semaphores of one core, kept as time lines: when each was, or will be, raised for the n-th time.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <systemc>

#include "hw/trace.h"
#include "isa/instr.h"

namespace hw {

/// An engine knows at issue when its instruction will retire, so the raise is entered ahead of time and a waiter that
/// arrives later needs no event: it reads the time. Only a wait for a raise that is not entered yet blocks.
class Semaphores {
 public:
  /// A block call begins: all counts are zero again.
  void reset() {
    for (auto& line : raised_) line.clear();
  }

  /// Enters the next raise of `sem`, at `when`; raises of one semaphore come in order of time.
  void raise(int sem, Fs when) {
    auto& line = raised_[sem];
    line.push_back(line.empty() ? when : std::max(when, line.back()));
    if (waiters_[sem].empty()) return;
    std::erase_if(waiters_[sem], [&](const Waiter& waiter) {
      if (waiter.count > line.size()) return false;
      waiter.wake->notify();
      return true;
    });
  }

  /// When `wait` is met; nothing when that is not known yet.
  std::optional<Fs> when(const isa::Wait& wait) const {
    const auto& line = raised_[wait.sem];
    if (wait.count > line.size()) return std::nullopt;
    return wait.count == 0 ? 0 : line[wait.count - 1];
  }

  /// Notifies `wake` once when the time of `wait` becomes known.
  void hold(const isa::Wait& wait, sc_core::sc_event& wake) { waiters_[wait.sem].push_back({wait.count, &wake}); }

  std::size_t count(int sem) const { return raised_[sem].size(); }

 private:
  struct Waiter {
    std::uint32_t count;
    sc_core::sc_event* wake;
  };
  std::array<std::vector<Fs>, isa::kSemaphores> raised_;
  std::array<std::vector<Waiter>, isa::kSemaphores> waiters_;
};

}  // namespace hw
