// The lines of a rank in a timeline, and what they share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analysis/trace/trace_timeline.h"

namespace analysis {

// From top to bottom; a track's number is rank * kRankTracks + line + 1.
inline constexpr std::uint64_t kRankTracks = 64;
inline constexpr int kCallLine = 0, kEngineLine = 1, kDmaLine = kEngineLine + isa::kEngineCount;
inline constexpr int kCcLine = kDmaLine + isa::kDmaQueues, kCounterLine = kCcLine + isa::kCcQueues;

inline std::uint64_t track_of(std::uint32_t rank, int line) {
  return rank * kRankTracks + static_cast<std::uint64_t>(line) + 1;
}

inline int line_of(const hw::TraceEvent& event) {
  switch (event.track) {
    case hw::TraceEvent::Track::kEngine: return kEngineLine + event.lane;
    case hw::TraceEvent::Track::kDmaRing: return kDmaLine + event.lane;
    default: return kCcLine + event.lane;
  }
}

/// The process of a rank's lines.
inline std::uint64_t chip_of(const Record& record, std::uint32_t rank) {
  return rank / std::max(1u, record.info.cores_per_chip);
}

inline const InstrWork& work_of(const Record& record, const hw::TraceEvent& event) {
  return record.work[record.program.calls[event.call].block][event.instr];
}

/// The counters below the lines: SBUF, PSUM and HBM in use, load of the PE array, bandwidth of HBM; the last one from
/// `events` (by number) where they are transfers, else by call. Returns how many values they have.
std::uint64_t write_counters(const Record& record, const TimelineWindow& window, std::span<const std::size_t> events,
                             TraceSink& sink);

}  // namespace analysis
