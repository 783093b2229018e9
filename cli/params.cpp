// `trnsim params MACHINE`: every number with its unit, its source and the rows that it was fitted on.
#include <memory>

#include "base/table.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/machine.h"

namespace cli {
namespace {

struct ParamsOptions {
  std::string machine = "trn1.2xlarge", prefix, format = "table";
  std::vector<std::string> set;
  bool toml = false;
};

void show(const ParamsOptions& options) {
  const base::ParamFile file = trnsim::machine_file(options.machine, options.set);
  if (options.toml) return print(file.to_toml());
  print(trnsim::parameter_table(file, options.prefix).render(base::parse_format(options.format), columns()));
}

}  // namespace

void add_params(CLI::App& app) {
  auto options = std::make_shared<ParamsOptions>();
  app.add_option("MACHINE", options->machine, "machine or file (trnsim list machines)")->capture_default_str();
  app.add_option("--prefix", options->prefix, "only keys below this one, as in --prefix hbm");
  app.add_option("--set", options->set, "KEY=VALUE of a parameter; repeatable")->expected(1)->take_all();
  app.add_flag("--toml", options->toml, "as a machine file that can be loaded again");
  app.add_option("--format", options->format, "form of the table")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { show(*options); });
}

}  // namespace cli
