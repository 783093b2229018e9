// Where the two physical cores of a logical one wait for each other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <systemc>

#include "hw/trace.h"

namespace hw {

/// Ranks 2n and 2n + 1 share a logical core. A core that is not simulated is taken to arrive with the other one.
/// Source: nki.isa.core_barrier: each core writes a semaphore of the other one and waits for its own; two cores that
/// share an HBM stack.
class Meetings {
 public:
  using Place = std::pair<std::uint32_t, std::int64_t>;  // the call, and the number of the meeting in it

  /// Programs begin: `simulated[r]` says whether rank r is.
  void reset(std::vector<bool> simulated) {
    simulated_ = std::move(simulated);
    met_.clear();
  }

  /// `rank` gets there at `when`: when the other core does; nothing when that is not known yet, and `wake` is notified
  /// once it is.
  std::optional<Fs> arrive(std::uint32_t rank, Place place, Fs when, sc_core::sc_event& wake) {
    const std::uint32_t other = rank ^ 1U;
    if (other >= simulated_.size() || !simulated_[other]) return when;
    auto& sides = met_[{rank / 2, place}];
    Side &mine = sides.at(rank % 2), &theirs = sides.at(other % 2);
    mine = {.when = when, .wake = theirs.when ? nullptr : &wake};
    if (sc_core::sc_event* waiting = std::exchange(theirs.wake, nullptr)) waiting->notify();
    return theirs.when;
  }

 private:
  struct Side {
    std::optional<Fs> when;             // nothing: it has not arrived
    sc_core::sc_event* wake = nullptr;  // while it waits
  };
  std::vector<bool> simulated_;
  std::map<std::pair<std::uint32_t, Place>, std::array<Side, 2>> met_;
};

}  // namespace hw
