// Random bits that depend on their purpose, not on the thread or the time that computes them. For isa/exec_*.cpp and
// tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/philox.h"
#include "isa/exec.h"
#include "isa/kernels/kernels.h"

namespace isa::exec {

/// The purpose of a stream: two purposes never share numbers.
enum class Purpose : std::uint32_t { kRounding, kWideRounding, kDropout, kRng, kCollective };

/// The stream of one instruction: `id` is Instr::rng, or its place in the block for a rounding without one. All ranks
/// round with the same numbers, as on the machine where they share a seed (NEURON_RT_STOCHASTIC_ROUNDING_SEED): else
/// replicas of a weight would drift apart in their updates. `alike`: so many neighbouring ranks draw the same; 0: one.
inline kernels::Stream random_stream(Purpose purpose, std::uint32_t id, const Context& context,
                                     std::uint32_t alike = 0) {
  const bool own = purpose == Purpose::kDropout || purpose == Purpose::kRng;
  const std::uint32_t rank = own ? context.rank / std::max(alike, 1U) : 0;
  const base::PhiloxCounter words =
      base::philox4x32<10>({context.step, rank, context.call_rng, id}, base::philox_key(context.seed));
  return {{words[0], words[1]}, {words[2] + static_cast<std::uint32_t>(purpose), words[3]}};
}

/// 16 uniform bits of element `i` of row `row`; kernels::Kernels::random_row yields a row of them.
constexpr std::uint16_t random16(const kernels::Stream& stream, std::uint32_t row, std::uint32_t i) {
  const std::uint32_t block = i / 128, lane = i % 128 / 64 * 8 + i % 32 / 4, word = i % 64 / 32 * 2 + i % 4 / 2;
  const auto words =
      base::philox4x32<7>({16 * block + lane, row, stream.nonce[0], stream.nonce[1]}, {stream.key[0], stream.key[1]});
  return static_cast<std::uint16_t>(words[word] >> (i % 2 * 16));
}

/// The random numbers for rows `row` and after, from element `first` on, a multiple of 128.
inline kernels::Draw draw_of(const kernels::Stream& stream, std::int64_t row, std::int64_t first) {
  return {stream, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(first)};
}

}  // namespace isa::exec
