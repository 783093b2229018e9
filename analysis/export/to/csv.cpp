// Every figure of the run as a row of a CSV file, for spreadsheets.
#include "analysis/export/export.h"
#include "analysis/figures/figure_table.h"
#include "base/table.h"

namespace analysis {
namespace {

std::vector<ExportFile> csv_files(const ExportRun& run) {
  base::Table table{{{"name", ""}, {"value", ""}, {"unit", ""}, {"text", ""}}};
  for (const Figure& figure : figure_table())
    if (const Maybe value = figure.of(run.figures)) table.add_row({figure.name, *value, figure.unit, figure.text});
  return {{"", table.render(base::Format::kCsv)}};
}

}  // namespace

Exporter exporter_csv() { return {"csv", "figures.csv", csv_files}; }

}  // namespace analysis
