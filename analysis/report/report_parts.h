// The pieces that a page of the report is made of: tables that sort, links between them, sections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"
#include "base/table.h"

namespace analysis {

/// The role of a row's first cell: a target ("op") of links, or a link to such a target. Empty: neither.
struct Links {
  std::string target, to;
};

/// Text is escaped; a cell's plain value is kept as data-v, which the page's script sorts by.
std::string table_html(std::string_view caption, const base::Table& table, const Links& links = {});

/// The same, folded below its caption.
std::string folded(std::string_view caption, const base::Table& table, const Links& links = {});

/// Escaped; a flag of a command line breaks at no hyphen while it fits into its line.
std::string command_html(std::string_view text);

/// A bar with its name on the left and its text on the right; `css`: "best", "soft" (beside the point) or empty.
struct Bar {
  std::string name;
  double value = 0;
  std::string text, css{};
};
/// Bars on one scale, in the order given: HTML, legible on a phone.
std::string bars_html(std::string_view label, const std::vector<Bar>& bars);

/// HBM of a core that the run's job needs: the run's one figure, with the software's share besides the program's
/// tensors; `otherwise` for a record without a run.
double hbm_needed(const ReportRun& run, double otherwise);

/// `body` is HTML.
std::string section(std::string_view id, std::string_view title, const std::string& body);

}  // namespace analysis
