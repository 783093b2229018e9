// to_text() of a study: the influences on each prediction, the parts of its error, and the state of the constants.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/table.h"
#include "validation/report/influence.h"
#include "validation/report/left_out.h"

namespace validation {
namespace {

using base::Align;
using base::Cell;
using base::Table;

constexpr double kShown = 0.05;  // per cent: values that round to zero stay empty

Cell per_cent(double value, const char* sign = "") {
  if (std::abs(value) < kShown) return {};
  return {value, *sign == '+' ? fmt::format("{:+.1f}", value) : fmt::format("{:.1f}", value)};
}

/// "a" to "z", "aa", ...: heads of a wide table.
std::string letter(std::size_t i) {
  const char last = static_cast<char>('a' + i % 26);
  return i < 26 ? std::string{last} : letter(i / 26 - 1) + last;
}

std::vector<std::string> job_kinds(const ValidationReport& report) {
  std::vector<std::string> kinds;
  for (const Comparison& row : report.rows)
    if (!row.micro && row.predicted && std::ranges::find(kinds, row.kind) == kinds.end()) kinds.push_back(row.kind);
  return kinds;
}

/// Mean of `value(row number)` over the predicted rows of a kind.
template <typename Value>
double mean(const ValidationReport& report, const std::string& kind, Value value) {
  double sum = 0;
  int count = 0;
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    if (report.rows[r].kind != kind || !report.rows[r].predicted) continue;
    sum += value(r);
    ++count;
  }
  return sum / count;
}

Table shares(const ValidationReport& report, const Influence& influence) {
  std::vector<base::Column> columns{{"id", ""}};
  for (const Mechanism& mechanism : influence.parameters.mechanisms)
    columns.push_back({mechanism.name, "", Align::kRight});
  columns.push_back({"error_percent", "error %", Align::kRight});
  Table table{columns};
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    if (!report.rows[r].predicted) continue;
    std::vector<Cell> cells{report.rows[r].id};
    for (const double share : influence.share[r])
      cells.push_back(std::abs(share) < 0.005 ? Cell{} : Cell{share * 100, fmt::format("{:.0f}", share * 100)});
    cells.push_back({*report.rows[r].error_percent, fmt::format("{:+.1f}", *report.rows[r].error_percent)});
    table.add_row(std::move(cells));
  }
  return table;
}

Table budget(const ValidationReport& report, const Influence& influence) {
  const std::vector<std::string> kinds = job_kinds(report);
  const auto errors = mechanism_errors(report, influence);
  std::vector<base::Column> columns{{"mechanism", ""}, {"own_error", "own error %", Align::kRight}};
  for (const std::string& kind : kinds) {
    columns.push_back({kind + "_share", fmt::format("share of {} %", regime_name(kind)), Align::kRight});
    columns.push_back({kind + "_budget", fmt::format("error of {} %", regime_name(kind)), Align::kRight});
  }
  Table table{columns};
  std::vector<double> sums(kinds.size(), 0);
  const auto& mechanisms = influence.parameters.mechanisms;
  for (std::size_t m = 0; m < mechanisms.size(); ++m) {
    std::vector<Cell> cells{mechanisms[m].name, errors[m] ? per_cent(*errors[m]) : Cell{"determined by no row"}};
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const double share = mean(report, kinds[k], [&](std::size_t r) { return std::max(0.0, influence.share[r][m]); });
      const double part = share * errors[m].value_or(0);
      sums[k] += part;
      cells.push_back(per_cent(share * 100));
      cells.push_back(per_cent(part));
    }
    table.add_row(std::move(cells));
  }
  std::vector<Cell> known{"explained by these", Cell{}}, rest{"schedule, compiler, stack", Cell{}},
      all{"mean error", Cell{}};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double total = mean(report, kinds[k], [&](std::size_t r) { return std::abs(*report.rows[r].error_percent); });
    for (const auto& [cells, value] : {std::pair{&known, sums[k]}, {&rest, total - sums[k]}, {&all, total}}) {
      cells->push_back({});
      cells->push_back(per_cent(value));
    }
  }
  for (std::vector<Cell>* cells : {&known, &rest, &all}) table.add_row(std::move(*cells));
  return table;
}

Table constants(const ValidationReport& report, const Influence& influence) {
  Table table{{{"letter", ""},
               {"constant", ""},
               {"value", "", Align::kRight},
               {"mechanism", ""},
               {"how", ""},
               {"rows", "on rows"},
               {"moved", "rows it changes", Align::kRight},
               {"strongest", "most"},
               {"identified", ""}}};
  const auto identified = identify(report, influence);
  for (std::size_t c = 0; c < identified.size(); ++c) {
    const Constant& constant = influence.parameters.constants[c];
    const Identification& id = identified[c];
    std::vector<std::string> why;
    if (id.rows < 2) why.push_back("fitted on one row");
    if (id.moved < 2) why.push_back(fmt::format("moves {}", id.moved == 0 ? "none" : "one row only"));
    if (id.as) why.push_back(fmt::format("changes the same rows as {}", *id.as));
    table.add_row({letter(c), constant.name, constant.value, influence.parameters.mechanisms[constant.mechanism].name,
                   constant.fitted ? "fitted" : "read off", fmt::format("{}", fmt::join(constant.rows, ", ")), id.moved,
                   id.strongest,
                   !constant.fitted  ? "stated"
                   : id.identified() ? std::string{"yes"}
                                     : fmt::format("no: {}", fmt::join(why, "; "))});
  }
  return table;
}

Table changes(const ValidationReport& report, const Influence& influence) {
  std::vector<base::Column> columns{{"id", ""}};
  for (std::size_t c = 0; c < influence.parameters.constants.size(); ++c)
    columns.push_back({letter(c), "", Align::kRight});
  Table table{columns};
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    if (!report.rows[r].predicted) continue;
    std::vector<Cell> cells{report.rows[r].id};
    for (const double change : influence.change_percent[r]) cells.push_back(per_cent(change, "+"));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string as_json(const ValidationReport& report, const Influence& influence) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::parse(to_text(report, "json")), mechanisms = Json::array(), list = Json::array();
  const auto& [all_mechanisms, all_constants] = influence.parameters;
  for (std::size_t r = 0; r < report.rows.size(); ++r) {
    if (!report.rows[r].predicted) continue;
    for (std::size_t m = 0; m < all_mechanisms.size(); ++m)
      rows[r]["share"][all_mechanisms[m].name] = influence.share[r][m];
    for (std::size_t c = 0; c < all_constants.size(); ++c)
      rows[r]["change_percent"][all_constants[c].name] = influence.change_percent[r][c];
  }
  const auto errors = mechanism_errors(report, influence);
  for (std::size_t m = 0; m < all_mechanisms.size(); ++m)
    mechanisms.push_back(
        {{"name", all_mechanisms[m].name}, {"error_percent", errors[m] ? Json(*errors[m]) : Json(nullptr)}});
  const auto identified = identify(report, influence);
  for (std::size_t c = 0; c < identified.size(); ++c)
    list.push_back({{"name", all_constants[c].name},
                    {"value", all_constants[c].value},
                    {"fitted", all_constants[c].fitted},
                    {"rows", all_constants[c].rows},
                    {"mechanism", all_mechanisms[all_constants[c].mechanism].name},
                    {"moved", identified[c].moved},
                    {"strongest", identified[c].strongest},
                    {"like", identified[c].as ? Json(*identified[c].as) : Json(nullptr)},
                    {"identified", identified[c].identified()}});
  return Json{{"rows", rows}, {"mechanisms", mechanisms}, {"constants", list}}.dump(2) + "\n";
}

Table left_out_table(const std::vector<RegimeErrors>& regimes) {
  Table table{{{"regime", ""},
               {"rows", "", Align::kRight},
               {"publishers", "", Align::kRight},
               {"in_sample", "mean |error| %", Align::kRight},
               {"left_out", "publisher left out %", Align::kRight},
               {"inside", "rows inside", Align::kRight},
               {"why", "why it is larger, or unknown"}}};
  for (const RegimeErrors& r : regimes)
    table.add_row({r.regime, r.rows, r.publishers, per_cent(r.in_sample), per_cent(r.left_out), r.inside, r.why});
  return table;
}

/// The study with publishers left out, in words.
std::string left_out_text(const LeftOut& left_out) {
  std::string text =
      "Every fitted constant is fitted again without each publisher in turn, and each row is predicted with the "
      "constants fitted without its own publisher (to first order, from the sensitivities below). `rows inside`: how "
      "many rows are within that mean error, which is the range that answers call likely.";
  if (!left_out.untold.empty())
    text += fmt::format(" Constants that depend on a single publisher keep their value when it is left out: {}.",
                        fmt::join(left_out.untold, "; "));
  return text;
}

struct PageSection {
  std::string_view title, text;
  Table table;
};

std::string counted(const ValidationReport& report, const Influence& influence) {
  const auto identified = identify(report, influence);
  const auto& all = influence.parameters.constants;
  std::size_t fitted = 0, known = 0;
  for (std::size_t c = 0; c < all.size(); ++c)
    fitted += all[c].fitted, known += all[c].fitted && identified[c].identified();
  const std::set<std::string> stating = rows_read_off(report, influence);
  double sum = 0;
  int rows = 0;
  for (const Comparison& row : report.rows)
    if (row.micro && row.error_percent && !stating.contains(row.id)) sum += std::abs(*row.error_percent), ++rows;
  std::string out = fmt::format(
      "{} fitted constants, {} of them identified: fitted on at least two rows, and moving at least two by 1 % for a "
      "10 % change of the constant, in other proportions than any other constant does. {} more are read off: they "
      "follow from a publication's own figures by arithmetic.",
      fitted, known, all.size() - fitted);
  if (rows > 0 && !stating.empty())
    out += fmt::format(
        " That the rows which state them are predicted correctly ({}) says nothing about the model; without them, "
        "the mean error of the micro rows is {:.1f} %.",
        fmt::join(stating, ", "), sum / rows);
  return out;
}

}  // namespace

std::string to_text(const ValidationReport& report, const Influence& influence, std::string_view format) {
  const base::Format form = base::parse_format(format);
  if (form == base::Format::kJson) return as_json(report, influence);
  if (form == base::Format::kCsv)
    throw base::Error{base::Fault::kUsage, "`sensitivity`", "has several tables, and CSV holds one",
                      "use table, md or json"};
  const bool markdown = form == base::Format::kMarkdown;
  const std::string count = counted(report, influence);
  const LeftOut left_out = leave_out(report, influence);
  const std::string without = left_out_text(left_out);
  const PageSection sections[] = {
      {"Without each publisher", without, left_out_table(regime_errors(report, left_out))},
      {"What decides the predicted time",
       "The share of the predicted time, in per cent, that a mechanism decides: how much longer the row takes if every "
       "number of the mechanism is slower. Time hidden behind something longer has no share. Shares need not add up to "
       "100: the rest passes from one mechanism to another as numbers change, or belongs to none (counts of cycles "
       "follow their clock).",
       shares(report, influence)},
      {"Error budget",
       "A mechanism's own error is the mean error of the micro rows, weighted by its share of each. That error times "
       "its share of a regime is the part of the regime's error that it explains. The rest comes from parts that no "
       "micro row covers: the schedule of the real compiler, and the software around the device.",
       budget(report, influence)},
      {"Fitted constants", count, constants(report, influence)},
      {"Sensitivity",
       "The change of each prediction, in per cent of its metric, if a constant grows by 10 %; a constant that is 0 or "
       "1 is a switch and is flipped. Constants that are read off are varied only on the rows of the micro schema.",
       changes(report, influence)}};
  std::string out;
  for (const PageSection& section : sections)
    out += markdown ? fmt::format("## {}\n\n{}\n\n{}\n", section.title, section.text, section.table.render(form))
                    : fmt::format("{}: {}\n\n{}\n", section.title, section.text, section.table.render(form));
  return out;
}

}  // namespace validation
