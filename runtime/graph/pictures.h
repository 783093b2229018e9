// Pictures in memory, and a window that moves over them.
#pragma once

#include <cstdint>

namespace runtime {

/// One axis of the window that a convolution moves over a picture. Steps are elements of memory.
struct WindowAxis {
  std::int64_t size = 1, places = 1, window = 1;  // of the picture, of the result and of the kernel
  std::int64_t stride = 1, dilation = 1;          // from one place of the result, and of the window, to the next
  std::int64_t apart = 1, low = 0;                // of the picture's pixels, zeros being between; padding before them
  bool reversed = false;                          // the kernel's last place comes first
  std::int64_t x_step = 1, w_step = 1;

  /// Which place of the kernel's memory place k of the window is, and where.
  std::int64_t place(std::int64_t k) const { return reversed ? window - 1 - k : k; }
  std::int64_t tap(std::int64_t k) const { return place(k) * w_step; }
  bool operator==(const WindowAxis&) const = default;
};

/// Pictures in memory, and the window that moves over them. Steps are elements.
struct Pictures {
  std::int64_t features = 1, count = 1;
  WindowAxis rows{}, cols{};
  std::int64_t step = 1, feature_step = 1, first = 0;  // from one picture to the next, of one feature to the next
  bool operator==(const Pictures&) const = default;

  std::int64_t places() const { return rows.places * cols.places; }
  std::int64_t taps() const { return rows.window * cols.window; }
};

}  // namespace runtime
