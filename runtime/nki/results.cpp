// Where results go: `tensor[...] = instruction(...)` writes to the tensor at once, sums of matmuls stay in PSUM.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "isa/operands.h"
#include "runtime/nki/trace.h"

namespace runtime::nki {
namespace {

using isa::Engine;
using isa::Opcode;
using isa::Space;

/// The place in `target` of `part`, which is cut from `whole`; nothing when their axes do not match.
std::optional<View> placed(const View& target, const View& whole, const View& part) {
  View out = target;
  if (part.rank != whole.rank) return std::nullopt;
  int e = 0;
  std::int64_t left = part.offset;
  for (int d = 0; d < whole.rank; ++d) {
    const Axis &w = whole.axes[static_cast<std::size_t>(d)], &p = part.axes[static_cast<std::size_t>(d)];
    std::int64_t low = part.part;
    if (w.kind == Axis::Kind::kFree) low = w.step > 0 ? left / w.step : 0, left -= low * w.step;
    if (w.size == 1) continue;
    while (e < target.rank && target.axes[static_cast<std::size_t>(e)].size == 1) ++e;
    if (e == target.rank || target.axes[static_cast<std::size_t>(e)].size != w.size) return std::nullopt;
    if (w.size != p.size) out = cut(out, e, low, p.size);
    ++e;
  }
  while (e < target.rank && target.axes[static_cast<std::size_t>(e)].size == 1) ++e;
  if (e != target.rank) return std::nullopt;
  return out;
}

View whole_of(const View& temporary) {
  View out = temporary;
  out.part = out.offset = 0;
  return out;
}

/// Whether engines begin at that partition; DMA begins anywhere. Source: NKI architecture guide v2.
bool reached(const Tile& tile) {
  const int grid = tile.partitions > 64 ? isa::kPartitions : tile.partitions > 32 ? 64 : 32;
  return tile.space == Space::kHbm || tile.start % grid == 0;
}

bool reached(const View& view) {
  if (!view.on_chip() || !view.storage->places.empty()) return true;
  const std::int64_t parts = view.partitions(), grid = parts > 64 ? isa::kPartitions : parts > 32 ? 64 : 32;
  return view.part % grid == 0;
}

bool meet(const Tile& x, const Tile& y) {
  if (x.space != y.space || x.reg != y.reg) return false;
  if (x.space == Space::kHbm) return true;
  return x.start < y.start + y.partitions && y.start < x.start + x.partitions;
}

}  // namespace

/// Whether the instruction may write to `dst`: its engine reaches it, and it does not overwrite elements that it has
/// yet to read.
bool Trace::may_write(const isa::Instr& instr, const Tile& dst) const {
  const bool tensor = instr.op == Opcode::kMatMul || instr.op == Opcode::kPeTranspose;
  const bool number =
      dst.dtype == isa::Dtype::kFp32 || (instr.op == Opcode::kPeTranspose && dst.dtype == instr.a.dtype);
  if (tensor && (dst.space != Space::kPsum || !number)) return false;
  if (dst.space == Space::kPsum && (instr.engine == Engine::kGpSimd || isa::is_dma(instr.op))) return false;
  if (dst.space == Space::kHbm && !isa::is_dma(instr.op)) return false;
  if (!isa::is_dma(instr.op) && !reached(dst)) return false;
  const bool by_place = instr.op == Opcode::kTensorTensor || instr.op == Opcode::kTensorScalar ||
                        instr.op == Opcode::kActivation || instr.op == Opcode::kTensorCopy ||
                        instr.op == Opcode::kReciprocal || instr.op == Opcode::kScalarTensorTensor;
  for (const Tile* t : {&instr.a, &instr.b, &instr.c}) {
    if (!*t || !meet(*t, dst)) continue;
    const bool same = t->start == dst.start && t->offset == dst.offset && t->rank == dst.rank && t->free == dst.free;
    if (!(by_place && same && t->dtype == dst.dtype)) return false;
  }
  return true;
}

/// Whether nothing has read or written `dst` since the instruction `first`, which will write it.
bool Trace::untouched_since(std::uint32_t first, const Tile& dst) const {
  for (std::size_t i = first + 1; i < block_.instrs.size(); ++i) {
    const isa::Instr& instr = block_.instrs[i];
    for (const Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
      if (*t && meet(*t, dst)) return false;
  }
  return true;
}

bool Trace::starts_sum(const View& part) {
  const Storage& s = *part.storage;
  if (!s.fill || *s.fill != 0) return false;
  buffer_of(part);
  BlockState& state = state_of(part);
  if (state.filled) return false;
  const Region r = region_of(part);
  const auto apart = [&](const Region& w) {
    return w.part >= r.part + r.parts || r.part >= w.part + w.parts || w.low >= r.high || r.low >= w.high;
  };
  return std::ranges::all_of(state.sums ? *state.sums : state.written, apart);
}

bool Trace::redirect(const View& dst, const View& src, bool adds) {
  require_own(src);
  Storage& from = *src.storage;
  if (!from.temporary || from.read || from.producers.empty() || dst.indirect) return false;
  if (src.elements() != from.parts * from.cols || src.dtype != from.dtype) return false;
  std::vector<View> parts;
  for (const Storage::Producer& p : from.producers) {
    const isa::Instr& instr = block_.instrs[p.instr];
    if (adds && instr.op != Opcode::kMatMul) return false;
    auto part = placed(dst, whole_of(src), p.part);
    if (!part || (instr.op != Opcode::kDmaCopy && part->partitions() != p.part.partitions())) return false;
    if (isa::has_steps(instr)) part = unjoined(*part);
    const Tile tile = on_chip_tile(*part);
    if (!may_write(instr, tile) || !untouched_since(from.producers.front().instr, tile)) return false;
    parts.push_back(*part);
  }
  BlockState* state = dst.on_chip() ? &state_of(dst) : nullptr;
  if (state) state->slot = std::min(state->slot, from.producers.front().instr);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    isa::Instr& instr = block_.instrs[from.producers[i].instr];
    if (adds) instr.accumulate = !starts_sum(parts[i]);
    if (adds && instr.accumulate) read_tile(parts[i]);
    const Tile tile = write_tile(parts[i]);
    (from.producers[i].second ? block_.instrs[from.producers[i].instr].dst2
                              : block_.instrs[from.producers[i].instr].dst) = tile;
  }
  from.producers.clear();
  return true;
}

void Trace::assign(const View& dst, const View& src, bool unnamed) {
  if (dst.same_place(src) || dst.empty()) return;
  if (unnamed && (redirect(dst, src, false) || copy_written(dst, src))) return;
  copy(dst, src);
}

bool Trace::copy_written(const View& dst, const View& src) {
  const Storage& from = *src.storage;
  if (!from.temporary || from.read || dst.indirect || src.elements() != from.parts * from.cols) return false;
  std::vector<std::pair<View, View>> moves;
  for (const Storage::Producer& p : from.producers) {
    const auto to = placed(dst, whole_of(src), p.part);
    if (!to) return false;
    if (moves.empty() || !moves.back().second.same_place(p.part)) moves.emplace_back(*to, p.part);
  }
  for (const auto& [to, part] : moves) copy(to, part);
  return true;
}

bool Trace::accumulate(const View& dst, const View& src, bool unnamed) {
  if (!dst.on_chip()) return false;
  if (dst.empty()) return true;
  if (unnamed && dst.storage->space == Space::kPsum) {
    // A product whose mask leaves nothing adds nothing.
    if (src.storage->temporary && !src.storage->read && src.storage->producers.empty()) return true;
    if (redirect(dst, src, true)) return true;
  }
  const bool first = !dst.indirect && !src.indirect && src.on_chip() && src.elements() == dst.elements();
  if (!first || !starts_sum(dst)) return false;
  if (!unnamed || !redirect(dst, src, false)) copy(dst, src);  // to zeros
  return true;
}

void Trace::copy(const View& dst, const View& src) {
  if (dst.empty() || src.empty()) return;
  View from = src;
  std::vector<std::int64_t> sizes;
  for (int d = 0; d < dst.rank; ++d) sizes.push_back(dst.axes[static_cast<std::size_t>(d)].size);
  if (src.elements() != dst.elements()) {
    from = broadcast(src, sizes);
    if (from.on_chip() && from.partitions() > 1 && from.axes[0].step == 0) from = spread(src, from.partitions(), false);
    if (from.elements() != dst.elements()) from = broadcast(from, sizes);
  }
  const bool dma = !dst.on_chip() || !from.on_chip() || !reached(dst) || !reached(from) ||
                   dst.partitions() != from.partitions();  // elements go to other partitions by DMA alone
  Op op{.instr = {.op = dma ? Opcode::kDmaCopy : Opcode::kTensorCopy, .engine = Engine::kVector},
        .dst = &dst,
        .a = &from};
  op.any_engine = !dma;
  emit(op);
}

/// By VectorE, bit by bit: whole numbers of 32 bits do not survive TensorE's fp32.
View Trace::shuffled(const View& view, std::int64_t partitions) {
  constexpr std::int64_t kGroup = 32;  // partitions that one instruction reaches
  const View row = reshaped(cut(view, 0, 0, 1), {1, view.cols()});
  const View first = constants_.get(ConstantKind::kZeros, isa::Dtype::kUint8, kGroup, [&] {
    return tensor({.dtype = isa::Dtype::kUint8, .sizes = {1, kGroup}, .fill = 0.0F});
  });
  std::vector<std::int64_t> sizes{partitions};
  for (int d = 1; d < view.rank; ++d) sizes.push_back(view.axes[static_cast<std::size_t>(d)].size);
  const View out = temporary(Space::kSbuf, view.dtype, {partitions, view.cols()});
  for (std::int64_t p = 0; p < partitions; p += kGroup) {
    const View part = cut(out, 0, p, std::min(kGroup, partitions - p));
    emit({.instr = {.op = Opcode::kStreamShuffle, .engine = Engine::kVector}, .dst = &part, .a = &row, .b = &first});
  }
  return reshaped(out, sizes);
}

View Trace::spread(const View& view, std::int64_t partitions, bool in_psum) {
  if (isa::is_integer(view.dtype) && isa::size_of(view.dtype) == 4) return shuffled(view, partitions);
  const isa::Dtype type = isa::is_integer(view.dtype) ? isa::Dtype::kFp32 : view.dtype;
  View row = cut(view, 0, 0, 1);
  if (type != view.dtype || view.storage->space == Space::kPsum) {  // TensorE reads numbers in SBUF
    std::vector<std::int64_t> sizes{1, row.cols()};
    View number = temporary(Space::kSbuf, type, sizes);
    copy(number, row);
    row = number;
  }
  const std::int64_t all = target_.geometry.partitions;
  const View row_of_ones = constants_.get(ConstantKind::kOnes, type, all, [&] {
    return tensor({.dtype = type, .sizes = {1, all}, .fill = 1.0F});
  });
  const View ones = cut(row_of_ones, 1, 0, partitions);
  const std::int64_t bank =
      std::min(target_.geometry.moving_columns, target_.geometry.psum_bank_bytes / isa::size_of(isa::Dtype::kFp32));
  std::vector<std::int64_t> sizes{partitions};
  for (int d = 1; d < view.rank; ++d) sizes.push_back(view.axes[static_cast<std::size_t>(d)].size);
  const std::int64_t cols = row.cols();
  const bool stays = in_psum && cols <= bank;
  View flat = row;
  if (row.rank != 2) flat = reshaped(row, {1, cols});
  View out = temporary(stays ? Space::kPsum : Space::kSbuf, stays ? isa::Dtype::kFp32 : view.dtype, {partitions, cols});
  for (std::int64_t c = 0; c < cols; c += bank) {
    const std::int64_t size = std::min(bank, cols - c);
    const View part = cut(out, 1, c, size), moving = cut(flat, 1, c, size);
    const View sum = stays ? part : temporary(Space::kPsum, isa::Dtype::kFp32, {partitions, size});
    emit({.instr = {.op = Opcode::kMatMul, .engine = Engine::kTensor}, .dst = &sum, .a = &ones, .b = &moving});
    if (!stays) copy(part, sum);
  }
  return reshaped(out, sizes);
}

}  // namespace runtime::nki
