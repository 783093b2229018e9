// Counter-based random numbers: Philox4x32 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// The same (counter, key) gives the same four words on every host and in any order: no state, no threads to agree.
#pragma once

#include <array>
#include <cstdint>

namespace base {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Four uniform 32-bit words. 10 rounds is the paper's default; 7 is the fewest that passes all of TestU01's BigCrush.
template <int kRounds = 10>
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  static_assert(kRounds == 7 || kRounds == 10, "the two that the paper recommends and publishes vectors for");
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9;  // golden ratio
    key[1] += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// Uniform in [0, 1): the upper 24 bits, each value exact in fp32.
constexpr float uniform01(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
/// Uniform in [0, 1) with 53 bits.
constexpr double uniform01(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

/// A sequential stream over philox4x32 for code that draws one number after the other (data generators, initial
/// weights). `stream` separates users of one seed.
class PhiloxStream {
 public:
  constexpr explicit PhiloxStream(std::uint64_t seed, std::uint64_t stream = 0)
      : key_{philox_key(seed)}, stream_{stream} {}

  constexpr std::uint32_t next() {
    if (used_ == 4) refill();
    return words_[used_++];
  }
  constexpr float uniform() { return uniform01(next()); }
  /// Uniform in [0, n), n > 0, by multiplication with rejection: no bias (Lemire, arXiv:1805.10941).
  constexpr std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = std::uint64_t{next()} * n;
    const std::uint32_t threshold = (0u - n) % n;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{next()} * n;
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  constexpr void refill() {
    words_ = philox4x32<10>({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
                             static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                            key_);
    ++block_;
    used_ = 0;
  }

  PhiloxKey key_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  PhiloxCounter words_{};
  int used_ = 4;
};

}  // namespace base
