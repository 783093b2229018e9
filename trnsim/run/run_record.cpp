// The records of a run's projection: the simulated part of each stage.

#include "analysis/record/record.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/run/run.h"
#include "trnsim/version.h"

namespace trnsim {
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

}  // namespace trnsim
