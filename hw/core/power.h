// The chip's power limit, for one core's TensorE.
#pragma once

#include <algorithm>

#include "hw/trace.h"

namespace hw {

/// A token bucket in femtoseconds of a fully used PE array. It fills at `limit` per femtosecond up to the size of a
/// burst, so that the average over a window stays below the limit and a short burst runs at full speed. A matmul is
/// charged for the part of the array that it uses: idle PEs draw little.
class PowerLimit {
 public:
  struct State {
    double tokens = 0;
    Fs at = 0;  // the time of that count: the last start
  };

  /// `limit`: highest sustained utilisation, 0..1; `window`: over which it is averaged.
  PowerLimit(double limit, Fs window)
      : limit_{limit}, burst_{static_cast<double>(window) * (1 - limit)}, level_{burst_} {}

  /// The earliest start at or after `when` of work worth `charge`; takes the tokens. Calls come in order of time.
  Fs start(Fs when, double charge) {
    refill(when);
    const double missing = std::max(0.0, charge * (1 - limit_) - level_);
    const Fs at = when + static_cast<Fs>(missing / limit_);
    refill(at);
    level_ -= charge;
    return at;
  }

  /// Tokens at the last start, relative to a full bucket: 0..1 (slightly below 0 while throttled).
  double level() const { return burst_ > 0 ? level_ / burst_ : 1; }

  State state() const { return {level_, at_}; }
  void set(const State& state) { level_ = state.tokens, at_ = state.at; }
  /// Tokens available at `when`.
  double tokens(Fs when) const {
    return when <= at_ ? level_ : std::min(burst_, level_ + limit_ * static_cast<double>(when - at_));
  }

 private:
  void refill(Fs when) {
    level_ = tokens(when);
    at_ = std::max(at_, when);
  }

  double limit_;
  double burst_;
  double level_;
  Fs at_ = 0;
};

/// The limit on the change of current (dI/dt): a PE array at rest starts at a part of its rate, until its activity has
/// been high for a while. Source: AWS Neuron docs, neuron-explorer overview: "starts at roughly 50 % and ramps over
/// about 3 us"; v3_mm_bf16_512_s2s: at half the rate in steps, no gradual rise. Assumed: activity counts as high when
/// more than half of the array works, as a monitor that sees the array's current would have it; a warm array cools as
/// slowly.
class ColdStart {
 public:
  struct State {
    Fs warm = 0;  // of `ramp`: how much of the way to warm, or from warm to cold, is done
    Fs end = 0;   // when the last work ended
    bool hot = false;
  };

  /// `rate`: of a cold array, 0..1.
  ColdStart(double rate, Fs ramp) : rate_{rate}, ramp_{rate < 1 ? ramp : 0} { state_.hot = ramp_ == 0; }

  /// Whether this array is ever cold.
  bool ramps() const { return ramp_ > 0; }
  /// Work of `use` of the array, 0..1, from `begin`; calls come in order of time.
  void work(Fs begin, Fs occupy, double use) {
    if (ramp_ == 0) return;
    State next = at(begin);
    const Fs held = next.hot ? occupy : static_cast<Fs>(static_cast<double>(occupy) / rate_);
    next_ = next.hot ? 0 : begin + held;
    change(next, (2 * use - 1) * static_cast<double>(held));
    next.end = begin + held;
    state_ = next;
  }
  /// The earliest start of the next work.
  Fs next() const { return next_; }
  /// The state at `when`, with the pause since the last work.
  State at(Fs when) const {
    State out = state_;
    if (ramp_ > 0 && when > out.end) change(out, -static_cast<double>(when - out.end));
    if (out.end < when) out.end = when;
    return out;
  }
  const State& state() const { return state_; }
  void set(const State& state) { state_ = state, next_ = 0; }

 private:
  void change(State& state, double by) const {
    const double warm = std::clamp(static_cast<double>(state.warm) + by, 0.0, static_cast<double>(ramp_));
    state.warm = static_cast<Fs>(warm);
    if (state.warm == ramp_) state.hot = true;
    if (state.warm == 0) state.hot = false;
  }

  double rate_;
  Fs ramp_;
  Fs next_ = 0;
  State state_;
};

}  // namespace hw
