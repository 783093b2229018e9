#include "isa/exec/cast.h"

#include <cmath>
#include <cstring>

#include "isa/exec/random.h"

namespace isa::exec {
namespace {

/// Casts without a vector kernel: element by element.
void encode_each(Dtype dtype, const float* in, const Strip& row, const Rounder& how, std::byte* out) {
  alignas(64) std::uint16_t high[kBlock], low[kBlock];
  const bool stochastic = how.rounding == Rounding::kStochastic;
  if (stochastic) {
    kernels::Stream wide = how.stream;
    wide.nonce[0] +=
        static_cast<std::uint32_t>(Purpose::kWideRounding) - static_cast<std::uint32_t>(Purpose::kRounding);
    kernels::kernels().random_row(draw_of(how.stream, row.p, row.first), static_cast<std::size_t>(row.n), high);
    kernels::kernels().random_row(draw_of(wide, row.p, row.first), static_cast<std::size_t>(row.n), low);
  }
  const int size = size_of(dtype);
  for (std::int64_t i = 0; i < row.n; ++i) {
    const std::uint32_t random = stochastic ? static_cast<std::uint32_t>(high[i]) << 16 | low[i] : 0;
    const std::uint32_t bits = encode(dtype, in[i], how.rounding, random);
    std::memcpy(out + i * size, &bits, static_cast<std::size_t>(size));
  }
}

/// How many finite numbers of `in` became infinite in `out`, or the limit of an integer type.
std::int64_t overflowed(Dtype dtype, const float* in, const std::byte* out, std::int64_t n) {
  std::int64_t count = 0;
  if (dtype == Dtype::kBf16 || dtype == Dtype::kFp16) {
    const std::uint16_t exponent = dtype == Dtype::kBf16 ? 0x7f80 : 0x7c00;
    const auto* bits = reinterpret_cast<const std::uint16_t*>(out);
    for (std::int64_t i = 0; i < n; ++i) count += std::isfinite(in[i]) && (bits[i] & exponent) == exponent;
  } else if (!is_integer(dtype)) {
    const auto values = values_of(dtype);
    for (std::int64_t i = 0; i < n; ++i)
      count += std::isfinite(in[i]) && !std::isfinite(values[std::to_integer<std::size_t>(out[i])]);
  } else {
    const bool is_signed = dtype == Dtype::kInt32 || dtype == Dtype::kInt16 || dtype == Dtype::kInt8;
    const double range = std::ldexp(1.0, 8 * size_of(dtype)), least = is_signed ? -range / 2 : 0, most = least + range;
    for (std::int64_t i = 0; i < n; ++i) count += std::isfinite(in[i]) && (in[i] < least - 0.5 || in[i] >= most - 0.5);
  }
  return count;
}

/// One row of a type that has no kernel for rows. Returns whether a result may have overflowed.
bool cast_row(Dtype dtype, const float* in, const Strip& row, const Rounder& how, std::byte* out) {
  const kernels::Kernels& k = kernels::kernels();
  const auto count = static_cast<std::size_t>(row.n);
  if (how.rounding != Rounding::kNearestEven || is_integer(dtype)) {
    encode_each(dtype, in, row, how, out);
  } else if (dtype == Dtype::kFp16) {
    return k.to_fp16(in, reinterpret_cast<std::uint16_t*>(out), count);
  } else if (dtype == Dtype::kTf32) {
    k.to_tf32(in, reinterpret_cast<float*>(out), count);
  } else {
    const auto which = static_cast<std::size_t>(dtype) - static_cast<std::size_t>(Dtype::kFp8E4m3);
    k.to_fp8.at(which)(in, reinterpret_cast<std::uint8_t*>(out), count);
  }
  return dtype != Dtype::kTf32;  // which has fp32's range
}

}  // namespace

Rounder rounder(std::uint32_t index, const Context& context) {
  NumericEvents* events = &context.memory.events();
  if (context.rounding == Rounding::kNearestEven) return {.stream = {}, .events = events};
  return {context.rounding, random_stream(Purpose::kRounding, index, context), events};
}

void cast(const Lines& in, const Strip& strip, Dtype dtype, std::byte* out, std::int64_t stride, const Rounder& how) {
  const kernels::Kernels& k = kernels::kernels();
  const kernels::Rows rows{static_cast<std::size_t>(strip.rows), static_cast<std::size_t>(strip.n), in.stride, stride};
  bool special = false;
  if (dtype == Dtype::kFp32) {
    k.copy_rows(reinterpret_cast<const std::byte*>(in.data), in.stride, out, stride, rows.count, rows.n * 4);
    return;
  }
  if (dtype == Dtype::kBf16 && how.rounding == Rounding::kNearestEven) {
    special = k.to_bf16(in.data, reinterpret_cast<std::uint16_t*>(out), rows);
  } else if (dtype == Dtype::kBf16) {
    special = k.to_bf16_stochastic(in.data, draw_of(how.stream, strip.p, strip.first),
                                   reinterpret_cast<std::uint16_t*>(out), rows);
  } else {
    for (std::int64_t r = 0; r < strip.rows; ++r)
      special |= cast_row(dtype, in.row(r), strip.row(r), how, out + r * stride);
  }
  if (!special || !how.events) return;
  for (std::int64_t r = 0; r < strip.rows; ++r)
    tally(how.events->overflowed, overflowed(dtype, in.row(r), out + r * stride, strip.n));
}

}  // namespace isa::exec
