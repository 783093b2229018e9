// NumPy's archives of arrays, as the inputs of a program.
#pragma once

#include <filesystem>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/interpret/value.h"

namespace trnsim::frontend {

/// A value for each parameter of a program: arrays of its name or of its number ("arr_1", "arg1", "parameter.1"), else
/// in the order of the file. Errors: Fault::kData for a file that numpy.savez did not write, Fault::kUsage for arrays
/// of another count, shape or type than the parameters'.
std::vector<Value> inputs_from(const std::filesystem::path& npz, const Module& module);

}  // namespace trnsim::frontend
