#include "analysis/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "base/text.h"

namespace analysis {
namespace {

/// Other places that `report_to` of Hugging Face's Trainer knows: their names are not errors. Source: transformers,
/// integrations/integration_utils.py, INTEGRATION_TO_CALLBACK.
constexpr std::array kTrackers = {"azure_ml", "clearml", "codecarbon", "comet_ml", "dagshub", "dvclive",
                                  "flyte",    "mlflow",  "neptune",    "swanlab",  "trackio", "wandb"};

}  // namespace

const Exporter& find_exporter(std::string_view name) {
  const auto found = std::ranges::find(exporters(), name, &Exporter::name);
  base::ensure(found != exporters().end(), name, "no exporter has that name");
  return *found;
}

std::vector<std::string> exporter_names() {
  std::vector<std::string> names;
  for (const Exporter& exporter : exporters()) names.emplace_back(exporter.name);
  return names;
}

std::vector<std::string> exports_of(std::string_view names, std::vector<std::string>& trackers) {
  const std::vector<std::string> own = exporter_names();
  std::vector<std::string> known = own, out;
  known.insert(known.end(), {"all", "none"});
  known.insert(known.end(), kTrackers.begin(), kTrackers.end());
  bool all = false;
  for (const std::string& name : base::split(names, ',')) {
    if (name.empty()) continue;
    if (std::ranges::find(known, name) == known.end())
      throw base::Error{base::Fault::kUsage, "`report_to`", fmt::format("'{}' is not a place to report to", name),
                        base::suggest_fix(name, known)};
    all |= name == "all";
    if (std::ranges::find(own, name) != own.end()) out.push_back(name);
    if (std::ranges::find(kTrackers, name) != kTrackers.end()) trackers.push_back(name);
  }
  return all ? own : out;
}

void export_run(const std::filesystem::path& folder, std::string_view name, const ExportRun& run) {
  const Exporter& exporter = find_exporter(name);
  for (const ExportFile& file : exporter.files(run)) {
    const std::filesystem::path path = folder / exporter.path / file.name;
    if (file.name.empty()) {
      base::write_file(folder / exporter.path, file.bytes);
      continue;
    }
    std::filesystem::create_directories(path.parent_path());
    base::write_file(path, file.bytes);
  }
}

}  // namespace analysis
