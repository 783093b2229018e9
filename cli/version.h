// Who we are, for `trnsim version` and for result files.
#pragma once

#include <string>

namespace cli {

std::string version();       // "0.1.0"
std::string version_line();  // "trnsim 0.1.0"

}  // namespace cli
