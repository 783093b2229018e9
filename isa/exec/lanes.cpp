// The generator of GpSimdE: one XORWOW for each partition, whose six words a program may read and set.
// Source: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003), section 3.1; NKI 2.32, nki.isa.rng,
// rand_set_state and rand_get_state name it for the six words.
#include <algorithm>

#include "isa/exec/operand.h"
#include "isa/exec/ops.h"
#include "isa/exec/random.h"

namespace isa::exec {
namespace {

constexpr std::int64_t kWords = 6;

std::uint32_t next_of(RandomLane& s) {
  const std::uint32_t t = s[0] ^ (s[0] >> 2);
  for (std::size_t i = 0; i < 4; ++i) s[i] = s[i + 1];
  s[4] = (s[4] ^ (s[4] << 4)) ^ (t ^ (t << 1));
  s[5] += 362437;
  return s[4] + s[5];
}

/// Before a program sets it, a lane begins with words of the run's seed: none is all zeros, which XORWOW would keep.
RandomLane& lane(const Instr& instr, std::int64_t partition, Context& context) {
  auto& lanes = context.memory.engines().lanes;
  if (!lanes) {
    lanes.emplace();
    const auto key = base::philox_key(context.seed);
    for (std::uint32_t p = 0; p < kPartitions; ++p) {
      const auto low = base::philox4x32<10>({p, 0, context.rank, 0}, key);
      const auto high = base::philox4x32<10>({p, 1, context.rank, 0}, key);
      (*lanes)[p] = {low[0] | 1u, low[1], low[2], low[3], high[0], high[1]};
    }
  }
  const std::int64_t at = (instr.dst ? instr.dst.start : instr.a.start) + partition;
  return lanes->at(static_cast<std::size_t>(at));
}

}  // namespace

void rng_of_lanes(const Instr& instr, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  for (std::int64_t p = 0; p < dst.partitions; ++p) {
    RandomLane& state = lane(instr, p, context);
    std::uint32_t bits[kBlock];
    for (std::int64_t first = 0; first < dst.cols; first += kBlock) {
      const std::int64_t n = std::min(kBlock, dst.cols - first);
      for (std::int64_t i = 0; i < n; ++i) bits[i] = next_of(state);
      write_bits(dst, p, first, n, bits);
    }
  }
}

void rand_set_state(const Instr& instr, std::uint32_t, Context& context) {
  const View a = view(instr, instr.a, "a", context);
  need(instr, a.cols == kWords && a.size == 4, "a does not have six words of 32 bits", "give each partition six");
  for (std::int64_t p = 0; p < a.partitions; ++p) read_bits(a, p, 0, kWords, lane(instr, p, context).data());
}

void rand_get_state(const Instr& instr, std::uint32_t, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  need(instr, dst.cols == kWords && dst.size == 4, "dst does not have six words of 32 bits", "give each partition six");
  for (std::int64_t p = 0; p < dst.partitions; ++p) write_bits(dst, p, 0, kWords, lane(instr, p, context).data());
}

}  // namespace isa::exec
