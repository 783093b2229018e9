// What `report_to` asks for, from the folder of a run.
#include <ctime>

#include "analysis/export/export.h"
#include "analysis/record/result.h"
#include "trnsim/run/run.h"

namespace trnsim {

void write_exports(const std::filesystem::path& folder, const RunResult& run) {
  std::vector<std::string> elsewhere;
  const std::vector<std::string> names = analysis::exports_of(run.settings.output.report_to, elsewhere);
  if (names.empty()) return;
  analysis::ExportRun all{.body = result_body(run), .steps = {}};
  if (std::filesystem::exists(folder / "steps.jsonl")) all.steps = analysis::read_steps(folder);
  std::optional<analysis::Record> record;
  if (run.projection) record = analysis::read_record(folder);
  if (record) all.record = &*record;
  all.begin = static_cast<double>(std::time(nullptr)) - run.host_seconds;
  for (const std::string& name : names) analysis::export_run(folder, name, all);
}

}  // namespace trnsim
