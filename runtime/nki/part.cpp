// One program's part of a trace in which several take turns.
#include <memory>
#include <vector>

#include "runtime/nki/trace.h"

namespace runtime::nki {

std::unique_ptr<Trace> Trace::part(std::size_t program) const {
  auto out = std::make_unique<Trace>(target_, block_.name, most_instructions_);
  out->newer_ = newer_;
  if (const auto found = direct_.find(program); found != direct_.end()) out->direct_.emplace(*found);
  VirtualBlock& block = out->block_;
  block.buffers = block_.buffers, block.labels = block_.labels, block.registers = block_.registers;
  std::vector<std::uint32_t> place{0};  // how many of its instructions are in front of each
  std::vector<bool> used(block_.buffers.size() + 1);
  for (std::size_t i = 0; i < block_.instrs.size(); ++i) {
    if (makers_[i] == program) {
      const isa::Instr& instr = block.instrs.emplace_back(block_.instrs[i]);
      for (const Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
        if (t->space == isa::Space::kSbuf || t->space == isa::Space::kPsum) used[t->reg] = true;
    }
    place.push_back(static_cast<std::uint32_t>(block.instrs.size()));
  }
  for (const auto& [slot, fill] : fills_)  // of tiles that it may share with others, such as constants
    if (used[fill.dst.reg]) out->fills_.emplace_back(place[slot], fill);
  for (const LoopTrace& loop : loops_) {  // programs do not meet in those that are noted
    if (makers_[loop.starts.front()] != program) continue;
    LoopTrace& moved = out->loops_.emplace_back(loop);
    for (std::uint32_t& start : moved.starts) start = place[start];
    moved.end = place[moved.end];
  }
  for (const std::uint32_t i : open_)
    if (makers_[i] == program) out->open_.push_back(place[i]);
  return out;
}

}  // namespace runtime::nki
