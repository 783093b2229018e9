// The folder of a run: result.json, the records of its stages, and the views made from them in memory.

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analysis/export/export.h"
#include "analysis/figures/figure_table.h"
#include "analysis/record/record.h"
#include "analysis/record/result.h"
#include "analysis/report/report.h"
#include "base/error.h"
#include "base/files.h"
#include "base/param_file.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/run/run.h"

namespace trnsim {
namespace {

void drop(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error)
    throw base::Error{base::Fault::kEnvironment, path.string(), fmt::format("cannot be removed: {}", error.message()),
                      "choose another `output_dir`"};
}

analysis::Section job_summary(const analysis::Figures& figures) {
  analysis::Section out{"Projected job", {{"machine", figures.machine.instance_type}}};
  for (const char* section : {"job", "cost", "memory"})
    for (const auto& [figure, value] : figures_of_section(figures, section))
      if (!figure->title.empty())
        out.facts.push_back({std::string{figure->title}, analysis::figure_text(figure->unit, value)});
  return out;
}

std::string scores_text(const analysis::EvaluationFigures& evaluation) {
  std::string text = fmt::format("loss {:.4f}", evaluation.loss.value_or(NAN));
  for (const auto& [name, value] : evaluation.scores) text += fmt::format(", {} {:.4f}", name, value);
  return text;
}

analysis::Section training_summary(const analysis::TrainingFigures& t) {
  analysis::Section out{
      "Training on the simulated cores",
      {{"model", t.model},
       {"data", t.dataset + (t.synthetic ? " (synthetic)" : "")},
       {"numerics", t.numerics},
       {"train loss", fmt::format("{:.4f}", t.train_loss.value_or(NAN))},
       {"numbers lost", analysis::numeric_events_text(t.numeric_events.value_or(isa::NumericEvents{}))}}};
  for (const analysis::EvaluationFigures& e : t.epochs)
    out.facts.push_back({fmt::format("{} at epoch {:.2f}", e.split, e.epoch.value_or(NAN)), scores_text(e)});
  return out;
}

void write_summary(const std::filesystem::path& folder, const RunResult& run, const analysis::Figures& figures) {
  std::vector<analysis::Section> sections;
  if (figures.projected()) sections.push_back(job_summary(figures));
  if (figures.training) sections.push_back(training_summary(*figures.training));
  analysis::write_summary(folder, run.workload, sections);
}

/// run.sqlite is of the slowest stage; a pipeline has a file of each stage too.
void write_records(const std::filesystem::path& folder, const RunResult& run, const analysis::Record& slowest) {
  const Projection& p = *run.projection;
  analysis::write_record(folder, slowest);
  for (std::size_t s = 0; p.stages.size() > 1 && s < p.stages.size(); ++s)
    analysis::write_record(folder / analysis::record_name(s), s == p.slowest ? slowest : record_of(run, s));
}

/// The files for other tools that the setting `report_to` names.
void write_exports(const std::filesystem::path& folder, const RunResult& run, const analysis::ExportRun& all) {
  std::vector<std::string> trackers;
  for (const std::string& name : analysis::exports_of(run.settings.output.report_to, trackers))
    analysis::export_run(folder, name, all);
}

}  // namespace

void remove_run_files(const std::filesystem::path& folder, const std::filesystem::path& checkpoint) {
  for (const char* name :
       {"result.json", "machine.toml", "summary.md", "stats.txt", "report.html", "run.sqlite", "model"})
    drop(folder / name);
  for (const analysis::Exporter& exporter : analysis::exporters()) drop(folder / exporter.path);
  for (std::size_t stage = 0; std::filesystem::exists(folder / analysis::record_name(stage)); ++stage)
    drop(folder / analysis::record_name(stage));
  std::vector<std::filesystem::path> left;  // by a run that was killed while it wrote
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".tmp") || (name.starts_with(".") && name.find(".sqlite.") != std::string::npos))
      left.push_back(entry.path());
  }
  for (const std::filesystem::path& path : left) drop(path);
  const auto within =
      std::filesystem::weakly_canonical(checkpoint).lexically_relative(std::filesystem::weakly_canonical(folder));
  if (!checkpoint.empty() && !within.empty() && *within.begin() != "..") return;
  drop(folder / "steps.jsonl");
  drop(folder / "checkpoint");
}

void write_run_files(const std::filesystem::path& folder, const RunResult& run) {
  const analysis::Figures figures = figures_of(run);
  analysis::write_result(folder, to_json(figures));
  analysis::write_machine(folder, hw::machine_file(run.settings.machine.instance_type, run.settings.machine.set));
  write_summary(folder, run, figures);
  const double begin = static_cast<double>(std::time(nullptr)) - run.host_seconds;
  if (!run.projection) {
    const std::array page{analysis::report_run(folder, {.record = {}, .figures = figures, .steps = run.steps}, {}, 0)};
    base::write_file(folder / "report.html", analysis::report_html(page));
    return write_exports(folder, run, {figures, run.steps, nullptr, begin});
  }
  const Stage& stage = run.projection->stage();
  analysis::write_stats(folder, analysis::summary_stats(stage.device(), stage.compiled().program));
  const auto prices = analysis::load_prices(std::string_view{});
  const std::array page{
      analysis::report_run(folder, {record_of(run), figures, run.steps}, prices, analysis::kRooflineEfficiency)};
  write_records(folder, run, page[0].record);
  base::write_file(folder / "report.html", analysis::report_html(page));
  write_exports(folder, run, {figures, run.steps, &page[0].record, begin});
}

}  // namespace trnsim
