// `trnsim params MACHINE`: every number with its unit, its source and what it was fitted on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/error.h"
#include "base/table.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "hw/params.h"
#include "trnsim/option_table.h"

namespace cli {

using namespace trnsim;
namespace {

struct ParamsOptions {
  std::string machine = "trn1.2xlarge", prefix, format = "table";
  std::vector<std::string> set;
  bool toml = false;
};

void show(const ParamsOptions& options) {
  const base::ParamFile file = hw::machine_file(options.machine, options.set);
  if (options.toml) return print(file.to_toml());
  const std::vector<std::string> keys = file.keys(options.prefix);
  if (keys.empty()) {
    throw base::Error{base::Fault::kUsage, "--prefix", fmt::format("no parameter begins with '{}'", options.prefix),
                      fmt::format("see trnsim params {}", options.machine)};
  }
  base::Table table{{{"key", ""}, {"value", ""}, {"source", ""}, {"fitted_on", ""}, {"read_off", ""}, {"text", ""}}};
  for (const std::string& key : keys) {
    const base::Parameter& p = file.parameter(key);
    table.add_row({p.key, fmt::format("{}", fmt::join(p.values, ", ")), p.source,
                   fmt::format("{}", fmt::join(p.fitted_on, ", ")), fmt::format("{}", fmt::join(p.read_off, ", ")),
                   p.text});
  }
  print(table.render(base::parse_format(options.format)));
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
