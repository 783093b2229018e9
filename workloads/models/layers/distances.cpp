#include "workloads/models/layers/distances.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace workloads {

std::int64_t bucket_of(const Buckets& b, bool both_ways, std::int64_t distance) {
  const std::int64_t buckets = b.count / (both_ways ? 2 : 1), exact = buckets / 2;
  const std::int64_t side = both_ways && distance > 0 ? buckets : 0;
  const std::int64_t far = both_ways ? std::abs(distance) : std::max<std::int64_t>(0, -distance);
  if (far < exact) return side + far;
  // In fp32, as PyTorch computes it: a distance on the edge of a bucket must fall to the same side.
  const float ratio = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                      static_cast<float>(std::log(static_cast<double>(b.most) / static_cast<double>(exact)));
  const auto further = static_cast<std::int64_t>(ratio * static_cast<float>(buckets - exact));
  return side + std::min(buckets - 1, exact + further);
}

std::vector<float> by_bucket(const Buckets& b, bool both_ways, std::int64_t columns, std::int64_t from) {
  std::vector<float> out(static_cast<std::size_t>(b.count * columns));
  for (std::int64_t d = 0; d < columns; ++d)
    out[static_cast<std::size_t>(bucket_of(b, both_ways, from + d) * columns + d)] = 1;
  return out;
}

std::int64_t log_bucket_of(std::int64_t distance, const Buckets& b) {
  const std::int64_t middle = b.count / 2, far = std::abs(distance);
  if (far <= middle) return distance;
  // In fp32, as PyTorch computes it.
  const float ratio = std::log(static_cast<float>(far) / static_cast<float>(middle)) /
                      static_cast<float>(std::log(static_cast<double>(b.most - 1) / static_cast<double>(middle)));
  const auto further = static_cast<std::int64_t>(std::ceil(ratio * static_cast<float>(middle - 1)));
  return (distance > 0 ? 1 : -1) * (middle + further);
}

std::vector<float> by_place(const Buckets& b, bool log, std::int64_t length, bool backwards) {
  const std::int64_t distances = 2 * length - 1, rows = 2 * b.count;
  std::vector<float> out(static_cast<std::size_t>(distances * rows));
  for (std::int64_t d = 0; d < distances; ++d) {
    const std::int64_t distance = backwards ? d - length + 1 : length - 1 - d;
    const std::int64_t row =
        std::clamp<std::int64_t>((log ? log_bucket_of(distance, b) : distance) + b.count, 0, rows - 1);
    out[static_cast<std::size_t>(d * rows + row)] = 1;
  }
  return out;
}

}  // namespace workloads
