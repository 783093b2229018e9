#include "isa/exec/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "isa/names.h"

namespace isa::exec {
namespace {

/// Bytes from the first to behind the last that the free axes reach, relative to element 0 (low <= 0).
struct Extent {
  std::int64_t low = 0, high = 0;
};

Extent extent(const Tile& tile) {
  Extent reach;
  const std::int64_t size = size_of(tile.dtype);
  for (int d = 0; d < tile.rank; ++d) {
    const Dim& dim = tile.free[static_cast<std::size_t>(d)];
    const std::int64_t last = (static_cast<std::int64_t>(dim.size) - 1) * dim.step * size;
    (last < 0 ? reach.low : reach.high) += last;
  }
  reach.high += size;
  return reach;
}

/// Merges axes that are contiguous with their inner neighbour and drops those of one element.
void add_axis(View& view, Axis axis) {
  if (axis.size == 1) return;
  if (view.rank > 0) {
    Axis& last = view.axes[static_cast<std::size_t>(view.rank - 1)];
    if (last.step == axis.step * axis.size) {
      last = {axis.step, last.size * axis.size};
      return;
    }
  }
  view.axes[static_cast<std::size_t>(view.rank++)] = axis;
}

void end_axes(View& view) {
  if (view.rank == 0) view.axes[static_cast<std::size_t>(view.rank++)] = {view.size, 1};
}

void place_on_chip(const Instr& instr, const Tile& tile, std::string_view name, Memory& memory, View& view) {
  const bool sbuf = tile.space == Space::kSbuf;
  const std::int64_t bytes = sbuf ? kMostSbufPartitionBytes : kMostPsumPartitionBytes;
  const Extent reach = extent(tile);
  if (tile.start + tile.partitions > kPartitions || tile.offset + reach.low < 0 || tile.offset + reach.high > bytes)
    refuse(instr,
           fmt::format("{} leaves {} (partitions {}..{}, bytes {}..{})", name, sbuf ? "SBUF" : "PSUM", tile.start,
                       tile.start + tile.partitions, tile.offset + reach.low, tile.offset + reach.high),
           "place it inside");
  view.pstep = sbuf ? Memory::kSbufStride : Memory::kPsumStride;
  view.base = (sbuf ? memory.sbuf() : memory.psum()) + tile.start * view.pstep + tile.offset;
}

void place_in_hbm(const Instr& instr, const Tile& tile, std::string_view name, Context& context, View& view) {
  if (tile.reg >= context.bases.size())
    refuse(instr, fmt::format("{} names register {} of {}", name, tile.reg, context.bases.size()),
           "supply it in the block call");
  const Extent reach = extent(tile);
  const auto start = static_cast<std::int64_t>(context.bases[tile.reg]) + tile.offset;
  const std::int64_t last = (static_cast<std::int64_t>(tile.partitions) - 1) * tile.pstep;
  const std::int64_t low = start + reach.low + std::min<std::int64_t>(last, 0);
  const std::int64_t high = start + reach.high + std::max<std::int64_t>(last, 0);
  const auto bytes = static_cast<std::int64_t>(context.memory.hbm_bytes());
  if (low < 0 || high > bytes)
    refuse(instr, fmt::format("{} spans bytes {}..{} of HBM's {}", name, low, high, bytes), "place it inside");
  view.pstep = tile.pstep;
  view.base = context.memory.hbm() + start;
}

template <int kSize>
void gather(const std::byte* from, std::int64_t step, std::int64_t n, std::byte* to) {
  if (step == kSize) {
    std::memcpy(to, from, static_cast<std::size_t>(n * kSize));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * kSize, from + i * step, kSize);
}
template <int kSize>
void scatter(const std::byte* from, std::byte* to, std::int64_t step, std::int64_t n) {
  if (step == kSize) {
    std::memmove(to, from, static_cast<std::size_t>(n * kSize));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * step, from + i * kSize, kSize);
}

/// Prefetches the rows after the strip: they are a partition apart, which the host's prefetcher does not handle. Always
/// inlined, because GCC drops calls of functions that do nothing else.
template <bool kToWrite>
[[gnu::always_inline]] inline void prefetch(const View& view, const Strip& strip) {
  constexpr std::int64_t kAhead = 2, kLine = 64;
  const std::int64_t first = strip.p + std::max(kAhead, strip.rows);
  const std::int64_t end = std::min(first + strip.rows, view.partitions);
  for (std::int64_t p = first; p < end; ++p) {
    const std::byte* block = view.row(p) + strip.first * view.size;
    for (std::int64_t at = 0; at < strip.n * view.size; at += kLine) __builtin_prefetch(block + at, kToWrite ? 1 : 0);
  }
}

/// The strip is one stretch of memory, in flat order.
bool in_place(const View& view, const Strip& strip) {
  return view.contiguous() && (strip.rows == 1 || view.pstep == strip.n * view.size);
}

std::byte* begin_of(const View& view, const Strip& strip) { return view.row(strip.p) + strip.first * view.size; }

/// The strip's rows, of elements of `size` bytes, strides in bytes.
void copy_bytes(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                const Strip& strip, int size) {
  kernels::kernels().copy_rows(in, in_stride, out, out_stride, static_cast<std::size_t>(strip.rows),
                               static_cast<std::size_t>(strip.n * size));
}

/// Calls move(bytes of an element, address, step, place in flat order in bytes, elements) for the stretches of equal
/// step that a strip consists of.
template <class Move>
void for_elements(const View& view, const Strip& strip, const Move& move) {
  for (std::int64_t r = 0; r < strip.rows; ++r)
    for_runs(view, view.row(strip.p + r), strip.first, strip.n,
             [&](std::byte* address, std::int64_t step, std::int64_t at, std::int64_t count) {
               const std::int64_t place = (r * strip.n + at) * view.size;
               if (view.size == 4)
                 move(std::integral_constant<int, 4>{}, address, step, place, count);
               else if (view.size == 2)
                 move(std::integral_constant<int, 2>{}, address, step, place, count);
               else
                 move(std::integral_constant<int, 1>{}, address, step, place, count);
             });
}

/// The bytes of a strip in flat order: in place when they are so already, else gathered into `scratch`.
const std::byte* raw(const View& view, const Strip& strip, std::byte* scratch) {
  if (view.contiguous()) prefetch<false>(view, strip);
  if (in_place(view, strip)) return begin_of(view, strip);
  const std::int64_t bytes = strip.n * view.size;
  if (view.contiguous()) {
    copy_bytes(begin_of(view, strip), view.pstep, scratch, bytes, strip, view.size);
    return scratch;
  }
  for_elements(view, strip, [&](auto size, std::byte* from, std::int64_t step, std::int64_t at, std::int64_t count) {
    gather<size>(from, step, count, scratch + at);
  });
  return scratch;
}

void put_raw(const View& view, const Strip& strip, const std::byte* in) {
  const std::int64_t bytes = strip.n * view.size;
  if (view.contiguous()) {
    copy_bytes(in, bytes, begin_of(view, strip), view.pstep, strip, view.size);
    return;
  }
  for_elements(view, strip, [&](auto size, std::byte* to, std::int64_t step, std::int64_t at, std::int64_t count) {
    scatter<size>(in + at, to, step, count);
  });
}

std::uint32_t load_bits(const std::byte* p, int size) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, p, static_cast<std::size_t>(size));
  return bits;
}

std::uint32_t sign_extended(Dtype dtype, std::uint32_t bits) {
  if (dtype == Dtype::kInt16) return static_cast<std::uint32_t>(static_cast<std::int16_t>(bits));
  if (dtype == Dtype::kInt8) return static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
  return bits;
}

using Raw = std::array<std::byte, kBlock * 4>;

}  // namespace

void refuse(const Instr& instr, std::string_view what, std::string_view fix) {
  throw base::Error{base::Fault::kProgram, name_of(instr.op), what, fix};
}

void need(const Instr& instr, bool condition, std::string_view what, std::string_view fix) {
  if (!condition) refuse(instr, what, fix);
}

void need_same_shape(const Instr& instr, const View& dst, const View& other, std::string_view other_name) {
  if (dst.partitions == other.partitions && dst.cols == other.cols) return;
  refuse(instr,
         fmt::format("dst is [{}, {}] but {} is [{}, {}]", dst.partitions, dst.cols, other_name, other.partitions,
                     other.cols),
         "make them agree");
}

View view(const Instr& instr, const Tile& tile, std::string_view name, Context& context) {
  View out;
  if (!tile) refuse(instr, fmt::format("{} is missing", name), "supply it");
  if (tile.rank < 1 || tile.rank > 4 || tile.elements() == 0)
    refuse(instr, fmt::format("{} is empty", name), "give it elements");
  out.dtype = tile.dtype;
  out.size = size_of(tile.dtype);
  out.partitions = tile.partitions;
  out.cols = tile.cols();
  if (tile.space == Space::kHbm)
    place_in_hbm(instr, tile, name, context, out);
  else
    place_on_chip(instr, tile, name, context.memory, out);
  if (reinterpret_cast<std::uintptr_t>(out.base) % static_cast<std::uintptr_t>(out.size) || out.pstep % out.size)
    refuse(instr, fmt::format("{} is not aligned to its {} bytes", name, out.size), "align its offset and pstep");
  out.rank = 0;
  for (int d = 0; d < tile.rank; ++d) {
    const Dim& dim = tile.free[static_cast<std::size_t>(d)];
    add_axis(out, {static_cast<std::int64_t>(dim.step) * out.size, dim.size});
  }
  end_axes(out);
  return out;
}

View flattened(const View& view) {
  View out = view;
  out.partitions = 1;
  out.cols = view.elements();
  out.rank = 0;
  add_axis(out, {view.pstep, view.partitions});
  for (int d = 0; d < view.rank; ++d) add_axis(out, view.axes[static_cast<std::size_t>(d)]);
  end_axes(out);
  return out;
}

const float* read(const View& view, const Strip& strip, float* scratch) {
  alignas(64) Raw gathered;
  const kernels::Kernels& k = kernels::kernels();
  const std::int64_t n = strip.elements();
  if (view.rank == 1 && view.axes[0].step == 0) {
    for (std::int64_t r = 0; r < strip.rows; ++r)
      std::fill_n(scratch + r * strip.n, strip.n, decode(view.dtype, load_bits(view.row(strip.p + r), view.size)));
    return scratch;
  }
  if (view.is_fp32()) return reinterpret_cast<const float*>(raw(view, strip, reinterpret_cast<std::byte*>(scratch)));
  if (view.dtype == Dtype::kBf16 && view.contiguous()) {
    prefetch<false>(view, strip);
    k.from_bf16(reinterpret_cast<const std::uint16_t*>(begin_of(view, strip)), scratch,
                {static_cast<std::size_t>(strip.rows), static_cast<std::size_t>(strip.n), view.pstep, strip.n * 4});
    return scratch;
  }
  const std::byte* in = raw(view, strip, gathered.data());
  if (view.dtype == Dtype::kBf16) {
    k.from_bf16(reinterpret_cast<const std::uint16_t*>(in), scratch, {1, strip.count(), 0, 0});
  } else if (view.dtype == Dtype::kFp16) {
    k.from_fp16(reinterpret_cast<const std::uint16_t*>(in), scratch, strip.count());
  } else if (view.size == 1) {
    const std::span values = values_of(view.dtype);
    for (std::int64_t i = 0; i < n; ++i) scratch[i] = values[std::to_integer<std::size_t>(in[i])];
  } else {
    for (std::int64_t i = 0; i < n; ++i) scratch[i] = decode(view.dtype, load_bits(in + i * view.size, view.size));
  }
  return scratch;
}

float read_one(const View& view, std::int64_t p, std::int64_t i) {
  float value = 0;
  return *read(view, p, i, 1, &value);
}

void read_bits(const View& view, std::int64_t p, std::int64_t first, std::int64_t n, std::uint32_t* out) {
  alignas(64) Raw gathered;
  const std::byte* in = raw(view, {p, first, n}, gathered.data());
  for (std::int64_t i = 0; i < n; ++i) out[i] = sign_extended(view.dtype, load_bits(in + i * view.size, view.size));
}

void write_bits(const View& view, std::int64_t p, std::int64_t first, std::int64_t n, const std::uint32_t* in) {
  alignas(64) Raw packed;
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(packed.data() + i * view.size, in + i, static_cast<std::size_t>(view.size));
  put_raw(view, {p, first, n}, packed.data());
}

float* target(const View& view, const Strip& strip, float* scratch) {
  if (view.dtype != Dtype::kFp32 || !in_place(view, strip)) return scratch;
  return reinterpret_cast<float*>(begin_of(view, strip));
}

namespace {

void write_lines(const View& view, const Strip& strip, const Lines& in, const Rounder& how) {
  if (view.contiguous()) {
    prefetch<true>(view, strip);
    std::byte* out = begin_of(view, strip);
    if (reinterpret_cast<const std::byte*>(in.data) != out) cast(in, strip, view.dtype, out, view.pstep, how);
    return;
  }
  alignas(64) Raw packed;
  cast(in, strip, view.dtype, packed.data(), strip.n * view.size, how);
  put_raw(view, strip, packed.data());
}

}  // namespace

void write(const View& view, const Strip& strip, const float* in, const Rounder& how) {
  write_lines(view, strip, {in, strip.n * 4}, how);
}

void copy_bits(const View& dst, std::int64_t to, const View& a, std::int64_t from, std::int64_t n) {
  alignas(64) Raw gathered;
  put_raw(dst, {0, to, n}, raw(a, {0, from, n}, gathered.data()));
}

void copy_strip(const View& dst, const View& a, const Strip& strip, const Rounder& how) {
  if (dst.dtype == a.dtype && dst.contiguous() && a.contiguous()) {
    prefetch<false>(a, strip), prefetch<true>(dst, strip);
    copy_bytes(begin_of(a, strip), a.pstep, begin_of(dst, strip), dst.pstep, strip, a.size);
    return;
  }
  if (dst.dtype == a.dtype) {
    alignas(64) Raw gathered;
    put_raw(dst, strip, raw(a, strip, gathered.data()));
    return;
  }
  if (a.dtype == Dtype::kFp32 && a.contiguous()) {
    prefetch<false>(a, strip);
    write_lines(dst, strip, {reinterpret_cast<const float*>(begin_of(a, strip)), a.pstep}, how);
    return;
  }
  alignas(64) float scratch[kBlock];
  write(dst, strip, read(a, strip, scratch), how);
}

}  // namespace isa::exec
