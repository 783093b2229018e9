#include "cli/decoder_stages.h"

#include <algorithm>

#include "base/error.h"
#include "hw/sim_device.h"
#include "workloads/pipeline.h"

namespace cli {
namespace {

std::vector<runtime::Compiled> compile_stages(const DecoderJob& job, const workloads::StepSpec& step) {
  std::vector<runtime::Compiled> out;
  for (std::int64_t s = 0; s < job.pipeline; ++s) {
    const workloads::StepSpec spec = workloads::of_stage(step, s);
    auto made = workloads::decoder_step(job.config, spec);
    out.push_back(runtime::compile(std::move(made.graph), workloads::compile_options(spec, "train", job.passes)));
  }
  return out;
}

/// The calls of the core that took longest: when forward passes begin, and when the last backward pass ends.
struct StagePasses {
  std::vector<hw::Fs> begin;
  hw::Fs end = 0;
};

StagePasses passes_of(const isa::Program& program, const hw::SimResult& result) {
  StagePasses out;
  const std::uint32_t first = program.calls.front().block;  // embeddings, or what the stage before has sent
  for (const hw::CallTime& call : result.calls) {
    if (call.block == first) out.begin.push_back(call.begin);
    if (call.phase == isa::Phase::kBackward) out.end = std::max(out.end, call.end);
  }
  base::ensure(!out.begin.empty() && out.end > out.begin.front(), program.name, "no micro-batch goes through");
  return out;
}

}  // namespace

StagesTime simulate_stages(const DecoderJob& job, const hw::MachineParams& whole, const DecoderProjection& projection) {
  workloads::StepSpec step = job.step;
  step.pipeline_parallel = job.pipeline;
  step.head_sharing = workloads::head_sharing(job.config, step.tensor_parallel);
  step.micro_batches = std::min(step.micro_batches, 2 * job.pipeline);
  const std::vector<runtime::Compiled> compiled = compile_stages(job, step);
  isa::Programs programs;
  for (const runtime::Compiled& one : compiled) programs.push_back(&one.program);
  const hw::SimResult result = hw::simulate_in_child(programs, whole, {.exact = job.exact});
  const auto slowest = std::ranges::find_if(programs, [&](const isa::Program* p) { return p->runs_on(result.rank); });
  const StagePasses passes = passes_of(**slowest, result);
  StagesTime out{.micro_seconds = projection.micro_seconds};
  // With more micro-batches than stages the last two begin one period apart.
  if (step.micro_batches > job.pipeline)
    out.micro_seconds = hw::seconds(passes.begin.back() - passes.begin[passes.begin.size() - 2]);
  const auto further = static_cast<double>(job.step.micro_batches - step.micro_batches);
  out.step_seconds = hw::seconds(result.total - result.lead_in) + further * out.micro_seconds;
  const double busy = static_cast<double>(step.micro_batches) * out.micro_seconds;
  out.bubble_seconds = std::max(0.0, hw::seconds(passes.end - passes.begin.front()) - busy);
  return out;
}

void use_stages(const StagesTime& stages, const DecoderJob& job, const hw::MachineParams& stage,
                DecoderProjection& projection) {
  projection.micro_seconds = stages.micro_seconds;
  projection.bubble_seconds = stages.bubble_seconds;
  projection.bubble_simulated = true;
  projection.device_seconds = stages.step_seconds;
  time_job(job, stage, projection);
}

}  // namespace cli
