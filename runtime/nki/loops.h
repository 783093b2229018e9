// Loops of a kernel, and the passes over them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace runtime::nki {

/// A run of an affine loop: at which instruction each of its iterations began, and where it ended.
struct LoopTrace {
  std::vector<std::uint32_t> starts{};
  std::uint32_t end = 0;
  bool outer = false;  // there are loops inside
};

/// The compiler's passes over a kernel, each with a switch.
struct NkiPasses {
  bool share = true;      // copies are shared with VectorE where ScalarE has most to do
  bool join = true;       // iterations of a loop become one instruction with one more axis
  bool forward = true;    // a result that is only copied is written to the copy's place
  bool fuse = true;       // loops around buffers that PSUM does not hold
  bool reuse = true;      // tiles that loops load or transpose again are kept
  bool reload = true;     // loads again in place of spills
  bool reorder = true;    // list scheduling
  bool near = false;      // that looks at few instructions ahead
  bool transpose = true;  // transposed loads on TensorE
  bool operator==(const NkiPasses&) const = default;
};

/// `passes` with the switches of `text`, which is like "-join,+fuse". Errors: Fault::kUsage for an unknown name.
NkiPasses switched(NkiPasses passes, std::string_view text);

}  // namespace runtime::nki
