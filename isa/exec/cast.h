// Strips of fp32 in which instructions compute, and the casts to and from other types. For isa/exec_*.cpp only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "isa/exec.h"
#include "isa/kernels/kernels.h"

namespace isa::exec {

/// Elements that pass through the host's first-level cache together; a multiple of the 128 of a random block.
inline constexpr std::int64_t kBlock = 512;

/// Elements [first, first + n) of the rows from p on: a part of one, or several short ones whole. At most kBlock.
struct Strip {
  std::int64_t p = 0, first = 0, n = 0, rows = 1;

  std::int64_t elements() const { return rows * n; }
  std::size_t count() const { return static_cast<std::size_t>(rows * n); }
  /// One of its rows.
  Strip row(std::int64_t r) const { return {p + r, first, n}; }
};

/// Numbers of a strip in memory: its rows, `stride` bytes apart.
struct Lines {
  const float* data = nullptr;
  std::int64_t stride = 0;

  const float* row(std::int64_t r) const {
    return reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(data) + r * stride);
  }
};

/// Adds to one of the counts of NumericEvents, from any host thread.
inline void tally(std::uint64_t& events, std::int64_t n) {
  if (n > 0) std::atomic_ref{events}.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
}

/// How casts of one instruction round.
struct Rounder {
  Rounding rounding = Rounding::kNearestEven;
  kernels::Stream stream;
  NumericEvents* events = nullptr;  // that casts are counted in
};
Rounder rounder(std::uint32_t index, const Context& context);

/// Casts the strip's numbers into rows of `dtype`, `stride` bytes apart. The same place for both is a copy of itself.
void cast(const Lines& in, const Strip& strip, Dtype dtype, std::byte* out, std::int64_t stride, const Rounder& how);

}  // namespace isa::exec
