// Programs in StableHLO's text, in the pretty and the generic form of MLIR.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/graph.h"

namespace trnsim::frontend {

/// The program of a text; verified. `file` begins each error. Errors: Fault::kData for text that is not StableHLO,
/// Fault::kProgram for programs that break the specification, and for types and operators that the compiler does not
/// take: each with its line.
Module read_stablehlo(std::string_view text, const std::string& file, std::uint32_t line = 1);

/// A text with several programs, between lines "// -----", and the lines where they begin.
struct ProgramText {
  std::string_view text;
  std::uint32_t line = 1;
};
std::vector<ProgramText> split_programs(std::string_view text);

}  // namespace trnsim::frontend
