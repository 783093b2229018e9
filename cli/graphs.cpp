#include "cli/graphs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/output.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/graphs/graph_run.h"
#include "trnsim/graphs/rewrite_switches.h"
#include "trnsim/run/run.h"

namespace cli {

void run_numbers(const std::string& file, const std::string& npz, const trnsim::Settings& settings) {
  auto model = trnsim::load_graph_model(file);
  if (const std::string rewrites = trnsim::pass_switches(settings.machine.passes).rewrites; !rewrites.empty())
    model = model->with_rewrites(rewrites);
  const hw::MachineParams machine = trnsim::load_machine(settings.machine.instance_type, settings.machine.set, 1);
  const trnsim::frontend::LoweredGraph lowered = trnsim::frontend::lower(model->module(), {.computed = true});
  std::vector<std::vector<trnsim::frontend::Value>> inputs;  // of each core
  for (std::int64_t r = 0; r < lowered.ranks; ++r)
    inputs.push_back(
        !npz.empty() ? trnsim::given_inputs(npz, model->module())
                     : trnsim::drawn_inputs(model->module(), static_cast<std::uint64_t>(settings.training.seed + r)));
  const auto errors = trnsim::compare_with_reference(model->module(), lowered, machine, inputs);
  base::Table table{{{"result", ""}, {"type", ""}, {"error", "largest difference, of the largest number"}, {"", ""}}};
  for (const trnsim::OutputError& one : errors)
    table.add_row({one.name, one.type, fmt::format("{:.3g}", one.error), one.within ? "as the reference" : "off"});
  print(table.render(base::parse_format(settings.output.format), columns()));
  flush();
  const auto off = std::ranges::count_if(errors, [](const trnsim::OutputError& one) { return !one.within; });
  if (off > 0)
    throw base::Error{base::Fault::kCheck, file, fmt::format("{} of {} results are off", off, errors.size()),
                      "look at the largest difference; only the reference rounds bf16 after each operation"};
}

void run_cache(const std::string& folder, const trnsim::Settings& settings) {
  base::Table table{{{"module", ""},
                     {"operations", ""},
                     {"device", "ms of a step"},
                     {"step", "ms with the host"},
                     {"memory", "MiB of a core"},
                     {"flags", "of the compiler"}}};
  for (const auto& module : trnsim::cached_programs(folder)) {
    try {
      trnsim::RunRequest request{
          .workload = trnsim::graph_workload(module.file), .given = settings, .command = "", .folder = {}};
      const trnsim::RunResult run = trnsim::projected_run(request);
      const trnsim::Projection& p = *run.projection;
      table.add_row({module.name, run.text, fmt::format("{:.3f}", 1e3 * p.device_seconds),
                     fmt::format("{:.3f}", 1e3 * p.time.step),
                     fmt::format("{:.1f}", static_cast<double>(p.memory.total) / (1024 * 1024)), module.flags});
    } catch (const base::Error& error) {
      table.add_row({module.name, std::string{error.reason()}, "", "", "", module.flags});
    }
  }
  print(table.render(base::parse_format(settings.output.format), columns()));
}

}  // namespace cli
