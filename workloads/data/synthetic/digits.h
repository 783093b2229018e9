// The embedded pictures: digits drawn from strokes, each moved, scaled, turned, slanted, thickened and made noisy at
// random, in MNIST's form: 28 x 28, one channel. They are synthetic, and every report that uses them has to say so.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/data/synthetic/emotion_synthetic.h"
#include "workloads/training/images.h"

namespace workloads {

inline constexpr std::string_view kDigitsName = "synthetic digits (embedded)";

/// Picture `index` of a split depends on seed, split and index alone, not on how many are made.
ImageDataset synthetic_digits(SyntheticSplit split, std::size_t count, std::uint64_t seed = 42);

}  // namespace workloads
