#include "trnsim/version.h"

namespace trnsim {

std::string version() { return TRNSIM_VERSION; }
std::string version_line() { return "trnsim " + version(); }
BuildFacts build_facts() { return {.compiler = TRNSIM_COMPILER, .type = TRNSIM_BUILD_TYPE}; }

}  // namespace trnsim
