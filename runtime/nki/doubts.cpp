#include "runtime/nki/doubts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"
#include "runtime/compiler/rect_log.h"
#include "runtime/nki/placed.h"

namespace runtime::nki {
namespace {

using isa::Opcode;
using isa::Space;

/// Bytes of some partitions of a buffer.
struct Patch {
  std::int64_t part = 0, parts = 0, low = 0, high = 0;
  bool overlaps(const Patch& o) const {
    return part < o.part + o.parts && o.part < part + parts && low < o.high && o.low < high;
  }
  bool holds(const Patch& o) const {
    return part <= o.part && o.part + o.parts <= part + parts && low <= o.low && o.high <= high;
  }
};

bool on_chip(const Tile& t) { return t.space == Space::kSbuf || t.space == Space::kPsum; }

Patch patch_of(const Tile& t) {
  const ByteRange range = ByteRange::of(t);
  return {t.start, t.partitions, t.offset + range.low, t.offset + range.high};
}

bool share_bytes(const Tile& x, const Tile& y) {
  if (x.space != y.space || x.reg != y.reg || x.start >= y.start + y.partitions || y.start >= x.start + x.partitions)
    return false;
  const ByteRange a = ByteRange::of(x), b = ByteRange::of(y);
  return x.offset + a.low < y.offset + b.high && y.offset + b.low < x.offset + a.high;
}

constexpr std::size_t kMostPatches = 64;

/// Patches, those that a later one holds left out; when they are many, one around all.
void add_patch(std::vector<Patch>& all, Patch p) {
  if (std::ranges::any_of(all, [&](const Patch& o) { return o.holds(p); })) return;
  if (all.size() == kMostPatches)
    for (const Patch& o : all) {
      const std::int64_t part = std::min(p.part, o.part), low = std::min(p.low, o.low);
      p = {part, std::max(p.part + p.parts, o.part + o.parts) - part, low, std::max(p.high, o.high)};
    }
  std::erase_if(all, [&](const Patch& o) { return p.holds(o); });
  all.push_back(p);
}

bool any_overlaps(const std::vector<Patch>& all, const Patch& p) {
  return std::ranges::any_of(all, [&](const Patch& o) { return o.overlaps(p); });
}

constexpr const char* kCarried =
    "an iteration of nl.affine_range reads data that an earlier one wrote: the compiler may change their order "
    "(nl.sequential_range keeps it)";

/// A part of a tensor in HBM that an iteration of a loop wrote.
struct Stored : HbmRect {
  std::size_t iteration = 0;
};

class Doubter {
 public:
  explicit Doubter(const VirtualBlock& block) : block_{block}, written_(block.buffers.size() + 1) {}

  std::vector<Doubt> run(const std::vector<LoopTrace>& loops) {
    for (const Instr& i : block_.instrs) unwritten(i);
    for (const LoopTrace& loop : loops) carried(loop), carried_in_hbm(loop);
    return std::move(found_);
  }

 private:
  void doubt(std::uint32_t label, std::string text) {
    const Doubt d{label, std::move(text)};
    if (std::ranges::find(found_, d) == found_.end()) found_.push_back(d);
  }

  void unwritten(const Instr& i) {
    if (i.accumulate && i.dst.space == Space::kPsum && !any_overlaps(written_[i.dst.reg], patch_of(i.dst)))
      doubt(i.label,
            "a product is added to PSUM before anything is written there: the first product of a sum must overwrite");
    else if (!i.accumulate || i.dst.space != Space::kPsum)
      for (const Tile* t : {&i.a, &i.b, &i.c})
        if (on_chip(*t) && !any_overlaps(written_[t->reg], patch_of(*t)))
          doubt(i.label, "a tile is read before anything is written to it");
    for (const Tile* t : isa::writes(i))
      if (t->space != Space::kHbm) add_patch(written_[t->reg], patch_of(*t));
  }

  /// A sum, a product, a greatest or least number that an iteration carries on in its own place.
  static bool associative(const Instr& i, const Tile& read) {
    const bool same =
        i.dst.space == read.space && i.dst.reg == read.reg && i.dst.start == read.start && i.dst.offset == read.offset;
    if (!same) return false;
    if (i.accumulate) return true;
    const auto adds = [](isa::Alu op) {
      return op == isa::Alu::kAdd || op == isa::Alu::kMul || op == isa::Alu::kMax || op == isa::Alu::kMin;
    };
    if (i.op == Opcode::kScalarTensorTensor) return &read == &i.c && adds(i.alu1);
    return adds(i.alu0) && (i.op == Opcode::kTensorTensor ||
                            (i.op == Opcode::kTensorScalar && i.alu1 == isa::Alu::kNone && !i.reverse0));
  }

  /// Notes a write. Loops with loops inside write in so many places that a patch would be around others' bytes, too:
  /// their buffers are vague then, and no doubt is raised about them.
  static void note(const LoopTrace& loop, const Tile& t, std::vector<Patch>& own, std::set<std::uint32_t>& vague) {
    const ByteRange range = ByteRange::of(t);
    const bool whole = range.high - range.low == t.cols() * isa::size_of(t.dtype);
    if (loop.outer && (!whole || own.size() >= kMostPatches)) vague.insert(t.reg);
    add_patch(own, patch_of(t));
  }

  void carried(const LoopTrace& loop) {
    std::map<std::uint32_t, std::vector<Patch>> before;  // by buffer: writes of earlier iterations
    std::set<std::uint32_t> vague;
    for (std::size_t n = 0; n < loop.starts.size(); ++n) {
      const std::uint32_t end = n + 1 < loop.starts.size() ? loop.starts[n + 1] : loop.end;
      std::map<std::uint32_t, std::vector<Patch>> own;
      for (std::uint32_t at = loop.starts[n]; at < end; ++at) {
        const Instr& i = block_.instrs[at];
        for (const Tile* t : {&i.a, &i.b, &i.c}) {
          if (!on_chip(*t) || associative(i, *t) || vague.contains(t->reg)) continue;
          const auto found = before.find(t->reg);
          if (found == before.end() || !any_overlaps(found->second, patch_of(*t))) continue;
          const Patch read = patch_of(*t);
          const auto mine = own.find(t->reg);
          if (mine == own.end() || !any_overlaps(mine->second, read)) doubt(i.label, kCarried);
        }
        for (const Tile* t : isa::writes(i))
          if (t->space != Space::kHbm && !(loop.outer && i.op == Opcode::kMemset))  // the tracer fills constants there
            note(loop, *t, own[t->reg], vague);
      }
      for (auto& [reg, patches] : own)
        for (const Patch& p : patches) {
          if (loop.outer && before[reg].size() >= kMostPatches) vague.insert(reg);
          add_patch(before[reg], p);
        }
    }
  }

  /// Rows that an index names may be any: they are left out.
  void carried_in_hbm(const LoopTrace& loop) {
    std::unordered_map<std::uint32_t, RectLog<Stored>> stored;  // by register
    std::size_t n = 0;
    for (std::uint32_t at = loop.starts.empty() ? loop.end : loop.starts[0]; at < loop.end; ++at) {
      while (n + 1 < loop.starts.size() && loop.starts[n + 1] <= at) ++n;
      const Instr& i = block_.instrs[at];
      if (i.op == Opcode::kDmaGather || i.op == Opcode::kDmaScatter || i.accumulate) continue;
      bool earlier = false, own = false;
      if (const auto found = i.a.space == Space::kHbm ? stored.find(i.a.reg) : stored.end(); found != stored.end())
        found->second.each(HbmRect::of(i.a), [&](const Stored& s) { (s.iteration == n ? own : earlier) = true; });
      if (earlier && !own) doubt(i.label, kCarried);
      if (i.dst.space == Space::kHbm) stored[i.dst.reg].add({HbmRect::of(i.dst), n});
    }
  }

  const VirtualBlock& block_;
  std::vector<std::vector<Patch>> written_;
  std::vector<Doubt> found_;
};

}  // namespace

std::vector<Doubt> doubts(const VirtualBlock& block, const std::vector<LoopTrace>& loops) {
  return Doubter{block}.run(loops);
}

namespace {

/// Zeros that the kernel asks for, with which a sum may begin; a tensor's own are filled in for the instruction behind.
bool is_zeros_of_its_own(const VirtualBlock& block, const Instr& i) {
  if (i.op != Opcode::kMemset || i.imm0 != 0) return false;
  const auto reader = std::find_if(block.instrs.begin() + (&i - block.instrs.data()), block.instrs.end(),
                                   [](const Instr& other) { return other.op != Opcode::kMemset; });
  return reader == block.instrs.end() || reader->label != i.label;
}

}  // namespace

std::vector<Doubt> sums_of_values(const VirtualBlock& block) {
  std::map<std::uint32_t, std::vector<Patch>> values;  // by buffer: those of other engines
  std::vector<Doubt> out;
  for (const Instr& i : block.instrs) {
    if (i.dst.space != Space::kPsum) continue;
    std::vector<Patch>& all = values[i.dst.reg];
    const Patch patch = patch_of(i.dst);
    const bool product = i.engine == isa::Engine::kTensor;
    if (product && i.accumulate && any_overlaps(all, patch)) {
      const Doubt doubt{i.label, "a product is added to PSUM, but no earlier product has overwritten it"};
      if (std::ranges::find(out, doubt) == out.end()) out.push_back(doubt);
    }
    if (!product && !is_zeros_of_its_own(block, i))
      add_patch(all, patch);
    else if (!i.accumulate)
      std::erase_if(all, [&](const Patch& o) { return o.overlaps(patch); });
  }
  return out;
}

namespace {

/// Instructions whose n-th result comes from the n-th elements of their operands.
constexpr std::array kStreams{
    Opcode::kTensorCopy,   Opcode::kActivation,         Opcode::kTensorScalar, Opcode::kTensorTensor,
    Opcode::kReciprocal,   Opcode::kScalarTensorTensor, Opcode::kSelect,       Opcode::kTensorTensorScan,
    Opcode::kAffineSelect, Opcode::kTensorScalarReduce,
};

/// The byte of each element of a partition, in the order of the stream.
std::vector<std::int64_t> places(const Tile& t) {
  std::vector<std::int64_t> out{t.offset};
  for (int d = 0; d < t.rank; ++d) {
    const auto [size, step] =
        std::pair{t.free[static_cast<std::size_t>(d)].size, t.free[static_cast<std::size_t>(d)].step};
    std::vector<std::int64_t> more;
    more.reserve(out.size() * static_cast<std::size_t>(size));
    for (const std::int64_t at : out)
      for (std::int64_t i = 0; i < size; ++i) more.push_back(at + i * step * isa::size_of(t.dtype));
    out = std::move(more);
  }
  return out;
}

/// Whether the stream writes an element before it reads it.
bool written_first(const Tile& dst, const Tile& source) {
  if (!source || dst.dtype != source.dtype || dst.cols() != source.cols() || !share_bytes(dst, source)) return false;
  if (dst.offset == source.offset && dst.rank == source.rank && dst.free == source.free) return false;
  const std::vector<std::int64_t> to = places(dst), from = places(source);
  std::unordered_map<std::int64_t, std::size_t> written;
  for (std::size_t n = 0; n < to.size(); ++n) {
    if (written.contains(from[n])) return true;
    written.emplace(to[n], n);
  }
  return false;
}

}  // namespace

std::vector<Doubt> overwritten_operands(const VirtualBlock& block) {
  std::vector<Doubt> out;
  for (const Instr& i : block.instrs) {
    if (std::ranges::find(kStreams, i.op) == kStreams.end()) continue;
    if (std::ranges::none_of(std::array{&i.a, &i.b, &i.c}, [&](const Tile* t) { return written_first(i.dst, *t); }))
      continue;
    const Doubt doubt{
        i.label,
        "it writes elements of a tile that it reads later on: the chip may read them before or after; give "
        "the result a tile of its own"};
    if (std::ranges::find(out, doubt) == out.end()) out.push_back(doubt);
  }
  return out;
}

std::vector<Doubt> unwritten_reads(const VirtualBlock& block, std::vector<bool> written) {
  std::vector<Doubt> out;
  const auto in_hbm = [&](const Tile* t) { return t->space == Space::kHbm && t->reg < written.size(); };
  for (const Instr& i : block.instrs) {
    for (const Tile* t : isa::reads(i)) {
      if (t == &i.dst && i.op == Opcode::kDmaScatter && !i.accumulate) continue;  // rows that it leaves are not read
      const Doubt doubt{i.label, "a tensor in HBM is read before anything is written to it"};
      if (in_hbm(t) && !written[t->reg] && std::ranges::find(out, doubt) == out.end()) out.push_back(doubt);
    }
    for (const Tile* t : isa::writes(i))
      if (in_hbm(t)) written[t->reg] = true;
  }
  return out;
}
void Placed::write(const isa::Tile& tile, std::uint64_t owner) {
  if (!writes_.empty() && writes_.front().owner == owner && writes_.front().tile == tile) return;
  writes_.push_front({tile, owner});
  if (writes_.size() > kMost) writes_.pop_back();
}

bool Placed::overwritten(const isa::Tile& tile, std::uint64_t owner) const {
  const auto there = [&](const Write& w) { return share_bytes(w.tile, tile); };
  const auto latest = std::ranges::find_if(writes_, there);
  if (latest == writes_.end() || latest->owner == owner) return false;
  return std::any_of(latest, writes_.end(), [&](const Write& w) { return w.owner == owner && there(w); });
}

}  // namespace runtime::nki
