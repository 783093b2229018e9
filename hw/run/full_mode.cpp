#include "hw/run/full_mode.h"

#include <algorithm>

namespace hw {

FullMode::FullMode(const isa::Programs& programs, std::vector<isa::Memory*> memories, const isa::RunOptions& run,
                   bool check_races, Executor& executor)
    : programs_(memories.size()), memories_{std::move(memories)}, run_{run}, executor_{executor} {
  std::vector<std::shared_ptr<const Expected>> expected(memories_.size());
  for (const isa::Program* program : programs) {
    const auto own = check_races ? std::make_shared<const Expected>(expect(*program)) : nullptr;
    for (std::uint32_t r = program->first_rank; r < program->end_rank(); ++r) programs_[r] = program, expected[r] = own;
  }
  for (std::uint32_t r = 0; check_races && r < memories_.size(); ++r)
    races_.emplace_back(*programs_[r], expected[r], r);
  executor_.listen([this](const Work& work) { perform(work); });
}

void FullMode::begins(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) {
  if (races_.empty()) return;
  executor_.at({.when = when, .kind = Work::Kind::kBegin, .rank = rank, .call = call, .index = index});
}

void FullMode::retires(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) {
  executor_.at({.when = when, .kind = Work::Kind::kRetire, .rank = rank, .call = call, .index = index});
}

void FullMode::collective(std::span<const Member> members, Fs begin, Fs end) {
  const auto own = static_cast<std::uint32_t>(collectives_.size());
  collectives_.emplace_back(members.begin(), members.end());
  if (!races_.empty()) executor_.at({.when = begin, .kind = Work::Kind::kCollectiveBegin, .index = own});
  executor_.at({.when = end, .kind = Work::Kind::kCollectiveEnd, .index = own});
}

void FullMode::perform(const Work& work) {
  switch (work.kind) {
    case Work::Kind::kCollectiveBegin: return begin_collective(collectives_[work.index]);
    case Work::Kind::kCollectiveEnd: return end_collective(collectives_[work.index]);
    case Work::Kind::kBegin: return races_[work.rank].begins(work.call, work.index);
    case Work::Kind::kRetire: break;
  }
  isa::Context context = this->context(work.rank, work.call);
  isa::execute(instr(work.rank, work.call, work.index), work.index, context);
  if (!races_.empty()) races_[work.rank].retires(work.call, work.index);
}

void FullMode::begin_collective(const Collective& collective) {
  for (const Member& m : collective) races_[m.rank].begins(m.call, m.index);
}

void FullMode::end_collective(const Collective& collective) {
  const isa::Instr& first = instr(collective.front().rank, collective.front().call, collective.front().index);
  if (isa::between_two(first.op) && collective.size() == 1) {
    exchange(collective.front());
  } else {
    std::vector<isa::Context> contexts;
    std::vector<isa::Context*> pointers;
    std::vector<isa::Participant> group;
    for (const Member& m : collective) contexts.push_back(context(m.rank, m.call));
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      pointers.push_back(&contexts[i]);
      group.push_back({&instr(collective[i].rank, collective[i].call, collective[i].index), &contexts[i]});
    }
    if (isa::between_two(first.op))
      isa::execute_collective(first, pointers);
    else
      isa::execute_collective(group);
  }
  if (races_.empty()) return;
  for (const Member& m : collective) races_[m.rank].retires(m.call, m.index);
}

/// One side of a pair alone.
void FullMode::exchange(const Member& member) {
  const isa::Instr& own = instr(member.rank, member.call, member.index);
  for (const auto& set : programs_[member.rank]->groups[own.group]) {
    if (std::ranges::find(set, member.rank) == set.end()) continue;
    isa::Context context = this->context(member.rank, member.call);
    const std::uint32_t peer = set[own.peer];
    if (own.op == isa::Opcode::kSend)
      isa::execute_send(own, context, *memories_[peer]);
    else
      isa::execute_receive(own, peer, context);
  }
}

const isa::Instr& FullMode::instr(std::uint32_t rank, std::uint32_t call, std::uint32_t index) const {
  const isa::Program& program = *programs_[rank];
  return program.blocks[program.calls[call].block].instrs[index];
}

isa::Context FullMode::context(std::uint32_t rank, std::uint32_t call) const {
  const isa::Program& program = *programs_[rank];
  return {.memory = *memories_[rank],
          .bases = program.calls[call].bases,
          .rounding = program.rounding,
          .seed = run_.seed,
          .step = run_.step,
          .rank = rank,
          .call_rng = program.calls[call].rng};
}

}  // namespace hw
