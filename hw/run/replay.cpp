#include "hw/run/replay.h"

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

std::vector<DataWindows::Window> DataWindows::within(Fs begin, Fs end) const {
  std::vector<Window> out;
  for (const Window& w : windows_) {
    const Fs from = std::max(w.begin, begin), to = std::min(w.end, end);
    if (to > from) out.push_back({from - begin, to - begin});
  }
  return out;
}

void DataWindows::forget_before(Fs now) {
  std::erase_if(windows_, [&](const Window& w) { return w.end <= now; });
}

std::size_t Replay::pattern(std::uint32_t block, const std::vector<DataWindows::Window>& windows, Fs length) const {
  const double allowed = kSame * static_cast<double>(length);
  const auto near = [&](Fs a, Fs b) { return static_cast<double>(a > b ? a - b : b - a) <= allowed; };
  const auto same = [&](const DataWindows::Window& a, const DataWindows::Window& b) {
    return near(a.begin, b.begin) && near(a.end, b.end);
  };
  const auto found = std::ranges::find_if(
      patterns_[block], [&](const Pattern& known) { return std::ranges::equal(known.windows, windows, same); });
  return static_cast<std::size_t>(found - patterns_[block].begin());
}

void Replay::learn(const Record& record, const DataWindows& windows, bool power_settled) {
  constexpr std::size_t kMostPatterns = 8;
  const std::uint32_t block = record.time.block;
  const Fs beside = windows.overlap(record.time.begin, record.time.end);
  const bool part = beside != 0 && beside != length(record.time);  // at neither pace
  std::vector<Pattern>& patterns = patterns_[block];
  std::size_t place = 0;
  if (part) {
    const auto beside_it = windows.within(record.time.begin, record.time.end);
    place = pattern(block, beside_it, length(record.time));
    if (place == patterns.size()) {
      if (patterns.size() == kMostPatterns) patterns.erase(patterns.begin()), --place;
      patterns.push_back({.windows = beside_it, .pace = {}});
    }
  }
  Pace& pace = part ? patterns[place].pace : known_[block][beside == 0 ? kNothing : kCollective];
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

std::optional<Replay::Record> Replay::repeat(std::uint32_t block, Fs begin, const DataWindows& windows) const {
  for (std::size_t i = 0; i < patterns_[block].size(); ++i) {
    const Pace& pace = patterns_[block][i].pace;
    const Fs duration = length(pace.last.time);
    if (!pace.stable || pattern(block, windows.within(begin, begin + duration), duration) != i) continue;
    Record record = pace.last;
    record.time.begin = begin;
    record.time.end = begin + duration;
    record.time.replayed = true;
    return record;
  }
  const auto at = end(block, begin, windows);
  return at ? std::optional{moved(block, begin, *at)} : std::nullopt;
}

Replay::Record Replay::moved(std::uint32_t block, Fs begin, Fs end) const {
  const auto& paces = known_[block];
  // The record that is no longer than the call: the time that a collective adds is spent waiting for data.
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
