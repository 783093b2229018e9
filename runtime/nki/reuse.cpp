// Value numbering over tiles: what loops load, transpose or compute again is there already, if SBUF holds it that long.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/operands.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Opcode;
using isa::Space;

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

template <class Instruction, class Body>
void for_chip(Instruction& instr, const Body& body) {
  for (auto* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
    if (tile->space == Space::kSbuf || tile->space == Space::kPsum) body(*tile);
}

void append(std::string& key, const auto&... values) {
  (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
}

void append_tile(std::string& key, const Tile& t, std::uint64_t value) {
  append(key, t.space, t.dtype, t.start, t.rank, t.partitions, t.offset, t.pstep, value);
  for (int d = 0; d < t.rank; ++d) append(key, t.free[static_cast<std::size_t>(d)].step, t.free[static_cast<std::size_t>(d)].size);
}

/// Whether it only moves numbers. What is computed is computed again: compilers of kernels leave that as it is written.
bool moves(const Instr& instr) {
  return instr.op == Opcode::kDmaCopy || instr.op == Opcode::kPeTranspose || instr.op == Opcode::kVectorTranspose ||
         instr.op == Opcode::kTensorCopy;
}

class Numbering {
 public:
  explicit Numbering(const VirtualBlock& block) : block_{block}, buffers_(block.buffers.size() + 1) {
    for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
      const Instr& instr = block.instrs[i];
      for (const Tile* t : {&instr.a, &instr.b, &instr.c})
        if (*t && t->space != Space::kHbm) buffers_[t->reg].first_read = std::min(buffers_[t->reg].first_read, i);
      for (const Tile* t : isa::writes(instr))
        if (t->space != Space::kHbm) buffers_[t->reg].last_write = i;
    }
  }

  /// For each buffer an earlier one that holds the same, or 0.
  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) visit(i);
    return std::move(same_);
  }

 private:
  struct State {
    std::uint32_t first_read = kNever, last_write = 0, writes = 0;
    std::uint64_t value = 0;  // 0: not sealed
    bool moved = true;        // nothing was computed in it
    std::string records;
  };

  bool pure(const State& s) const { return s.last_write < s.first_read; }

  std::uint64_t number(std::string key) { return numbers_.try_emplace(std::move(key), numbers_.size() + 1).first->second; }

  /// What the operand holds now.
  std::uint64_t value(const Tile& t) {
    if (t.space == Space::kHbm) return std::uint64_t{t.reg} << 32 | versions_[t.reg];
    State& s = buffers_[t.reg];
    if (!pure(s)) {
      std::string key{"changes"};
      append(key, t.reg, s.writes);
      return number(std::move(key));
    }
    if (s.value == 0) seal(t.reg, s);
    return s.value;
  }

  void seal(std::uint32_t reg, State& s) {
    const Buffer& b = block_.buffers[reg - 1];
    std::string key = s.records;
    append(key, b.space, b.bytes, b.parts);
    s.value = number(std::move(key));
    s.records.clear();
    if (b.space != Space::kSbuf || !s.moved || s.writes == 0) return;
    const auto [first, added] = holders_.try_emplace(s.value, reg);
    if (!added) same_[reg] = first->second;
  }

  void visit(std::uint32_t i) {
    const Instr& instr = block_.instrs[i];
    std::string key;
    const bool random = instr.op == Opcode::kRng || instr.op == Opcode::kDropout || isa::command_of(instr) != isa::Registers::kIdle;
    append(key, instr.op, instr.fn, instr.alu0, instr.alu1, instr.accumulate, instr.reverse0, instr.reverse1, instr.imm0,
           instr.imm1, instr.imm2, instr.imm3, instr.ints, instr.negate, instr.skip, random ? i : 0u);
    for (const Tile* t : {&instr.a, &instr.b, &instr.c})
      if (*t) append_tile(key, *t, value(*t));
    for (const Tile* t : isa::writes(instr)) {
      if (t->space == Space::kHbm) {
        ++versions_[t->reg];
        continue;
      }
      State& s = buffers_[t->reg];
      ++s.writes;
      if (!pure(s)) continue;
      append_tile(s.records, *t, t == &instr.dst);
      s.records += key;
      s.moved = s.moved && !instr.dst2 && moves(instr);
    }
  }

  const VirtualBlock& block_;
  std::vector<State> buffers_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> holders_;
  std::unordered_map<std::uint32_t, std::uint32_t> versions_;
  std::vector<std::uint32_t> same_ = std::vector<std::uint32_t>(block_.buffers.size() + 1, 0);
};

/// Which instructions are left when `same` takes the place of buffers: those that somebody needs in the end.
class Live {
 public:
  Live(const VirtualBlock& block, const std::vector<std::uint32_t>& same)
      : keep(block.instrs.size(), false), first(block.buffers.size() + 1, kNever), last(block.buffers.size() + 1, 0) {
    std::vector<char> wanted(block.buffers.size() + 1, 0);
    for (auto i = static_cast<std::uint32_t>(block.instrs.size()); i-- > 0;) {
      const Instr& instr = block.instrs[i];
      bool needed = false;
      for (const Tile* t : isa::writes(instr))
        needed |= t->space == Space::kHbm || (wanted[t->reg] && same[t->reg] == 0);
      needed |= !instr.dst || isa::command_of(instr) != isa::Registers::kIdle || instr.op == Opcode::kRng;
      if (!needed) continue;
      keep[i] = true;
      for (const Tile* t : isa::reads(instr))
        if (t->space != Space::kHbm) use(same[t->reg] ? same[t->reg] : t->reg, i, wanted);
      for (const Tile* t : isa::writes(instr))
        if (t->space != Space::kHbm) use(t->reg, i, wanted);
    }
  }
  std::vector<bool> keep;
  std::vector<std::uint32_t> first, last;  // of each buffer

 private:
  void use(std::uint32_t reg, std::uint32_t i, std::vector<char>& wanted) {
    wanted[reg] = 1;
    first[reg] = std::min(first[reg], i);
    last[reg] = std::max(last[reg], i);
  }
};

/// The instruction at which most of SBUF is needed, and how much.
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

/// The line of the kernel that wrote each buffer first.
std::vector<std::uint32_t> lines_of(const VirtualBlock& block) {
  std::vector<std::uint32_t> out(block.buffers.size() + 1, 0);
  for (auto i = block.instrs.size(); i-- > 0;)
    for (const Tile* t : isa::writes(block.instrs[i]))
      if (t->space != Space::kHbm) out[t->reg] = block.instrs[i].label;
  return out;
}

}  // namespace

std::size_t reuse(VirtualBlock& block, std::int64_t sbuf_bytes) {
  std::vector<std::uint32_t> same = Numbering{block}.run();
  const std::vector<std::uint32_t> none(same.size(), 0), lines = lines_of(block);
  const Live before{block, none};
  Live live{block, same};
  while (true) {  // lines whose tiles would stay too long give up together
    const auto [at, bytes] = peak(block, live);
    if (bytes <= std::max(sbuf_bytes, peak(block, before).second)) break;
    std::unordered_map<std::uint32_t, std::int64_t> held;
    for (std::uint32_t b = 1; b < same.size(); ++b) {
      const bool longer = live.first[b] <= at && at <= live.last[b] && !(before.first[b] <= at && at <= before.last[b]);
      if (longer && block.buffers[b - 1].space == Space::kSbuf) held[lines[b]] += block.buffers[b - 1].bytes;
    }
    if (held.empty()) break;
    const std::uint32_t worst = std::ranges::max_element(held, {}, [](const auto& h) { return h.second; })->first;
    for (std::uint32_t b = 1; b < same.size(); ++b)
      if (same[b] != 0 && lines[same[b]] == worst) same[b] = 0;
    live = Live{block, same};
  }
  std::vector<Instr> kept;
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
    if (!live.keep[i]) continue;
    kept.push_back(block.instrs[i]);
    for_chip(kept.back(), [&](Tile& t) { t.reg = same[t.reg] ? same[t.reg] : t.reg; });
  }
  const std::size_t dropped = block.instrs.size() - kept.size();
  block.instrs = std::move(kept);
  return dropped;
}

namespace {

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
      if (*t && t->space != Space::kHbm && (out[t->reg].uses.empty() || out[t->reg].uses.back() != i)) out[t->reg].uses.push_back(i);
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

/// A use and the load in front of it.
struct Reload {
  std::uint32_t before = 0, old = 0, fresh = 0;
  Instr load;
};

/// The part of a load that an operand reads, when both sides lie without gaps; else all of it.
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

}  // namespace

std::size_t reload(VirtualBlock& block, std::int64_t sbuf_bytes) {
  const std::vector<std::uint32_t> none(block.buffers.size() + 1, 0), lines = lines_of(block);
  const std::vector<Loaded> loads = loads_of(block);
  const Live live{block, none};
  std::set<std::uint32_t> chosen;  // lines
  std::int64_t saved = 0;
  const auto [at, bytes] = peak(block, live);
  std::unordered_map<std::uint32_t, std::int64_t> held;
  for (std::uint32_t b = 1; b < loads.size(); ++b) {
    const Loaded& l = loads[b];
    if (!l.only || l.load == kNever || l.uses.size() < 2 || live.first[b] > at || live.last[b] < at) continue;
    if (block.buffers[b - 1].space == Space::kSbuf) held[lines[b]] += block.buffers[b - 1].bytes;
  }
  while (bytes - saved > sbuf_bytes && !held.empty()) {
    const auto worst = std::ranges::max_element(held, {}, [](const auto& h) { return h.second; });
    saved += worst->second;
    chosen.insert(worst->first);
    held.erase(worst);
  }
  if (chosen.empty()) return 0;
  std::vector<Instr> out;
  std::vector<std::uint32_t> current(loads.size(), 0), last_use(loads.size(), 0);
  std::size_t count = 0;
  constexpr std::uint32_t kTogether = 16;  // instructions between uses that share a load
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
    Instr instr = block.instrs[i];
    if (instr.dst.space == Space::kSbuf && instr.dst.reg < loads.size() && loads[instr.dst.reg].load == i &&
        loads[instr.dst.reg].only && chosen.contains(lines[instr.dst.reg]))
      continue;  // each use loads for itself
    for (Tile* t : {&instr.a, &instr.b, &instr.c}) {
      if (t->space != Space::kSbuf || t->reg >= loads.size()) continue;
      const std::uint32_t b = t->reg;
      if (!loads[b].only || loads[b].load == kNever || !chosen.contains(lines[b])) continue;
      if (current[b] == 0 || i - last_use[b] > kTogether) {
        std::int64_t low = t->offset, high = t->offset;
        for (int d = 0; d < t->rank; ++d) high += std::int64_t{t->free[d].step} * (t->free[d].size - 1) * isa::size_of(t->dtype);
        high += isa::size_of(t->dtype);
        const bool alone = std::ranges::count_if(loads[b].uses, [&](std::uint32_t u) { return u >= i && u <= i + kTogether; }) == 1;
        Instr again = block.instrs[loads[b].load];
        if (alone) again = part_of(again, low, high);
        block.buffers.push_back(block.buffers[b - 1]);
        current[b] = again.dst.reg = static_cast<std::uint32_t>(block.buffers.size());
        out.push_back(again);
        ++count;
      }
      last_use[b] = i;
      t->reg = current[b];
    }
    out.push_back(instr);
  }
  block.instrs = std::move(out);
  return count;
}

}  // namespace runtime::nki
