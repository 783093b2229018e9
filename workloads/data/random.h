// Random draws of the data and the initial weights from base/philox.h, with the same arithmetic on every host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/philox.h"

namespace workloads {

/// Draws from one stream, named by a seed and a stream number.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : bits_{seed, stream} {}

  /// Uniform in [0, n), without bias. n must not be 0.
  std::uint32_t below(std::uint32_t n) { return bits_.below(n); }
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Normal(0, 1) by Marsaglia's polar method; its logarithm is our own, because libm's differs between hosts.
  double normal();
  bool chance(double probability) { return uniform() < probability; }

  template <typename T>
  const T& pick(std::span<const T> items) {
    return items[below(static_cast<std::uint32_t>(items.size()))];
  }

 private:
  base::PhiloxStream bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// 0 .. n-1 in a random order (Fisher-Yates).
std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t stream);

/// A stream number from a name (FNV-1a), so that a tensor's values depend on its name and not on its place in a list.
std::uint64_t stream_of(std::string_view name);

}  // namespace workloads
