// The pieces that a page of the report is made of: tables that sort, links between them, sections.
#pragma once

#include <string>
#include <string_view>

#include "base/table.h"

namespace analysis {

/// What the first cell of a row is: a target ("op") of links, or a link to such a target. Empty: neither.
struct Links {
  std::string target, to;
};

/// Text is escaped; a cell's plain value is kept as data-v, which the page's script sorts by.
std::string table_html(std::string_view caption, const base::Table& table, const Links& links = {});

/// `body` is HTML.
std::string section(std::string_view id, std::string_view title, const std::string& body);

}  // namespace analysis
