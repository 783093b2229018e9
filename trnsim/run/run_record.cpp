// The records of a run's projection: the simulated part of each stage, and the job that they describe to a buyer.

#include "analysis/cost/job_cost.h"
#include "analysis/record/record.h"
#include "base/error.h"
#include "base/suggest.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/run/run.h"
#include "trnsim/version.h"
#include "workloads/jobs/workload.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// A workload's job as published.
analysis::JobToPrice job_of_workload(const workloads::Workload& workload) {
  RunRequest request{.workload = workload, .given = {}, .command = "", .folder = {}, .trace = {}};
  request.given.machine.mode = "timed", request.given.output.suggestions = 0;
  request.given.given = {"mode", "suggestions"};
  const RunResult run = projected_run(request);
  return analysis::job_to_price(figures_of(run), record_of(run), workload.name);
}

}  // namespace

analysis::Record record_of(const RunResult& run) { return record_of(run, run.projection->slowest); }

analysis::Record record_of(const RunResult& run, std::size_t stage) {
  const Projection& p = *run.projection;
  analysis::RecordInfo info;
  info.trnsim = version();
  info.workload = run.workload;
  info.command = run.command;
  info.instance_type = run.machine.name;
  info.instances = static_cast<std::uint32_t>(run.machine.instances.value);
  info.cores_per_chip = static_cast<std::uint32_t>(run.machine.cores.value);
  info.hbm_bytes_per_core = run.machine.hbm_bytes_per_core();
  info.machine_hash = run.machine.hash;
  info.machine_toml = run.machine.toml;
  info.stages = static_cast<std::uint32_t>(p.stages.size());
  info.stage = static_cast<std::uint32_t>(stage);
  info.recorded_micro_batches = p.micro_batches;
  info.micro_batches = run.job->step.plan.micro_batches;
  if (run.trace.until > run.trace.from) {
    info.trace_from = hw::fs_of(run.trace.from), info.trace_until = hw::fs_of(run.trace.until);
    info.trace_layer = run.trace.layer;
  }
  return analysis::make_record(p.stages[stage].device(), p.stages[stage].compiled().program, info);
}

analysis::JobToPrice job_to_price(const std::string& run_or_workload) {
  const std::filesystem::path path = run_or_workload;
  if (std::filesystem::is_directory(path)) return analysis::job_of_run(path);
  if (std::filesystem::exists(path)) return job_of_workload(workloads::load_workload(run_or_workload));
  const std::vector<std::string> names = workloads::workload_names();
  if (std::ranges::find(names, run_or_workload) == names.end())
    throw Error{Fault::kUsage, run_or_workload, "is neither the folder of a run nor a workload",
                base::suggest_fix(run_or_workload, names)};
  return job_of_workload(workloads::load_workload(run_or_workload));
}

}  // namespace trnsim
