// The slices, arrows and counters of a record, in the order in which a TraceSink wants them.
#pragma once

#include <set>
#include <string>

#include "analysis/trace/trace.h"
#include "analysis/trace/trace_sink.h"

namespace analysis {

enum class Detail { kCalls, kOps, kInstructions };

/// The part of the record to show. Times in femtoseconds.
struct TimelineWindow {
  hw::Fs from = 0, until = 0;
  std::set<std::string> lanes;  // "tensor", ..., "dma", "collective"
  bool shows(hw::Fs begin, hw::Fs end) const { return end > from && begin < until; }
};

/// Tells everything to `sink`; `bytes` and `detail` of the summary are left to the caller.
TraceSummary write_timeline(const Record& record, Detail detail, const TimelineWindow& window, TraceSink& sink);

}  // namespace analysis
