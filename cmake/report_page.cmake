# Skeleton, style and scripts of the report's pages, put into the library as text: a page needs no file beside it.
set(texts "")
foreach(pair kPageTemplate:page.mustache kPageStyle:report.css kTablesScript:tables.js kTimelineScript:timeline.js)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS analysis/report/page/${file})
  file(READ analysis/report/page/${file} text)
  string(APPEND texts "const char* const ${name} = R\"page(${text})page\";\n")
endforeach()
file(CONFIGURE OUTPUT generated/report_page.cpp @ONLY CONTENT [[
#include "analysis/report/page.h"

namespace analysis {

@texts@
}  // namespace analysis
]])
target_sources(trnsim_analysis PRIVATE ${CMAKE_BINARY_DIR}/generated/report_page.cpp)
