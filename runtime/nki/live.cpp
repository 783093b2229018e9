#include "runtime/nki/live.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "isa/operands.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {

using isa::Opcode;
using isa::Space;

Live::Live(const VirtualBlock& block, const std::vector<std::uint32_t>& same)
    : keep(block.instrs.size(), false), first(block.buffers.size() + 1, kNever), last(block.buffers.size() + 1, 0) {
  std::vector<char> wanted(block.buffers.size() + 1, 0);
  for (auto i = static_cast<std::uint32_t>(block.instrs.size()); i-- > 0;) {
    const Instr& instr = block.instrs[i];
    bool needed = false;
    for (const Tile* t : isa::writes(instr)) needed |= t->space == Space::kHbm || (wanted[t->reg] && same[t->reg] == 0);
    needed |= !instr.dst || isa::command_of(instr) != isa::Registers::kIdle || instr.op == Opcode::kRng ||
              instr.op == Opcode::kCoreBarrier;  // the other core waits there
    if (!needed) continue;
    keep[i] = true;
    for (const Tile* t : isa::reads(instr))
      if (t->space != Space::kHbm) use(same[t->reg] ? same[t->reg] : t->reg, i, wanted);
    for (const Tile* t : isa::writes(instr))
      if (t->space != Space::kHbm) use(t->reg, i, wanted);
  }
}

void Live::use(std::uint32_t reg, std::uint32_t i, std::vector<char>& wanted) {
  wanted[reg] = 1;
  first[reg] = std::min(first[reg], i);
  last[reg] = std::max(last[reg], i);
}

std::pair<std::uint32_t, std::int64_t> peak(const VirtualBlock& block, const Live& live) {
  std::vector<std::int64_t> change(block.instrs.size() + 1);
  for (std::size_t b = 1; b < live.first.size(); ++b) {
    if (live.first[b] == kNever || block.buffers[b - 1].space != Space::kSbuf) continue;
    change[live.first[b]] += block.buffers[b - 1].bytes, change[live.last[b] + 1] -= block.buffers[b - 1].bytes;
  }
  std::pair<std::uint32_t, std::int64_t> out{0, 0};
  std::int64_t now = 0;
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i)
    if ((now += change[i]) > out.second) out = {i, now};
  return out;
}

std::vector<std::uint32_t> lines_of(const VirtualBlock& block) {
  std::vector<std::uint32_t> out(block.buffers.size() + 1, 0);
  for (auto i = block.instrs.size(); i-- > 0;)
    for (const Tile* t : isa::writes(block.instrs[i]))
      if (t->space != Space::kHbm) out[t->reg] = block.instrs[i].label;
  return out;
}
namespace {

/// Per buffer: whether loads alone write it.
std::vector<bool> loaded_buffers(const VirtualBlock& block) {
  std::vector<bool> out(block.buffers.size() + 1, true);
  for (const Instr& i : block.instrs)
    for (const Tile* t : isa::writes(i))
      if (t->space != Space::kHbm && !(isa::is_dma(i.op) && i.a.space == Space::kHbm)) out[t->reg] = false;
  return out;
}

/// Bytes of the other buffers in SBUF that an instruction names.
std::int64_t others(const VirtualBlock& block, const Instr& i, const std::vector<bool>& loaded) {
  std::int64_t out = 0;
  std::vector<std::uint32_t> seen;
  for (const Tile* t : {&i.dst, &i.dst2, &i.a, &i.b, &i.c})
    if (*t && t->space == Space::kSbuf && !loaded[t->reg] && std::ranges::find(seen, t->reg) == seen.end()) {
      seen.push_back(t->reg);
      out += block.buffers[t->reg - 1].bytes;
    }
  return out;
}

}  // namespace

void require_loaded(const VirtualBlock& block, std::int64_t sbuf_bytes) {
  const std::vector<bool> loaded = loaded_buffers(block);
  const std::size_t count = block.buffers.size() + 1;
  std::vector<std::uint32_t> first(count, kNever), last(count, 0);
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i)
    for (const Tile* t :
         {&block.instrs[i].dst, &block.instrs[i].dst2, &block.instrs[i].a, &block.instrs[i].b, &block.instrs[i].c})
      if (*t && t->space == Space::kSbuf && loaded[t->reg])
        first[t->reg] = std::min(first[t->reg], i), last[t->reg] = i;
  std::vector<std::int64_t> change(block.instrs.size() + 1, 0);
  for (std::size_t b = 1; b < count; ++b) {
    if (first[b] == kNever) continue;
    change[first[b]] += block.buffers[b - 1].bytes;
    change[last[b] + 1] -= block.buffers[b - 1].bytes;
  }
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
    bytes += change[i];
    const std::int64_t all = bytes + others(block, block.instrs[i], loaded);
    if (all > sbuf_bytes)
      throw base::Error{base::Fault::kProgram, block.labels[block.instrs[i].label],
                        fmt::format("loaded tiles that are still needed, and those of this instruction, take {} bytes "
                                    "of each partition, but SBUF has {} (neuronx-cc: NCC_IBIR229)",
                                    all, sbuf_bytes),
                        "load smaller blocks, or load a tile again where it is read again"};
  }
}

}  // namespace runtime::nki
