// The machine file that the user named, with the changes of --set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/param_file.h"

namespace trnsim {

/// Names of the machine files that come along ("trn1.2xlarge"), in alphabetical order.
std::vector<std::string> machine_names();

/// `machine`: one of those names, or the path of a file (it has a '/' or ends in .toml). `set`: KEY=VALUE changes.
/// Errors: Fault::kUsage for an unknown machine (with a suggestion) and whatever ParamFile refuses.
base::ParamFile load_machine(std::string_view machine, const std::vector<std::string>& set);

}  // namespace trnsim
