// Device memory as neuronx-cc and the runtime count it: their needs besides a program's own tensors, and the verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trnsim/project/memory.h"

namespace trnsim {

/// Adds the software's memory besides the tensors of a stage's program, by the job's stack: "logits" (the loss keeps
/// them and their gradient in 16 bits and in fp32; our program streams three of the four), "update" (gradients in fp32
/// and updated master weights before they are cast), "dma_rings" and "runtime".
void add_software(const Job& job, std::int64_t stage, Memory& memory);

/// The same total in the compiler's words, bytes: I/O tensors, scratchpad, spills, DMA rings, constants, runtime.
std::vector<std::pair<std::string, std::uint64_t>> compiler_parts(const Memory& memory);

/// "fits", "tight" (less than 5 % of the core's memory is free), "does not fit".
std::string_view verdict(const Memory& memory);

}  // namespace trnsim
