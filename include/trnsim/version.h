// Version and build, for `trnsim version` and for result files.
#pragma once

#include <string>

namespace trnsim {

std::string version();       // "0.1.0"
std::string version_line();  // "trnsim 0.1.0"

/// How this binary was built.
struct BuildFacts {
  std::string compiler, type;  // "GNU 12.2.0", "Release"
};
BuildFacts build_facts();

}  // namespace trnsim
