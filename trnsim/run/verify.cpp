#include "trnsim/run/verify.h"

#include <fmt/format.h>

#include "base/error.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "runtime/graph/passes.h"
#include "trnsim/graphs/rewrite_switches.h"
#include "trnsim/job.h"
#include "workloads/models/config.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

runtime::Passes passes_of(const std::string& text) {
  const PassSwitches switches = pass_switches(text);
  if (!switches.rewrites.empty())
    throw Error{Fault::kUsage, "`passes`",
                fmt::format("'{}' switches rewrites of graphs, but a trajectory is of a model", switches.rewrites),
                "leave it out"};
  return runtime::parse_passes(switches.passes, rewrite_names());
}

}  // namespace

workloads::VerifyReport verify(const std::filesystem::path& folder, const Settings& settings,
                               const std::function<void(std::int64_t step)>& step_done) {
  if (settings.machine.mode == "timed" || settings.numerics.name == "off")
    throw Error{Fault::kUsage, "trnsim verify", "compares numbers, but timed mode computes none",
                "use `mode` numeric or full, and `numerics`"};
  Settings s = settings;
  if (s.numerics.name.empty()) s.numerics.name = "fp32";
  if (s.machine.nproc_per_node == 0) s.machine.nproc_per_node = 1;
  if (s.plan.virtual_pipeline_size > 1 && s.plan.pipeline_parallel_size < 2)
    throw Error{Fault::kUsage, "`virtual_pipeline_size`", "needs more than one stage",
                "use `pipeline_parallel_size` 2 or more"};
  const hw::MachineParams machine =
      load_machine(s.machine.instance_type, s.machine.set, s.machine.nnodes, s.machine.nproc_per_node);
  workloads::VerifyOptions options;
  options.target = machine.target();
  options.plan = plan_of(s, machine, *workloads::read_config(folder));
  options.cache = s.machine.programs.get();
  options.host_threads = static_cast<int>(s.machine.host_threads);
  options.seed = static_cast<std::uint64_t>(s.training.seed);
  options.passes = passes_of(s.machine.passes);
  if (s.machine.mode == "full")
    options.make_device = [&machine] { return hw::make_sim_device(machine, {.check_races = true}); };
  options.progress = [&step_done](std::int64_t step, std::int64_t) {
    if (step_done) step_done(step);
  };
  return workloads::verify(folder, options);
}

}  // namespace trnsim
