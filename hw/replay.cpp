#include "hw/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hw {
namespace {

/// Calls "took the same time" within this part of it.
constexpr double kSame = 1e-4;

Fs length(const CallTime& call) { return call.end - call.begin; }

}  // namespace

void DataWindows::add(Fs begin, Fs end) {
  if (end <= begin) return;
  const auto place = std::ranges::find_if(windows_, [&](const Window& w) { return w.begin > begin; });
  windows_.insert(place, {begin, end});
}

Fs DataWindows::overlap(Fs begin, Fs end) const {
  Fs sum = 0;
  for (const Window& w : windows_) {
    const Fs from = std::max(w.begin, begin), to = std::min(w.end, end);
    if (to > from) sum += to - from;
  }
  return sum;
}

Fs DataWindows::next_change(Fs now) const {
  Fs next = std::numeric_limits<Fs>::max();
  for (const Window& w : windows_) {
    if (w.end > now) next = std::min(next, w.begin > now ? w.begin : w.end);
  }
  return next;
}

void DataWindows::forget_before(Fs now) {
  std::erase_if(windows_, [&](const Window& w) { return w.end <= now; });
}

void Replay::learn(const Record& record, const DataWindows& windows, bool power_settled) {
  const Fs beside = windows.overlap(record.time.begin, record.time.end);
  if (beside != 0 && beside != length(record.time)) return;  // at neither pace
  Pace& pace = known_[record.time.block][beside == 0 ? kNothing : kCollective];
  const auto now = static_cast<double>(length(record.time));
  pace.stable = power_settled && pace.seen > 0 && std::abs(now - pace.duration()) <= kSame * now;
  pace.last = record;
  ++pace.seen;
}

std::optional<Fs> Replay::end(std::uint32_t block, Fs begin, const DataWindows& windows) const {
  double left = 1;  // part of the call that is still to be done
  for (Fs now = begin;;) {
    const Pace& pace = known_[block][windows.moving(now) ? kCollective : kNothing];
    if (!pace.stable) return std::nullopt;
    if (pace.duration() == 0) return now;
    const Fs change = windows.next_change(now);
    const auto end = now + static_cast<Fs>(std::llround(left * pace.duration()));
    if (end <= change) return end;
    left -= static_cast<double>(change - now) / pace.duration();
    now = change;
  }
}

Replay::Record Replay::repeat(std::uint32_t block, Fs begin, Fs end) const {
  const auto& paces = known_[block];
  // The record that is no longer than the call: what a collective adds is time that the engines wait for their data.
  const Pace& pace = paces[kNothing].stable ? paces[kNothing] : paces[kCollective];
  Record record = pace.last;
  const Fs was = length(record.time), is = end - begin;
  for (EngineTime& engine : record.time.engines) {
    if (is >= was) {
      engine.waiting[static_cast<int>(Hold::kDma)] += is - was;
    } else {  // by rounding alone
      Fs excess = was - is;
      for (Fs* part : {&engine.idle, &engine.waiting[static_cast<int>(Hold::kDma)], &engine.busy}) {
        const Fs cut = std::min(*part, excess);
        *part -= cut;
        excess -= cut;
      }
    }
  }
  record.time.begin = begin;
  record.time.end = end;
  record.time.replayed = true;
  return record;
}

}  // namespace hw
