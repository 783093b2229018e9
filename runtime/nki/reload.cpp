// Tiles that SBUF does not hold all the time are loaded again where they are used.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "isa/operands.h"
#include "runtime/nki/live.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Opcode;
using isa::Space;

constexpr std::uint32_t kTogether = 16;  // instructions between uses that share a load

/// Loads of tiles that nothing else writes, and when they are used.
struct Loaded {
  std::uint32_t load = kNever;
  std::vector<std::uint32_t> uses;
  bool only = true;
};

std::vector<Loaded> loads_of(const VirtualBlock& block) {
  std::vector<Loaded> out(block.buffers.size() + 1);
  std::unordered_map<std::uint32_t, std::uint32_t> written;  // registers
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i)
    if (block.instrs[i].dst.space == Space::kHbm) written[block.instrs[i].dst.reg] = i;
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
    const Instr& instr = block.instrs[i];
    for (const Tile* t : {&instr.a, &instr.b, &instr.c})
      if (*t && t->space != Space::kHbm && (out[t->reg].uses.empty() || out[t->reg].uses.back() != i))
        out[t->reg].uses.push_back(i);
    for (const Tile* t : isa::writes(instr)) {
      if (t->space == Space::kHbm) continue;
      Loaded& l = out[t->reg];
      const bool load = instr.op == Opcode::kDmaCopy && instr.a.space == Space::kHbm && !instr.accumulate &&
                        l.load == kNever && !written.contains(instr.a.reg);
      l.only = l.only && load;
      l.load = i;
    }
  }
  return out;
}

/// The part of a load that an operand reads, when both sides are contiguous; else all of it.
Instr part_of(Instr load, std::int64_t low, std::int64_t high) {
  const bool dense = load.dst.rank == 1 && load.a.rank == 1 && load.dst.free[0].step == 1 && load.a.free[0].step == 1 &&
                     load.dst.dtype == load.a.dtype && load.dst.free[0].size == load.a.free[0].size;
  if (!dense || low < load.dst.offset || low >= high) return load;
  const std::int64_t size = isa::size_of(load.dst.dtype), skipped = (low - load.dst.offset) / size;
  const std::int64_t left = (high - low) / size;
  if (skipped + left > load.dst.free[0].size) return load;
  load.dst.offset += skipped * size, load.a.offset += skipped * size;
  load.dst.free[0].size = load.a.free[0].size = static_cast<std::uint32_t>(left);
  return load;
}

/// The lines whose tiles are loaded again: the largest first, until the rest fits where most is needed.
std::set<std::uint32_t> chosen_lines(const VirtualBlock& block, const std::vector<Loaded>& loads,
                                     const std::vector<std::uint32_t>& lines, std::int64_t sbuf_bytes) {
  const Live live{block, std::vector<std::uint32_t>(block.buffers.size() + 1, 0)};
  const auto [at, bytes] = peak(block, live);
  std::unordered_map<std::uint32_t, std::int64_t> held;
  for (std::uint32_t b = 1; b < loads.size(); ++b) {
    const Loaded& l = loads[b];
    if (!l.only || l.load == kNever || l.uses.size() < 2 || live.first[b] > at || live.last[b] < at) continue;
    if (block.buffers[b - 1].space == Space::kSbuf) held[lines[b]] += block.buffers[b - 1].bytes;
  }
  std::set<std::uint32_t> out;
  for (std::int64_t left = bytes; left > sbuf_bytes && !held.empty();) {
    const auto worst = std::ranges::max_element(held, {}, [](const auto& h) { return h.second; });
    left -= worst->second;
    out.insert(worst->first);
    held.erase(worst);
  }
  return out;
}

class Reloader {
 public:
  Reloader(VirtualBlock& block, std::int64_t sbuf_bytes)
      : block_{block},
        loads_{loads_of(block)},
        lines_{lines_of(block)},
        chosen_{chosen_lines(block, loads_, lines_, sbuf_bytes)} {}

  std::size_t run() {
    if (chosen_.empty()) return 0;
    current_.resize(loads_.size()), last_use_.resize(loads_.size());
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) {
      Instr instr = block_.instrs[i];
      const bool load = again(instr.dst) && loads_[instr.dst.reg].load == i;
      if (load) continue;  // each use loads for itself
      for (Tile* t : {&instr.a, &instr.b, &instr.c})
        if (again(*t)) use(*t, i);
      out_.push_back(instr);
    }
    block_.instrs = std::move(out_);
    return count_;
  }

 private:
  bool again(const Tile& t) const {
    return t.space == Space::kSbuf && t.reg < loads_.size() && loads_[t.reg].only && loads_[t.reg].load != kNever &&
           chosen_.contains(lines_[t.reg]);
  }

  void use(Tile& t, std::uint32_t i) {
    const std::uint32_t b = t.reg;
    if (current_[b] == 0 || i - last_use_[b] > kTogether) {
      const bool alone =
          std::ranges::count_if(loads_[b].uses, [&](std::uint32_t u) { return u >= i && u <= i + kTogether; }) == 1;
      std::int64_t high = t.offset + isa::size_of(t.dtype);
      for (int d = 0; d < t.rank; ++d)
        high += std::int64_t{t.free[static_cast<std::size_t>(d)].step} *
                (std::int64_t{t.free[static_cast<std::size_t>(d)].size} - 1) * isa::size_of(t.dtype);
      Instr load = block_.instrs[loads_[b].load];
      if (alone) load = part_of(load, t.offset, high);
      block_.buffers.push_back(block_.buffers[b - 1]);
      current_[b] = load.dst.reg = static_cast<std::uint32_t>(block_.buffers.size());
      out_.push_back(load);
      ++count_;
    }
    last_use_[b] = i;
    t.reg = current_[b];
  }

  VirtualBlock& block_;
  const std::vector<Loaded> loads_;
  const std::vector<std::uint32_t> lines_;
  const std::set<std::uint32_t> chosen_;
  std::vector<Instr> out_;
  std::vector<std::uint32_t> current_, last_use_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t reload(VirtualBlock& block, std::int64_t sbuf_bytes) { return Reloader{block, sbuf_bytes}.run(); }

}  // namespace runtime::nki
