// The numbers of a program: on simulated cores, and by the reference interpreter that knows nothing of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "frontend/interpret/value.h"
#include "frontend/lower/lower.h"
#include "hw/params.h"

namespace trnsim {

/// Inputs of a program: normal real numbers, truths, and whole numbers that are small enough to be indices.
std::vector<frontend::Value> drawn_inputs(const frontend::Module& module, std::uint64_t seed);

/// Those of an .npz. Errors: as frontend::inputs_from().
std::vector<frontend::Value> given_inputs(const std::filesystem::path& npz, const frontend::Module& module);

/// One result, held against the reference.
struct OutputError {
  std::string name, type;
  double error = 0;  // the largest difference, relative to the largest number of the reference
  bool within = false;
};

/// Tolerance of a result, by its type: 1e-5 for fp32, 2e-2 for bf16, 0 for whole numbers.
double tolerance_of(frontend::Element element);

/// The largest errors of all cores. `inputs`: of each core, or those that all have. Errors: as GraphProgram::run(), and
/// the interpreter's.
std::vector<OutputError> compare_with_reference(const frontend::Module& module, const frontend::LoweredGraph& lowered,
                                                const hw::MachineParams& machine,
                                                const std::vector<std::vector<frontend::Value>>& inputs);
std::vector<OutputError> compare_with_reference(const frontend::Module& module, const frontend::LoweredGraph& lowered,
                                                const hw::MachineParams& machine,
                                                const std::vector<frontend::Value>& inputs);

}  // namespace trnsim
