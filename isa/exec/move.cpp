// Instructions that move, choose by place, or make elements: copies, gathers, shuffles, patterns, random numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/exec/random.h"
#include "isa/names.h"

namespace isa::exec {
namespace {

using Block = float[kBlock];

[[noreturn]] void out_of_range(const Instr& instr, std::string_view what) {
  throw base::Error{base::Fault::kData, name_of(instr.op), what, "check the data that the index comes from"};
}

}  // namespace

void tensor_copy(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_same_shape(instr, dst, a, "a");
  const Rounder how = rounder(index, context);
  // ScalarE computes in fp32, which holds every value but those of the 32-bit integers.
  const bool converts = instr.engine == Engine::kScalar && is_integer(a.dtype) && a.size == 4;
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block xs;
    if (converts)
      write(dst, strip, read(a, strip, xs), how);
    else
      copy_strip(dst, a, strip, how);
  });
}

namespace {

/// The elements of a tile with one axis that steps over the axes of `shape` name, from `first` on.
View stepped(const View& whole, std::int64_t first, const Tile& shape, const std::array<std::int32_t, 4>& steps) {
  View out = whole;
  const std::int64_t each = whole.axes[0].step;
  out.base += first * each, out.rank = shape.rank, out.cols = shape.cols();
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank); ++d)
    out.axes[d] = {steps[d] * each, static_cast<std::int64_t>(shape.free[d].size)};
  return out;
}

/// The columns of a tile from `first` on.
struct Columns {
  const View& view;
  std::int64_t first;
};

/// The first `cols` of `to` become those of `from`, in each row.
void copy_part(const Columns& to, const Columns& from, std::int64_t cols, std::uint32_t index, Context& context) {
  const View &dst = to.view, &a = from.view;
  const Rounder how = rounder(index, context);
  for_blocks(context, dst.partitions, cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    if (dst.dtype == a.dtype) {
      std::uint32_t moved[kBlock];
      read_bits(a, p, from.first + first, n, moved);
      write_bits(dst, p, to.first + first, n, moved);
      return;
    }
    alignas(64) Block xs;
    write(dst, p, to.first + first, n, read(a, p, from.first + first, n, xs), how);
  });
}

/// The elements of `whole` that the index b of a dynamic copy names, one for each element of `other`.
Columns dynamic_part(const Instr& instr, const View& whole, const Tile& other, View& scratch, Context& context) {
  const View b = view(instr, instr.b, "b", context);
  need(instr, b.dtype == Dtype::kInt32 && b.elements() == 1, "b is not [1, 1] int32", "give it one index");
  std::uint32_t bits = 0;
  read_bits(b, 0, 0, 1, &bits);
  const std::int64_t index = static_cast<std::int32_t>(bits), unit = std::max<std::int64_t>(1, integer_of(instr, 0));
  const std::int64_t first = integer_of(instr, 1) + index * unit;
  const bool strided = integer_of(instr, 2) != 0;
  std::int64_t low = first, high = first + (strided ? 0 : other.cols() - 1);
  for (std::size_t d = 0; strided && d < static_cast<std::size_t>(other.rank); ++d) {
    const std::int64_t span = (std::int64_t{other.free[d].size} - 1) * instr.steps[d];
    (span < 0 ? low : high) += span;
  }
  if (low < 0 || high >= whole.cols)
    out_of_range(instr, fmt::format("index {} and {} elements leave the {} of its tile: they are {} to {}", index,
                                    other.cols(), whole.cols, low, high));
  if (!strided) return {whole, first};
  need(instr, whole.rank == 1, "steps over several axes", "give the tile one axis");
  scratch = stepped(whole, first, other, instr.steps);
  return {scratch, 0};
}

}  // namespace

void tensor_copy_dynamic(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.partitions == a.partitions, "dst and a differ in partitions", "make them agree");
  View part;
  copy_part({dst, 0}, dynamic_part(instr, a, instr.dst, part, context), dst.cols, index, context);
}

void tensor_copy_dynamic_dst(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, dst.partitions == a.partitions, "dst and a differ in partitions", "make them agree");
  View part;
  copy_part(dynamic_part(instr, dst, instr.a, part, context), {a, 0}, a.cols, index, context);
}

void stream_shuffle(const Instr& instr, std::uint32_t, Context& context) {
  constexpr std::int64_t kGroup = 32, kKeep = 255;
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  const View b = view(instr, instr.b, "b", context);
  need(instr, dst.cols == a.cols, "dst and a differ in columns", "make them agree");
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
  constexpr std::int64_t kShared = 16;  // partitions that share their indices; index k is in the (k % 16)-th of them
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  const View b = view(instr, instr.b, "b", context);
  const std::int64_t each = std::max<std::int64_t>(1, integer_of(instr, 0));
  need(instr, dst.dtype == a.dtype, "dst and a differ in type", "make them agree");
  need(instr,
       dst.partitions == a.partitions && b.partitions == a.partitions && a.partitions % kShared == 0 &&
           dst.cols % each == 0 && dst.cols / each <= kShared * b.cols,
       "dst is not [P, 16 * n * imm0] of b [P, n], or less, P a multiple of 16", "change the tiles");
  for_rows(context, dst.partitions, dst.cols, [&](std::int64_t p) {
    for (std::int64_t k = 0; k < dst.cols / each; ++k) {
      std::uint32_t from = 0, bits[32];
      read_bits(b, p / kShared * kShared + k % kShared, k / kShared, 1, &from);
      if (from + each > a.cols)
        out_of_range(instr,
                     fmt::format("index {} of partitions {} to {} takes {} elements, but a partition of the source "
                                 "has {}",
                                 from, p / kShared * kShared, p / kShared * kShared + kShared - 1, each, a.cols));
      read_bits(a, p, from, each, bits);
      write_bits(dst, p, k * each, each, bits);
    }
  });
}

void n_gather(const Instr& instr, std::uint32_t, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  const View b = view(instr, instr.b, "b", context);
  need_same_shape(instr, dst, b, "b");
  need(instr, dst.dtype == a.dtype && dst.partitions == a.partitions, "dst and a differ in type or partitions",
       "make them agree");
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    std::uint32_t from[kBlock], bits[kBlock];
    read_bits(b, p, first, n, from);
    for (std::int64_t i = 0; i < n; ++i) {
      if (from[i] >= a.cols)
        out_of_range(instr,
                     fmt::format("index {} of partition {} is outside of the {} elements that the source has there",
                                 from[i], p, a.cols));
      read_bits(a, p, from[i], 1, bits + i);
    }
    write_bits(dst, p, first, n, bits);
  });
}

void memset(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const Rounder how = rounder(index, context);
  const bool exact = instr.integers && is_integer(dst.dtype);
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    if (exact) {
      std::uint32_t bits[kBlock];
      std::fill_n(bits, strip.n, static_cast<std::uint32_t>(integer_of(instr, 0)));
      for (std::int64_t r = 0; r < strip.rows; ++r) write_bits(dst, strip.p + r, strip.first, strip.n, bits);
      return;
    }
    alignas(64) Block outs;
    float* out = target(dst, strip, outs);
    std::fill_n(out, strip.elements(), number_of(instr, 0));
    write(dst, strip, out, how);
  });
}

namespace {

/// imm0 + p * imm1 + place of an element, see kIota: integers where the immediates are.
class Pattern {
 public:
  explicit Pattern(const Instr& instr)
      : dst_{instr.dst}, steps_{instr.steps}, strided_{std::ranges::any_of(instr.steps, [](auto s) {
          return s != 0;
        })} {
    const auto number = [&](std::size_t which) {
      return instr.integers ? static_cast<double>(instr.ints[which]) : number_of(instr, which);
    };
    base_ = number(0), by_row_ = number(1), by_place_ = number(2);
  }
  double operator()(std::int64_t p, std::int64_t i) const {
    double value = base_ + static_cast<double>(p) * by_row_;
    if (!strided_) return value + static_cast<double>(i) * by_place_;
    for (int d = dst_.rank - 1; d >= 0; --d) {
      const std::int64_t size = dst_.free[static_cast<std::size_t>(d)].size;
      value += static_cast<double>(i % size) * steps_[static_cast<std::size_t>(d)];
      i /= size;
    }
    return value;
  }

 private:
  const Tile& dst_;
  const std::array<std::int32_t, 4>& steps_;
  const bool strided_;
  double base_ = 0, by_row_ = 0, by_place_ = 0;
};

}  // namespace

void iota(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const Rounder how = rounder(index, context);
  const Pattern pattern{instr};
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block outs;
    std::uint32_t bits[kBlock];
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = pattern(p, first + i);
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
  const Pattern pattern{instr};
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) Block xs, outs, places, where, others;
    for (std::int64_t i = 0; i < n; ++i) places[i] = static_cast<float>(pattern(p, first + i));
    std::fill_n(others, n, instr.imm3);
    combine(instr, {instr.alu0, false}, places, {nullptr, 0}, where, n);
    float* out = target(dst, p, first, outs);
    kernels::kernels().choose(where, read(a, p, first, n, xs), others, out, static_cast<std::size_t>(n));
    write(dst, p, first, n, out, how);
  });
}

void dropout(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need_same_shape(instr, dst, a, "a");
  const Operand probability{instr, instr.b, "b", instr.imm0, dst.partitions, context};
  const Rounder how = rounder(index, context);
  const kernels::Stream stream = random_stream(Purpose::kDropout, instr.rng, context, instr.alike);
  // 16 bits decide: the probability is met to 1/131072.
  const auto threshold = [&](std::int64_t p) {
    const float drop = probability.block(p, 0, 1, nullptr).scalar;
    if (!(drop == drop)) out_of_range(instr, fmt::format("the probability of partition {} is not a number", p));
    return static_cast<std::uint32_t>(std::lround(static_cast<double>(std::clamp(drop, 0.0F, 1.0F)) * 65536));
  };
  for_strips(context, dst.partitions, dst.cols, [&](const Strip& strip) {
    alignas(64) Block xs, outs;
    const float* x = read(a, strip, xs);
    float* out = target(dst, strip, outs);
    const std::int64_t rows = probability.is_column() ? 1 : strip.rows;  // of one probability
    for (std::int64_t r = 0; r < strip.rows; r += rows) {
      const kernels::Dropout drop{threshold(strip.p + r), instr.imm1};
      kernels::kernels().dropout(x + r * strip.n, draw_of(stream, strip.p + r, strip.first), drop, out + r * strip.n,
                                 static_cast<std::size_t>(rows), static_cast<std::size_t>(strip.n));
    }
    write(dst, strip, out, how);
  });
}

void set_rng_seed(const Instr& instr, std::uint32_t, Context& context) {
  const View a = view(instr, instr.a, "a", context);
  need(instr, a.elements() == 1 && a.size == 4, "a is not [1, 1] of 32 bits", "give it one seed");
  std::uint32_t seed = 0;
  read_bits(a, 0, 0, 1, &seed);
  context.memory.engines().seed = seed;
  context.memory.engines().drawn = 0;
}

namespace {

/// Where kRng draws from: the stream of its `rng`, or the sequence that begins with the core's seed.
kernels::Stream rng_stream(const Instr& instr, Context& context) {
  EngineState& state = context.memory.engines();
  if (!state.seed) return random_stream(Purpose::kRng, instr.rng, context);
  Context seeded{.memory = context.memory, .bases = {}, .seed = *state.seed};  // the same in every step, rank and call
  return random_stream(Purpose::kRng, state.drawn++, seeded);
}

}  // namespace

void rng(const Instr& instr, std::uint32_t, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  need(instr, is_integer(dst.dtype), "dst is not of integers", "draw integers, then scale them");
  if (instr.engine == Engine::kGpSimd) return rng_of_lanes(instr, context);
  const kernels::Stream high = rng_stream(instr, context);
  kernels::Stream low = high;
  low.nonce[1] ^= 0x80000000u;
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) std::uint16_t upper[kBlock], lower[kBlock];
    std::uint32_t bits[kBlock];
    kernels::kernels().random_row(draw_of(high, p, first), static_cast<std::size_t>(n), upper);
    kernels::kernels().random_row(draw_of(low, p, first), static_cast<std::size_t>(n), lower);
    for (std::int64_t i = 0; i < n; ++i) bits[i] = static_cast<std::uint32_t>(upper[i]) << 16 | lower[i];
    write_bits(dst, p, first, n, bits);
  });
}

void wait(const Instr&, std::uint32_t, Context&) {}  // the sequencer has waited; there is nothing to compute

void unsupported(const Instr& instr, std::uint32_t, Context&) {
  refuse(instr, "it has no semantics on NeuronCore-v2", "use another instruction");
}

}  // namespace isa::exec
