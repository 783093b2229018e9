#include "runtime/compiler/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "runtime/graph/op.h"

namespace runtime {
namespace {

using isa::Engine;
using isa::Space;

void put(const Scalar& s, float& imm, Tile& tile) {
  if (const float* number = std::get_if<float>(&s))
    imm = *number;
  else
    tile = std::get<Tile>(s);
}

}  // namespace

Emitter::Emitter(const Graph& graph, const isa::Target& target, std::string name)
    : graph_{graph}, target_{target}, books_{target, kGraphPolicy} {
  block_.name = std::move(name);
  label("");
}

Tile Emitter::buffer(Space space, Dtype dtype, std::int64_t parts, std::int64_t cols) {
  Tile tile;
  tile.space = space;
  tile.dtype = dtype;
  tile.partitions = static_cast<std::int32_t>(parts);
  tile.reg = block_.add({.space = space, .bytes = cols * isa::size_of(dtype), .parts = parts});
  tile.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(cols)};
  return tile;
}

Tile Emitter::sbuf(Dtype dtype, std::int64_t parts, std::int64_t cols) {
  if (parts < 1 || parts > kPartitions || cols < 1)
    base::ensure(false, block_.name,
                 fmt::format("a buffer of {}, {}", base::counted(parts, "partition"), base::counted(cols, "column")));
  return buffer(Space::kSbuf, dtype, parts, cols);
}

Tile Emitter::psum(std::int64_t parts, std::int64_t cols, Dtype dtype) {
  if (cols > bank_columns(dtype))
    base::ensure(false, block_.name, fmt::format("{} columns do not fit in a PSUM bank", cols));
  return buffer(Space::kPsum, dtype, parts, cols);
}

std::uint32_t Emitter::reg(ValueId id) {
  const auto [place, added] = registers_.try_emplace(graph_.base(id), static_cast<std::uint32_t>(registers_.size()));
  if (added) block_.registers.push_back(place->first);
  return place->second;
}

Tile Emitter::hbm(ValueId id, std::int64_t row, std::int64_t rows, std::int64_t stride) {
  return hbm(id, row, rows, 0, value(id).cols, stride);
}

Tile Emitter::hbm(ValueId id, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols,
                  std::int64_t stride) {
  const Value& v = value(id);
  if (row + (rows - 1) * stride >= v.rows || col + cols > v.cols)
    base::ensure(
        false, block_.name,
        fmt::format("row {} x {}, column {} + {} of {} [{}, {}]", row, rows, col, cols, v.name, v.rows, v.cols));
  return hbm_flat(id, row * v.cols + col, rows, cols, stride * v.cols);
}

Tile Emitter::hbm_row(ValueId id, std::int64_t row, std::int64_t parts, std::int64_t col, std::int64_t cols) {
  Tile tile = hbm(id, row, 1, col, cols, 1);
  tile.partitions = static_cast<std::int32_t>(parts);
  tile.pstep = 0;
  return tile;
}

Tile Emitter::hbm_flat(ValueId id, std::int64_t begin, std::int64_t parts, std::int64_t cols,
                       std::int64_t row_elements) {
  const Value& v = value(id);
  Tile tile;
  tile.space = Space::kHbm;
  tile.dtype = v.dtype;
  tile.partitions = static_cast<std::int32_t>(parts);
  tile.reg = reg(id);
  tile.offset = begin * isa::size_of(v.dtype);
  tile.pstep = row_elements * isa::size_of(v.dtype);
  tile.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(cols)};
  return tile;
}

void Emitter::load(const Tile& dst, const Tile& src) {
  emit(books_.load({.op = Opcode::kDmaCopy, .dst = dst, .a = src}));
}

Tile Emitter::loaded(Dtype dtype, const Tile& src) {
  const Tile dst = sbuf(dtype, src.partitions, src.cols());
  load(dst, src);
  return dst;
}

void Emitter::store(const Tile& dst, const Tile& src) {
  emit(books_.store({.op = Opcode::kDmaCopy, .dst = dst, .a = src}));
}

Tile Emitter::broadcast(ValueId id, std::int64_t parts, std::int64_t col, std::int64_t cols) {
  const Dtype type = value(id).dtype;
  if (isa::is_integer(type)) return loaded(type, hbm_row(id, 0, parts, col, cols));  // TensorE multiplies none
  return spread(loaded(type, hbm(id, 0, 1, col, cols, 1)), parts);
}

Tile Emitter::spread(const Tile& row, std::int64_t parts) {
  const Dtype type = row.dtype;
  const std::int64_t cols = row.cols();
  const Tile out = sbuf(type, parts, cols);
  const Tile column = columns(partitions(ones(type, kPartitions), 1), 0, parts);
  for (std::int64_t c = 0; c < cols; c += isa::kMovingColumns) {
    const std::int64_t size = std::min(isa::kMovingColumns, cols - c);
    const Tile sum = psum(parts, size);
    move(sum, column, columns(row, c, size));
    copy(columns(out, c, size), sum);
  }
  return out;
}

void Emitter::scatter(const Tile& dst, const Tile& src, const Tile& index) {
  emit(books_.store({.op = Opcode::kDmaScatter, .dst = dst, .a = src, .b = index}));
}

void Emitter::copy(const Tile& dst, const Tile& src, Scalar scale) {
  const float* factor = std::get_if<float>(&scale);
  Instr i{.op = Opcode::kTensorCopy, .dst = dst, .a = src};
  if (!factor || *factor != 1.0F) {
    i.op = Opcode::kTensorScalar, i.alu0 = Alu::kMul;
    put(scale, i.imm0, i.b);
  }
  emit(books_.choose(i));
}

void Emitter::fill(const Tile& dst, float value) {
  emit(books_.choose({.op = Opcode::kMemset, .imm0 = value, .dst = dst}));
}

void Emitter::affine_select(const Tile& tile, float start, float by_row, float by_col, float otherwise) {
  emit({.op = Opcode::kAffineSelect,
        .engine = Engine::kGpSimd,
        .alu0 = Alu::kGe,
        .imm0 = start,
        .imm1 = by_row,
        .imm2 = by_col,
        .imm3 = otherwise,
        .dst = tile,
        .a = tile});
}

bool Emitter::keeps(ValueId id, std::int64_t most_bytes) const {
  const Value& v = value(id);
  const std::int64_t tiles = (v.rows + isa::kPartitions - 1) / isa::kPartitions;
  const auto reads_kept = [&](NodeId n) { return graph_.node(n).op->reads_kept; };
  const bool few = v.rows <= kKeptRows || std::ranges::any_of(graph_.users(id), reads_kept);
  return v.kind == Kind::kActivation && few && tiles * v.cols * isa::size_of(v.dtype) <= most_bytes;
}

void Emitter::keep(ValueId id, std::int64_t row, const Tile& tile, std::int64_t most_bytes) {
  if (keeps(id, most_bytes)) kept_[{id, row}] = tile;
}

const Tile* Emitter::kept(ValueId id, std::int64_t row, std::int64_t rows) const {
  const auto found = kept_.find({id, row});
  return found != kept_.end() && found->second.partitions == rows ? &found->second : nullptr;
}

void Emitter::matmul(const Tile& dst, const Tile& stationary, const Tile& moving, bool accumulate) {
  emit({.op = Opcode::kMatMul,
        .engine = Engine::kTensor,
        .accumulate = accumulate,
        .dst = dst,
        .a = stationary,
        .b = moving});
}

void Emitter::move(const Tile& dst, const Tile& stationary, const Tile& moving) {
  matmul(dst, stationary, moving, false);
  block_.movement_flops += 2.0 * static_cast<double>(stationary.partitions * dst.elements());
}

void Emitter::transpose(const Tile& dst, const Tile& src) {
  emit({.op = Opcode::kPeTranspose,
        .engine = Engine::kTensor,
        .bitwise = target_.generation >= 3,
        .dst = dst,
        .a = src});
}

namespace {

/// VectorE raises to no power.
Engine engine_of(Alu a, Alu b = Alu::kNone) {
  return a == Alu::kPow || b == Alu::kPow ? Engine::kGpSimd : Engine::kVector;
}

}  // namespace

void Emitter::tensor_tensor(const Tile& dst, const Tile& a, Alu op, const Tile& b) {
  emit({.op = Opcode::kTensorTensor, .engine = engine_of(op), .alu0 = op, .dst = dst, .a = a, .b = b});
}

Instr Emitter::tensor_scalar_of(const Tile& dst, const Tile& a, std::pair<Alu, Scalar> first,
                                std::pair<Alu, Scalar> then) {
  Instr i{.op = Opcode::kTensorScalar,
          .engine = engine_of(first.first, then.first),
          .alu0 = first.first,
          .alu1 = then.first,
          .dst = dst,
          .a = a};
  put(first.second, i.imm0, i.b);
  if (then.first != Alu::kNone) put(then.second, i.imm1, i.c);
  return i;
}

void Emitter::tensor_scalar(const Tile& dst, const Tile& a, Alu op0, Scalar s0, Alu op1, Scalar s1) {
  emit(tensor_scalar_of(dst, a, {op0, s0}, {op1, s1}));
}

void Emitter::tensor_scalar_anywhere(const Tile& dst, const Tile& a, Alu op0, Scalar s0, Alu op1, Scalar s1) {
  const Instr i = tensor_scalar_of(dst, a, {op0, s0}, {op1, s1});
  if (i.engine != Engine::kVector) return emit(i);
  emit(books_.choose(i, [&](float number, const Tile& tile) { return partitions(constant(number), tile.partitions); }));
}

void Emitter::scalar_tensor_tensor(const Tile& dst, const Tile& a, Alu op0, Scalar s, Alu op1, const Tile& c) {
  Instr i{.op = Opcode::kScalarTensorTensor,
          .engine = Engine::kVector,
          .alu0 = op0,
          .alu1 = op1,
          .dst = dst,
          .a = a,
          .c = c};
  put(s, i.imm0, i.b);
  emit(i);
}

void Emitter::activation(const Tile& dst, Fn fn, const Tile& a, Scalar scale, Scalar bias, const Tile* sum) {
  Instr i{.op = sum ? Opcode::kActivationReduce : Opcode::kActivation,
          .engine = Engine::kScalar,
          .fn = fn,
          .dst = dst,
          .a = a};
  put(scale, i.imm0, i.b);
  const float* number = std::get_if<float>(&bias);
  if (number && *number != 0 && target_.generation == 2)  // only a tile may be the bias there
    i.c = partitions(constant(*number), a.partitions);
  else
    put(bias, i.imm1, i.c);
  if (!i.c && i.imm1 == 0) i.imm1 = -0.0F;  // no bias: x + -0 keeps the sign of a zero
  if (sum) i.dst2 = *sum;
  emit(i);
}

void Emitter::reduce(const Tile& dst, Alu op, const Tile& a) {
  emit({.op = Opcode::kTensorReduce, .engine = Engine::kVector, .alu0 = op, .dst = dst, .a = a});
}

void Emitter::dropout(const Tile& dst, const Tile& a, double p, const Draws& draws) {
  base::ensure(draws.stream < 256 && draws.piece < (1u << 24), block_.name, "too many random streams");
  emit({.op = Opcode::kDropout,
        .engine = Engine::kVector,
        .alike = draws.alike,
        .rng = draws.stream << 24 | draws.piece,
        .imm0 = static_cast<float>(p),
        .imm1 = static_cast<float>(1 / (1 - p)),
        .dst = dst,
        .a = a});
}

Tile Emitter::identity(Dtype dtype) {
  return constants_.get(ConstantKind::kIdentity, dtype, kPartitions, [&] {
    const Tile difference = sbuf(Dtype::kFp32, kPartitions, kPartitions), tile = sbuf(dtype, kPartitions, kPartitions);
    emit({.op = Opcode::kIota, .engine = Engine::kGpSimd, .imm1 = -1, .imm2 = 1, .dst = difference});
    tensor_scalar(tile, difference, Alu::kEq, 0.0F);
    return tile;
  });
}

Tile Emitter::constant(float value) {
  return constants_.number(value, [&] {
    const Tile tile = sbuf(Dtype::kFp32, kPartitions, 1);
    emit({.op = Opcode::kMemset, .engine = Engine::kVector, .imm0 = value, .dst = tile});
    return tile;
  });
}

Tile Emitter::filled(ConstantKind kind, Dtype dtype, std::int64_t cols, float value) {
  return constants_.get(kind, dtype, cols, [&] {
    const Tile tile = sbuf(dtype, kPartitions, cols);
    fill(tile, value);
    return tile;
  });
}

Tile Emitter::ramp(std::int64_t cols) {
  return constants_.get(ConstantKind::kRamp, Dtype::kFp32, cols, [&] {
    const Tile tile = sbuf(Dtype::kFp32, kPartitions, cols);
    emit({.op = Opcode::kIota, .engine = Engine::kGpSimd, .imm2 = 1, .dst = tile});
    return tile;
  });
}

void Emitter::label(std::string text) {
  const auto found = std::ranges::find(block_.labels, text);
  label_ = static_cast<std::uint32_t>(found - block_.labels.begin());
  if (found == block_.labels.end()) block_.labels.push_back(std::move(text));
}

void Emitter::emit(const Instr& instr) {
  books_.add(instr);
  // Fourfold growth: to move hundreds of thousands of them again and again takes as long as a part of the scheduling.
  if (block_.instrs.size() == block_.instrs.capacity())
    block_.instrs.reserve(4 * std::max<std::size_t>(64, block_.instrs.size()));
  block_.instrs.push_back(instr);
  block_.instrs.back().label = label_;
}

std::vector<LoopPart> Emitter::parts_of(LoopStages stages) {
  ++loops_;
  stages_ = std::move(stages);
  std::vector<LoopPart> out;
  for (std::int64_t i = 0; i < std::ssize(stages_); ++i) {
    if (part_.stage != LoopPart::kAllStages && part_.stage != i) continue;
    const LoopShape& shape = stages_[static_cast<std::size_t>(i)];
    out.push_back({.outer = part_.outer,
                   .outer_count = part_.outer_end(shape) - part_.outer,
                   .inner = part_.inner,
                   .inner_count = part_.inner_end(shape) - part_.inner,
                   .stage = i});
  }
  return out;
}

VirtualBlock Emitter::finish() { return std::move(block_); }

}  // namespace runtime
