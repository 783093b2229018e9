// What a kernel does that a chip does without a word and wrongly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/nki/loops.h"

namespace runtime::nki {

/// Something doubtful, and the label of the line where it is.
struct Doubt {
  std::uint32_t label = 0;
  std::string text;
  bool operator==(const Doubt&) const = default;
};

/// Of a block in the kernel's own order: tiles that are read before anything was written to them, sums that begin with
/// what lies in PSUM, affine loops with an iteration that reads what another one wrote. Each line once for each kind.
std::vector<Doubt> doubts(const VirtualBlock& block, const std::vector<LoopTrace>& loops);

}  // namespace runtime::nki
