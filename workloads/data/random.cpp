#include "workloads/data/random.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace workloads {
namespace {

/// ln(x) for x > 0 with basic operations only: x = m 2^e with m near 1, ln m = 2 atanh((m - 1) / (m + 1)).
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  double power = s;
  double sum = 0;
  for (int k = 1; k < 27; k += 2, power *= s * s) sum += power / k;  // |s| < 0.172: the next term is below 1e-21
  return 2 * sum + exponent * 0.69314718055994530942;
}

}  // namespace

double Random::uniform() {
  const std::uint32_t high = bits_.next();
  return base::uniform01(high, bits_.next());
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s >= 1 || s == 0) continue;
    const double factor = std::sqrt(-2 * portable_log(s) / s);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }
}

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Random random{seed, stream};
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  return order;
}

std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace workloads
