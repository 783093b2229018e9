// Machines as numbers with their sources.
#pragma once

#include <string_view>

#include "base/table.h"
#include "hw/machine_params.h"

namespace trnsim {

using hw::load_machine, hw::machine_file, hw::machine_names;

/// Key, value, source, the rows it was fitted on or read off, and the text of each parameter whose key begins with
/// `prefix`. Errors: Fault::kUsage when none does.
base::Table parameter_table(const base::ParamFile& machine, std::string_view prefix = {});

}  // namespace trnsim
