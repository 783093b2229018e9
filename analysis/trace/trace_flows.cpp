#include "analysis/trace/trace_flows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

namespace analysis {
namespace {

using hw::TraceEvent;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The instructions of a block that raise each semaphore, in program order. A ring that several engines feed has
/// another order, which the times tell.
struct Raisers {
  std::array<std::vector<std::uint32_t>, isa::kSemaphores> instrs;
  std::array<bool, isa::kSemaphores> by_time{};

  explicit Raisers(const isa::Block& block) {
    for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
      const isa::Instr& instr = block.instrs[i];
      if (isa::is_dma(instr.op)) add(isa::kFirstDmaSemaphore + instr.queue, i, block);
      if (isa::is_collective(instr.op)) add(isa::kFirstCcSemaphore + instr.queue, i, block);
      if (instr.signal) instrs[static_cast<std::size_t>(instr.engine)].push_back(i);
    }
  }
  void add(int semaphore, std::uint32_t i, const isa::Block& block) {
    auto& list = instrs.at(static_cast<std::size_t>(semaphore));
    if (!list.empty() && block.instrs[list.front()].engine != block.instrs[i].engine) by_time[semaphore] = true;
    list.push_back(i);
  }
};

/// The events of one call on one rank.
class CallFlows {
 public:
  CallFlows(const Record& record, const FlowNodes& nodes, std::vector<Flow>& flows)
      : result_{record.result}, nodes_{nodes}, flows_{flows} {}

  void add(const isa::Block& block, const Raisers& raisers, std::span<const std::size_t> events,
           std::span<const std::size_t> collectives) {
    place(block, raisers, events, collectives);
    for (const std::size_t e : events) {
      const TraceEvent& event = result_.events[e];
      if (event.track == TraceEvent::Track::kDmaRing) arrow(issued_[event.instr], e);
      if (event.track == TraceEvent::Track::kEngine) arrow(last_raiser(block.instrs[event.instr], raisers), e);
    }
  }

 private:
  hw::Fs end(std::size_t node) const {
    return node < nodes_.collectives ? result_.events[node].end : result_.collectives[node - nodes_.collectives].end;
  }

  void arrow(std::size_t from, std::size_t to) {
    if (from != kNone) flows_.push_back({from, to});
  }

  void place(const isa::Block& block, const Raisers& raisers, std::span<const std::size_t> events,
             std::span<const std::size_t> collectives) {
    issued_.assign(block.instrs.size(), kNone);
    moved_.assign(block.instrs.size(), kNone);
    for (auto& list : by_time_) list.clear();
    for (const std::size_t e : events) {
      const TraceEvent& event = result_.events[e];
      const bool engine = event.track == TraceEvent::Track::kEngine;
      (engine ? issued_ : moved_)[event.instr] = e;
      if (!engine) by_time_[std::size_t{isa::kFirstDmaSemaphore} + event.lane].push_back(e);
    }
    std::array<std::size_t, isa::kCcQueues> seen{};
    for (const std::size_t c : collectives) {
      const std::uint8_t queue = result_.collectives[c].queue;
      const auto& instrs = raisers.instrs[std::size_t{isa::kFirstCcSemaphore} + queue];
      const std::size_t position = seen.at(queue)++;
      if (position >= instrs.size()) continue;
      moved_[instrs[position]] = nodes_.collectives + c;
      arrow(issued_[instrs[position]], nodes_.collectives + c);
    }
    for (auto& list : by_time_) std::ranges::sort(list, {}, [&](std::size_t node) { return end(node); });
  }

  /// The event that raised `wait.sem` for the `wait.count`-th time.
  std::size_t raiser(const isa::Wait& wait, const Raisers& raisers) const {
    const auto& instrs = raisers.instrs.at(wait.sem);
    if (wait.count == 0 || wait.count > instrs.size()) return kNone;
    if (!raisers.by_time[wait.sem]) {
      const std::uint32_t instr = instrs[wait.count - 1];
      return wait.sem < isa::kEngineCount ? issued_[instr] : moved_[instr];
    }
    const auto& times = by_time_[wait.sem];
    return times.size() == instrs.size() ? times[wait.count - 1] : kNone;  // else part of them was not recorded
  }

  std::size_t last_raiser(const isa::Instr& instr, const Raisers& raisers) const {
    std::size_t last = kNone;
    for (int w = 0; w < instr.wait_count; ++w) {
      const std::size_t node = raiser(instr.waits[w], raisers);
      if (node != kNone && (last == kNone || end(node) > end(last))) last = node;
    }
    return last;
  }

  const hw::SimResult& result_;
  const FlowNodes& nodes_;
  std::vector<Flow>& flows_;
  std::vector<std::size_t> issued_, moved_;  // node of each instruction: on its engine; as a transfer or collective
  std::array<std::vector<std::size_t>, isa::kSemaphores> by_time_;
};

/// From the last collective that a call awaits to the call.
void add_awaits(const Record& record, const FlowNodes& nodes, std::vector<Flow>& flows) {
  std::array<std::vector<std::size_t>, isa::kCcQueues> queues;
  for (std::size_t c = 0; c < record.result.collectives.size(); ++c)
    queues.at(record.result.collectives[c].queue).push_back(c);
  for (std::size_t call = 0; call < record.program.calls.size(); ++call) {
    std::size_t last = kNone;
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const std::uint32_t count = record.program.calls[call].await[q];
      if (count == 0 || count > queues[q].size()) continue;
      const std::size_t c = queues[q][count - 1];
      if (last == kNone || record.result.collectives[c].end > record.result.collectives[last].end) last = c;
    }
    if (last != kNone) flows.push_back({nodes.collectives + last, nodes.calls + call});
  }
}

}  // namespace

std::vector<Flow> release_flows(const Record& record) {
  const FlowNodes nodes{record.result};
  const auto& events = record.result.events;
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t e) { return std::pair{events[e].rank, events[e].call}; };
  std::ranges::stable_sort(order, {}, key);
  std::vector<std::vector<std::size_t>> collectives(record.program.calls.size());
  for (std::size_t c = 0; c < record.result.collectives.size(); ++c)
    collectives.at(record.result.collectives[c].call).push_back(c);
  std::vector<Raisers> raisers;
  for (const isa::Block& block : record.program.blocks) raisers.emplace_back(block);
  std::vector<Flow> flows;
  CallFlows call{record, nodes, flows};
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && key(order[end]) == key(order[begin])) ++end;
    const TraceEvent& first = events[order[begin]];
    const std::uint32_t block = record.program.calls[first.call].block;
    const bool own = first.rank == record.result.rank;  // collectives are recorded of that rank only
    call.add(record.program.blocks[block], raisers[block], std::span{order}.subspan(begin, end - begin),
             own ? std::span<const std::size_t>{collectives[first.call]} : std::span<const std::size_t>{});
    begin = end;
  }
  add_awaits(record, nodes, flows);
  return flows;
}

}  // namespace analysis
