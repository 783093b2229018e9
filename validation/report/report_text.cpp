// to_text(): a validation report in the requested form.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/table.h"
#include "base/text.h"
#include "validation/report/report.h"

namespace validation {
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
    Json baselines = Json::object();
    for (std::size_t b = 0; b < kBaselineCount; ++b)
      baselines[std::string{kBaselineNames[b]}] = optional(row.baseline_error_percent[b]);
    list.push_back({{"id", row.id},
                    {"kind", row.kind},
                    {"unit", row.metric},
                    {"published", row.published},
                    {"low", row.low},
                    {"high", row.high},
                    {"releases", row.releases},
                    {"predicted", optional(row.predicted)},
                    {"error_percent", optional(row.error_percent)},
                    {"in_range", row.predicted ? Json(row.in_range) : Json(nullptr)},
                    {"assumptions", row.assumptions},
                    {"skip_reason", row.skip_reason.empty() ? Json(nullptr) : Json(row.skip_reason)},
                    {"time", time},
                    {"baselines", baselines}});
  }
  return list.dump(2) + "\n";
}

std::string one_decimal(double value) { return fmt::format("{:.1f}", value); }

/// An error's text has a line for its fix; a cell has one line.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, "; ");
  return text;
}

/// Empty for a row that one release published: a prediction cannot be inside of one figure.
Cell in_range(const Comparison& row) {
  if (!row.predicted || row.low >= row.high) return {};
  const std::string place = row.in_range ? "inside" : *row.predicted < row.low ? "below" : "above";
  return row.releases > 1 ? fmt::format("{} {}", place, base::counted(row.releases, "release")) : place;
}

base::Table rows_table(const ValidationReport& report, bool verbose) {
  std::vector<base::Column> columns = {{"id", ""},
                                       {"unit", ""},
                                       {"published", "", Align::kRight},
                                       {"low", "", Align::kRight},
                                       {"high", "", Align::kRight},
                                       {"predicted", "", Align::kRight},
                                       {"error_percent", "error %", Align::kRight},
                                       {"in_range", "in low..high"},
                                       {"time", "where the time goes"}};
  if (verbose) columns.push_back({"assumptions", "assumed, or reason for skipping"});
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
                               in_range(row),
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
  base::Table table{{{"kind", "regime"},
                     {"rows", "", Align::kRight},
                     {"predicted", "", Align::kRight},
                     {"mean", "mean |error| %", Align::kRight},
                     {"median", "median %", Align::kRight},
                     {"worst", "worst %", Align::kRight},
                     {"worst_id", "worst row"},
                     {"in_range", "in low..high", Align::kRight}}};
  for (const KindSummary& s : report.summaries) {
    const std::string regime = regime_name(s.kind);
    if (s.predicted == 0) {
      table.add_row({regime, s.rows, 0, Cell{}, Cell{}, Cell{}, Cell{}, Cell{}});
      continue;
    }
    table.add_row({regime, s.rows, s.predicted, Cell{s.mean, one_decimal(s.mean)},
                   Cell{s.median, one_decimal(s.median)}, Cell{s.worst, one_decimal(s.worst)}, s.worst_id,
                   s.ranged == 0 ? Cell{} : Cell{fmt::format("{} of {}", s.in_range, s.ranged)}});
  }
  return table;
}

/// Mean errors of the model and of the baselines over the same rows.
base::Table baseline_table(const ValidationReport& report) {
  std::vector<base::Column> columns{
      {"kind", "regime"}, {"rows", "", Align::kRight}, {"model", "model: mean |error| %", Align::kRight}};
  for (const std::string_view name : kBaselineNames) columns.push_back({std::string{name}, "", Align::kRight});
  columns.push_back({"utilisation", "", Align::kRight});
  base::Table table{columns};
  for (const KindSummary& s : report.summaries) {
    if (s.with_work == 0) continue;
    std::vector<Cell> cells{regime_name(s.kind), s.with_work, Cell{s.mean_with_work, one_decimal(s.mean_with_work)}};
    for (const auto& mean : s.baseline_mean) cells.push_back(mean ? Cell{*mean, one_decimal(*mean)} : Cell{});
    cells.push_back(s.utilisation ? Cell{*s.utilisation, one_decimal(*s.utilisation * 100) + " %"} : Cell{});
    table.add_row(std::move(cells));
  }
  return table;
}

/// For a terminal the assumptions are below the table: in it they would make every line too long to read. Rows with
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

constexpr std::string_view kRegimes =
    "## Errors\n\nAbsolute errors of the predicted figures, in per cent of the published ones. `in low..high`: for "
    "rows that were published for several releases with different figures, how many predictions are between the "
    "smallest and the largest of them.\n\n";
constexpr std::string_view kBaselines =
    "## Beside simple baselines\n\nBaselines are computed from the same programs, over the rows that have device work. "
    "One utilisation: the longest of the times that FLOPs, HBM bytes and sent bytes take at the machine's peaks, "
    "divided by a utilisation that is fitted to the regime by least squares on the logarithms of the errors (left out "
    "for a single row, which it would fit exactly). Sum of engines: the busy times of all engines, of DMA and of "
    "collectives, added up. Busiest engine: the longest of these busy times. The last two leave out the host.\n\n";
constexpr std::string_view kRows =
    "## Rows\n\n`published`: the median over the releases; `low` and `high`: their range. Where the time goes: shares "
    "of the predicted time; for jobs the device's time is counted in full, the host's only as far as it exceeds the "
    "device's.\n\n";

/// Mean absolute error of the predicted rows that `is` is true of, and the worst.
struct Errors {
  double mean = 0, worst = 0;
  int rows = 0;

  Errors(const ValidationReport& report, const auto& is) {
    for (const Comparison& row : report.rows)
      if (row.error_percent && is(row)) {
        const double error = std::abs(*row.error_percent);
        mean += error, worst = std::max(worst, error), ++rows;
      }
    if (rows > 0) mean /= rows;
  }
};

/// The summary for a buyer: the error by kind of job. Empty for a table without training.
std::string answer_of(const ValidationReport& report) {
  const auto metric = [](const char* word) {
    return [word](const Comparison& row) { return row.metric.find(word) != std::string::npos; };
  };
  const auto kind = [](const char* name, bool untold) {
    return [name, untold](const Comparison& row) { return row.kind == name && row.untold == untold; };
  };
  const Errors training{report, kind("train", false)}, untold{report, kind("train", true)},
      inference{report, kind("infer", false)}, first{report, metric("TTFT")}, next{report, metric("TPOT")},
      micro{report, [](const Comparison&row) { return row.micro; }};
  if (std::min({training.rows, inference.rows, first.rows, next.rows, micro.rows}) == 0) return "";
  std::string text = fmt::format(
      "**Expect time and cost of a training job to be {:.0f} % off on average and {:.0f} % at the worst, an encoder's "
      "inference {:.0f} %, a generated token {:.0f} % and the first one {:.0f} %, single kernels, matmuls and "
      "collectives {:.0f} %. A job's time differs by 2.4 % between two chips or two runs, so that no prediction of a "
      "job can be trusted to less, and by 10 to 30 % between two releases of the same software",
      training.mean, training.worst, inference.mean, next.mean, first.mean, micro.mean);
  if (untold.rows > 0) text += fmt::format("; a job whose sizes are not published may be {:.0f} % off", untold.worst);
  return text + ".**\n\n";
}

/// The rows of jobs whose sizes were not all published, and the mean of the others.
std::string unpublished_text(const ValidationReport& report) {
  std::string rows, means;
  for (const Comparison& row : report.rows)
    if (row.untold && row.error_percent)
      rows += fmt::format("{}`{}` ({:+.1f} %)", rows.empty() ? "" : ", ", row.id, *row.error_percent);
  if (rows.empty()) return "";
  for (const KindSummary& s : report.summaries) {
    const auto of_it = [&](const Comparison& row) { return s.kind == "all" || row.kind == s.kind; };
    const Errors without{report, [&](const Comparison& row) { return of_it(row) && !row.untold; }};
    if (without.rows < s.predicted && without.rows > 0)
      means += fmt::format("{}{} {:.1f} %", means.empty() ? "" : ", ", regime_name(s.kind), without.mean);
  }
  return fmt::format(
      "\nFor these rows, not all of the job was published (their notes say which part): {}. Mean of the other rows: "
      "{}.\n",
      rows, means);
}

/// The page's sections.
std::string markdown(const ValidationReport& report) {
  constexpr auto kForm = base::Format::kMarkdown;
  return fmt::format("{}{}{}{}\n{}{}\n{}{}", answer_of(report), kRegimes, summary_table(report).render(kForm),
                     unpublished_text(report), kBaselines, baseline_table(report).render(kForm), kRows,
                     rows_table(report, true).render(kForm));
}

}  // namespace

std::string regime_name(std::string_view kind) {
  if (kind.ends_with(kOnTrn2)) return regime_name(kind.substr(0, kind.size() - kOnTrn2.size())) + std::string{kOnTrn2};
  if (kind == "train") return "training";
  if (kind == "infer") return "encoder inference";
  if (kind == "generate") return "generation";
  if (kind == "instruction") return "instructions";
  return std::string{kind};
}

std::string to_text(const ValidationReport& report, std::string_view format) {
  const base::Format form = base::parse_format(format);
  switch (form) {
    case base::Format::kJson: return json(report);
    case base::Format::kTable:
      return rows_table(report, false).render(form) + "\n" + notes(report) + summary_table(report).render(form) + "\n" +
             baseline_table(report).render(form);
    case base::Format::kCsv: return rows_table(report, true).render(form);
    case base::Format::kMarkdown: return markdown(report);
  }
  return {};
}

}  // namespace validation
