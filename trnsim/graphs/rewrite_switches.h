// The setting `passes` names passes of the compiler, and rewrites of graphs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/model.h"

namespace trnsim {

/// "-fusion,-norms" in two: the compiler's, and those that frontend::rewrites() has.
struct PassSwitches {
  std::string passes, rewrites;
};
PassSwitches pass_switches(std::string_view text);
/// The names of rewrites, for suggestions.
std::vector<std::string> rewrite_names();

/// The model with the switches of rewrites in `text`. Errors: Fault::kUsage for some that have no effect: it is no
/// program of another framework, or has nothing that they find.
workloads::ModelPtr with_rewrites_of(const workloads::ModelPtr& model, std::string_view text);

}  // namespace trnsim
