#include "analysis/trace/trace_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/trace/trace_flows.h"
#include "analysis/trace/trace_lines.h"
#include "base/error.h"
#include "isa/names.h"

namespace analysis {
namespace {

using hw::TraceEvent;

std::string line_name(int line) {
  if (line == kCallLine) return "calls";
  if (line < kDmaLine) return std::string{isa::name_of(static_cast<isa::Engine>(line - kEngineLine))};
  if (line < kCcLine) return fmt::format("dma{}", line - kDmaLine);
  return fmt::format("cc{}", line - kCcLine);
}

/// The name by which the user picks a line.
std::string lane_group(int line) {
  if (line >= kCcLine) return "collective";
  return line >= kDmaLine ? "dma" : line_name(line);
}

const isa::Block& block_of(const Record& record, const TraceEvent& event) {
  return record.program.blocks[record.program.calls[event.call].block];
}
const isa::Instr& instr_of(const Record& record, const TraceEvent& event) {
  return block_of(record, event).instrs[event.instr];
}
/// The label of an event's op.
std::string_view label_of(const Record& record, const TraceEvent& event) {
  const isa::Block& block = block_of(record, event);
  const std::uint32_t label = instr_of(record, event).label;
  return label < block.labels.size() ? std::string_view{block.labels[label]} : "(no label)";
}

class Timeline {
 public:
  Timeline(const Record& record, Detail detail, const TimelineWindow& window, TraceSink& sink)
      : record_{record}, result_{record.result}, detail_{detail}, window_{window}, sink_{sink}, nodes_{record.result} {}

  TraceSummary write() {
    choose_events();
    group_events();
    draw_flows();
    declare();
    write_calls();
    write_collectives();
    for (std::size_t g = 0; g < groups_.size(); ++g) write_group(g);
    summary_.counter_values = write_counters(record_, window_, order_, sink_);
    sink_.finish();
    return summary_;
  }

 private:
  /// Events of one op in a row on one line; a lone event unless instructions are merged into ops.
  struct Group {
    std::size_t first = 0, last = 0;  // into order_, inclusive
  };

  bool shown(int line) const { return window_.lanes.empty() || window_.lanes.contains(lane_group(line)); }

  const isa::Instr& instr(const TraceEvent& event) const { return instr_of(record_, event); }

  /// Line by line, each in order of time.
  void choose_events() {
    if (detail_ == Detail::kCalls) return;
    for (std::size_t e = 0; e < result_.events.size(); ++e) {
      const TraceEvent& event = result_.events[e];
      if (window_.shows(event.begin, event.end) && shown(line_of(event))) order_.push_back(e);
    }
    const auto key = [&](std::size_t e) {
      const TraceEvent& event = result_.events[e];
      return std::tuple{event.rank, line_of(event), event.begin, event.end};
    };
    std::ranges::stable_sort(order_, {}, key);
  }

  void group_events() {
    const auto op = [&](std::size_t i) {
      const TraceEvent& event = result_.events[order_[i]];
      return std::tuple{event.rank, line_of(event), event.call, instr(event).label};
    };
    group_of_.assign(result_.events.size(), kNoGroup);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (groups_.empty() || op(i) != op(groups_.back().first)) groups_.push_back({i, i});
      groups_.back().last = i;
      group_of_[order_[i]] = groups_.size() - 1;
    }
  }

  /// The node that represents `node` in the file: itself, or the group of an event when instructions are not shown.
  std::size_t drawn(std::size_t node) const {
    if (node >= nodes_.collectives) return node;
    if (group_of_[node] == kNoGroup) return kNoGroup;
    return detail_ == Detail::kInstructions ? node : order_[groups_[group_of_[node]].first];
  }

  bool visible(std::size_t node) const {
    if (node == kNoGroup) return false;
    if (node < nodes_.collectives) return true;
    if (node >= nodes_.calls) return window_.shows(call(node).begin, call(node).end);
    const hw::CollectiveTime& c = result_.collectives[node - nodes_.collectives];
    return window_.shows(c.begin, c.end) && shown(kCcLine + c.queue);
  }
  const hw::CallTime& call(std::size_t node) const { return result_.calls[node - nodes_.calls]; }

  void draw_flows() {
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (const Flow& flow : release_flows(record_)) {
      const std::pair arrow{drawn(flow.from), drawn(flow.to)};
      if (arrow.first == arrow.second || !visible(arrow.first) || !visible(arrow.second)) continue;
      if (!seen.insert(arrow).second) continue;
      out_[arrow.first].push_back(++summary_.flows);
      in_[arrow.second].push_back(summary_.flows);
    }
  }

  std::uint64_t pid(std::uint32_t rank) const { return chip_of(record_, rank); }

  void declare_line(std::uint32_t rank, int line) {
    if (!declared_.insert(track_of(rank, line)).second) return;
    if (processes_.insert(pid(rank)).second) sink_.process(pid(rank), fmt::format("chip {}", pid(rank)));
    sink_.thread(track_of(rank, line), pid(rank), fmt::format("core {} {}", rank, line_name(line)),
                 static_cast<int>(rank * kRankTracks) + line);
  }

  void declare() {
    declare_line(result_.rank, kCallLine);
    for (const hw::CollectiveTime& c : result_.collectives) {
      if (shown(kCcLine + c.queue)) declare_line(result_.rank, kCcLine + c.queue);
    }
    for (const std::size_t e : order_) declare_line(result_.events[e].rank, line_of(result_.events[e]));
  }

  void attach_flows(std::size_t node, Slice& slice) {
    if (const auto found = out_.find(node); found != out_.end()) slice.flows_out = found->second;
    if (const auto found = in_.find(node); found != in_.end()) slice.flows_in = found->second;
  }

  void open(const Slice& slice) {
    ++summary_.slices;
    sink_.open(slice);
  }
  void write(const Slice& slice) {
    open(slice);
    sink_.close(slice);
  }

  void write_calls() {
    const std::uint64_t track = track_of(result_.rank, kCallLine);
    for (std::size_t c = 0; c < result_.calls.size();) {
      std::size_t end = c;
      while (end < result_.calls.size() && result_.calls[end].phase == result_.calls[c].phase) ++end;
      const Slice phase{.track = track,
                        .begin = result_.calls[c].begin,
                        .end = result_.calls[end - 1].end,
                        .name = isa::name_of(result_.calls[c].phase),
                        .category = "phase"};
      if (window_.shows(phase.begin, phase.end)) {
        open(phase);
        for (; c < end; ++c) write_call(track, c);
        sink_.close(phase);
      }
      c = end;
    }
  }

  void write_call(std::uint64_t track, std::size_t index) {
    const hw::CallTime& time = result_.calls[index];
    if (!window_.shows(time.begin, time.end)) return;
    Slice slice{.track = track,
                .begin = time.begin,
                .end = time.end,
                .name = record_.program.blocks[time.block].name,
                .category = "call"};
    if (time.layer >= 0) slice.args.push_back({.name = "layer", .number = static_cast<double>(time.layer)});
    slice.args.push_back(
        {.name = "hbm_bytes", .number = static_cast<double>(time.dma.read_bytes + time.dma.written_bytes)});
    if (time.replayed) slice.args.push_back({.name = "replayed", .text = "time of an earlier call of the block"});
    attach_flows(nodes_.calls + index, slice);
    write(slice);
  }

  void write_collectives() {
    for (std::size_t i = 0; i < result_.collectives.size(); ++i) {
      const hw::CollectiveTime& c = result_.collectives[i];
      if (!visible(nodes_.collectives + i)) continue;
      Slice slice{.track = track_of(result_.rank, kCcLine + c.queue),
                  .begin = c.begin,
                  .end = c.end,
                  .name = isa::name_of(c.op),
                  .category = "collective",
                  .args = {{.name = "bytes", .number = static_cast<double>(c.bytes)},
                           {.name = "ranks", .number = static_cast<double>(c.ranks)},
                           {.name = "queued_us", .number = hw::seconds(c.begin - c.issued) * 1e6}}};
      attach_flows(nodes_.collectives + i, slice);
      write(slice);
    }
  }

  /// Lines whose slices overlapped would be drawn wrongly by every viewer.
  void require_order(const Slice& slice) {
    hw::Fs& last = line_end_[slice.track];
    if (slice.begin < last)
      throw base::Error{base::Fault::kData, "record", "is damaged: two events of a lane overlap", "run the job again"};
    last = slice.end;
  }

  void write_group(std::size_t index) {
    const Group& group = groups_[index];
    const TraceEvent& first = result_.events[order_[group.first]];
    const TraceEvent& last = result_.events[order_[group.last]];
    const bool ring = first.track == TraceEvent::Track::kDmaRing;
    Slice slice{.track = track_of(first.rank, line_of(first)),
                .begin = first.begin,
                .end = last.end,
                .name = label_of(record_, first),
                .category = "op"};
    require_order(slice);
    if (detail_ == Detail::kInstructions) {
      if (!ring) open(slice);
      for (std::size_t i = group.first; i <= group.last; ++i) write_instruction(order_[i], ring);
      if (!ring) sink_.close(slice);
      return;
    }
    hw::Fs busy = 0, waited = 0;
    double flops = 0, bytes = 0;
    for (std::size_t i = group.first; i <= group.last; ++i) {
      const TraceEvent& event = result_.events[order_[i]];
      busy += event.end - event.begin, waited += event.waited;
      flops += work(event).flops, bytes += work(event).hbm_bytes;
    }
    slice.args = {{.name = "busy_us", .number = hw::seconds(busy) * 1e6},
                  {.name = "waited_us", .number = hw::seconds(waited) * 1e6},
                  {.name = "instructions", .number = static_cast<double>(group.last - group.first + 1)}};
    add_work(slice, first, flops, bytes);
    attach_flows(order_[group.first], slice);
    write(slice);
  }

  const InstrWork& work(const TraceEvent& event) const { return work_of(record_, event); }

  void add_work(Slice& slice, const TraceEvent& event, double flops, double bytes) const {
    if (flops > 0) slice.args.push_back({.name = "flops", .number = flops});
    if (bytes > 0) slice.args.push_back({.name = "hbm_bytes", .number = bytes});
    const std::int32_t layer = record_.program.calls[event.call].layer;
    if (layer >= 0) slice.args.push_back({.name = "layer", .number = static_cast<double>(layer)});
  }

  /// On an engine its opcode, inside the slice of its op; on a ring the op that moves data.
  void write_instruction(std::size_t e, bool ring) {
    const TraceEvent& event = result_.events[e];
    const isa::Instr& what = instr(event);
    Slice slice{.track = track_of(event.rank, line_of(event)),
                .begin = event.begin,
                .end = event.end,
                .name = ring ? label_of(record_, event) : isa::name_of(what.op),
                .category = ring ? "dma" : "instruction"};
    if (!work(event).operands.empty()) slice.args.push_back({.name = "operands", .text = work(event).operands});
    if (event.waited > 0) {
      slice.args.push_back({.name = "waited_for", .text = hw::kHoldNames[static_cast<std::size_t>(event.hold)]});
      slice.args.push_back({.name = "waited_us", .number = hw::seconds(event.waited) * 1e6});
    }
    add_work(slice, event, work(event).flops, work(event).hbm_bytes);
    attach_flows(e, slice);
    write(slice);
  }

  static constexpr std::size_t kNoGroup = ~std::size_t{0};

  const Record& record_;
  const hw::SimResult& result_;
  const Detail detail_;
  const TimelineWindow& window_;
  TraceSink& sink_;
  const FlowNodes nodes_;
  TraceSummary summary_;
  std::vector<std::size_t> order_;                              // events shown
  std::vector<Group> groups_;                                   // of order_
  std::vector<std::size_t> group_of_;                           // per event
  std::map<std::size_t, std::vector<std::uint64_t>> out_, in_;  // arrows of each node
  std::set<std::uint64_t> declared_, processes_;
  std::map<std::uint64_t, hw::Fs> line_end_;
};

}  // namespace

TraceSummary write_timeline(const Record& record, Detail detail, const TimelineWindow& window, TraceSink& sink) {
  return Timeline{record, detail, window, sink}.write();
}

}  // namespace analysis
