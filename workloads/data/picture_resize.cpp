#include <algorithm>
#include <cmath>

#include "workloads/data/pictures.h"

namespace workloads {
namespace {

/// Weights have this many bits behind the point: 32 less 8 of a pixel and 2 for sums.
constexpr int kWeightBits = 22;

/// The old pixels of a new one along an axis, and how much each counts.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights{};
};

std::vector<Taps> taps_of(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), support = std::max(scale, 1.0);
  std::vector<Taps> out;
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), 0);
    const auto end = std::min(static_cast<std::int64_t>(center + support + 0.5), from);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t x = first; x < end; ++x) {
      const double distance = std::abs((static_cast<double>(x) - center + 0.5) / support);
      sum += weights.emplace_back(std::max(0.0, 1 - distance));
    }
    Taps taps{.first = first};
    for (const double w : weights)
      taps.weights.push_back(static_cast<std::int32_t>(0.5 + w / sum * (1 << kWeightBits)));
    out.push_back(std::move(taps));
  }
  return out;
}

/// `step`: from a tap's pixel to the next.
std::uint8_t weighted(const Taps& taps, const std::uint8_t* pixel, std::size_t step) {
  std::int64_t sum = 1 << (kWeightBits - 1);
  for (const std::int32_t w : taps.weights) sum += std::int64_t{w} * *pixel, pixel += step;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255));
}

Picture resized_rows(const Picture& in, std::int64_t width) {
  const std::vector<Taps> taps = taps_of(in.width, width);
  Picture out{.width = width, .height = in.height};
  for (std::int64_t y = 0; y < in.height; ++y)
    for (const Taps& t : taps)
      for (std::int64_t c = 0; c < 3; ++c)
        out.rgb.push_back(weighted(t, in.rgb.data() + 3 * (y * in.width + t.first) + c, 3));
  return out;
}

Picture resized_columns(const Picture& in, std::int64_t height) {
  const auto row = static_cast<std::size_t>(3 * in.width);
  Picture out{.width = in.width, .height = height};
  for (const Taps& t : taps_of(in.height, height))
    for (std::size_t x = 0; x < row; ++x)
      out.rgb.push_back(weighted(t, in.rgb.data() + static_cast<std::size_t>(t.first) * row + x, row));
  return out;
}

}  // namespace

Picture resized(const Picture& picture, std::int64_t width, std::int64_t height) {
  Picture out = picture.width == width ? picture : resized_rows(picture, width);
  return out.height == height ? out : resized_columns(out, height);
}

}  // namespace workloads
