#include "analysis/numerics/numerics_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "base/error.h"
#include "base/table.h"
#include "base/text.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using base::Error;
using base::Fault;
using base::Table;
using Json = nlohmann::ordered_json;

constexpr std::string_view kReference = "fp32";

/// Quantiles of Student's t for 1 to 30 degrees of freedom, two-sided 95 % (Abramowitz and Stegun, table 26.10); beyond
/// them the last one errs on the wide side.
constexpr std::array kStudent = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                 2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

struct StudyColumn {
  const char *key, *title;
  double TrainedRun::*value;
};
constexpr std::array kStudyColumns = {StudyColumn{"accuracy", "accuracy", &TrainedRun::accuracy},
                                      StudyColumn{"f1_macro", "macro F1", &TrainedRun::f1_macro},
                                      StudyColumn{"eval_loss", "evaluation loss", &TrainedRun::eval_loss},
                                      StudyColumn{"train_loss", "training loss", &TrainedRun::train_loss}};

std::vector<std::string> formats_of(std::span<const TrainedRun> runs) {
  std::vector<std::string> names;
  for (const TrainedRun& run : runs)
    if (std::ranges::find(names, run.numerics) == names.end()) names.push_back(run.numerics);
  return names;
}

std::vector<double> values_of(std::span<const TrainedRun> runs, std::string_view numerics, double TrainedRun::*value) {
  std::vector<double> out;
  for (const TrainedRun& run : runs)
    if (run.numerics == numerics) out.push_back(run.*value);
  return out;
}

/// Only runs that differ in format and seed alone tell something of the format.
void check(std::span<const TrainedRun> runs) {
  base::ensure(!runs.empty(), "numerics", "no runs");
  const auto same = [&](const TrainedRun& r) {
    const TrainedRun& first = runs.front();
    return r.model == first.model && r.dataset == first.dataset && r.split == first.split && r.steps == first.steps &&
           r.evaluated == first.evaluated;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!same(runs[i]))
      throw Error{
          Fault::kUsage, "trnsim numerics",
          fmt::format("{} of seed {} trained another model, other data or another number of steps than the first run",
                      runs[i].numerics, runs[i].seed),
          "compare runs that differ only in `numerics` and `seed`"};
    for (std::size_t j = 0; j < i; ++j)
      if (runs[j].numerics == runs[i].numerics && runs[j].seed == runs[i].seed)
        throw Error{Fault::kUsage, "trnsim numerics",
                    fmt::format("{} of seed {} appears twice", runs[i].numerics, runs[i].seed),
                    "give one of them another `seed`"};
  }
  if (values_of(runs, kReference, &TrainedRun::accuracy).empty())
    throw Error{Fault::kUsage, "trnsim numerics", "no run is in fp32, the baseline that the others are compared with",
                "add a run with `numerics` fp32 and `auto_cast` none: without it the compiler casts matmuls"};
}

Table runs_table(std::span<const TrainedRun> runs) {
  std::vector<base::Column> columns{{"numerics", ""}, {"seed", "", Align::kRight}};
  for (const StudyColumn& f : kStudyColumns) columns.push_back({f.key, f.title, Align::kRight});
  Table table{columns};
  for (const std::string& name : formats_of(runs))
    for (const TrainedRun& run : runs) {
      if (run.numerics != name) continue;
      std::vector<Cell> cells{run.numerics, run.seed};
      for (const StudyColumn& f : kStudyColumns) cells.push_back({run.*f.value, fmt::format("{:.4f}", run.*f.value)});
      table.add_row(std::move(cells));
    }
  return table;
}

Table formats_table(std::span<const TrainedRun> runs) {
  std::vector<base::Column> columns{{"numerics", ""}, {"seeds", "", Align::kRight}};
  for (const StudyColumn& f : kStudyColumns) columns.push_back({f.key, f.title, Align::kRight});
  Table table{columns};
  for (const std::string& name : formats_of(runs)) {
    std::vector<Cell> cells{name, Cell{}};
    for (const StudyColumn& f : kStudyColumns) {
      const Spread spread = spread_of(values_of(runs, name, f.value));
      cells[1] = Cell{std::uint64_t{spread.count}};
      cells.push_back({spread.mean, fmt::format("{:.4f} +- {:.4f}", spread.mean, spread.deviation)});
    }
    table.add_row(std::move(cells));
  }
  return table;
}

constexpr std::array<std::string_view, 5> kVerdicts = {"same", "worse", "better", "unsettled", "unknown"};

std::string in_words(const Answer& a, const Spread& reference) {
  const double points = a.difference.mean * 100;
  const std::string question = fmt::format("Can I leave {} on? ", a.numerics);
  if (a.verdict == Verdict::kUnknown)
    return question + fmt::format("Too few seeds ran in both {} and {} to say.", a.numerics, kReference);
  const double half = *a.half_width * 100;
  const std::string figures = fmt::format(
      "accuracy changes by {:+.2f} points on average over {} (95 % interval {:+.2f} to {:+.2f}; seeds alone spread by "
      "{:.2f} in {})",
      points, base::counted(a.difference.count, "seed"), points - half, points + half, reference.deviation * 100,
      kReference);
  switch (a.verdict) {
    case Verdict::kWorse: return fmt::format("{}No: {}. The interval is below zero.", question, figures);
    case Verdict::kBetter: return fmt::format("{}Yes: {}. The interval is above zero.", question, figures);
    case Verdict::kSame: return fmt::format("{}Yes: {}. A loss of one point is excluded.", question, figures);
    default:
      return fmt::format(
          "{}No loss is proven, and none is excluded: {}. Training is stable in it; more seeds are needed to tell "
          "whether up to {:.2f} points are lost.",
          question, figures, half - points);
  }
}

/// Adds a split's scores of the trained model to the means over the samples of all splits.
void add_evaluation(TrainedRun& run, const EvaluationFigures& e) {
  const std::int64_t samples = e.samples.value_or(0);
  const double weight = static_cast<double>(samples) / static_cast<double>(run.evaluated + samples);
  const auto mean = [&](double& to, const Maybe& value) { to += (value.value_or(NAN) - to) * weight; };
  mean(run.accuracy, e.score("accuracy")), mean(run.f1_macro, e.score("f1_macro")), mean(run.eval_loss, e.loss);
  run.evaluated += samples;
  run.split += (run.split.empty() ? "" : " + ") + e.split;
}

Json study_json(std::span<const TrainedRun> runs) {
  Json list = Json::array();
  for (const Answer& a : answers(runs))
    list.push_back({{"numerics", a.numerics},
                    {"seeds", a.difference.count},
                    {"accuracy_difference", a.difference.mean},
                    {"half_width_95", a.half_width ? Json(*a.half_width) : Json(nullptr)},
                    {"verdict", kVerdicts[static_cast<std::size_t>(a.verdict)]}});
  return {{"runs", Json::parse(runs_table(runs).render(base::Format::kJson))},
          {"formats", Json::parse(formats_table(runs).render(base::Format::kJson))},
          {"answers", list}};
}

}  // namespace

TrainedRun read_trained_run(const std::filesystem::path& folder) {
  const Figures figures = read_result(folder);
  const auto refuse = [&](std::string_view what) {
    return Error{Fault::kData, folder.string(), what, "name a folder of a trnsim run that trained to the end"};
  };
  const std::optional<TrainingFigures>& t = figures.training;
  if (!t || !t->score("eval_accuracy") || t->epochs.empty()) throw refuse("has no evaluation of a trained model");
  if (t->interrupted) throw refuse("was interrupted");
  TrainedRun run{.numerics = t->numerics, .model = t->model, .dataset = "", .split = ""};
  // The folder of the data and its file: its place on this host does not matter.
  const std::filesystem::path data = t->dataset;
  run.dataset = data.has_parent_path() ? (data.parent_path().filename() / data.filename()).string() : data.string();
  run.seed = static_cast<std::uint64_t>(figures.seed.value_or(0));
  run.synthetic = t->synthetic;
  run.steps = t->steps.value_or(0);
  run.train_loss = t->train_loss.value_or(NAN);
  run.epochs = t->epochs.back().epoch.value_or(0);
  for (const EvaluationFigures& e : t->epochs)
    if (e.epoch == t->epochs.back().epoch) add_evaluation(run, e);
  return run;
}

Spread spread_of(std::span<const double> values) {
  base::ensure(!values.empty(), "spread", "of no values");
  Spread out{.count = values.size()};
  for (const double v : values) out.mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  if (values.size() > 1) out.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return out;
}

std::optional<double> half_width(const Spread& spread) {
  if (spread.count < 2) return std::nullopt;
  const std::size_t freedom = std::min(spread.count - 1, kStudent.size());
  return kStudent[freedom - 1] * spread.deviation / std::sqrt(static_cast<double>(spread.count));
}

namespace {

/// Accuracies are counts of samples: seeds that happen to agree say no more of their spread than that it is about a
/// sample or less, and no interval is empty.
Spread no_finer_than_a_sample(Spread spread, const TrainedRun& run) {
  if (run.evaluated > 0) spread.deviation = std::max(spread.deviation, 1.0 / static_cast<double>(run.evaluated));
  return spread;
}

}  // namespace

std::vector<Answer> answers(std::span<const TrainedRun> runs) {
  std::vector<Answer> out;
  for (const std::string& name : formats_of(runs)) {
    if (name == kReference) continue;
    std::vector<double> differences;
    for (const TrainedRun& run : runs)
      for (const TrainedRun& other : runs)
        if (run.numerics == name && other.numerics == kReference && run.seed == other.seed)
          differences.push_back(run.accuracy - other.accuracy);
    Answer answer{.numerics = name, .difference = {}, .half_width = {}};
    if (!differences.empty()) answer.difference = spread_of(differences);
    if (!differences.empty()) answer.half_width = half_width(no_finer_than_a_sample(answer.difference, runs.front()));
    if (answer.half_width) {
      const double mean = answer.difference.mean, half = *answer.half_width;
      answer.verdict = mean + half < 0                   ? Verdict::kWorse
                       : mean - half > 0                 ? Verdict::kBetter
                       : mean - half > -kLossThatMatters ? Verdict::kSame
                                                         : Verdict::kUnsettled;
    }
    out.push_back(std::move(answer));
  }
  return out;
}

std::string numerics_text(std::span<const TrainedRun> runs, std::string_view format) {
  const base::Format form = base::parse_format(format);
  if (form == base::Format::kCsv)
    throw Error{Fault::kUsage, "`format` csv", "holds one table, but this has two", "use table, md or json"};
  check(runs);
  if (form == base::Format::kJson) return study_json(runs).dump(2) + "\n";
  const TrainedRun& first = runs.front();
  std::string out = fmt::format(
      "{}, trained on {}{}, {} ({:g} epochs), evaluated on {} ({}).\n\n", first.model, first.dataset,
      first.synthetic && first.dataset.find("synthetic") == std::string::npos ? " (synthetic)" : "",
      base::counted(first.steps, "step"), first.epochs, base::counted(first.evaluated, "sample"), first.split);
  const Spread reference = spread_of(values_of(runs, kReference, &TrainedRun::accuracy));
  for (const Answer& answer : answers(runs)) out += in_words(answer, reference) + "\n\n";
  return out + formats_table(runs).render(form) + "\n" + runs_table(runs).render(form);
}

}  // namespace analysis
