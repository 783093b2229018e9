// `trnsim numerics RUN...`: the same training in several number formats: does a format cost accuracy?
#include <memory>

#include "analysis/numerics/numerics_study.h"
#include "base/table.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct NumericsOptions {
  std::vector<std::string> runs;
  std::string format = "table";
};

void print_numerics(const NumericsOptions& options) {
  base::parse_format(options.format);
  std::vector<analysis::TrainedRun> runs;
  for (const std::string& folder : options.runs) runs.push_back(analysis::read_trained_run(folder));
  print(analysis::numerics_text(runs, options.format));
}

}  // namespace

void add_numerics(CLI::App& app) {
  auto options = std::make_shared<NumericsOptions>();
  app.add_option("RUN", options->runs, "folders of runs that differ in --numerics and --seed alone")->required();
  app.add_option("--format", options->format, "form of the tables")->type_name("table|json|md")->capture_default_str();
  app.final_callback([options] { print_numerics(*options); });
}

}  // namespace cli
