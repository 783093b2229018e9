#include "cli/decoder_stages.h"

#include <algorithm>

#include "base/error.h"
#include "cli/pipeline_memory.h"
#include "hw/sim_device.h"
#include "runtime/build_block.h"
#include "workloads/pipeline.h"

namespace cli {
namespace {

constexpr std::size_t kOwnBlocks = 1'000'000;  // instructions

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

Stages compile_stages(const DecoderJob& job, const hw::MachineParams& whole, runtime::BlockCache* blocks) {
  require_groups(job, whole);
  runtime::BlockCache own{kOwnBlocks};  // stages have the same layers
  workloads::StepSpec step = step_of_stages(job);
  step.micro_batches = std::min(step.micro_batches, 2 * job.pipeline);
  Stages out{.compiled = {}, .micro_batches = step.micro_batches, .memory = {}};
  for (std::int64_t s = 0; s < job.pipeline; ++s) {
    const workloads::StepSpec spec = workloads::of_stage(step, s);
    auto made = workloads::decoder_step(job.config, spec);
    runtime::CompileOptions options = workloads::compile_options(spec, "train", job.passes);
    options.blocks = blocks ? blocks : &own;
    out.compiled.push_back(runtime::compile(std::move(made.graph), options));
    const runtime::MemoryPlan& plan = out.compiled.back().memory;
    DecoderMemory memory{.by_kind = plan.bytes_by_kind, .total = plan.total, .capacity = whole.hbm_bytes_per_core()};
    memory.add("messages", inbox_bytes(job, s));
    if (memory.total > out.memory.total) out.memory = std::move(memory);
  }
  return out;
}

StagesTime simulate_stages(const DecoderJob& job, const hw::MachineParams& whole, const Stages& stages,
                           double micro_seconds) {
  isa::Programs programs;
  for (const runtime::Compiled& one : stages.compiled) programs.push_back(&one.program);
  StagesTime out{.device = {}, .micro_seconds = micro_seconds};
  out.device = hw::simulate_in_child(programs, whole, {.exact = job.exact, .any_memory = job.may_exceed_memory});
  const hw::SimResult& result = out.device;
  const auto slowest = std::ranges::find_if(programs, [&](const isa::Program* p) { return p->runs_on(result.rank); });
  const StagePasses passes = passes_of(**slowest, result);
  // With more micro-batches than stages the last two begin one period apart.
  if (stages.micro_batches > job.pipeline)
    out.micro_seconds = hw::seconds(passes.begin.back() - passes.begin[passes.begin.size() - 2]);
  const auto further = static_cast<double>(job.step.micro_batches - stages.micro_batches);
  out.step_seconds = hw::seconds(result.total - result.lead_in) + further * out.micro_seconds;
  const double busy = static_cast<double>(stages.micro_batches) * out.micro_seconds;
  out.bubble_seconds = std::max(0.0, hw::seconds(passes.end - passes.begin.front()) - busy);
  return out;
}

void use_stages(const Stages& stages, const StagesTime& time, const DecoderJob& job, const hw::MachineParams& stage,
                DecoderProjection& projection) {
  projection.memory = stages.memory;
  projection.micro_seconds = time.micro_seconds;
  projection.bubble_seconds = time.bubble_seconds;
  projection.bubble_simulated = true;
  projection.device_seconds = time.step_seconds;
  time_job(job, stage, projection);
}

}  // namespace cli
