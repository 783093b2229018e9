// DMA: copies between any two memories, rows by index.
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <set>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/names.h"

namespace isa::exec {
namespace {

/// dst = a, or dst += a in fp32.
void move_strip(const Instr& instr, const View& dst, const View& a, const Strip& strip, const Rounder& how) {
  if (!instr.accumulate) {
    copy_strip(dst, a, strip, how);
    return;
  }
  alignas(64) float olds[kBlock], news[kBlock], sums[kBlock];
  float* sum = target(dst, strip, sums);
  combine(instr, {Alu::kAdd, false}, read(dst, strip, olds), {read(a, strip, news), 0}, sum, strip.elements());
  write(dst, strip, sum, how);
}

/// Asks for rows [begin, end) of a copy, or as much of them as is worth it.
[[gnu::always_inline]] inline void prefetch_rows(const View& dst, const View& a, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kMost = 1024, kLine = 64;
  const std::int64_t bytes = std::min(dst.cols * dst.size, kMost);
  for (std::int64_t p = begin; p < end; ++p)
    for (std::int64_t at = 0; at < bytes; at += kLine)
      __builtin_prefetch(a.row(p) + at), __builtin_prefetch(dst.row(p) + at, 1);
}

/// dst = a, rows of equal bytes. Rows are too far apart for the host's prefetcher: prefetches the next ones while it
/// copies some.
void copy_rows(const View& dst, const View& a, const Context& context) {
  const std::int64_t bytes = dst.cols * dst.size;
  constexpr std::int64_t kTogether = 2048, kPiece = 16384;
  const bool worth = dst.elements() >= kWorthSplitting;
  if (bytes <= kTogether) {
    const std::int64_t together = std::clamp<std::int64_t>(kTogether / bytes, 1, 16);
    split(context.team, dst.partitions, worth, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; p += together) {
        const std::int64_t next = std::min(p + together, end);
        prefetch_rows(dst, a, next, std::min(next + together, end));
        kernels::kernels().copy_rows(a.row(p), a.pstep, dst.row(p), dst.pstep, static_cast<std::size_t>(next - p),
                                     static_cast<std::size_t>(bytes));
      }
    });
    return;
  }
  const std::int64_t pieces = (bytes + kPiece - 1) / kPiece;
  split(context.team, dst.partitions * pieces, worth, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t p = i / pieces, first = i % pieces * kPiece;
      if (first + kPiece >= bytes && i + 1 < end) prefetch_rows(dst, a, p + 1, p + 2);
      std::memmove(dst.row(p) + first, a.row(p) + first, static_cast<std::size_t>(std::min(kPiece, bytes - first)));
    }
  });
}

/// `dst` as a copy of `a` writes it: DMA engines move the bits between signed and unsigned integers of one width.
View written(const Instr& instr, View dst, const View& a) {
  if (!instr.accumulate && dst.size == a.size && is_integer(dst.dtype) && is_integer(a.dtype)) dst.dtype = a.dtype;
  return dst;
}

/// The index of row p; none with `skip` when it is out of range, else an error.
std::optional<std::int64_t> row_index(const Instr& instr, const View& index, std::int64_t p, std::int64_t rows) {
  std::uint32_t bits = 0;
  read_bits(index, instr.integers ? 0 : p, 0, 1, &bits);
  auto value = std::int64_t{static_cast<std::int32_t>(bits)};
  if (instr.integers) value = value * instr.ints[0] + p * instr.ints[1];
  if (value >= 0 && value < rows) return value;
  if (instr.skip) return std::nullopt;
  const std::string what =
      instr.integers ? fmt::format("the number {} moves row {} out of the tensor", static_cast<std::int32_t>(bits), p)
                     : fmt::format("index {} of partition {} is not one of the {} rows", value, p, rows);
  throw base::Error{base::Fault::kData, name_of(instr.op), what,
                    "check the data that the index comes from, or skip such rows"};
}

void check_index(const Instr& instr, const View& index, std::int64_t partitions) {
  need(instr, index.dtype == Dtype::kInt32 && index.partitions == (instr.integers ? 1 : partitions) && index.cols == 1,
       "the index b is not [P, 1] int32", "give it one row number per partition");
}

/// Row `from` of `v` as row `at`: for copies between different rows of two views.
View shifted(const View& v, std::int64_t from, std::int64_t at) {
  View out = v;
  out.base += (from - at) * v.pstep;
  return out;
}

}  // namespace

void dma_copy(const Instr& instr, std::uint32_t index, Context& context) {
  View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.elements() == a.elements(),
       fmt::format("dst has {} elements, a has {}", dst.elements(), a.elements()), "make them agree");
  dst = written(instr, dst, a);
  if (dst.partitions != a.partitions || dst.cols == 1) dst = flattened(dst), a = flattened(a);
  if (!instr.accumulate && dst.dtype == a.dtype && dst.contiguous() && a.contiguous()) {
    copy_rows(dst, a, context);
    return;
  }
  const Rounder how = rounder(index, context);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) { move_strip(instr, dst, a, strip, how); });
}

void dma_gather(const Instr& instr, std::uint32_t index, Context& context) {
  const View a = view(instr, instr.a, "a", context);
  const View dst = written(instr, view(instr, instr.dst, "dst", context), a);
  const View b = view(instr, instr.b, "b", context);
  check_index(instr, b, dst.partitions);
  need(instr, dst.cols == a.cols, "the rows of dst and a differ", "make them agree");
  const Rounder how = rounder(index, context);
  for_rows(context, dst.partitions, dst.cols, [&](std::int64_t p) {
    const std::optional<std::int64_t> place = row_index(instr, b, p, a.partitions);
    if (!place) return;
    const View from = shifted(a, *place, p);
    for (std::int64_t first = 0; first < dst.cols; first += kBlock)
      move_strip(instr, dst, from, {p, first, std::min(kBlock, dst.cols - first)}, how);
  });
}

void dma_scatter(const Instr& instr, std::uint32_t index, Context& context) {
  const View a = view(instr, instr.a, "a", context);
  const View dst = written(instr, view(instr, instr.dst, "dst", context), a);
  const View b = view(instr, instr.b, "b", context);
  check_index(instr, b, a.partitions);
  need(instr, dst.cols == a.cols, "the rows of dst and a differ", "make them agree");
  const Rounder how = rounder(index, context);
  // Rows may meet: threads take columns, each all rows in the order of p.
  constexpr std::int64_t kStrip = 128;
  const std::int64_t strips = (a.cols + kStrip - 1) / kStrip;
  split(context.team, strips, a.elements() >= kWorthSplitting, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = 0; p < a.partitions; ++p) {
      const std::optional<std::int64_t> place = row_index(instr, b, p, dst.partitions);
      if (!place) continue;
      const View to = shifted(dst, *place, p);
      const std::int64_t last = std::min(end * kStrip, a.cols);
      for (std::int64_t first = begin * kStrip; first < last; first += kBlock)
        move_strip(instr, to, a, {p, first, std::min(kBlock, last - first)}, how);
    }
  });
}

}  // namespace isa::exec

namespace isa {

std::uint64_t repeated_rows(const Instr& instr, Context& context) {
  if (instr.op != Opcode::kDmaScatter || !instr.accumulate || instr.integers) return 0;
  const exec::View index = exec::view(instr, instr.b, "b", context);
  std::set<std::uint32_t> rows;
  std::uint64_t out = 0;
  for (std::int64_t p = 0; p < index.partitions; ++p) {
    std::uint32_t row = 0;
    exec::read_bits(index, p, 0, 1, &row);
    if (row < static_cast<std::uint32_t>(instr.dst.partitions)) out += !rows.insert(row).second;
  }
  return out;
}

}  // namespace isa
