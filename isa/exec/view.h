// An operand as the host sees it: addresses instead of registers, axes folded where memory is contiguous. For
// isa/exec_*.cpp only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "isa/exec.h"
#include "isa/exec/cast.h"
#include "isa/exec/thread_team.h"
#include "isa/kernels/kernels.h"

namespace isa::exec {

/// Elements of work, about a microsecond, from which several host threads are faster: a fork and a join take about
/// 0.1 us.
inline constexpr std::int64_t kWorthSplitting = 4096;

struct Axis {
  std::int64_t step = 0;  // bytes
  std::int64_t size = 1;
};

struct View {
  std::byte* base = nullptr;  // element (0, 0)
  std::int64_t pstep = 0;     // bytes
  std::int64_t partitions = 1;
  std::int64_t cols = 1;
  Dtype dtype = Dtype::kFp32;
  int size = 4;  // bytes of an element
  int rank = 1;
  std::array<Axis, 5> axes{};  // free axes, outermost first

  std::byte* row(std::int64_t p) const { return base + p * pstep; }
  /// Neighbours in flat order are neighbours in memory.
  bool contiguous() const { return rank == 1 && (axes[0].step == size || axes[0].size == 1); }
  bool is_fp32() const { return dtype == Dtype::kFp32 || dtype == Dtype::kTf32; }
  std::int64_t elements() const { return partitions * cols; }
};

/// Errors: Fault::kProgram when the tile leaves its memory, a register is missing or an address is not aligned.
View view(const Instr& instr, const Tile& tile, std::string_view name, Context& context);

/// The same elements as one partition, partition axis outermost.
View flattened(const View& view);

[[noreturn]] void refuse(const Instr& instr, std::string_view what, std::string_view fix);
void need(const Instr& instr, bool condition, std::string_view what, std::string_view fix);
void need_same_shape(const Instr& instr, const View& dst, const View& other, std::string_view other_name);

/// The strip's elements as fp32, packed: in `scratch` (kBlock numbers), or in place when they are so already.
const float* read(const View& view, const Strip& strip, float* scratch);
inline const float* read(const View& view, std::int64_t p, std::int64_t first, std::int64_t n, float* scratch) {
  return read(view, {p, first, n}, scratch);
}
/// One element, by its flat place in row p.
float read_one(const View& view, std::int64_t p, std::int64_t i);

/// The raw bits, sign-extended for signed integers.
void read_bits(const View& view, std::int64_t p, std::int64_t first, std::int64_t n, std::uint32_t* out);
void write_bits(const View& view, std::int64_t p, std::int64_t first, std::int64_t n, const std::uint32_t* in);

/// Where the results of a strip may be computed, packed: in the destination when it is fp32 and so in memory, else in
/// `scratch`.
float* target(const View& view, const Strip& strip, float* scratch);
inline float* target(const View& view, std::int64_t p, std::int64_t first, float* scratch) {
  return target(view, {p, first, 0}, scratch);
}
/// Casts and stores the results at target().
void write(const View& view, const Strip& strip, const float* in, const Rounder& how);
inline void write(const View& view, std::int64_t p, std::int64_t first, std::int64_t n, const float* in,
                  const Rounder& how) {
  write(view, {p, first, n}, in, how);
}

/// Calls body(strip) for strips of at most kBlock elements, on the team when it pays: parts of long rows, several short
/// rows at once.
template <class Body>
void for_strips(const Context& context, std::int64_t partitions, std::int64_t cols, const Body& body) {
  const bool worth = partitions * cols >= kWorthSplitting;
  if (cols > kBlock / 2) {
    constexpr std::int64_t kChunk = 8 * kBlock;
    const std::int64_t chunks = (cols + kChunk - 1) / kChunk;
    split(context.team, partitions * chunks, worth, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t p = i / chunks, from = i % chunks * kChunk, to = std::min(from + kChunk, cols);
        for (std::int64_t first = from; first < to; first += kBlock)
          body(Strip{p, first, std::min(kBlock, to - first)});
      }
    });
    return;
  }
  constexpr std::int64_t kDrawn = 64;  // columns that random bits come by
  const std::int64_t rows = kBlock / ((cols + kDrawn - 1) / kDrawn * kDrawn);
  split(context.team, (partitions + rows - 1) / rows, worth, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(Strip{i * rows, 0, cols, std::min(rows, partitions - i * rows)});
  });
}

/// Calls body(p, first, n) for blocks of at most kBlock elements of one row, on the team when it pays.
template <class Body>
void for_blocks(const Context& context, std::int64_t partitions, std::int64_t cols, const Body& body) {
  for_strips(context, partitions, cols, [&](const Strip& strip) {
    for (std::int64_t r = 0; r < strip.rows; ++r) body(strip.p + r, strip.first, strip.n);
  });
}

/// Calls body(p) for every partition, on the team when rows of `cols` elements are worth it.
template <class Body>
void for_rows(const Context& context, std::int64_t partitions, std::int64_t cols, const Body& body) {
  split(context.team, partitions, partitions * cols >= kWorthSplitting, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) body(p);
  });
}

/// Calls body(address, step, offset, n) for the stretches of equal step that elements [first, first + n) consist of.
template <class Body>
void for_runs(const View& view, std::byte* row, std::int64_t first, std::int64_t n, const Body& body) {
  const Axis inner = view.axes[static_cast<std::size_t>(view.rank - 1)];
  if (view.rank == 1) {
    body(row + first * inner.step, inner.step, std::int64_t{0}, n);
    return;
  }
  for (std::int64_t done = 0; done < n;) {
    std::int64_t place = (first + done) / inner.size;
    const std::int64_t column = (first + done) % inner.size;
    std::byte* address = row + column * inner.step;
    for (int d = view.rank - 2; d >= 0; --d) {
      const Axis& axis = view.axes[static_cast<std::size_t>(d)];
      address += place % axis.size * axis.step;
      place /= axis.size;
    }
    const std::int64_t count = std::min(n - done, inner.size - column);
    body(address, inner.step, done, count);
    done += count;
  }
}

/// dst[to..] = a[from..], n <= kBlock elements of one type, in the first rows.
void copy_bits(const View& dst, std::int64_t to, const View& a, std::int64_t from, std::int64_t n);

/// dst = a, bit by bit between equal types, else through fp32; shapes must agree.
void copy_strip(const View& dst, const View& a, const Strip& strip, const Rounder& how);

}  // namespace isa::exec
