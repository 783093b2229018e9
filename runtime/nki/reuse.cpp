// Value numbering over tiles: repeated loads, transposes and arithmetic of loops are reused while SBUF holds them.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"
#include "runtime/nki/live.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Opcode;
using isa::Space;

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
  for (int d = 0; d < t.rank; ++d)
    append(key, t.free[static_cast<std::size_t>(d)].step, t.free[static_cast<std::size_t>(d)].size);
}

/// Whether it only moves numbers. Arithmetic is repeated as written: compilers of kernels do not change it.
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

  std::uint64_t number(std::string key) {
    return numbers_.try_emplace(std::move(key), numbers_.size() + 1).first->second;
  }

  /// The number of the value that the operand holds now.
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
    const bool random = instr.op == Opcode::kRng || instr.op == Opcode::kRandGetState || instr.op == Opcode::kDropout ||
                        uses_registers(instr);
    append(key, instr.op, instr.fn, instr.alu0, instr.alu1, instr.accumulate, instr.reverse0, instr.reverse1,
           instr.imm0, instr.imm1, instr.imm2, instr.imm3, instr.ints, instr.negate, instr.skip, random ? i : 0u);
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

/// `live` reduced to lifetimes that exceed those in `before`, from there on.
Live longer(const Live& live, const Live& before) {
  Live out = live;
  for (std::size_t b = 1; b < out.first.size(); ++b)
    out.first[b] = out.first[b] != kNever && out.last[b] > before.last[b] ? before.last[b] + 1 : kNever;
  return out;
}

}  // namespace

std::size_t reuse(VirtualBlock& block, std::int64_t sbuf_bytes) {
  std::vector<std::uint32_t> same = Numbering{block}.run();
  const std::vector<std::uint32_t> lines = lines_of(block);
  const Live before{block, std::vector<std::uint32_t>(same.size(), 0)};
  // Where tiles leave SBUF anyway, tiles that are kept longer must fit by themselves; else they must not cause others
  // to leave.
  const bool overflows = peak(block, before).second > sbuf_bytes;
  Live live{block, same};
  while (true) {  // lines whose tiles would stay too long give up together
    const Live added = longer(live, before);
    const auto [at, bytes] = peak(block, overflows ? added : live);
    if (bytes <= sbuf_bytes) break;
    std::unordered_map<std::uint32_t, std::int64_t> held;
    for (std::uint32_t b = 1; b < same.size(); ++b)
      if (added.first[b] <= at && at <= added.last[b] && block.buffers[b - 1].space == Space::kSbuf)
        held[lines[b]] += block.buffers[b - 1].bytes;
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

}  // namespace runtime::nki
