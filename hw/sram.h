// The ports of SBUF and PSUM that engines share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hw/trace.h"

namespace hw {

/// VectorE and GpSimdE reach SBUF through one port, VectorE and ScalarE PSUM (NKI architecture guide v2, parallel
/// access); everything else runs at full rate and asks for no port.
enum PortMask : std::uint8_t { kNoPort = 0, kSbufPort = 1, kPsumPort = 2 };

/// First come, first served; an instruction holds its ports for as long as it occupies its engine.
class Ports {
 public:
  /// Begins at `now` or when all ports in `mask` are free, and takes them for `duration`. Calls come in order of time.
  Fs reserve(std::uint8_t mask, Fs now, Fs duration) {
    Fs start = now;
    for (int p = 0; p < 2; ++p) {
      if (mask & (1 << p)) start = std::max(start, free_at_[p]);
    }
    for (int p = 0; p < 2; ++p) {
      if (mask & (1 << p)) free_at_[p] = start + duration;
    }
    return start;
  }

 private:
  std::array<Fs, 2> free_at_{};
};

}  // namespace hw
