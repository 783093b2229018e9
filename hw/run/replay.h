// Knowledge about a block from its earlier calls, so that a call that would repeat one is not simulated again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/core/sequencer.h"
#include "hw/trace.h"

namespace hw {

/// When data of collectives moves on this core; intervals that do not overlap, in order of time.
class DataWindows {
 public:
  void add(Fs begin, Fs end);
  /// Femtoseconds of [begin, end) with data moving.
  Fs overlap(Fs begin, Fs end) const;
  /// The first time after `now` at which data starts or stops moving; 2^64-1 when it never does.
  Fs next_change(Fs now) const;
  bool moving(Fs now) const { return overlap(now, now + 1) > 0; }
  void forget_before(Fs now);

  struct Window {
    Fs begin, end;
  };
  /// Those that meet [begin, end), cut to it and counted from `begin`.
  std::vector<Window> within(Fs begin, Fs end) const;

 private:
  std::vector<Window> windows_;
};

/// Two simulated calls of a block in a row that took the same time, once without and once with a collective's data
/// beside them, tell how long any later call takes: its progress runs at the one pace or the other. And two that had
/// data beside them in the same part of their time, as a gather that was asked for ahead has in each layer, tell how
/// long a call with data in that part takes.
class Replay {
 public:
  struct Record {
    CallTime time;
    Sequencer::Slots slots;
  };

  void reset(std::size_t blocks) { known_.assign(blocks, {}), patterns_.assign(blocks, {}); }

  /// A simulated call; `power_settled`: it left the power budget no emptier than it found it.
  void learn(const Record& record, const DataWindows& windows, bool power_settled);

  /// The record of a call of `block` that begins at `begin`: as simulated, its times moved; nothing when it must be
  /// simulated.
  std::optional<Record> repeat(std::uint32_t block, Fs begin, const DataWindows& windows) const;

 private:
  struct Pace {
    Record last;
    std::uint32_t seen = 0;
    bool stable = false;
    double duration() const { return static_cast<double>(last.time.end - last.time.begin); }
  };
  enum Beside { kNothing, kCollective };
  struct Pattern {
    std::vector<DataWindows::Window> windows;  // counted from the call's begin
    Pace pace;
  };
  std::optional<Fs> end(std::uint32_t block, Fs begin, const DataWindows& windows) const;
  Record moved(std::uint32_t block, Fs begin, Fs end) const;
  /// Place of the pattern of the block with these windows; as many as there are when it has none.
  std::size_t pattern(std::uint32_t block, const std::vector<DataWindows::Window>& windows, Fs length) const;

  std::vector<std::array<Pace, 2>> known_;
  std::vector<std::vector<Pattern>> patterns_;  // of each block, the latest last
};

}  // namespace hw
