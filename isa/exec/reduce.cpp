// Instructions whose elements depend on their neighbours: reductions, scans, statistics, the eight largest.
#include <algorithm>
#include <array>
#include <limits>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/exec/registers.h"

namespace isa::exec {
namespace {

using Block = float[kBlock];

/// The sum or product of n elements, one after the other in fp32, as VectorE reads them: of four times 4,096 sums of
/// 128 numbers, NeuronCore-v2 gave each one bit for bit in this order.
float fold_in_order(const Instr& instr, const View& a, std::int64_t p, std::int64_t first, std::int64_t n) {
  float result = identity_of(instr.alu0);
  for (std::int64_t done = 0; done < n; done += kBlock) {
    alignas(64) Block xs;
    const std::int64_t count = std::min(kBlock, n - done);
    const float* x = read(a, p, first + done, count, xs);
    if (instr.alu0 == Alu::kAdd)
      for (std::int64_t i = 0; i < count; ++i) result += x[i];
    else
      for (std::int64_t i = 0; i < count; ++i) result *= x[i];
  }
  return result;
}

float fold_range(const Instr& instr, const View& a, std::int64_t p, std::int64_t first, std::int64_t n) {
  if (instr.alu0 == Alu::kAdd || instr.alu0 == Alu::kMul) return fold_in_order(instr, a, p, first, n);
  Fold fold{instr, instr.alu0};
  for (std::int64_t done = 0; done < n; done += kBlock) {
    alignas(64) Block xs;
    const std::int64_t count = std::min(kBlock, n - done);
    fold.add(read(a, p, first + done, count, xs), count);
  }
  return fold.result();
}

std::uint32_t fold_bits(const Instr& instr, const View& a, std::int64_t p, std::int64_t first, std::int64_t n) {
  std::uint32_t result = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t bits = 0;
    read_bits(a, p, first + i, 1, &bits);
    result = i == 0 ? bits : bitwise(instr, instr.alu0, result, bits, a.dtype);
  }
  return result;
}

float compute(const Instr& instr, Alu op, bool reverse, float x, float y) {
  float out = 0;
  combine(instr, {op, reverse}, &x, {nullptr, y}, &out, 1);
  return out;
}

/// The whole row p as fp32.
std::vector<float> whole_row(const View& v, std::int64_t p) {
  std::vector<float> out(static_cast<std::size_t>((v.cols + kBlock - 1) / kBlock * kBlock));
  for (std::int64_t first = 0; first < v.cols; first += kBlock) {
    const std::int64_t n = std::min(kBlock, v.cols - first);
    const float* in = read(v, p, first, n, out.data() + first);
    if (in != out.data() + first) std::copy_n(in, n, out.data() + first);
  }
  out.resize(static_cast<std::size_t>(v.cols));
  return out;
}

void need_eight(const Instr& instr, const View& v, const View& a, std::string_view name) {
  need(instr, v.partitions == a.partitions && v.cols == 8, std::string{name} + " is not [P, 8]",
       "give it eight elements per partition");
}

}  // namespace

void tensor_reduce(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.partitions == a.partitions && a.cols % dst.cols == 0, "dst is not a without its innermost axes",
       "give dst a's outer axes");
  const std::int64_t inner = a.cols / dst.cols;
  const Rounder how = rounder(index, context);
  for_rows(context, a.partitions, a.cols, [&](std::int64_t p) {
    for (std::int64_t first = 0; first < dst.cols; first += kBlock) {
      const std::int64_t n = std::min(kBlock, dst.cols - first);
      alignas(64) float results[kBlock];
      std::uint32_t bits[kBlock];
      for (std::int64_t i = 0; i < n; ++i) {
        if (is_bitwise(instr.alu0))
          bits[i] = fold_bits(instr, a, p, (first + i) * inner, inner);
        else
          results[i] = fold_range(instr, a, p, (first + i) * inner, inner) * (instr.negate ? -1.0f : 1.0f);
      }
      if (is_bitwise(instr.alu0))
        write_bits(dst, p, first, n, bits);
      else
        write(dst, p, first, n, results, how);
    }
  });
}

void partition_reduce(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.partitions == 1 && dst.cols == a.cols, "dst is not [1, N]", "give it one partition of a's columns");
  const Rounder how = rounder(index, context);
  for_blocks(context, 1, a.cols, [&](std::int64_t, std::int64_t first, std::int64_t n) {
    alignas(64) Block sum, xs;
    std::uint32_t bits[kBlock], other[kBlock];
    if (is_bitwise(instr.alu0)) {
      read_bits(a, 0, first, n, bits);
      for (std::int64_t p = 1; p < a.partitions; ++p) {
        read_bits(a, p, first, n, other);
        for (std::int64_t i = 0; i < n; ++i) bits[i] = bitwise(instr, instr.alu0, bits[i], other[i], a.dtype);
      }
      write_bits(dst, 0, first, n, bits);
      return;
    }
    std::copy_n(read(a, 0, first, n, xs), n, sum);
    for (std::int64_t p = 1; p < a.partitions; ++p)
      combine(instr, {instr.alu0, false}, sum, {read(a, p, first, n, xs), 0}, sum, n);
    write(dst, 0, first, n, sum, how);
  });
}

void tensor_tensor_scan(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = view(instr, instr.a, "a", context), b = view(instr, instr.b, "b", context);
  need_same_shape(instr, dst, a, "a");
  need_same_shape(instr, dst, b, "b");
  const Operand start{instr, instr.c, "c", instr.imm0, dst.partitions, context};
  const Rounder how = rounder(index, context);
  for_rows(context, dst.partitions, dst.cols, [&](std::int64_t p) {
    float last = start.block(p, 0, 1, nullptr).scalar;
    for (std::int64_t first = 0; first < dst.cols; first += kBlock) {
      alignas(64) Block xs, ys, outs;
      const std::int64_t n = std::min(kBlock, dst.cols - first);
      const float *x = read(a, p, first, n, xs), *y = read(b, p, first, n, ys);
      for (std::int64_t i = 0; i < n; ++i) {
        last = compute(instr, instr.alu0, instr.reverse0, x[i], last);
        last = outs[i] = compute(instr, instr.alu1, instr.reverse1, last, y[i]);
      }
      write(dst, p, first, n, outs, how);
    }
  });
}

void bn_stats(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.partitions == a.partitions && dst.cols == 6, "dst is not [P, 6]",
       "give it six elements per partition");
  need(instr, a.cols <= std::int64_t{kernels::kMostStatistics}, "a has more than 512 elements per partition",
       "split it, then bn_aggr");
  const Rounder how = rounder(index, context);
  static_assert(kernels::kMostStatistics <= kBlock);
  for_strips(context, a.partitions, a.cols, [&](const Strip& strip) {  // of whole rows
    alignas(64) Block scratch, stats;
    const float* x = read(a, strip, scratch);
    for (std::int64_t r = 0; r < strip.rows; ++r)
      kernels::kernels().statistics(x + r * strip.n, static_cast<std::size_t>(strip.n), stats + r * 6);
    write(dst, {strip.p, 0, 6, strip.rows}, stats, how);
  });
}

void bn_aggr(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.partitions == a.partitions && dst.cols == 2, "dst is not [P, 2]",
       "give it two elements per partition");
  need(instr, a.cols % 3 == 0, "a is not made of triplets", "give it what bn_stats wrote");
  const Rounder how = rounder(index, context);
  for_rows(context, a.partitions, a.cols, [&](std::int64_t p) {
    alignas(64) Block few;
    std::vector<float> many;
    if (a.cols > kBlock) many = whole_row(a, p);
    const float* row = many.empty() ? read(a, p, 0, a.cols, few) : many.data();
    float count = 0, sum = 0, squares = 0;
    for (std::int64_t i = 0; i < a.cols; i += 3) count += row[i], sum += row[i] * row[i + 1];
    const float mean = sum / count;
    for (std::int64_t i = 0; i < a.cols; i += 3) {
      const float offset = row[i + 1] - mean;
      squares += row[i + 2] + row[i] * offset * offset;
    }
    const float result[2] = {mean, squares / count};
    write(dst, p, 0, 2, result, how);
  });
}

void max8(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_eight(instr, dst, a, "dst");
  need(instr, a.cols >= 8, "a has fewer than eight elements per partition", "pad it");
  const Rounder how = rounder(index, context);
  for_rows(context, a.partitions, a.cols, [&](std::int64_t p) {
    std::vector<float> row = whole_row(a, p);
    // NaN has no place in an order: it counts as the smallest.
    for (float& x : row) x = x == x ? x : -std::numeric_limits<float>::infinity();
    std::partial_sort(row.begin(), row.begin() + 8, row.end(), std::greater{});
    write(dst, p, 0, 8, row.data(), how);
  });
}

namespace {

/// The places of the eight values of `wanted` in `row`; absent: all ones. Equal values find successive places.
std::array<std::uint32_t, 8> places_of(const std::vector<float>& wanted, const std::vector<float>& row) {
  std::array<std::uint32_t, 8> found{};
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t from = 0;
    for (std::size_t before = 0; before < i; ++before)
      if (wanted[before] == wanted[i] && found[before] != ~0u) from = found[before] + 1;
    const auto place = std::find(row.begin() + static_cast<std::ptrdiff_t>(from), row.end(), wanted[i]);
    found[i] = place == row.end() ? ~0u : static_cast<std::uint32_t>(place - row.begin());
  }
  return found;
}

}  // namespace

void find_index8(const Instr& instr, std::uint32_t, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = view(instr, instr.a, "a", context), b = view(instr, instr.b, "b", context);
  need_eight(instr, dst, a, "dst");
  need_eight(instr, b, a, "b");
  for_rows(context, a.partitions, a.cols,
           [&](std::int64_t p) { write_bits(dst, p, 0, 8, places_of(whole_row(b, p), whole_row(a, p)).data()); });
}

void match_replace8(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = view(instr, instr.a, "a", context), b = view(instr, instr.b, "b", context);
  const View dst2 = instr.dst2 ? view(instr, instr.dst2, "dst2", context) : View{};
  need_same_shape(instr, dst, a, "a");
  need_eight(instr, b, a, "b");
  if (instr.dst2) need_eight(instr, dst2, a, "dst2");
  const Rounder how = rounder(index, context);
  for_rows(context, a.partitions, a.cols, [&](std::int64_t p) {
    std::vector<float> row = whole_row(a, p);
    const std::vector<float> wanted = whole_row(b, p);
    std::uint32_t places[8] = {};
    // The last value is looked for first, and a replaced one may be found again: SDK 2.32, nki.isa.nc_match_replace8.
    for (std::size_t i = 8; i-- > 0;) {
      const auto found = std::ranges::find(row, wanted[i]);
      if (found == row.end()) continue;
      places[i] = static_cast<std::uint32_t>(found - row.begin());
      *found = instr.imm0;
    }
    for (std::int64_t first = 0; first < dst.cols; first += kBlock)
      write(dst, p, first, std::min(kBlock, dst.cols - first), row.data() + first, how);
    if (instr.dst2) write_bits(dst2, p, 0, 8, places);
  });
}

void tensor_scalar_cumulative(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_same_shape(instr, dst, a, "a");
  const Operand s0{instr, instr.b, "b", instr.imm0, dst.partitions, context};
  const Operand start{instr, instr.c, "c", instr.imm1, dst.partitions, context};
  const Registers command = command_of(instr);
  const Rounder how = rounder(index, context);
  for_rows(context, dst.partitions, dst.cols, [&](std::int64_t p) {
    float& last = register_of(instr, p, context);
    if (command == Registers::kResetReduce) last = identity_of(instr.alu1);
    if (command == Registers::kLoadReduce) last = start.block(p, 0, 1, nullptr).scalar;
    for (std::int64_t first = 0; first < dst.cols; first += kBlock) {
      alignas(64) Block xs, outs;
      const std::int64_t n = std::min(kBlock, dst.cols - first);
      combine(instr, {instr.alu0, instr.reverse0}, read(a, p, first, n, xs), s0.block(p, first, n, nullptr), outs, n);
      for (std::int64_t i = 0; i < n; ++i) last = outs[i] = compute(instr, instr.alu1, false, outs[i], last);
      write(dst, p, first, n, outs, how);
    }
  });
}

void sequence_bounds(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, a.partitions == 1 && dst.partitions == 1 && dst.cols == 2 * a.cols, "dst is not [1, 2, N] of a [1, N]",
       "give dst twice a's elements");
  const std::vector<float> ids = whole_row(a, 0);
  const std::size_t n = ids.size();
  std::vector<float> bounds(2 * n);  // a run is [begin, end)
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && ids[end] == ids[begin]) ++end;
    if (end == begin) ++end;  // NaN equals nothing: a run of its own
    const bool padding = ids[begin] == 0;
    for (std::size_t i = begin; i < end; ++i) {
      bounds[i] = padding ? static_cast<float>(n) : static_cast<float>(begin);
      bounds[n + i] = padding ? -1.0f : static_cast<float>(end);
    }
  }
  const Rounder how = rounder(index, context);
  for (std::int64_t first = 0; first < dst.cols; first += kBlock)
    write(dst, 0, first, std::min(kBlock, dst.cols - first), bounds.data() + first, how);
}

}  // namespace isa::exec
