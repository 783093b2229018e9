#include "analysis/record/record_check.h"

#include <fmt/format.h>

#include "base/error.h"
#include "isa/names.h"

namespace analysis {
namespace {

class Check {
 public:
  Check(const Record& record, std::string_view file) : r_{record}, file_{file} {}

  void all() const {
    for (const isa::Block& block : r_.program.blocks)
      for (const isa::Instr& instr : block.instrs) instruction(instr);
    for (const RegionUse& use : r_.regions) {
      const auto calls = static_cast<std::int64_t>(r_.program.calls.size());
      need(use.first_call >= -1 && use.first_call <= use.last_call && use.last_call < calls,
           "a region is used in calls that do not exist");
    }
    for (int e = 0; e < isa::kEngineCount; ++e)
      need(r_.result.engines[static_cast<std::size_t>(e)].total() == r_.result.total,
           fmt::format("the times of {} do not add up to the whole", isa::name_of(static_cast<isa::Engine>(e))));
    for (const hw::CallTime& call : r_.result.calls)
      need(call.begin <= call.end && call.end <= r_.result.total, "a call ends before it begins, or after the end");
    for (const hw::CollectiveTime& one : r_.result.collectives) {
      need(one.queue < isa::kCcQueues, "a collective is on a queue that no core has");
      need(one.call < r_.program.calls.size(), "a collective belongs to a call that does not exist");
      need(one.issued <= one.begin && one.begin <= one.end, "a collective ends before it begins");
    }
    for (const hw::TraceEvent& event : r_.result.events) {
      need(event.lane < lanes(event.track), "an event is on a line that no core has");
      need(event.begin <= event.end, "an event ends before it begins");
    }
  }

 private:
  void need(bool holds, std::string_view what) const {
    if (!holds) throw base::Error{base::Fault::kData, file_, fmt::format("is damaged: {}", what), "run the job again"};
  }

  static int lanes(hw::TraceEvent::Track track) {
    using Track = hw::TraceEvent::Track;
    return track == Track::kEngine ? isa::kEngineCount : track == Track::kDmaRing ? isa::kDmaQueues : isa::kCcQueues;
  }

  void instruction(const isa::Instr& instr) const {
    need(!isa::is_dma(instr.op) || instr.queue < isa::kDmaQueues, "a transfer is on a ring that no core has");
    need(!isa::is_collective(instr.op) || instr.queue < isa::kCcQueues, "a collective is on a queue that no core has");
    for (std::size_t w = 0; w < instr.wait_count; ++w)
      need(instr.waits[w].sem < isa::kSemaphores, "an instruction waits for a semaphore that no core has");
  }

  const Record& r_;
  const std::string_view file_;
};

}  // namespace

void check_record(const Record& record, std::string_view file) { Check{record, file}.all(); }

}  // namespace analysis
