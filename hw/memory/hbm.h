// A core's part of an HBM stack: the bandwidth that collectives have booked, and the rest for the core that owns
// it.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "hw/trace.h"

namespace hw {

/// Bookings of a shared resource, each of one amount from `begin` to `end`.
class Bookings {
 public:
  static constexpr Fs kNever = std::numeric_limits<Fs>::max();

  void add(Fs begin, Fs end, double amount) {
    if (end > begin && amount > 0) bookings_.push_back({begin, end, amount});
  }
  double booked(Fs now) const {
    double sum = 0;
    for (const auto& b : bookings_) sum += b.begin <= now && now < b.end ? b.amount : 0;
    return sum;
  }
  /// The next time after `now` at which booked() changes.
  Fs change_after(Fs now) const {
    Fs next = kNever;
    for (const auto& b : bookings_) {
      if (b.end > now) next = std::min(next, b.begin > now ? b.begin : b.end);
    }
    return next;
  }
  void forget_before(Fs now) {
    std::erase_if(bookings_, [&](const Booking& b) { return b.end <= now; });
  }
  /// The same as change_after(). Forgets what is over.
  Fs next_change(Fs now) {
    forget_before(now);
    return change_after(now);
  }

 private:
  struct Booking {
    Fs begin, end;
    double amount;
  };
  std::vector<Booking> bookings_;
};

/// The share of a core's DMA engines and of its HBM that collectives leave to it at the least: their packets are 16
/// times as long as a copy's, and rings take turns packet by packet (runtime configuration guide).
inline constexpr double kLeftByCollectives = 1.0 / 16;

/// One core's part of a stack, of its bytes and of its bandwidth. Its core reads and writes it through the DMA engines;
/// a collective moves other cores' data through it as well, and comes first.
class HbmStack {
 public:
  explicit HbmStack(double bandwidth) : bandwidth_{bandwidth} {}

  void book(Fs begin, Fs end, double bandwidth) { collectives_.add(begin, end, bandwidth); }
  /// B/s left for the core at `now`; never nothing, so that a copy cannot starve.
  double available(Fs now) const {
    return std::max(bandwidth_ - collectives_.booked(now), bandwidth_ * kLeftByCollectives);
  }
  Fs next_change(Fs now) { return collectives_.next_change(now); }

 private:
  double bandwidth_;
  Bookings collectives_;
};

}  // namespace hw
