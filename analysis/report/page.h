// A page that opens from disk without a network: its skeleton, style and scripts are the files of
// analysis/report/page/.
#pragma once

#include <string>
#include <string_view>

namespace analysis {

// Texts of these files.
extern const char* const kPageTemplate;
extern const char* const kPageStyle;
extern const char* const kTablesScript;
extern const char* const kTimelineScript;

/// `title`: "trnsim: bert", as plain text; `body`: HTML. With the script of a time line where the page has one.
std::string page_html(std::string_view title, const std::string& body, bool timeline = false);

}  // namespace analysis
