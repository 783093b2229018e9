// The 16 DMA engines of one core and their rings.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include <systemc>

#include "hw/core/semaphores.h"
#include "hw/memory/hbm.h"
#include "hw/params.h"
#include "hw/timed_block.h"

namespace hw {

/// Moves transfers: in order within a ring, the rings alongside each other. The engines are a pool: a transfer spreads
/// its descriptors over as many as it has descriptors for, and engines take turns between rings packet by packet, which
/// amounts to equal shares. Above the rings, the path shared by all engines of the core slows them down together.
/// Bookings of engines and HBM by collectives come first.
class Dma : public sc_core::sc_module {
 public:
  /// Called when the transfer of an instruction starts to move and when it is complete.
  struct Listener {
    std::function<void(std::uint32_t index, std::uint8_t ring, Fs begin)> begins;
    std::function<void(std::uint32_t index, std::uint8_t ring, Fs begin, Fs end)> completes;
  };

  SC_HAS_PROCESS(Dma);
  Dma(sc_core::sc_module_name name, const MachineParams& machine, HbmStack& hbm, Listener listener);

  /// The sequencer rings the doorbell at `when` (now or later); the data begins to move `dma.start` after it. Where
  /// hardware makes the descriptors, the unit that is free first makes all of a DMA's.
  void submit(std::uint8_t ring, const Transfer& transfer, std::uint32_t index, Fs when);
  /// A collective uses `width` engines from `begin` to `end`.
  void book(Fs begin, Fs end, double width);
  /// HBM or engine bookings changed.
  void retune() { step_.notify(sc_core::SC_ZERO_TIME); }

  bool idle() const { return pending_ == 0; }
  /// Time with at least one transfer moving since the last call of this function.
  Fs take_active_time();

 private:
  struct Job {
    const Transfer* transfer;
    std::uint32_t index;
    Fs ready;
    Fs begin = 0;
    double work = 0;   // fs of one engine, its latency included
    double left = 0;   // of that
    double width = 0;  // engines at work on it now, after sharing
    bool moving = false;
  };

  /// f(ring) for the rings of a set, a bit each, from the lowest on.
  static void each(std::uint32_t rings, const auto& f) {
    for (; rings != 0; rings &= rings - 1) f(static_cast<std::uint8_t>(std::countr_zero(rings)));
  }

  void wake();
  void step();
  void advance(Fs now);
  void start_ready(Fs now);
  void share(Fs now);
  Fs next_event(Fs now);

  const double engines_;
  const Fs start_, generation_;
  std::vector<Fs> generators_;  // when each has made its last descriptors
  HbmStack& hbm_;
  const double turnaround_;
  Listener listener_;
  std::array<std::deque<Job>, isa::kDmaQueues> rings_;
  std::uint32_t filled_ = 0, moving_ = 0;  // a bit for each ring with jobs, and for those whose first one moves
  Bookings collectives_;
  sc_core::sc_event step_;
  /// The resources that jobs share at a time: engines, and bytes per femtosecond of HBM.
  struct Free {
    double engines = 0, hbm = 0;
    bool operator==(const Free&) const = default;
  };
  Free free_;             // when it was given out last
  bool changed_ = false;  // which jobs move, since then
  Fs last_ = 0;
  Fs active_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace hw
