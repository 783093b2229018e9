// The time of a step of bert_emotion on the simulated machine, by the installed library: see ../README.md.
#include <fmt/format.h>

#include "hw/params.h"
#include "trnsim/project.h"
#include "workloads/workload.h"

int main() {
  const workloads::Workload job = workloads::load_workload("bert_emotion");
  trnsim::TrainOptions options;
  trnsim::apply_defaults(options, job.options, job.file);
  const hw::MachineParams machine = hw::load_machine(options.instance_type);
  auto projected = trnsim::projected_job(options, workloads::bert_preset(job.model), job.samples, job.eval_samples);
  projected.step.ranks = trnsim::cores_of(options, machine);
  fmt::print("{:.4f} s\n", trnsim::project(projected, machine).time.step);
}
