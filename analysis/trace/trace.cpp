// write_trace(): the window, the level of detail, the stream to the file.
#include "analysis/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/trace/trace_timeline.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

constexpr std::size_t kBuffer = 1 << 18;
const std::vector<std::string> kLanes = {"tensor", "vector", "scalar", "gpsimd", "sync", "dma", "collective"};
const std::vector<std::string> kFormats = {"pftrace", "json"};
constexpr std::array kDetails = {"calls", "ops", "instructions"};

std::unique_ptr<TraceSink> make_sink(std::string_view format, ByteSink out) {
  return format == "json" ? make_chrome_sink(std::move(out)) : make_perfetto_sink(std::move(out));
}

TimelineWindow window_of(const Record& record, const TraceOptions& options) {
  TimelineWindow window{.from = hw::fs_of(options.from),
                        .until = options.until > 0 ? hw::fs_of(options.until) : record.result.total + 1,
                        .lanes = {options.lanes.begin(), options.lanes.end()}};
  for (const std::string& lane : options.lanes) {
    if (std::ranges::find(kLanes, lane) != kLanes.end()) continue;
    throw Error{Fault::kUsage, "`lanes`", fmt::format("'{}' is not a lane", lane), base::suggest_fix(lane, kLanes)};
  }
  if (options.from < 0 || window.from >= window.until || window.from > record.result.total) {
    throw Error{Fault::kUsage, "window", "does not overlap with the run",
                fmt::format("choose times from 0 to {:.6g} s", hw::seconds(record.result.total))};
  }
  return window;
}

/// The requested detail; for "auto" the finest that stays below the limit.
Detail choose_detail(const Record& record, std::string_view format, const TraceOptions& options,
                     const TimelineWindow& window) {
  const bool events = !record.result.events.empty();
  if (options.detail != "auto") {
    const auto found = std::ranges::find(kDetails, options.detail);
    if (found == kDetails.end()) {
      throw Error{Fault::kUsage, "`detail`", fmt::format("'{}' is not a level of detail", options.detail),
                  "choose auto, calls, ops or instructions"};
    }
    const auto detail = static_cast<Detail>(found - kDetails.begin());
    if (detail == Detail::kCalls || events) return detail;
    throw Error{Fault::kUsage, "`detail`", "the run recorded no instructions",
                "run it again with `trace_steps` 1, or choose calls"};
  }
  if (!events) return Detail::kCalls;
  for (const Detail detail : {Detail::kInstructions, Detail::kOps}) {
    std::uint64_t bytes = 0;
    const auto sink = make_sink(format, [&](std::string_view piece) { bytes += piece.size(); });
    write_timeline(record, detail, window, *sink);
    if (bytes <= options.limit_bytes) return detail;
  }
  return Detail::kCalls;
}

}  // namespace

TraceCover cover_of(const Record& record) {
  const RecordInfo& info = record.info;
  const auto& calls = record.result.calls;
  std::vector<bool> recorded(calls.size());
  for (const hw::TraceEvent& event : record.result.events)
    if (event.rank == record.result.rank) recorded[event.call] = true;
  TraceCover cover;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const hw::CallTime& call = calls[c];
    const hw::Fs from = std::max(call.begin, info.trace_from), until = std::min(call.end, info.trace_until);
    if (until <= from || (info.trace_layer >= 0 && call.layer != info.trace_layer)) continue;
    const double seconds = hw::seconds(until - from);
    cover.requested += seconds;
    if (recorded[c]) cover.recorded += seconds;
  }
  return cover;
}

TraceSummary write_trace(const Record& record, const std::filesystem::path& path, std::string_view format,
                         const TraceOptions& options) {
  if (std::ranges::find(kFormats, format) == kFormats.end()) {
    throw Error{Fault::kUsage, "`format`", fmt::format("'{}' is not a format of a trace", format),
                base::suggest_fix(format, kFormats)};
  }
  const TimelineWindow window = window_of(record, options);
  const Detail detail = choose_detail(record, format, options, window);
  base::AtomicFile file{path};
  std::string buffer;
  std::uint64_t bytes = 0;
  const auto sink = make_sink(format, [&](std::string_view piece) {
    bytes += piece.size();
    buffer.append(piece);
    if (buffer.size() < kBuffer) return;
    file.write(buffer);
    buffer.clear();
  });
  TraceSummary summary = write_timeline(record, detail, window, *sink);
  file.write(buffer);
  file.commit();
  summary.detail = kDetails.at(static_cast<std::size_t>(detail));
  summary.bytes = bytes;
  return summary;
}

}  // namespace analysis
