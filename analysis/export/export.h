// Exports of a run for other tools. An exporter is a file of analysis/export/to/, a pure
// function of the run; the build makes the list of them from the names of the files.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/figures.h"
#include "analysis/record/record.h"

namespace analysis {

/// A run in memory.
struct ExportRun {
  const Figures& figures;
  std::span<const StepFigures> steps;
  const Record* record = nullptr;  // none: nothing was projected
  double begin = 0;                // s since 1970 at which the run began
};

struct ExportFile {
  std::string name;  // below the exporter's folder; empty: the exporter's own file
  std::string bytes;
};

struct Exporter {
  std::string_view name;  // as `report_to` has it
  std::string_view path;  // of its file or its folder, below that of the run
  std::vector<ExportFile> (*files)(const ExportRun&);
};

/// All there are, by their names.
std::span<const Exporter> exporters();
/// Errors: Fault::kInternal for a name that no exporter has.
const Exporter& find_exporter(std::string_view name);
std::vector<std::string> exporter_names();

/// The exporters among `names` (comma-separated); names that only the Trainer's callbacks serve go into `trackers`.
/// "all": all, "none": none. Errors: Fault::kUsage, with the nearest name, for an unknown one.
std::vector<std::string> exports_of(std::string_view names, std::vector<std::string>& trackers);

/// Writes the files of one exporter below `folder`. Errors: Fault::kEnvironment.
void export_run(const std::filesystem::path& folder, std::string_view name, const ExportRun& run);

}  // namespace analysis
