// The compute engines: how long an instruction occupies its engine, and when its result is ready.
#pragma once

#include <algorithm>
#include <array>

#include "hw/core/power.h"
#include "hw/memory/sram.h"
#include "hw/timed_block.h"
#include "hw/trace.h"

namespace hw {

/// VectorE, ScalarE, GpSimdE, and the doorbells of any sequencer.
class Engine {
 public:
  explicit Engine(Ports& ports) : ports_{ports} {}
  virtual ~Engine() = default;

  /// Computes when an instruction starts, at or after `ready`, and when it retires; books its delays in `time`. Results
  /// of an engine retire in order. Calls come in program order; with ports, also in order of time over all engines.
  struct Issue {
    Fs begin = 0;
    Fs done = 0;
  };
  Issue issue(const Price& price, Fs ready, EngineTime& time) {
    const Fs begin = this->begin(price, ready, time);
    done_ = std::max(done_, begin + price.latency);
    return {begin, done_};
  }
  Fs done() const { return done_; }
  /// The earliest end of all its work: later than the next start when parts of the engine work independently.
  virtual Fs busy_until() const { return 0; }
  Ports& ports() { return ports_; }

 protected:
  virtual Fs begin(const Price& price, Fs ready, EngineTime& time) {
    if (price.ports == kNoPort) return ready;
    const Fs begin = ports_.reserve(price.ports, ready, price.occupy);
    time.waiting[static_cast<int>(Hold::kPort)] += begin - ready;
    return begin;
  }

 private:
  Ports& ports_;
  Fs done_ = 0;  // when the last issued instruction retires
};

/// TensorE: loads the next stationary tile while a matmul runs; the chip's power limit throttles it.
class TensorEngine final : public Engine {
 public:
  /// `swap`: the time to switch to the next, loaded stationary tile.
  TensorEngine(Ports& ports, const PowerLimit& power, const ColdStart& cold, Fs swap)
      : Engine{ports}, power_{power}, cold_{cold}, swap_{swap} {}
  PowerLimit& power() { return power_; }
  ColdStart& cold() { return cold_; }

 protected:
  Fs begin(const Price& price, Fs ready, EngineTime& time) override {
    if (price.kind != Price::Kind::kMatMul) return ready;
    // The load needs its operand, and the spare half of the weight buffer: free once the previous matmul has started.
    // With both known, `ready` is when the sequencer released the instruction, and `operands_` never precedes that
    // matmul.
    const Fs load_begin = std::max(operands_, previous_begin_);
    const Fs loaded = price.load > 0 ? load_begin + static_cast<Fs>(price.load) : ready;
    Fs begin = std::max(ready, loaded) + (price.load > 0 ? swap_ : 0);
    time.waiting[static_cast<int>(Hold::kStationary)] += begin - ready;
    const Fs occupied = free_in(price.squares);
    if (occupied > begin) {  // the array works until then
      time.busy += occupied - begin;
      begin = occupied;
    }
    const Fs allowed = power_.start(std::max(begin, cold_.next()), price.charge);
    if (cold_.ramps()) {
      const Fs held = price.apart > 0 ? static_cast<Fs>(price.apart) : price.occupy;
      cold_.work(allowed, held, price.charge / static_cast<double>(price.occupy));
    }
    time.waiting[static_cast<int>(Hold::kPower)] += allowed - begin;
    previous_begin_ = allowed;
    keep(price, allowed + price.occupy);
    return allowed;
  }

 public:
  Fs busy_until() const override { return busy_until_; }
  /// Sets when the waits of the next instruction were met: its stationary tile may be loaded from then on.
  void operands_at(Fs when) { operands_ = when; }

 private:
  /// The time when all of these squares of the array are free.
  Fs free_in(std::uint16_t squares) const {
    Fs free = 0;
    for (std::size_t s = 0; parted_ && s < squares_.size(); ++s)
      if (squares >> s & 1) free = std::max(free, squares_[s]);
    return free;
  }
  void keep(const Price& price, Fs until) {
    if (price.apart > 0) parted_ = true;
    if (!parted_) return;
    busy_until_ = std::max(busy_until_, until);
    for (std::size_t s = 0; s < squares_.size(); ++s)
      if (price.squares >> s & 1) squares_[s] = until;
  }

  PowerLimit power_;
  ColdStart cold_;
  const Fs swap_;
  Fs operands_ = 0;
  Fs previous_begin_ = 0;
  Fs busy_until_ = 0;             // of the part of the array that finishes last
  std::array<Fs, 16> squares_{};  // when each becomes free; tracked once a matmul occupies a part of the array
  bool parted_ = false;
};

}  // namespace hw
