// Instructions that move, choose by place, or make elements: copies, gathers, shuffles, patterns, random numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/exec/random.h"
#include "isa/table.h"

namespace isa::exec {
namespace {

using Block = float[kBlock];

[[noreturn]] void out_of_range(const Instr& instr, std::string_view what) {
  throw base::Error{base::Fault::kData, row(instr.op).name, what, "check the data that the index comes from"};
}

}  // namespace

void tensor_copy(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_same_shape(instr, dst, a, "a");
  const Rounder how = rounder(index, context);
  for_blocks(context, dst.partitions, dst.cols,
             [&](std::int64_t p, std::int64_t first, std::int64_t n) { copy_block(dst, a, p, first, n, how); });
}

void tensor_copy_dynamic(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  const View b = view(instr, instr.b, "b", context);
  need(instr, dst.partitions == a.partitions, "dst and a differ in partitions", "make them agree");
  need(instr, b.dtype == Dtype::kInt32 && b.elements() == 1, "b is not [1, 1] int32", "give it one index");
  std::uint32_t bits = 0;
  read_bits(b, 0, 0, 1, &bits);
  const auto offset = std::int64_t{static_cast<std::int32_t>(bits)};
  if (offset < 0 || offset + dst.cols > a.cols)
    out_of_range(instr, fmt::format("index {} and {} elements leave a's {}", offset, dst.cols, a.cols));
  const Rounder how = rounder(index, context);
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    if (dst.dtype == a.dtype) {
      std::uint32_t moved[kBlock];
      read_bits(a, p, first + offset, n, moved);
      write_bits(dst, p, first, n, moved);
      return;
    }
    alignas(64) Block xs;
    write(dst, p, first, n, read(a, p, first + offset, n, xs), how);
  });
}

void stream_shuffle(const Instr& instr, std::uint32_t, Context& context) {
  constexpr std::int64_t kGroup = 32, kKeep = 255;
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  const View b = view(instr, instr.b, "b", context);
  need_same_shape(instr, dst, a, "a");
  need(instr, dst.dtype == a.dtype, "dst and a differ in type", "make them agree");
  need(instr, b.elements() == kGroup, "the mask b is not [1, 32]", "give it 32 partitions");
  std::uint32_t mask[kGroup];
  read_bits(flattened(b), 0, 0, kGroup, mask);
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(a.partitions * a.cols));  // dst may be a
  for (std::int64_t p = 0; p < a.partitions; ++p)
    for (std::int64_t first = 0; first < a.cols; first += kBlock)
      read_bits(a, p, first, std::min(kBlock, a.cols - first), rows.data() + p * a.cols + first);
  for (std::int64_t p = 0; p < dst.partitions; ++p) {
    const std::int64_t wanted = mask[p % kGroup];
    if (wanted == kKeep) continue;
    const std::int64_t from = p / kGroup * kGroup + wanted;
    if (wanted >= kGroup || from >= a.partitions)
      out_of_range(instr, fmt::format("mask {} leaves the {} partitions of a", wanted, a.partitions));
    for (std::int64_t first = 0; first < dst.cols; first += kBlock)
      write_bits(dst, p, first, std::min(kBlock, dst.cols - first), rows.data() + from * a.cols + first);
  }
}

void local_gather(const Instr& instr, std::uint32_t, Context& context) {
  constexpr std::int64_t kShared = 16;  // partitions that share their indices; index k lies in the (k % 16)-th of them
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  const View b = view(instr, instr.b, "b", context);
  need(instr, dst.dtype == a.dtype, "dst and a differ in type", "make them agree");
  need(instr,
       dst.partitions == a.partitions && b.partitions == a.partitions && a.partitions % kShared == 0 &&
           dst.cols == kShared * b.cols,
       "dst is not [P, 16 * n] of b [P, n], P a multiple of 16", "change the tiles");
  for_rows(context, dst.partitions, dst.cols, [&](std::int64_t p) {
    for (std::int64_t k = 0; k < dst.cols; ++k) {
      std::uint32_t from = 0, bits = 0;
      read_bits(b, p / kShared * kShared + k % kShared, k / kShared, 1, &from);
      if (from >= a.cols) out_of_range(instr, fmt::format("index {} leaves a's {} elements", from, a.cols));
      read_bits(a, p, from, 1, &bits);
      write_bits(dst, p, k, 1, &bits);
    }
  });
}

void memset(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const Rounder how = rounder(index, context);
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block outs;
    float* out = target(dst, p, first, outs);
    std::fill_n(out, n, instr.imm0);
    write(dst, p, first, n, out, how);
  });
}

void iota(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const Rounder how = rounder(index, context);
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block outs;
    std::uint32_t bits[kBlock];
    for (std::int64_t i = 0; i < n; ++i) {
      // imm2 is the step of the innermost axis; the outer ones continue it.
      const double value =
          instr.imm0 + static_cast<double>(p) * instr.imm1 + static_cast<double>(first + i) * instr.imm2;
      bits[i] = static_cast<std::uint32_t>(std::llround(value));
      outs[i] = static_cast<float>(value);
    }
    if (is_integer(dst.dtype))
      write_bits(dst, p, first, n, bits);
    else
      write(dst, p, first, n, outs, how);
  });
}

void affine_select(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_same_shape(instr, dst, a, "a");
  const Rounder how = rounder(index, context);
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block xs, outs, places, where, others;
    for (std::int64_t i = 0; i < n; ++i)
      places[i] = instr.imm0 + static_cast<float>(p) * instr.imm1 + static_cast<float>(first + i) * instr.imm2;
    std::fill_n(others, n, instr.imm3);
    combine(instr, instr.alu0, false, places, {nullptr, 0}, where, n);
    float* out = target(dst, p, first, outs);
    kernels::kernels().choose(where, read(a, p, first, n, xs), others, out, static_cast<std::size_t>(n));
    write(dst, p, first, n, out, how);
  });
}

void dropout(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_same_shape(instr, dst, a, "a");
  need(instr, instr.imm0 >= 0 && instr.imm0 <= 1, "the probability imm0 is not in [0, 1]", "change it");
  const Rounder how = rounder(index, context);
  const kernels::Stream stream = random_stream(Purpose::kDropout, instr.rng, context);
  // 16 bits decide: the probability is met to 1/131072.
  const auto threshold = static_cast<std::uint32_t>(std::lround(static_cast<double>(instr.imm0) * 65536));
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block xs, outs;
    alignas(64) std::uint16_t random[kBlock];
    random_row(stream, p, first, n, random);
    float* out = target(dst, p, first, outs);
    kernels::kernels().dropout(read(a, p, first, n, xs), random, threshold, instr.imm1, out,
                               static_cast<std::size_t>(n));
    write(dst, p, first, n, out, how);
  });
}

void rng(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const Rounder how = rounder(index, context);
  const kernels::Stream high = random_stream(Purpose::kRng, instr.rng, context);
  kernels::Stream low = high;
  low.nonce[1] ^= 0x80000000u;
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block outs;
    alignas(64) std::uint16_t upper[kBlock], lower[kBlock];
    std::uint32_t bits[kBlock];
    random_row(high, p, first, n, upper);
    random_row(low, p, first, n, lower);
    for (std::int64_t i = 0; i < n; ++i) {
      bits[i] = static_cast<std::uint32_t>(upper[i]) << 16 | lower[i];
      outs[i] = base::uniform01(bits[i]);
    }
    if (is_integer(dst.dtype))
      write_bits(dst, p, first, n, bits);
    else
      write(dst, p, first, n, outs, how);
  });
}

void wait(const Instr&, std::uint32_t, Context&) {}  // the sequencer has waited; there is nothing to compute

void unsupported(const Instr& instr, std::uint32_t, Context&) {
  refuse(instr, "it has no semantics on NeuronCore-v2", "use another instruction");
}

}  // namespace isa::exec
