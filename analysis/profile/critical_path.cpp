#include "analysis/profile/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "isa/names.h"

namespace analysis {
namespace {

using hw::TraceEvent;
constexpr int kNobody = -1;

int lane_of(const TraceEvent& event) {
  switch (event.track) {
    case TraceEvent::Track::kEngine: return event.lane;
    case TraceEvent::Track::kDmaRing: return isa::kFirstDmaSemaphore + event.lane;
    default: return isa::kFirstCcSemaphore + event.lane;
  }
}

/// The events of one call, and their predecessors. Lanes have the numbers of the semaphores that they raise.
class Chain {
 public:
  Chain(const hw::SimResult& result, const isa::Block& block, std::uint32_t call) : block_{block} {
    for (const TraceEvent& event : result.events) {
      if (event.call == call && event.rank == result.rank) events_.push_back(&event);
    }
    std::ranges::stable_sort(events_, {}, [](const TraceEvent* e) { return e->begin; });
    std::array<int, isa::kSemaphores> last;
    last.fill(kNobody);
    before_.resize(events_.size());
    for (int i = 0; i < static_cast<int>(events_.size()); ++i) {
      const int lane = lane_of(*events_[i]);
      before_[i] = last[lane];
      last[lane] = i;
      const isa::Instr& instr = block_.instrs.at(events_[i]->instr);
      if (lane >= isa::kEngineCount || instr.signal) raisers_[lane].push_back(i);
      if (lane < isa::kEngineCount) issued_[events_[i]->instr] = i;
    }
    // A semaphore counts completions, so its raisers are in the order of their ends.
    for (auto& [lane, list] : raisers_) std::ranges::stable_sort(list, {}, [&](int i) { return events_[i]->end; });
  }

  bool empty() const { return events_.empty(); }
  const TraceEvent& event(int i) const { return *events_[i]; }
  int last() const {
    const auto latest = std::ranges::max_element(events_, {}, [](const TraceEvent* e) { return e->end; });
    return static_cast<int>(latest - events_.begin());
  }

  /// The event whose end let event `i` begin: the latest of its lane's predecessor, what it waited for, and, for a
  /// transfer, the instruction that issued it. `by_wait` tells whether it was a wait.
  int cause(int i, bool& by_wait) const {
    int best = kNobody;
    by_wait = false;
    const auto consider = [&](int candidate, bool wait) {
      if (candidate == kNobody || candidate == i || events_[candidate]->begin > events_[i]->begin) return;
      if (best != kNobody && events_[candidate]->end <= events_[best]->end) return;
      best = candidate;
      by_wait = wait;
    };
    consider(before_[i], false);
    const isa::Instr& instr = block_.instrs[events_[i]->instr];
    if (lane_of(*events_[i]) >= isa::kEngineCount) {
      const auto issue = issued_.find(events_[i]->instr);
      if (issue != issued_.end()) consider(issue->second, false);
    }
    for (int w = 0; w < instr.wait_count; ++w) {
      const auto raisers = raisers_.find(instr.waits[w].sem);
      const std::uint32_t count = instr.waits[w].count;
      if (raisers == raisers_.end() || count == 0 || count > raisers->second.size())
        continue;  // raised by an earlier call
      consider(raisers->second[count - 1], true);
    }
    return best;
  }

 private:
  const isa::Block& block_;
  std::vector<const TraceEvent*> events_;  // by begin
  std::vector<int> before_;                // predecessor on the same lane
  std::map<int, std::vector<int>> raisers_;
  std::map<std::uint32_t, int> issued_;  // the engine's event of an instruction
};

std::vector<PathShare> ranked(const std::map<std::string, hw::Fs>& times, hw::Fs whole) {
  std::vector<PathShare> shares;
  for (const auto& [name, time] : times) {
    if (time == 0) continue;
    shares.push_back({name, hw::seconds(time), static_cast<double>(time) / static_cast<double>(whole) * 100});
  }
  std::ranges::stable_sort(shares, std::greater{}, &PathShare::seconds);
  return shares;
}

/// Cuts overlaps (an engine may begin before its predecessor's result is out) and names the gaps.
void cut_overlaps(CriticalPath& path) {
  std::map<std::string, hw::Fs> lanes, ops;
  hw::Fs at = path.begin;
  for (PathStep& step : path.steps) {
    step.begin = std::clamp(step.begin, at, path.end);
    step.end = std::clamp(step.end, step.begin, path.end);
    step.gap = step.begin - at;
    at = step.end;
    lanes["gaps"] += step.gap;
    ops["gaps"] += step.gap;
    lanes[step.lane] += step.end - step.begin;
    ops[step.op] += step.end - step.begin;
  }
  path.tail = path.end - at;
  lanes["gaps"] += path.tail;
  ops["gaps"] += path.tail;
  path.by_lane = ranked(lanes, path.end - path.begin);
  path.by_op = ranked(ops, path.end - path.begin);
}

}  // namespace

CriticalPath critical_path(const hw::SimResult& result, const isa::Program& program, std::uint32_t call) {
  base::ensure(call < result.calls.size(), "critical_path", "no such call");
  const hw::CallTime& time = result.calls[call];
  const isa::Block& block = program.blocks.at(time.block);
  const Chain chain{result, block, call};
  if (chain.empty()) {
    throw base::Error{base::Fault::kUsage, fmt::format("call {} of {}", call, block.name), "has no recorded events",
                      "record a trace, of a call that is not replayed"};
  }
  CriticalPath path{.steps = {}, .begin = time.begin, .end = time.end, .tail = 0, .by_lane = {}, .by_op = {}};
  bool by_wait = false;
  for (int at = chain.last(); at != kNobody;) {
    const TraceEvent& event = chain.event(at);
    const isa::Instr& instr = block.instrs[event.instr];
    const int cause = chain.cause(at, by_wait);
    path.steps.push_back({event.instr, isa::semaphore_name(lane_of(event)),
                          instr.label < block.labels.size() ? block.labels[instr.label] : "(no label)", event.begin,
                          event.end, 0, by_wait});
    at = cause;
  }
  std::ranges::reverse(path.steps);
  cut_overlaps(path);
  return path;
}

}  // namespace analysis
