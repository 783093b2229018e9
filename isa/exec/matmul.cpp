// TensorE and the other transposes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"

namespace isa::exec {
namespace {

/// How the host multiplies: types whose every value bf16 holds go as bf16, the others as fp32.
bool fits_bf16(Dtype dtype) {
  return dtype == Dtype::kBf16 || dtype == Dtype::kFp8E4m3 || dtype == Dtype::kFp8E5m2 || dtype == Dtype::kFp8E3m4;
}

/// `like` as packed rows in `buffer`, with `partitions` and `cols`.
View packed_like(const View& like, std::int64_t partitions, std::int64_t cols, std::vector<std::byte>& buffer) {
  View out = like;
  out.partitions = partitions, out.cols = cols, out.rank = 1;
  out.axes[0] = {like.size, cols};
  out.pstep = (cols * like.size + 63) / 64 * 64 + 64;
  buffer.resize(static_cast<std::size_t>(out.pstep * partitions));
  out.base = buffer.data();
  return out;
}

void copy_rows(const View& dst, const View& a, const Rounder& how, const Context& context) {
  for_strips(context, a.partitions, a.cols, [&](const Strip& strip) { copy_strip(dst, a, strip, how); });
}

/// Rows of an operand as the kernels want them: contiguous, bf16 or fp32.
struct Rows {
  const std::byte* data = nullptr;
  std::int64_t stride = 0;
};

Rows stage(const View& v, Dtype as, std::vector<std::byte>& buffer, const Context& context) {
  if (v.contiguous() && (v.dtype == as || (v.is_fp32() && as == Dtype::kFp32))) return {v.base, v.pstep};
  View like = v;
  like.dtype = as;
  like.size = size_of(as);
  const View packed = packed_like(like, v.partitions, v.cols, buffer);
  copy_rows(packed, v, {}, context);
  return {packed.base, packed.pstep};
}

/// Loads the values to accumulate to, for the kernel to add to.
void fetch(const View& dst, float* sums, Context& context) {
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) float old[kBlock];
    std::copy_n(read(dst, strip, old), strip.elements(), sums + strip.p * dst.cols + strip.first);
  });
}

/// Casts and stores the kernel's `sums` [M, N].
void evict(const View& dst, const float* sums, const Rounder& how, Context& context) {
  for_strips(context, dst.partitions, dst.cols,
             [&](const Strip& strip) { write(dst, strip, sums + strip.p * dst.cols + strip.first, how); });
}

/// Whether a row's numbers are shares of one: their bits, as signed integers, are those of neither a number below zero
/// nor one above one nor NaN. A whole row at a time, as vectors: where softmax made them, every one is looked at.
template <class Bits>
bool are_shares(const std::byte* row, std::int64_t cols, Bits one, bool& zeros) {
  Bits least = one, most = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    Bits bits;
    std::memcpy(&bits, row + c * static_cast<std::int64_t>(sizeof bits), sizeof bits);
    least = bits < least ? bits : least;
    most = bits > most ? bits : most;
  }
  zeros = zeros || least == 0;
  return least >= 0 && most <= one;
}

/// Whether an operand has shares of one as its numbers, some of them zero: it chooses rows of the other one, or mixes
/// them.
bool chooses(const Rows& rows, std::int64_t count, std::int64_t cols, bool is_bf16) {
  bool zeros = false;
  for (std::int64_t p = 0; p < count; ++p) {
    const std::byte* row = rows.data + p * rows.stride;
    const bool shares = is_bf16 ? are_shares<std::int16_t>(row, cols, 0x3f80, zeros)
                                : are_shares<std::int32_t>(row, cols, 0x3f800000, zeros);
    if (!shares) return false;
  }
  return zeros;
}

/// NaN in the result: zeros made them of infinities, or were multiplied with NaN.
std::int64_t lost(const kernels::MatMul& product) {
  std::int64_t count = 0;
  for (std::int64_t m = 0; m < product.m; ++m)
    for (std::int64_t n = 0; n < product.n; ++n) count += std::isnan(product.c[m * product.c_stride / 4 + n]) ? 1 : 0;
  return count;
}

/// In parts of the result that do not change how its numbers are summed: rows, which other instructions give to the
/// same threads, or columns by whole panels when there are too few rows for the team.
void run_matmul(const kernels::MatMul& whole, bool as_bf16, Context& context) {
  constexpr std::int64_t kPanel = 64, kRows = 32, kWorth = std::int64_t{128} * 1024;  // the last in products: some 2 us
  const kernels::Kernels& k = kernels::kernels();
  const auto kernel = as_bf16 ? k.matmul_bf16 : k.matmul_fp32;
  const std::int64_t size = as_bf16 ? 2 : 4;
  const std::int64_t panels = (whole.n + kPanel - 1) / kPanel;
  const bool by_rows = context.team && whole.m >= kRows * context.team->size();
  const std::int64_t parts = by_rows ? (whole.m + kRows - 1) / kRows : panels;
  const bool worth = std::int64_t{whole.k} * whole.m * whole.n >= kWorth;
  split(context.team, parts, worth, [&](std::int64_t begin, std::int64_t end) {
    kernels::MatMul part = whole;
    std::size_t flushed = 0;
    part.flushed = as_bf16 ? &flushed : nullptr;
    if (by_rows) {
      part.a += begin * kRows * size;
      part.c += begin * kRows * whole.c_stride / 4;
      part.m = static_cast<int>(std::min<std::int64_t>(end * kRows, whole.m) - begin * kRows);
      // Away from the next part: a host that foresees the stride of rows would take its lines from the other processor.
      part.falling = begin == 0;
      part.turns = static_cast<int>(parts);
      part.turn = static_cast<int>(begin), part.turns_end = static_cast<int>(end);
    } else {
      part.b += begin * kPanel * size;
      part.c += begin * kPanel;
      part.n = static_cast<int>(std::min<std::int64_t>(end * kPanel, whole.n) - begin * kPanel);
      part.counts_a = begin == 0;
    }
    kernel(part);
    tally(context.memory.events().flushed, static_cast<std::int64_t>(flushed));
  });
}

void need_floats(const Instr& instr, const View& v, std::string_view name) {
  need(instr, !is_integer(v.dtype), std::string{name} + " holds integers", "convert it to a floating-point type");
}

/// to[j][i] = from[i][j] for i in [begin, end).
void turn(const View& from, const View& to, std::int64_t begin, std::int64_t end) {
  const kernels::Kernels& k = kernels::kernels();
  const int rows = static_cast<int>(end - begin), cols = static_cast<int>(from.cols);
  std::byte* out = to.base + begin * to.size;
  if (from.size == 2)
    k.transpose16(from.row(begin), from.pstep, out, to.pstep, rows, cols);
  else if (from.size == 4)
    k.transpose32(from.row(begin), from.pstep, out, to.pstep, rows, cols);
  else
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < cols; ++j) to.row(j)[i] = from.row(i)[j];
}

/// The columns [first, first + cols) of a packed view.
View columns(const View& v, std::int64_t first, std::int64_t cols) {
  View out = v;
  out.base += first * v.size;
  out.cols = out.axes[0].size = cols;
  return out;
}

/// dst[j][m * P + i] = a[i][m * F + j], bits for bits or through fp32; P = dst.cols / M of the M squares side by side.
void transpose(const Instr& instr, const View& dst, const View& a, const Rounder& how, Context& context) {
  const std::int64_t squares = a.cols / dst.partitions;
  need(instr, a.cols % dst.partitions == 0 && dst.cols == a.partitions * squares,
       "dst is not the transposed shape of a", "give dst the shape [F, P]");
  auto& [converted, transposed, unused] = context.memory.scratch();
  View from = a, to = dst;
  if (a.dtype != dst.dtype || !a.contiguous()) {  // convert first: the transposition is of equal types
    from = packed_like(dst, a.partitions, a.cols, converted);
    copy_rows(from, a, how, context);
  }
  if (!dst.contiguous() || dst.base == from.base) to = packed_like(dst, dst.partitions, dst.cols, transposed);
  constexpr std::int64_t kStrip = 32;  // rows that fill cache lines of dst
  for (std::int64_t m = 0; m < squares; ++m) {
    const View part = squares == 1 ? from : columns(from, m * dst.partitions, dst.partitions);
    const View result = squares == 1 ? to : columns(to, m * a.partitions, a.partitions);
    split(context.team, (a.partitions + kStrip - 1) / kStrip, a.elements() >= kWorthSplitting,
          [&](std::int64_t begin, auto end) {
            turn(part, result, begin * kStrip, std::min(end * kStrip, a.partitions));
          });
  }
  if (to.base != dst.base) copy_rows(dst, to, how, context);
}

/// Whether one of rows [begin, end) has an element that is infinite or NaN.
bool rows_have_special(const View& v, std::int64_t begin, std::int64_t end) {
  const kernels::Kernels& k = kernels::kernels();
  const auto count = static_cast<std::size_t>(end - begin), cols = static_cast<std::size_t>(v.cols);
  const std::uint16_t exponent = v.dtype == Dtype::kBf16 ? 0x7f80 : 0x7c00;
  if (v.size == 2 && v.contiguous())
    return k.special16(reinterpret_cast<const std::uint16_t*>(v.row(begin)), {count, cols, v.pstep, 0}, exponent);
  bool special = false;
  for (std::int64_t p = begin; p < end; ++p)
    for (std::int64_t first = 0; first < v.cols; first += kBlock) {
      alignas(64) float scratch[kBlock];
      const std::int64_t n = std::min(kBlock, v.cols - first);
      const auto* bits = reinterpret_cast<const std::uint32_t*>(read(v, p, first, n, scratch));
      special |= k.special32(bits, {1, static_cast<std::size_t>(n), 0, 0}, 0x7f800000);
    }
  return special;
}

/// Whether an element is infinite or NaN.
bool has_special(const View& v, Context& context) {
  constexpr std::int64_t kRows = 8, kLine = 64;  // rows that are prefetched while as many are scanned
  std::atomic<bool> special = false;
  split(context.team, v.partitions, v.elements() >= kWorthSplitting, [&](std::int64_t begin, std::int64_t end) {
    bool here = false;
    for (std::int64_t p = begin; p < end; p += kRows) {
      for (std::int64_t next = p + kRows; next < std::min(p + 2 * kRows, end); ++next)
        for (std::int64_t at = 0; at < v.cols * v.size; at += kLine) __builtin_prefetch(v.row(next) + at);
      here |= rows_have_special(v, p, std::min(p + kRows, end));
    }
    if (here) special = true;
  });
  return special;
}

/// Rows of dst that hold a number that is not finite, which the identity's zeros made NaN wherever else they met it.
void spread_specials(const View& dst, Rounder how) {
  NumericEvents* events = std::exchange(how.events, nullptr);
  for (std::int64_t p = 0; p < dst.partitions; ++p) {
    std::int64_t where = -1, specials = 0;
    for (std::int64_t i = 0; i < dst.cols; ++i)
      if (!std::isfinite(read_one(dst, p, i))) where = i, ++specials;
    if (specials == 0) continue;
    tally(events->transposed, specials);
    for (std::int64_t i = 0; i < dst.cols; ++i) {
      const float product = std::numeric_limits<float>::quiet_NaN();
      if (specials > 1 || i != where) write(dst, p, i, 1, &product, how);
    }
  }
}

bool is_identity(const View& v, Context& context) {
  std::vector<float> values(static_cast<std::size_t>(v.elements()));
  fetch(v, values.data(), context);
  for (std::int64_t p = 0, at = 0; p < v.partitions; ++p)
    for (std::int64_t c = 0; c < v.cols; ++c, ++at)
      if (values[static_cast<std::size_t>(at)] != (p == c ? 1.0F : 0.0F)) return false;
  return true;
}

}  // namespace

void matmul(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = view(instr, instr.a, "a", context), b = view(instr, instr.b, "b", context);
  need_floats(instr, a, "a");
  need_floats(instr, b, "b");
  need(instr, a.partitions == b.partitions && a.partitions <= kernels::kMaxK && a.cols <= kernels::kMaxM,
       "a is not [K, M] with b [K, N], K and M at most 128", "split it into tiles");
  need(instr, dst.partitions == a.cols && dst.cols == b.cols, "dst is not [M, N]", "give dst the shape [M, N]");
  auto& [stationary, moving, sums] = context.memory.scratch();
  const bool as_bf16 = fits_bf16(a.dtype) && fits_bf16(b.dtype);
  const Dtype as = as_bf16 ? Dtype::kBf16 : Dtype::kFp32;
  const Rows left = stage(a, as, stationary, context), right = stage(b, as, moving, context);
  const bool direct = dst.dtype == Dtype::kFp32 && dst.contiguous();
  if (!direct) sums.resize(static_cast<std::size_t>(dst.elements()));
  if (!direct && instr.accumulate) fetch(dst, sums.data(), context);
  const kernels::MatMul args{.k = static_cast<int>(a.partitions),
                             .m = static_cast<int>(a.cols),
                             .n = static_cast<int>(b.cols),
                             .a = left.data,
                             .a_stride = left.stride,
                             .b = right.data,
                             .b_stride = right.stride,
                             .c = direct ? reinterpret_cast<float*>(dst.base) : sums.data(),
                             .c_stride = direct ? dst.pstep : dst.cols * 4,
                             .accumulate = instr.accumulate};
  run_matmul(args, as_bf16, context);
  if (chooses(left, a.partitions, a.cols, as_bf16) || chooses(right, b.partitions, b.cols, as_bf16))
    tally(context.memory.events().transposed, lost(args));
  if (!direct) evict(dst, sums.data(), rounder(index, context), context);
}

void pe_transpose(const Instr& instr, std::uint32_t index, Context& context) {
  const View a = view(instr, instr.a, "a", context);
  need(instr, a.partitions <= kPartitions && a.cols <= kPartitions, "a is larger than 128 x 128",
       "split it into tiles");
  const View dst = view(instr, instr.dst, "dst", context);
  need(instr, dst.partitions == a.cols, "dst is not the transposed shape of a", "give dst the shape [F, P]");
  if (instr.b && !is_identity(view(instr, instr.b, "b", context), context)) return matmul(instr, index, context);
  const bool special = !instr.bitwise && !is_integer(a.dtype) && has_special(a, context);
  transpose(instr, dst, a, rounder(index, context), context);
  if (special) spread_specials(dst, rounder(index, context));
}

void dma_transpose(const Instr& instr, std::uint32_t index, Context& context) {
  transpose(instr, view(instr, instr.dst, "dst", context), view(instr, instr.a, "a", context), rounder(index, context),
            context);
}

void vector_transpose(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, a.partitions <= 32 && a.cols <= 32, "a is larger than 32 x 32", "split it into squares");
  need(instr, dst.partitions == a.cols, "dst is not the transposed shape of a", "give dst the shape [F, P]");
  transpose(instr, dst, a, rounder(index, context), context);
}

}  // namespace isa::exec
