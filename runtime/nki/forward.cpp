// A result that is only copied is written to the copy's place at once.
#include <algorithm>
#include <vector>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"
#include "runtime/nki/live.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Engine;
using isa::Opcode;
using isa::Space;

constexpr std::uint32_t kFarthest = 256;  // instructions between a result and its copy

/// The free axes without those of one element, neighbours in memory as one: equal for the same elements in one order.
std::vector<isa::Dim> joined(const Tile& t) {
  std::vector<isa::Dim> out;
  for (int d = 0; d < t.rank; ++d) {
    const isa::Dim dim = t.free[static_cast<std::size_t>(d)];
    if (dim.size == 1) continue;
    if (!out.empty() && out.back().step == dim.step * static_cast<std::int32_t>(dim.size))
      out.back() = {.step = dim.step, .size = out.back().size * dim.size};
    else
      out.push_back(dim);
  }
  return out;
}

bool same_place(const Tile& x, const Tile& y) {
  return x.space == y.space && x.reg == y.reg && x.start == y.start && x.partitions == y.partitions &&
         x.offset == y.offset && x.dtype == y.dtype && joined(x) == joined(y);
}

bool overlap(const Tile& x, const Tile& y) {
  if (x.space != y.space || x.reg != y.reg || x.space == Space::kHbm) return false;
  if (x.start >= y.start + y.partitions || y.start >= x.start + x.partitions) return false;
  const ByteRange a = ByteRange::of(x), b = ByteRange::of(y);
  return x.offset + a.low < y.offset + b.high && y.offset + b.low < x.offset + a.high;
}

/// How often a buffer is written and read, and by which instruction last.
struct Uses {
  std::uint32_t writes = 0, reads = 0, writer = kNever, reader = kNever;
};

class Forwarder {
 public:
  explicit Forwarder(VirtualBlock& block) : block_{block}, uses_(block.buffers.size() + 1), gone_(block.instrs.size()) {
    for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
      for (const Tile* t : isa::reads(block.instrs[i]))
        if (t->space != Space::kHbm) ++uses_[t->reg].reads, uses_[t->reg].reader = i;
      for (const Tile* t : isa::writes(block.instrs[i]))
        if (t->space != Space::kHbm) ++uses_[t->reg].writes, uses_[t->reg].writer = i;
    }
  }

  std::size_t run() {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i)
      if (forwards(i)) {
        block_.instrs[uses_[block_.instrs[i].a.reg].writer].dst = block_.instrs[i].dst;
        gone_[i] = true, ++count;
      }
    if (count == 0) return 0;
    std::vector<Instr> left;
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i)
      if (!gone_[i]) left.push_back(block_.instrs[i]);
    block_.instrs = std::move(left);
    return count;
  }

 private:
  bool forwards(std::uint32_t i) const {
    const Instr& copy = block_.instrs[i];
    if (copy.op != Opcode::kTensorCopy || copy.a.space == Space::kHbm || copy.dst.space == Space::kHbm) return false;
    const Uses& uses = uses_[copy.a.reg];
    if (uses.writes != 1 || uses.reads != 1 || uses.writer >= i || i - uses.writer > kFarthest) return false;
    const Instr& made = block_.instrs[uses.writer];
    if (made.dst2 || made.accumulate || !same_place(made.dst, copy.a)) return false;
    return may_write(made, copy) && untouched(uses.writer, i, copy.dst);
  }

  /// Whether the instruction gives the copy's numbers when it writes them itself.
  static bool may_write(const Instr& made, const Instr& copy) {
    switch (made.op) {
      case Opcode::kTensorTensor:
      case Opcode::kTensorScalar:
      case Opcode::kTensorReduce:
      case Opcode::kScalarTensorTensor:
      case Opcode::kReciprocal:
      case Opcode::kActivation: break;
      default: return false;
    }
    const bool whole = isa::is_integer(made.dst.dtype) || isa::is_integer(copy.dst.dtype);
    if (made.dst.dtype != copy.dst.dtype && (whole || made.dst.dtype != isa::Dtype::kFp32)) return false;
    if (copy.dst.space == Space::kPsum && made.engine == Engine::kGpSimd) return false;
    for (const Tile* t : isa::reads(made))
      if (overlap(*t, copy.dst)) return false;
    return true;
  }

  /// Whether nothing near the result and its copy needs that place: else one would wait for the other.
  bool untouched(std::uint32_t from, std::uint32_t to, const Tile& dst) const {
    for (std::uint32_t i = from - std::min(from, kFarthest); i < to; ++i)
      for (const Tile* t : {&block_.instrs[i].dst, &block_.instrs[i].dst2, &block_.instrs[i].a, &block_.instrs[i].b,
                            &block_.instrs[i].c})
        if (!gone_[i] && i != from && *t && overlap(*t, dst)) return false;
    return true;
  }

  VirtualBlock& block_;
  std::vector<Uses> uses_;
  std::vector<bool> gone_;
};

}  // namespace

std::size_t forward(VirtualBlock& block) { return Forwarder{block}.run(); }

}  // namespace runtime::nki
