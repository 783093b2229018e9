// Mistakes of a kernel that a chip carries out without a word.
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

/// The doubts of a block in the kernel's own order: tiles that are read before anything was written to them, sums that
/// begin with the old content of PSUM, affine loops with an iteration that reads the results of another one. Each line
/// once for each kind.
std::vector<Doubt> doubts(const VirtualBlock& block, const std::vector<LoopTrace>& loops);

/// Reads of tensors in HBM to which nothing was written before; `written`: per register, whether the caller gave it.
std::vector<Doubt> unwritten_reads(const VirtualBlock& block, std::vector<bool> written);

/// Instructions that write elements of a tile which they have still to read.
std::vector<Doubt> overwritten_operands(const VirtualBlock& block);

/// Products that are added to the results of other engines than TensorE in PSUM: undefined on NeuronCore-v2 and v3 (the
/// reference of nki.isa.nc_matmul).
std::vector<Doubt> sums_of_values(const VirtualBlock& block);

}  // namespace runtime::nki
