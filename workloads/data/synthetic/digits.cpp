#include "workloads/data/synthetic/digits.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/data/random.h"

namespace workloads {
namespace {

constexpr std::int64_t kSize = 28;
constexpr float kMean = 0.1307F, kDeviation = 0.3081F;  // of MNIST's pixels, by which they are normalized

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

/// Part of an ellipse, from one angle to another (degrees, 0 to the right, 90 downwards).
Stroke arc(Point middle, double wide, double high, double from, double to) {
  Stroke out;
  constexpr int kPieces = 12;
  for (int i = 0; i <= kPieces; ++i) {
    const double angle = (from + (to - from) * i / kPieces) * std::numbers::pi / 180;
    out.push_back({middle.x + wide * std::cos(angle), middle.y + high * std::sin(angle)});
  }
  return out;
}

/// A digit's strokes in the square from 0 to 1, y downwards.
std::vector<Stroke> strokes_of(std::int32_t digit) {
  switch (digit) {
    case 0: return {arc({.5, .5}, .3, .45, 0, 360)};
    case 1: return {{{.35, .2}, {.55, .05}, {.55, .95}}};
    case 2: return {arc({.5, .3}, .28, .25, 180, 400), {{.7, .47}, {.22, .95}, {.8, .95}}};
    case 3: return {arc({.47, .28}, .27, .23, 200, 450), arc({.47, .72}, .3, .23, 270, 520)};
    case 4: return {{{.62, .95}, {.62, .05}, {.2, .65}, {.85, .65}}};
    case 5: return {{{.75, .05}, {.3, .05}, {.27, .45}}, arc({.47, .68}, .3, .26, 235, 500)};
    case 6: return {{{.65, .05}, {.35, .35}, {.23, .65}}, arc({.5, .7}, .27, .24, 0, 360)};
    case 7: return {{{.2, .05}, {.8, .05}, {.42, .95}}};
    case 8: return {arc({.5, .28}, .23, .22, 0, 360), arc({.5, .73}, .28, .23, 0, 360)};
    default: return {arc({.5, .3}, .26, .24, 0, 360), {{.76, .3}, {.72, .65}, {.55, .95}}};
  }
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// How a digit is written, in pixels.
struct Hand {
  double scale, angle, slant, right, down, thick;

  explicit Hand(Random& random)
      : scale{18 + 4 * random.uniform()},
        angle{0.3 * (random.uniform() - 0.5)},
        slant{0.4 * (random.uniform() - 0.5)},
        right{kSize / 2.0 + 4 * (random.uniform() - 0.5)},
        down{kSize / 2.0 + 4 * (random.uniform() - 0.5)},
        thick{1.0 + random.uniform()} {}

  Point place(Point p) const {
    const double y = p.y - 0.5, x = 0.8 * (p.x - 0.5) - slant * y;
    return {right + scale * (x * std::cos(angle) - y * std::sin(angle)),
            down + scale * (x * std::sin(angle) + y * std::cos(angle))};
  }
};

void draw(std::int32_t digit, Random& random, std::vector<float>& pixels) {
  const Hand hand{random};
  std::vector<Stroke> strokes = strokes_of(digit);
  for (Stroke& stroke : strokes)
    for (Point& p : stroke) p = hand.place(p);
  for (std::int64_t y = 0; y < kSize; ++y)
    for (std::int64_t x = 0; x < kSize; ++x) {
      const Point here{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      double nearest = kSize;
      for (const Stroke& stroke : strokes)
        for (std::size_t i = 1; i < stroke.size(); ++i)
          nearest = std::min(nearest, distance(here, stroke[i - 1], stroke[i]));
      const double ink = std::clamp(hand.thick + 0.5 - nearest, 0.0, 1.0) + 0.05 * random.normal();
      pixels.push_back((static_cast<float>(std::clamp(ink, 0.0, 1.0)) - kMean) / kDeviation);
    }
}

}  // namespace

ImageDataset synthetic_digits(SyntheticSplit split, std::size_t count, std::uint64_t seed) {
  constexpr std::uint32_t kDigits = 10;
  ImageDataset out{.size = kSize, .channels = 1, .source = std::string{kDigitsName}};
  for (std::uint32_t d = 0; d < kDigits; ++d) out.label_names.push_back(std::to_string(d));
  const std::uint64_t streams = stream_of("digits") + static_cast<std::uint64_t>(split);
  for (std::size_t i = 0; i < count; ++i) {
    Random random{seed, streams + (static_cast<std::uint64_t>(i) << 8)};
    out.labels.push_back(static_cast<std::int32_t>(random.below(kDigits)));
    draw(out.labels.back(), random, out.pixels);
  }
  return out;
}

}  // namespace workloads
