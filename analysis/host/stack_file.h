// The location of a software stack's numbers.
#pragma once

#include <string>
#include <string_view>

#include "base/param_file.h"

namespace analysis {

/// The file of a bundled stack, not read yet. Errors: as load_stack().
base::ParamFile stack_file(std::string_view name);

/// Name of the file that gives a value, without folder and ending: "torch-xla" for a number that others inherit from
/// it.
std::string file_of(const base::Parameter& parameter);

}  // namespace analysis
