#include "workloads/training/images.h"

#include "base/error.h"

namespace workloads {

void append_patches(std::span<const float> picture, const ImageShape& shape, std::vector<float>& rows) {
  base::ensure(picture.size() == static_cast<std::size_t>(shape.elements()), "images",
               "an image does not have the model's size");
  rows.insert(rows.end(), static_cast<std::size_t>(shape.specials * shape.patch_elements()), 0.0F);
  for (std::int64_t top = 0; top + shape.patch <= shape.size; top += shape.patch)
    for (std::int64_t left = 0; left + shape.patch <= shape.size; left += shape.patch)
      for (std::int64_t c = 0; c < shape.channels; ++c)
        for (std::int64_t y = top; y < top + shape.patch; ++y) {
          const auto line = picture.begin() + (c * shape.size + y) * shape.size + left;
          rows.insert(rows.end(), line, line + shape.patch);
        }
}

}  // namespace workloads
