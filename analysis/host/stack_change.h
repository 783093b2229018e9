// What-ifs on numbers of software stacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/param_file.h"

namespace analysis {

/// The file of a bundled stack, not read yet. Errors: as load_stack().
base::ParamFile stack_file(std::string_view name);

/// Name of the file that gives a value, without folder and ending: "torch-xla" for a number that others inherit from
/// it.
std::string file_of(const base::Parameter& parameter);

/// "torch-xla", "host.per_op", "1.1x".
struct StackChange {
  std::string file, key, value;
};
/// From now on load_stack(name) of this process takes these values wherever the number comes from that file, in the
/// stack itself or in those that inherit it. For a process of its own (a point of a sensitivity study): a stack is
/// loaded by its name deep inside of a prediction. Errors: Fault::kUsage for a file that does not exist.
void change_stacks(std::vector<StackChange> changes);

}  // namespace analysis
