// to_text(): a validation report in the form that the user asked for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/validation_report.h"
#include "base/table.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using Json = nlohmann::ordered_json;

Cell number(const std::optional<double>& value, int digits) {
  return value ? Cell{*value, fmt::format("{:.{}g}", *value, digits)} : Cell{};
}

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string time_text(const std::vector<TimePart>& parts) {
  std::vector<std::string> texts;
  for (const TimePart& part : parts) texts.push_back(fmt::format("{} {:.0f}%", part.name, part.share * 100));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string json(const ValidationReport& report) {
  Json list = Json::array();
  for (const Comparison& row : report.rows) {
    Json time = Json::array();
    for (const TimePart& part : row.time) time.push_back({{"name", part.name}, {"share", part.share}});
    list.push_back({{"id", row.id},
                    {"kind", row.kind},
                    {"unit", row.metric},
                    {"published", row.published},
                    {"low", row.low},
                    {"high", row.high},
                    {"predicted", optional(row.predicted)},
                    {"error_percent", optional(row.error_percent)},
                    {"in_range", row.predicted ? Json(row.in_range) : Json(nullptr)},
                    {"assumptions", row.assumptions},
                    {"skip_reason", row.skip_reason.empty() ? Json(nullptr) : Json(row.skip_reason)},
                    {"time", time}});
  }
  return list.dump(2) + "\n";
}

/// An error's text has a line for its fix; a cell has one line.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, "; ");
  return text;
}

base::Table rows_table(const ValidationReport& report, bool verbose) {
  std::vector<base::Column> columns = {{"id", ""},
                                       {"unit", ""},
                                       {"published", "", Align::kRight},
                                       {"low", "", Align::kRight},
                                       {"high", "", Align::kRight},
                                       {"predicted", "", Align::kRight},
                                       {"error_percent", "error %", Align::kRight},
                                       {"time", "where the time goes"}};
  if (verbose) columns.push_back({"assumptions", "assumed, or why skipped"});
  base::Table table{columns};
  for (const Comparison& row : report.rows) {
    const Cell error =
        row.error_percent ? Cell{*row.error_percent, fmt::format("{:+.1f}", *row.error_percent)} : Cell{};
    std::vector<Cell> cells = {row.id,
                               row.metric,
                               number(row.published, 6),
                               number(row.low, 6),
                               number(row.high, 6),
                               number(row.predicted, 5),
                               error,
                               time_text(row.time)};
    if (verbose) {
      cells.push_back(row.predicted ? fmt::format("{}", fmt::join(row.assumptions, "; "))
                                    : "skipped: " + one_line(row.skip_reason));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

base::Table summary_table(const ValidationReport& report) {
  base::Table table{{{"kind", ""},
                     {"rows", "", Align::kRight},
                     {"predicted", "", Align::kRight},
                     {"mean", "mean |error| %", Align::kRight},
                     {"median", "median %", Align::kRight},
                     {"worst", "worst %", Align::kRight},
                     {"worst_id", "worst row"},
                     {"in_range", "in low..high", Align::kRight}}};
  for (const KindSummary& s : report.summaries) {
    if (s.predicted == 0) {
      table.add_row({s.kind, s.rows, 0, Cell{}, Cell{}, Cell{}, Cell{}, Cell{}});
      continue;
    }
    table.add_row({s.kind, s.rows, s.predicted, number(s.mean, 3), number(s.median, 3), number(s.worst, 3), s.worst_id,
                   s.ranged == 0 ? Cell{} : Cell{fmt::format("{} of {}", s.in_range, s.ranged)}});
  }
  return table;
}

/// For a terminal the assumptions stand below the table: in it they would make every line too long to read. Rows with
/// the same note share a line.
std::string notes(const ValidationReport& report) {
  std::vector<std::pair<std::string, std::string>> lines;  // note, ids
  for (const Comparison& row : report.rows) {
    if (row.predicted && row.assumptions.empty()) continue;
    const std::string note = row.predicted ? fmt::format("assumed {}", fmt::join(row.assumptions, "; "))
                                           : "skipped: " + one_line(row.skip_reason);
    const auto same = std::ranges::find(lines, note, &std::pair<std::string, std::string>::first);
    if (same == lines.end()) {
      lines.emplace_back(note, row.id);
    } else {
      same->second += ", " + row.id;
    }
  }
  std::string text;
  for (const auto& [note, ids] : lines) text += fmt::format("{}: {}\n", ids, note);
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string to_text(const ValidationReport& report, std::string_view format) {
  const base::Format form = base::parse_format(format);
  switch (form) {
    case base::Format::kJson: return json(report);
    case base::Format::kTable:
      return rows_table(report, false).render(form) + "\n" + notes(report) + summary_table(report).render(form);
    case base::Format::kCsv: return rows_table(report, true).render(form);
    case base::Format::kMarkdown:
      return rows_table(report, true).render(form) + "\n" + summary_table(report).render(form);
  }
  return {};
}

}  // namespace analysis
