// PNG and JPEG files as pixels, resized as Pillow does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace workloads {

/// Pixels of 8 bits, row by row, red, green and blue of each.
struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb{};
};

/// The file's first bytes tell the format. Transparent pixels keep their colour; grey is three equal
/// colours. Errors: Fault::kData naming the file when it is neither, is cut off or damaged.
Picture read_picture(const std::filesystem::path& file);

/// Bilinear, with the filter as wide as a new pixel where the picture gets smaller: the arithmetic, and so the bytes,
/// of Pillow's Image.resize(BILINEAR). Source: Pillow, src/libImaging/Resample.c.
Picture resized(const Picture& picture, std::int64_t width, std::int64_t height);

}  // namespace workloads
