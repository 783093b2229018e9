#include <fmt/format.h>

#include "base/text.h"
#include "hw/core/core.h"
#include "isa/asm.h"
#include "isa/names.h"

namespace hw {

void Core::report(SimResult& result, Fs origin) const {
  result.rank = rank_;
  result.total = end_ - origin;
  result.lead_in = origin_ - origin;
  result.replayed_calls = replayed_;
  result.dropped_events += dropped_;
  result.engines = tail_;
  for (EngineTime& engine : result.engines) engine.idle += result.lead_in;
  for (CallTime call : records_) {
    call.begin -= origin;
    call.end -= origin;
    for (int e = 0; e < isa::kEngineCount; ++e) result.engines[e] += call.engines[e];
    result.dma += call.dma;
    result.matmul_flops += program_->blocks[call.block]->matmul_flops;
    result.calls.push_back(call);
  }
  for (std::uint32_t b = 0; b < totals_.size(); ++b) {
    const auto& slots = program_->blocks[b]->slots;
    if (calls_of_[b] == 0) continue;
    for (std::size_t s = 0; s < slots.size(); ++s) {
      result.ops.push_back({.block = b,
                            .label = slots[s].label,
                            .op = slots[s].op,
                            .engine = slots[s].engine,
                            .count = slots[s].count * calls_of_[b],
                            .busy = totals_[b].busy[s],
                            .waiting = totals_[b].waiting[s]});
    }
  }
  for (TraceEvent event : events_) {
    event.begin -= origin;
    event.end -= origin;
    result.events.push_back(event);
  }
}

std::string Core::stuck() const {
  if (finished_) return {};
  const isa::Program& program = *program_->program;
  if (!running_) {
    if (call_ == program.calls.size())
      return fmt::format("rank {}: {} never end\n", rank_, base::counted(collectives_open_, "collective"));
    const auto& await = program.calls[call_].await;
    return fmt::format("rank {}: call {} of {} awaits {} and {} collectives on the queues; {} and {} are complete\n",
                       rank_, call_, program.blocks[program.calls[call_].block].name, await[0], await[1],
                       completed_[0].size(), completed_[1].size());
  }
  const isa::Block& block = program.blocks[program.calls[call_].block];
  std::string text;
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const auto held = sequencers_[e]->stuck();
    if (!held) continue;
    const std::string awaited =
        held->wait ? fmt::format("semaphore {} to be raised {} (it was {})", isa::semaphore_name(held->wait->sem),
                                 base::counted(held->wait->count, "time"), semaphores_.count(held->wait->sem))
                   : std::string{"the other core"};
    text += fmt::format("rank {}: {} waits for {} at #{} of {}: {}\n", rank_, isa::name_of(static_cast<isa::Engine>(e)),
                        awaited, held->instr->index, block.name, isa::print(block.instrs[held->instr->index], block));
  }
  return text;
}

}  // namespace hw
