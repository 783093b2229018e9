// A record on a time line: for ui.perfetto.dev, for Chrome's viewer, and for simulators that read Chakra traces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/record/record.h"

namespace analysis {

struct TraceOptions {
  /// "calls": phases, block calls, collectives; "ops": a slice for each run of instructions of one op on a lane;
  /// "instructions": these with their instructions inside; "auto": the finest that the record has events for and that
  /// stays below `limit_bytes`.
  std::string detail = "auto";
  double from = 0, until = 0;      // seconds of simulated time; until 0: to the end
  std::vector<std::string> lanes;  // "tensor", ..., "sync", "dma", "collective"; empty: all
  std::uint64_t limit_bytes = 50'000'000;
};

/// Totals of the written trace.
struct TraceSummary {
  std::string detail;
  std::uint64_t slices = 0, flows = 0, counter_values = 0, bytes = 0;
};

/// `format`: "pftrace" (Perfetto's protobuf) or "json" (Chrome's). Written as a stream; the file is complete or absent.
/// Errors: Fault::kUsage for an unknown format, detail or lane, an empty window, a detail finer than calls without
/// recorded events; Fault::kEnvironment.
TraceSummary write_trace(const Record& record, const std::filesystem::path& path, std::string_view format,
                         const TraceOptions& options);

/// How much of the requested window has its instructions, in s of the recorded core's calls.
struct TraceCover {
  double requested = 0, recorded = 0;
};
TraceCover cover_of(const Record& record);

/// The calls and collectives of one core as a Chakra execution trace (ASTRA-sim 2.0 reads it). `slices` counts nodes.
TraceSummary write_chakra(const Record& record, const std::filesystem::path& path);

}  // namespace analysis
