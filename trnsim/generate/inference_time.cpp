#include "trnsim/generate/inference_time.h"

#include <algorithm>

#include "base/error.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/job/option_table.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/compiler_memory.h"
#include "trnsim/project/memory.h"
#include "workloads/models/model.h"
#include "workloads/step/step_graph.h"

namespace trnsim {

Projection project_inference(const Job& job, const ProjectOptions& options) {
  const auto cores = static_cast<std::uint32_t>(job.cores());
  runtime::Compiled compiled =
      runtime::compile(job.model->step(job.step).graph, job.machine.target(),
                       {.name = "infer", .ranks = cores, .passes = job.passes, .cache = job.programs.get()});
  Projection p;
  p.memory = memory_of(compiled.memory, job.machine);
  add_software(job, 0, p.memory);
  if (!p.memory.fits() && !options.any_memory) return p;
  const hw::SimOptions simulate{.exact = options.exact, .any_memory = options.any_memory};
  GenerationTime& g = p.generation.emplace();
  g.prompt.stage.record = std::make_shared<const hw::SimResult>(
      options.in_child ? hw::simulate_in_child(compiled.program, job.machine, simulate)
                       : hw::simulate(compiled.program, job.machine, simulate));
  g.prompt.stage.program = std::make_shared<const runtime::Compiled>(std::move(compiled));
  p.micro_batches = 1;
  p.stages = {g.prompt.stage};
  time_inference(job, p);
  return p;
}

void time_inference(const Job& job, Projection& p) {
  const analysis::Stack stack = job.load_stack();
  GenerationTime& g = *p.generation;
  g.prompt.parts = {{"device", hw::seconds(g.prompt.stage.device().total)},
                    {"launch", analysis::launch_seconds(stack, 1)}};  // a process of its own on each core
  g.prompt.seconds = g.prompt.parts[0].seconds + g.prompt.parts[1].seconds;
  g.first_token = g.prompt.seconds;
  p.steps = job.steps(), p.samples = job.samples();
  p.time = {};
  p.time.step = g.prompt.seconds, p.time.total = p.steps * p.time.step;
  p.time.parts = g.prompt.parts;
  for (analysis::TimeItem& part : p.time.parts) part.seconds *= p.steps;
  p.device_seconds = p.micro_seconds = p.time.device_step = g.prompt.parts[0].seconds;
  p.time.host_step = g.prompt.parts[1].seconds;
  p.model_flops = job.model->flops(job.step);
  const double peak = static_cast<double>(job.cores()) * p.stage().device().peaks.matmul_flops;
  p.mfu = p.model_flops / (p.device_seconds * peak);
  p.job_mfu = p.model_flops / (p.time.step * peak);
  p.time.compile = p.time.compile_first =
      compile_seconds(stack, {.operations = job.model->traced_ops(job.step).forward, .tiles = 0});
  p.end_to_end = p.time.total;
  p.price_per_hour = job.price_per_hour;
  p.dollars = generation_dollars(job, p.time.total);
}

}  // namespace trnsim
