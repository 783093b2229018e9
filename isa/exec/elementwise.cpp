// Element-wise instructions of VectorE, ScalarE and GpSimdE: read a block as fp32, operate, cast and write.
#include <cmath>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/exec/registers.h"

namespace isa::exec {
namespace {

using Block = float[kBlock];

/// A tile of one column is computed as one row: 128 rows of one element would cost 128 calls of everything.
void fold_columns(View& dst, View& a, std::initializer_list<Operand*> operands) {
  if (dst.cols != 1 || dst.partitions == 1) return;
  dst = flattened(dst);
  a = flattened(a);
  for (Operand* operand : operands) operand->flatten();
}

/// One operation on raw bits: dst = (a op0 y0) op1 y1.
struct BitStep {
  Alu op = Alu::kNone;
  bool reverse = false;
  const View* tile = nullptr;  // null: the immediate; one column: a number per partition
  std::uint32_t immediate = 0;
};

void run_bits(const Instr& instr, const View& dst, const View& a, std::span<const BitStep> steps, Context& context) {
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    std::uint32_t x[kBlock], y[kBlock];
    read_bits(a, p, first, n, x);
    for (const BitStep& step : steps) {
      if (step.op == Alu::kNone) continue;
      const bool column = step.tile && step.tile->cols == 1 && dst.cols != 1;
      if (step.tile) read_bits(*step.tile, p, column ? 0 : first, column ? 1 : n, y);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t other = !step.tile ? step.immediate : y[column ? 0 : i];
        x[i] = step.reverse ? bitwise(instr, step.op, other, x[i], a.dtype)
                            : bitwise(instr, step.op, x[i], other, a.dtype);
      }
    }
    write_bits(dst, p, first, n, x);
  });
}

std::uint32_t as_bits(const Instr& instr, std::size_t which) {
  return static_cast<std::uint32_t>(integer_of(instr, which));
}

/// GpSimdE's exact arithmetic on 32-bit integers. Source: AWS Neuron documentation, nki.isa.tensor_tensor.
bool integer_tensor_tensor(const Instr& instr, const View& dst, const View& a, const View& b, Context& context) {
  const auto is_32_bits = [](const View& v) { return v.dtype == Dtype::kInt32 || v.dtype == Dtype::kUint32; };
  if (instr.engine != Engine::kGpSimd || !whole(instr.alu0, 0, 0) || !is_32_bits(dst) || !is_32_bits(a) ||
      !is_32_bits(b))
    return false;
  const View &left = instr.reverse0 ? b : a, &right = instr.reverse0 ? a : b;
  const auto number = [](const View& v, std::uint32_t bits) {
    return v.dtype == Dtype::kInt32 ? std::int64_t{static_cast<std::int32_t>(bits)} : std::int64_t{bits};
  };
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    std::uint32_t x[kBlock], y[kBlock];
    read_bits(left, p, first, n, x);
    read_bits(right, p, first, n, y);
    for (std::int64_t i = 0; i < n; ++i) x[i] = *whole(instr.alu0, number(left, x[i]), number(right, y[i]));
    write_bits(dst, p, first, n, x);
  });
  return true;
}

View tile_like(const Instr& instr, const Tile& tile, std::string_view name, const View& dst, Context& context) {
  const View out = view(instr, tile, name, context);
  need_same_shape(instr, dst, out, name);
  return out;
}

/// Scale and bias of ScalarE's input.
template <typename T>
struct Scaling {
  T scale, bias;
};

/// out = fn(fma(a, scale, bias)); counts inputs that ScalarE's function is not documented for.
void apply_function(const Instr& instr, const float* a, const Scaling<Values>& by, float* out, std::int64_t n,
                    Context& context) {
  const auto& [scale, bias] = by;
  const kernels::Kernels& k = kernels::kernels();
  const auto count = static_cast<std::size_t>(n);
  const auto apply = [&](const float* x, float factor, float offset) {
    const auto range = instr.engine == Engine::kScalar ? documented_range(instr.fn) : std::nullopt;
    if (range)
      tally(context.memory.events().out_of_range,
            static_cast<std::int64_t>(k.outside(x, factor, offset, *range, count)));
    k.unary.at(static_cast<std::size_t>(instr.fn))(x, factor, offset, out, count);
  };
  if (!scale.data && !bias.data) {
    apply(a, scale.scalar, bias.scalar);
    return;
  }
  Block scaled;  // a column of numbers with a scale each
  for (std::int64_t i = 0; i < n; ++i)
    scaled[i] = std::fma(a[i], scale.data ? scale.data[i] : scale.scalar, bias.data ? bias.data[i] : bias.scalar);
  apply(scaled, 1, 0);
}

/// The strip's fn(fma(a, scale, bias)): at once, or by rows that have a scale or a bias each.
void activate(const Instr& instr, const View& a, const Scaling<const Operand&>& by, const Strip& strip, float* out,
              Context& context) {
  const auto& [scale, bias] = by;
  alignas(64) Block xs, scales, biases;
  const float* x = read(a, strip, xs);
  if (!scale.is_column() && !bias.is_column()) {
    apply_function(instr, x, {scale.block(strip, scales), bias.block(strip, biases)}, out, strip.elements(), context);
    return;
  }
  for (std::int64_t r = 0; r < strip.rows; ++r) {
    const Strip row = strip.row(r);
    apply_function(instr, x + r * strip.n, {scale.block(row, scales), bias.block(row, biases)}, out + r * strip.n,
                   row.n, context);
  }
}

}  // namespace

void tensor_tensor(const Instr& instr, std::uint32_t index, Context& context) {
  View dst = view(instr, instr.dst, "dst", context);
  View a = tile_like(instr, instr.a, "a", dst, context);
  const View b = tile_like(instr, instr.b, "b", dst, context);
  if (is_bitwise(instr.alu0)) {
    const BitStep step{instr.alu0, instr.reverse0, &b, 0};
    run_bits(instr, dst, a, {&step, 1}, context);
    return;
  }
  if (integer_tensor_tensor(instr, dst, a, b, context)) return;
  Operand other{b};
  fold_columns(dst, a, {&other});
  const Rounder how = rounder(index, context);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block xs, ys, outs;
    float* out = target(dst, strip, outs);
    combine(instr, {instr.alu0, instr.reverse0}, read(a, strip, xs), other.block(strip, ys), out, strip.elements());
    write(dst, strip, out, how);
  });
}

void tensor_scalar(const Instr& instr, std::uint32_t index, Context& context) {
  View dst = view(instr, instr.dst, "dst", context);
  View a = tile_like(instr, instr.a, "a", dst, context);
  Operand s0{instr, instr.b, "b", number_of(instr, 0), dst.partitions, context};
  Operand s1{instr, instr.c, "c", number_of(instr, 1), dst.partitions, context};
  if (is_bitwise(instr.alu0)) {
    const View b = instr.b ? view(instr, instr.b, "b", context) : View{};
    const View c = instr.c ? view(instr, instr.c, "c", context) : View{};
    const std::array steps{BitStep{instr.alu0, instr.reverse0, instr.b ? &b : nullptr, as_bits(instr, 0)},
                           BitStep{instr.alu1, instr.reverse1, instr.c ? &c : nullptr, as_bits(instr, 1)}};
    run_bits(instr, dst, a, steps, context);
    return;
  }
  fold_columns(dst, a, {&s0, &s1});
  const Rounder how = rounder(index, context);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block xs, ys, middle, outs;
    const bool two = instr.alu1 != Alu::kNone;
    float* out = target(dst, strip, outs);
    float* once = two ? middle : out;  // dst may also be an operand that is still to be read
    combine(instr, {instr.alu0, instr.reverse0}, read(a, strip, xs), s0.block(strip, ys), once, strip.elements());
    if (two) combine(instr, {instr.alu1, instr.reverse1}, once, s1.block(strip, ys), out, strip.elements());
    write(dst, strip, out, how);
  });
}

void scalar_tensor_tensor(const Instr& instr, std::uint32_t index, Context& context) {
  View dst = view(instr, instr.dst, "dst", context);
  View a = tile_like(instr, instr.a, "a", dst, context);
  const View c = tile_like(instr, instr.c, "c", dst, context);
  Operand s0{instr, instr.b, "b", number_of(instr, 0), dst.partitions, context};
  if (is_bitwise(instr.alu0)) {
    const View b = instr.b ? view(instr, instr.b, "b", context) : View{};
    const std::array steps{BitStep{instr.alu0, instr.reverse0, instr.b ? &b : nullptr, as_bits(instr, 0)},
                           BitStep{instr.alu1, instr.reverse1, &c, 0}};
    run_bits(instr, dst, a, steps, context);
    return;
  }
  Operand s1{c};
  fold_columns(dst, a, {&s0, &s1});
  const Rounder how = rounder(index, context);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block xs, ys, middle, outs;
    float* out = target(dst, strip, outs);
    combine(instr, {instr.alu0, instr.reverse0}, read(a, strip, xs), s0.block(strip, ys), middle, strip.elements());
    combine(instr, {instr.alu1, instr.reverse1}, middle, s1.block(strip, ys), out, strip.elements());
    write(dst, strip, out, how);
  });
}

void activation(const Instr& instr, std::uint32_t index, Context& context) {
  if (command_of(instr) != Registers::kIdle) return activation_reduce(instr, index, context);
  View dst = view(instr, instr.dst, "dst", context);
  View a = tile_like(instr, instr.a, "a", dst, context);
  Operand scale{instr, instr.b, "b", instr.imm0, dst.partitions, context};
  Operand bias{instr, instr.c, "c", instr.imm1, dst.partitions, context};
  fold_columns(dst, a, {&scale, &bias});
  const Rounder how = rounder(index, context);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block outs;
    float* out = target(dst, strip, outs);
    activate(instr, a, {scale, bias}, strip, out, context);
    write(dst, strip, out, how);
  });
}

namespace {

/// dst = compute(a) strip by strip, the reductions of its rows before the cast into the registers, and they into dst2
/// [P, 1].
template <class Compute>
void with_row_reduction(const Instr& instr, std::uint32_t index, Context& context, Alu reduction, const View& dst,
                        const Compute& compute) {
  const View dst2 = instr.dst2 ? view(instr, instr.dst2, "dst2", context) : View{};
  need(instr, !instr.dst2 || (dst2.partitions == dst.partitions && dst2.cols == 1),
       "dst2 is not one number per partition", "give it the shape [P, 1]");
  Rounder how = rounder(index, context), how2 = how;
  how2.stream.nonce[1] ^= 0x80000000u;  // its roundings are not those of dst's first column
  const auto end_rows = [&](std::int64_t p, std::int64_t rows, float* results) {
    const float sign = instr.negate ? -1.0f : 1.0f;
    for (std::int64_t r = 0; r < rows; ++r)
      results[r] = sign * accumulate(instr, reduction, p + r, results[r], context);
    if (instr.dst2) write(dst2, {p, 0, 1, rows}, results, how2);
  };
  if (dst.cols <= kBlock / 2) {  // strips hold whole rows
    for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
      alignas(64) Block outs;
      float* out = target(dst, strip, outs);
      compute(strip, out);
      float results[kBlock];
      for (std::int64_t r = 0; r < strip.rows; ++r) results[r] = reduce(instr, reduction, out + r * strip.n, strip.n);
      write(dst, strip, out, how);
      end_rows(strip.p, strip.rows, results);
    });
    return;
  }
  for_rows(context, dst.partitions, dst.cols, [&](std::int64_t p) {
    Fold fold{instr, reduction};
    for (std::int64_t first = 0; first < dst.cols; first += kBlock) {
      alignas(64) Block outs;
      const Strip strip{p, first, std::min(kBlock, dst.cols - first)};
      float* out = target(dst, strip, outs);
      compute(strip, out);
      fold.add(out, strip.n);
      write(dst, strip, out, how);
    }
    float result = fold.result();
    end_rows(p, 1, &result);
  });
}

}  // namespace

void activation_reduce(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = tile_like(instr, instr.a, "a", dst, context);
  const Operand scale{instr, instr.b, "b", instr.imm0, dst.partitions, context};
  const Operand bias{instr, instr.c, "c", instr.imm1, dst.partitions, context};
  with_row_reduction(instr, index, context, Alu::kAdd, dst, [&](const Strip& strip, float* out) {
    activate(instr, a, {scale, bias}, strip, out, context);
  });
}

void tensor_scalar_reduce(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = tile_like(instr, instr.a, "a", dst, context);
  const Operand s0{instr, instr.b, "b", number_of(instr, 0), dst.partitions, context};
  const Operand start{instr, instr.c, "c", instr.imm1, dst.partitions, context};
  if (command_of(instr) == Registers::kLoadReduce)
    for (std::int64_t p = 0; p < dst.partitions; ++p)
      register_of(instr, p, context) = start.block(p, 0, 1, nullptr).scalar;
  with_row_reduction(instr, index, context, instr.alu1, dst, [&](const Strip& strip, float* out) {
    alignas(64) Block xs, ys;
    combine(instr, {instr.alu0, instr.reverse0}, read(a, strip, xs), s0.block(strip, ys), out, strip.elements());
  });
}

namespace {

/// The common part of select and select_reduce: b decides where a is taken (reverse0: where it is not).
void choose(const Instr& instr, const View& predicate, const View& a, const Values& otherwise, const Strip& strip,
            float* out) {
  alignas(64) Block where, xs, others;
  if (!otherwise.data) std::fill_n(others, strip.elements(), otherwise.scalar);
  const float* chosen = read(a, strip, xs);
  const float* other = otherwise.data ? otherwise.data : others;
  if (instr.reverse0) std::swap(chosen, other);
  kernels::kernels().choose(read(predicate, strip, where), chosen, other, out, strip.count());
}

Operand alternative(const Instr& instr, const View& dst, Context& context) {
  if (!instr.c || instr.c.cols() == 1) return {instr, instr.c, "c", instr.imm0, dst.partitions, context};
  return Operand{tile_like(instr, instr.c, "c", dst, context)};
}

}  // namespace

void select(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = tile_like(instr, instr.a, "a", dst, context), b = tile_like(instr, instr.b, "b", dst, context);
  const Operand otherwise = alternative(instr, dst, context);
  const Rounder how = rounder(index, context);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block others, outs;
    float* out = target(dst, strip, outs);
    choose(instr, b, a, otherwise.block(strip, others), strip, out);
    write(dst, strip, out, how);
  });
}

void select_reduce(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = tile_like(instr, instr.a, "a", dst, context), b = tile_like(instr, instr.b, "b", dst, context);
  const Operand otherwise = alternative(instr, dst, context);
  with_row_reduction(instr, index, context, Alu::kMax, dst, [&](const Strip& strip, float* out) {
    alignas(64) Block others;
    choose(instr, b, a, otherwise.block(strip, others), strip, out);
  });
}

void range_select(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = tile_like(instr, instr.a, "a", dst, context);
  const Operand low{instr, instr.b, "b", 0, dst.partitions, context};
  const Operand high{instr, instr.c, "c", 0, dst.partitions, context};
  with_row_reduction(instr, index, context, Alu::kMax, dst, [&](const Strip& strip, float* out) {
    alignas(64) Block places, above, below, xs, others, bounds;
    const std::int64_t n = strip.elements();
    for (std::int64_t i = 0; i < n; ++i) places[i] = instr.imm0 + static_cast<float>(strip.first + i % strip.n);
    combine(instr, {instr.alu0, false}, places, low.block(strip, bounds), above, n);
    combine(instr, {instr.alu1, false}, places, high.block(strip, bounds), below, n);
    for (std::int64_t i = 0; i < n; ++i) above[i] *= below[i];
    std::fill_n(others, n, instr.imm1);
    kernels::kernels().choose(above, read(a, strip, xs), others, out, strip.count());
  });
}

void copy_predicated(const Instr& instr, std::uint32_t, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = instr.a ? tile_like(instr, instr.a, "a", dst, context) : View{};
  const View b = tile_like(instr, instr.b, "b", dst, context);
  need(instr, !instr.a || a.dtype == dst.dtype, "dst and a differ in type", "make them agree");
  const std::uint32_t number = instr.integers ? as_bits(instr, 0) : encode(dst.dtype, instr.imm0);
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    std::uint32_t where[kBlock], from[kBlock], to[kBlock];
    read_bits(b, p, first, n, where);
    read_bits(dst, p, first, n, to);
    if (instr.a)
      read_bits(a, p, first, n, from);
    else
      std::fill_n(from, n, number);
    for (std::int64_t i = 0; i < n; ++i) to[i] = (where[i] != 0) != instr.reverse0 ? from[i] : to[i];
    write_bits(dst, p, first, n, to);
  });
}

void reciprocal(const Instr& instr, std::uint32_t index, Context& context) {
  Instr division = instr;
  division.fn = Fn::kReciprocal;
  division.imm0 = 1;
  division.imm1 = -0.0f;  // x + -0 keeps the sign of a zero
  division.b = division.c = Tile{};
  activation(division, index, context);
}

}  // namespace isa::exec
