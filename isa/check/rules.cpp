// Shapes and types of compute instructions. Source: AWS Neuron SDK 2.26.1, nki.isa; limits as the table says them.
#include "isa/check/rules.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "isa/check/shapes.h"
#include "isa/names.h"
#include "isa/table.h"

namespace isa::rule {
namespace {

/// Source: nki.isa.nc_matmul: fp8, bf16, fp16, tf32 and fp32; no integers are exposed on TensorE.
void pe_type(std::string_view name, const Tile& tile) {
  if (is_integer(tile.dtype))
    breach("convert it with tensor_copy", "TensorE cannot multiply {}, the type of {}", name_of(tile.dtype), name);
}

/// Bitwise operations see bits, so all that they touch must be integers; they exist on VectorE and GpSimdE's
/// partition reduction only.
void alu_types(const Instr& i) {
  const Alu bitwise = is_bitwise(i.alu0) ? i.alu0 : i.alu1;
  if (!is_bitwise(bitwise)) return;
  for (const Tile* tile : {&i.dst, &i.dst2, &i.a, &i.b, &i.c})
    if (*tile && !is_integer(tile->dtype))
      breach("use integer tiles", "{} works on bits, but an operand is {}", name_of(bitwise), name_of(tile->dtype));
  if (i.engine == Engine::kGpSimd && i.op != Opcode::kPartitionReduce)
    breach("issue it on vector", "{} runs on VectorE only", name_of(bitwise));
  if (i.alu0 != Alu::kNone && i.alu1 != Alu::kNone && is_bitwise(i.alu0) != is_bitwise(i.alu1))
    breach("use two instructions", "{} and {} are bitwise and arithmetic", name_of(i.alu0), name_of(i.alu1));
}

bool is_power(Alu alu) { return alu == Alu::kPow || alu == Alu::kRsqrt; }
bool has_power(const Instr& i) { return is_power(i.alu0) || is_power(i.alu1); }

/// GpSimdE runs powers, VectorE does not.
void power_engine(const Instr& i) {
  if (has_power(i) && i.engine != Engine::kGpSimd)
    breach("issue it on gpsimd, or use sqrt or rsqrt on ScalarE", "{} runs on GpSimdE only",
           name_of(is_power(i.alu0) ? i.alu0 : i.alu1));
}

/// An operation of one operand has none to exchange.
void one_operand(const Instr& i) {
  for (const auto& [alu, reverse] : {std::pair{i.alu0, i.reverse0}, std::pair{i.alu1, i.reverse1}})
    if (reverse && takes_one(alu)) breach("clear its reverse flag", "{} takes one operand", name_of(alu));
}

void eight(std::string_view name, const Tile& tile, const Instr& i) {
  need_shape(name, tile, i.a.partitions, 8);
  if (i.a.cols() < 8 || i.a.cols() > 16384)
    breach("split it, or pad it", "a has {} elements per partition, but 8 to 16384 may be searched", i.a.cols());
}

void fp32_or_int32(std::string_view name, const Tile& tile) { need_type(name, tile, {Dtype::kFp32, Dtype::kInt32}); }

void always_accumulates(const Instr& i, std::string_view name) {
  if (i.registers == Registers::kIdle || i.registers == Registers::kReset)
    breach("use reset_reduce, load_reduce or reduce", "{} always accumulates", name);
}

}  // namespace

void matmul(const Instr& i) {
  pe_type("a", i.a);
  pe_type("b", i.b);
  need_type("dst", i.dst, {Dtype::kFp32});
  if ((i.a.dtype == Dtype::kFp32) != (i.b.dtype == Dtype::kFp32))
    breach("convert one of them", "a is {} and b is {}: fp32 goes with fp32 only", name_of(i.a.dtype),
           name_of(i.b.dtype));
  if (i.a.partitions != i.b.partitions)
    breach("give both the same partitions", "a has K = {}, b has K = {}", i.a.partitions, i.b.partitions);
  if (i.a.cols() > kPartitions)
    breach("split a", "the stationary a has {} columns, but at most {} fit", i.a.cols(), kPartitions);
  if (i.b.cols() > kMovingColumns)
    breach("split b", "the moving b has {} columns, but at most {} fit", i.b.cols(), kMovingColumns);
  need_shape("dst", i.dst, i.a.cols(), i.b.cols());
}

void pe_transpose(const Instr& i) {
  // Source: SDK 2.32, nki.isa.nc_transpose: any type. NeuronCore-v2 multiplies, which is exact up to two bytes.
  if (!i.bitwise && is_integer(i.a.dtype) && size_of(i.a.dtype) > 2) pe_type("a", i.a);
  need_type("dst", i.dst, {Dtype::kFp32, i.a.dtype});
  if (i.a.cols() > 128) breach("split a", "a has {} columns, but TensorE transposes at most 128 x 128", i.a.cols());
  need_shape("dst", i.dst, i.a.cols(), i.a.partitions);
  if (!i.b) return;
  if (!i.bitwise) breach("leave b out, or set bitwise", "pe_transpose has a moving b only in transpose mode");
  pe_type("b", i.b);
  need_shape("b", i.b, i.a.partitions, i.a.partitions);
}

void vector_transpose(const Instr& i) {
  if (i.a.partitions > 32 || i.a.cols() > 32)
    breach("split it, or use pe_transpose", "a is {} x {}, but VectorE transposes at most 32 x 32", i.a.partitions,
           i.a.cols());
  need_shape("dst", i.dst, i.a.cols(), i.a.partitions);
  need_same_type("dst", i.dst, "a", i.a);
}

void tensor_tensor(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_same_shape("b", i.b, "a", i.a);
  not_both_psum("a", i.a, "b", i.b);
  alu_types(i);
  power_engine(i);
}

void tensor_scalar(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_column_if("b", i.b, i.a.partitions);
  need_column_if("c", i.c, i.a.partitions);
  alu_types(i);
  power_engine(i);
  if (i.c && i.alu1 == Alu::kNone) breach("remove c, or give alu1", "c has no ALU step");
  one_operand(i);
  if (i.engine == Engine::kGpSimd && !has_power(i))
    breach("issue it on vector", "GpSimdE runs tensor_scalar with pow or inverse_sqrt only");
}

void tensor_scalar_reduce(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_column_if("b", i.b, i.a.partitions);
  need_column_if("c", i.c, i.a.partitions);
  need_column_if("dst2", i.dst2, i.a.partitions);
  if (i.c) need_type("c", i.c, {Dtype::kFp32});
  always_accumulates(i, "tensor_scalar_reduce");
}

void cumulative(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_column_if("b", i.b, i.a.partitions);
  need_column_if("c", i.c, i.a.partitions);
  for (const Tile* tile : {&i.b, &i.c})
    if (*tile) need_type(tile == &i.b ? "b" : "c", *tile, {Dtype::kFp32});
  for (const Tile* tile : {&i.dst, &i.a})
    if (tile->dtype == Dtype::kInt32 || tile->dtype == Dtype::kUint32)
      breach("use floats, or 8- or 16-bit integers", "tensor_scalar_cumulative cannot take {}", name_of(tile->dtype));
  one_operand(i);
  always_accumulates(i, "tensor_scalar_cumulative");
}

void scalar_tensor_tensor(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_same_shape("c", i.c, "a", i.a);
  need_column_if("b", i.b, i.a.partitions);
  not_both_psum("a", i.a, "c", i.c);
  alu_types(i);
}

void scan(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_same_shape("b", i.b, "a", i.a);
  need_column_if("c", i.c, i.a.partitions);
  not_both_psum("a", i.a, "b", i.b);
}

/// The reduced axes are a's innermost ones, as many as dst lacks. Source: nki.isa.tensor_reduce.
void tensor_reduce(const Instr& i) {
  const auto size = [&](int d) { return std::int64_t{i.a.free[static_cast<std::size_t>(d)].size}; };
  std::int64_t kept = i.a.cols() / size(i.a.rank - 1);
  for (int d = i.a.rank - 2; d >= 0 && kept > i.dst.cols(); --d) kept /= size(d);
  if (kept != i.dst.cols()) kept = i.a.cols() / size(i.a.rank - 1);
  need_shape("dst", i.dst, i.a.partitions, kept);
  alu_types(i);
  if (i.negate && is_bitwise(i.alu0)) breach("clear negate", "{} gives bits, which have no sign", name_of(i.alu0));
}

void copy(const Instr& i) { need_same_shape("dst", i.dst, "a", i.a); }

void unary(const Instr& i) { need_same_shape("dst", i.dst, "a", i.a); }

namespace {

void dynamic_index(const Instr& i) {
  need_shape("b", i.b, 1, 1);
  need_type("b", i.b, {Dtype::kInt32});
  if (i.dst.partitions != i.a.partitions)
    breach("give both the same partitions", "dst has {} partitions, a has {}", i.dst.partitions, i.a.partitions);
  if (integer_of(i, 0) < 0) breach("count in elements", "the unit imm0 of the index is {}", integer_of(i, 0));
}

/// The steps of a dynamic copy over `whole`, the side whose place the run names. Source: as of an operand's own steps.
void dynamic_steps(const Instr& i, std::string_view name, const Tile& whole) {
  const bool strided = integer_of(i, 2) != 0;
  if (strided && whole.rank != 1) breach("give it one", "{} has {} free axes", name, whole.rank);
  for (const std::int32_t step : i.steps) {
    if (step != 0 && !strided) breach("set imm2", "there are steps, but imm2 is 0");
    if (step < std::numeric_limits<std::int16_t>::min() || step > std::numeric_limits<std::int16_t>::max())
      breach("place the tile more densely", "{} is read in steps of {} elements, but a step has 16 bits with a sign",
             name, step);
  }
}

/// reverse0 exchanges the cases; a second ALU step is not allowed.
void predicate_flags(const Instr& i) {
  if (i.reverse1) breach("clear reverse1", "reverse0 alone reverses the predicate");
}

}  // namespace

void dynamic_copy(const Instr& i) {
  dynamic_index(i);
  dynamic_steps(i, "a", i.a);
  if (integer_of(i, 2) != 0) return;  // steps may name an element twice
  if (i.dst.cols() > i.a.cols())
    breach("copy less", "dst has {} elements per partition, a has {}", i.dst.cols(), i.a.cols());
}

void dynamic_copy_dst(const Instr& i) {
  dynamic_index(i);
  dynamic_steps(i, "dst", i.dst);
  if (integer_of(i, 2) != 0) return;
  if (i.a.cols() > i.dst.cols())
    breach("copy less", "a has {} elements per partition, dst has {}", i.a.cols(), i.dst.cols());
}

void copy_predicated(const Instr& i) {
  need_same_shape("b", i.b, "dst", i.dst);
  need_type("b", i.b, {Dtype::kUint8, Dtype::kUint16, Dtype::kUint32});
  predicate_flags(i);
  if (!i.a) return;
  need_same_shape("dst", i.dst, "a", i.a);
  need_same_type("dst", i.dst, "a", i.a);
  not_both_psum("a", i.a, "b", i.b);
}

void select(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_same_shape("b", i.b, "a", i.a);
  need_type("b", i.b, {Dtype::kInt8, Dtype::kUint8, Dtype::kInt16, Dtype::kUint16});
  not_both_psum("a", i.a, "b", i.b);
  if (i.c && i.c.cols() != 1) need_same_shape("c", i.c, "a", i.a);
  if (i.c && i.c.cols() == 1) need_column_if("c", i.c, i.a.partitions);
  need_column_if("dst2", i.dst2, i.a.partitions);
  predicate_flags(i);
}

void bn_stats(const Instr& i) {
  need_shape("dst", i.dst, i.a.partitions, 6);
  if (i.a.cols() > 512)
    breach("split a, then bn_aggr", "a has {} elements per partition, but at most 512 fit", i.a.cols());
}

void bn_aggr(const Instr& i) {
  need_shape("dst", i.dst, i.a.partitions, 2);
  if (i.a.cols() % 3 != 0)
    breach("give it what bn_stats wrote", "a has {} elements per partition, which is not a multiple of 3", i.a.cols());
}

void dropout(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_column_if("b", i.b, i.a.partitions);
  if (is_integer(i.a.dtype)) need_same_type("dst", i.dst, "a", i.a);
  if (i.b && is_integer(i.a.dtype)) need_type("b", i.b, {Dtype::kFp32});
  if (i.b && is_integer(i.b.dtype)) breach("make it a float", "the probability b is {}", name_of(i.b.dtype));
  if (!(i.imm0 >= 0 && i.imm0 <= 1)) breach("choose it from 0 to 1", "the probability imm0 is {}", i.imm0);
}

/// Source: nki.isa.rng; the data type of later SDKs' documentation, which names NeuronCore-v2.
void rng(const Instr& i) {
  if (!is_integer(i.dst.dtype))
    breach("draw integers, then scale them", "rng writes random bits, but dst is {}", name_of(i.dst.dtype));
}

void rand_state(const Instr& i) {
  const bool sets = i.op == Opcode::kRandSetState;
  const Tile& words = sets ? i.a : i.dst;
  need_shape(sets ? "a" : "dst", words, words.partitions, 6);
  need_type(sets ? "a" : "dst", words, {Dtype::kUint32});
}

void set_rng_seed(const Instr& i) {
  need_shape("a", i.a, 1, 1);
  need_type("a", i.a, {Dtype::kUint32, Dtype::kInt32, Dtype::kFp32});
}

void stream_shuffle(const Instr& i) {
  if (i.dst.cols() != i.a.cols())
    breach("make them agree", "dst has {} elements per partition, a has {}", i.dst.cols(), i.a.cols());
  need_same_type("dst", i.dst, "a", i.a);
  need_shape("b", i.b, 1, 32);
  need_type("b", i.b, {Dtype::kUint8});
}

void max8(const Instr& i) { eight("dst", i.dst, i); }

void find_index8(const Instr& i) {
  eight("dst", i.dst, i);
  eight("b", i.b, i);
  need_type("dst", i.dst, {Dtype::kUint16, Dtype::kUint32});
}

void match_replace8(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  eight("b", i.b, i);
  if (!i.dst2) return;
  eight("dst2", i.dst2, i);
  need_type("dst2", i.dst2, {Dtype::kUint16, Dtype::kUint32});
}

void activation_v3(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  need_column_if("dst2", i.dst2, i.a.partitions);
  need_column_if("b", i.b, i.a.partitions);
  need_column_if("c", i.c, i.a.partitions);
  if (i.b) need_type("b", i.b, {Dtype::kFp32});
  if (i.c) need_type("c", i.c, {Dtype::kFp32, Dtype::kBf16, Dtype::kFp16});
  if (i.fn == Fn::kReciprocal && (i.c || i.imm1 != 0))
    breach("add the bias before, or use reciprocal on vector", "reciprocal takes no bias on NeuronCore-v2");
}

/// Source: nki.isa.activation: a number as bias exists from NeuronCore-v3 on.
void activation(const Instr& i) {
  activation_v3(i);
  if (i.imm1 != 0) breach("fill a tile [P, 1] with it", "the bias is the number {}, not a tile", i.imm1);
}

void affine_select(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  for (const Tile* tile : {&i.dst, &i.a})
    if (tile->dtype == Dtype::kInt32 || tile->dtype == Dtype::kUint32)
      breach("use floats, or 8- or 16-bit integers", "affine_select cannot take {}", name_of(tile->dtype));
}

void local_gather(const Instr& i) {
  need_same_type("dst", i.dst, "a", i.a);
  need_type("b", i.b, {Dtype::kUint16});
  if (i.a.partitions % 16 != 0) breach("pad it", "a has {} partitions, which is not a multiple of 16", i.a.partitions);
  need_shape("b", i.b, i.a.partitions, i.b.cols());
  const std::int64_t each = std::max<std::int64_t>(1, integer_of(i, 0));
  if (each > 32 || !std::has_single_bit(static_cast<std::uint64_t>(each)))
    breach("choose 1, 2, 4, 8, 16 or 32", "each index takes {} elements", each);
  if (i.dst.partitions != i.a.partitions || i.dst.cols() % each != 0 || i.dst.cols() > 16 * i.b.cols() * each)
    need_shape("dst", i.dst, i.a.partitions, 16 * i.b.cols() * each);
  if (i.dst.cols() / each > 4096)
    breach("gather in two steps", "it has {} indices, but at most 4096 fit", i.dst.cols() / each);
}

void n_gather(const Instr& i) {
  need_same_shape("dst", i.dst, "b", i.b);
  need_same_type("dst", i.dst, "a", i.a);
  need_type("b", i.b, {Dtype::kUint32});
  if (i.dst.partitions != i.a.partitions)
    breach("give both the same partitions", "dst has {} partitions, a has {}", i.dst.partitions, i.a.partitions);
}

void partition_reduce(const Instr& i) {
  need_shape("dst", i.dst, 1, i.a.cols());
  alu_types(i);
}

void sequence_bounds(const Instr& i) {
  need_shape("a", i.a, 1, i.a.cols());
  need_shape("dst", i.dst, 1, 2 * i.a.cols());
  fp32_or_int32("a", i.a);
  fp32_or_int32("dst", i.dst);
}

void free(const Instr&) {}

void range_select(const Instr& i) {
  need_same_shape("dst", i.dst, "a", i.a);
  for (const auto& [name, bound] : {std::pair{"b", &i.b}, std::pair{"c", &i.c}}) {
    need_shape(name, *bound, i.a.partitions, 1);
    need_type(name, *bound, {Dtype::kFp32});
  }
  need_column_if("dst2", i.dst2, i.a.partitions);
}

void unsupported(const Instr&) {}  // no engine has it: the form says so

}  // namespace isa::rule
