// Pictures with labels, as numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/models/model.h"

namespace workloads {

/// Pictures of one size, [channels, size, size] each, one after the other.
struct ImageDataset {
  std::int64_t size = 0, channels = 0;
  std::vector<float> pixels{};  // normalized: about -1 to 1
  std::vector<std::int32_t> labels{};
  std::vector<std::string> label_names{};
  std::string source{};

  std::span<const float> picture(std::size_t i) const {
    const auto elements = static_cast<std::size_t>(channels * size * size);
    return std::span{pixels}.subspan(i * elements, elements);
  }
};

/// A picture as the rows of its sequence, [1 + patches, channels * patch * patch]: a row of zeros, where the class
/// token will be, and its patches, row by row of the picture, each channel by channel.
void append_patches(std::span<const float> picture, const ImageShape& shape, std::vector<float>& rows);

}  // namespace workloads
