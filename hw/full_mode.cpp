#include "hw/full_mode.h"

namespace hw {

FullMode::FullMode(const isa::Program& program, std::vector<isa::Memory*> memories, const isa::RunOptions& run,
                   bool check_races, Executor& executor)
    : program_{program}, memories_{std::move(memories)}, run_{run}, executor_{executor} {
  if (check_races) {
    const auto expected = std::make_shared<const Expected>(expect(program));
    for (std::size_t r = 0; r < memories_.size(); ++r)
      races_.emplace_back(program, expected, static_cast<std::uint32_t>(r));
  }
  executor_.listen([this](const Work& work) { perform(work); });
}

void FullMode::begins(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) {
  if (races_.empty()) return;
  executor_.at({.when = when, .kind = Work::Kind::kBegin, .rank = rank, .call = call, .index = index});
}

void FullMode::retires(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) {
  executor_.at({.when = when, .kind = Work::Kind::kRetire, .rank = rank, .call = call, .index = index});
}

void FullMode::collective(std::span<const std::uint32_t> ranks, std::span<const std::uint32_t> calls,
                          std::uint32_t index, Fs begin, Fs end) {
  const auto own = static_cast<std::uint32_t>(collectives_.size());
  collectives_.push_back({{ranks.begin(), ranks.end()}, {calls.begin(), calls.end()}, index});
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
  const isa::Block& block = program_.blocks[program_.calls[work.call].block];
  isa::Context context = this->context(work.rank, work.call);
  isa::execute(block.instrs[work.index], work.index, context);
  if (!races_.empty()) races_[work.rank].retires(work.call, work.index);
}

void FullMode::begin_collective(const Collective& collective) {
  for (std::size_t i = 0; i < collective.ranks.size(); ++i)
    races_[collective.ranks[i]].begins(collective.calls[i], collective.index);
}

void FullMode::end_collective(const Collective& collective) {
  std::vector<isa::Context> contexts;
  std::vector<isa::Context*> pointers;
  for (std::size_t i = 0; i < collective.ranks.size(); ++i)
    contexts.push_back(context(collective.ranks[i], collective.calls[i]));
  for (isa::Context& one : contexts) pointers.push_back(&one);
  const isa::Block& block = program_.blocks[program_.calls[collective.calls.front()].block];
  isa::execute_collective(block.instrs[collective.index], pointers);
  if (races_.empty()) return;
  for (std::size_t i = 0; i < collective.ranks.size(); ++i)
    races_[collective.ranks[i]].retires(collective.calls[i], collective.index);
}

isa::Context FullMode::context(std::uint32_t rank, std::uint32_t call) const {
  return {.memory = *memories_[rank],
          .bases = program_.calls[call].bases,
          .rounding = program_.rounding,
          .seed = run_.seed,
          .step = run_.step,
          .rank = rank,
          .call_rng = program_.calls[call].rng};
}

}  // namespace hw
