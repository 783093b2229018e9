// The records of a run's projection: the simulated part of each stage.

#include <map>

#include "analysis/record/record.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/run/run.h"
#include "trnsim/version.h"

namespace trnsim {
namespace {

/// Adds what a core's HBM holds besides the program's tensors (code, rings of descriptors, the padding of buckets), so
/// that the record's regions are the job's memory.
void add_rest_of_memory(const Memory& memory, analysis::Record& record) {
  std::map<std::string, std::uint64_t> there;
  std::uint64_t end = 0;
  for (const analysis::RegionUse& use : record.regions) {
    there[use.region.kind] += use.region.bytes;
    end = std::max(end, use.region.offset + use.region.bytes);
  }
  for (const auto& [kind, bytes] : memory.by_kind) {
    if (bytes <= there[kind]) continue;
    const isa::Region rest{.name = kind,
                           .kind = kind,
                           .dtype = isa::Dtype::kUint8,
                           .shape = {static_cast<std::int64_t>(bytes - there[kind])},
                           .offset = end,
                           .bytes = bytes - there[kind]};
    end += rest.bytes;
    record.regions.push_back({.region = rest});
    record.program.regions.push_back(rest);
  }
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
  analysis::Record record = analysis::make_record(p.stages[stage].device(), p.stages[stage].compiled().program, info);
  if (p.stages.size() == 1) add_rest_of_memory(p.memory, record);  // of a pipeline it is that of the fullest stage
  return record;
}

}  // namespace trnsim
