// The ports of SBUF and PSUM that engines share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hw/trace.h"
#include "isa/instr.h"

namespace hw {

/// On NeuronCore-v2 VectorE and GpSimdE reach SBUF through one port, VectorE and ScalarE PSUM (NKI architecture guide
/// v2, parallel access): sbuf.shared_port and psum.shared_port of the machine file. Everything else runs at full rate
/// and asks for no port.
enum PortMask : std::uint8_t { kNoPort = 0, kSbufPort = 1, kPsumPort = 2 };

/// First come, first served, and VectorE first of those that come at the same time; an instruction holds its ports for
/// as long as it occupies its engine. An engine claims at the time, and reserves a delta cycle later, when all claims
/// of that time are known: the kernel wakes processes of the same time in an order that depends on all other events.
class Ports {
 public:
  void claim(isa::Engine engine) { vector_claims_ |= engine == isa::Engine::kVector; }
  /// True when `engine`, which has claimed, lets another one go first and asks again a delta cycle later.
  bool yields(isa::Engine engine) const { return vector_claims_ && engine != isa::Engine::kVector; }
  /// Begins at `now` or when all ports in `mask` are free, and takes them for `duration`. Calls come in order of time.
  Fs reserve(std::uint8_t mask, Fs now, Fs duration) {
    Fs start = now;
    vector_claims_ = false;  // no other engine is served while VectorE claims
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
  bool vector_claims_ = false;
};

}  // namespace hw
