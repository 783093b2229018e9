// A run, or several, on one page that opens from disk without a network; or as Markdown for a pull request.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "analysis/cost/job_cost.h"
#include "analysis/figures/figures.h"
#include "analysis/profile/views.h"
#include "analysis/record/record.h"

namespace analysis {

/// The available parts of a run.
struct RunParts {
  Record record;
  Figures figures;
  std::vector<StepFigures> steps;  // empty when the run computed no numerics

  /// Whether a step was simulated; else the run trained alone.
  bool simulated() const { return !record.info.instance_type.empty(); }
};
struct ReportRun : RunParts {
  std::string name;            // of its folder
  std::vector<CostRow> costs;  // empty when the job's time or instance has no price
  double efficiency = 0;       // of the roofline rows in `costs`
  std::vector<std::string> warnings;
};

/// A run in memory, whose files go to `folder`.
ReportRun report_run(const std::filesystem::path& folder, RunParts parts, const std::vector<PricedInstance>& prices,
                     double efficiency);
/// `stage`: of a pipeline; below 0: the slowest. A run that trained alone has no record. Errors: Fault::kData when
/// run.sqlite or result.json is missing, damaged or of a newer schema; as read_record() for a stage.
ReportRun load_report_run(const std::filesystem::path& folder, const std::vector<PricedInstance>& prices,
                          double efficiency, std::int64_t stage = -1);

/// The job, the training and one device step of `other` against `first`, as far as both have them. Errors:
/// Fault::kUsage when they have nothing in common.
std::vector<Difference> compare_runs(const ReportRun& first, const ReportRun& other);

/// One HTML page. With several runs the others are compared with the first.
std::string report_html(std::span<const ReportRun> runs);
std::string report_markdown(std::span<const ReportRun> runs);

/// One headline of a run: "samples/s".
struct Headline {
  std::string name;
  double value = 0;
  std::string text;  // for people
};
std::vector<Headline> headlines(const ReportRun& run);

/// Busy shares 0..1 of the engines, the DMA engines and the collectives in `columns` equal parts of the step.
struct BusyMap {
  std::vector<std::string> rows;
  std::vector<std::vector<double>> values;
};
BusyMap busy_map(const hw::SimResult& result, std::size_t columns);

}  // namespace analysis
