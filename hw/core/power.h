// The chip's power limit, as one core's TensorE feels it.
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
    Fs at = 0;  // when there were so many: at the last start
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

  /// Tokens at the last start, of those a burst may take: 0..1 (a little below 0 while throttled).
  double level() const { return burst_ > 0 ? level_ / burst_ : 1; }

  State state() const { return {level_, at_}; }
  void set(const State& state) { level_ = state.tokens, at_ = state.at; }
  /// Tokens that there are at `when`.
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

}  // namespace hw
