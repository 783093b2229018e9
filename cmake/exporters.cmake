# An exporter of a run is a file of analysis/export/to/, NAME.cpp with `Exporter exporter_NAME()`: the list of them is made
# of the files' names, so that a new one is no edit elsewhere.
file(GLOB exporter_files CONFIGURE_DEPENDS analysis/export/to/*.cpp)
set(declarations "")
set(calls "")
foreach(file ${exporter_files})
  cmake_path(GET file STEM name)
  string(APPEND declarations "Exporter exporter_${name}();\n")
  string(APPEND calls "exporter_${name}(), ")
endforeach()
file(CONFIGURE OUTPUT generated/exporters.cpp @ONLY CONTENT [[
#include "analysis/export/export.h"

namespace analysis {

@declarations@
std::span<const Exporter> exporters() {
  static const Exporter kAll[] = {@calls@};
  return kAll;
}

}  // namespace analysis
]])
target_sources(trnsim_analysis PRIVATE ${CMAKE_BINARY_DIR}/generated/exporters.cpp)
