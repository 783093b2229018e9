#include "trnsim/stages.h"

#include <algorithm>

#include "base/error.h"
#include "hw/sim_device.h"
#include "runtime/block.h"
#include "trnsim/pipeline_memory.h"
#include "workloads/pipeline.h"

namespace trnsim {
namespace {

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

/// What a core of the last passes waits for cores of other stages where all of them, or the ends, meet.
hw::Fs waits_at_the_end(const runtime::Plan& plan, const isa::Program& program, const hw::SimResult& result) {
  hw::Fs sum = 0;
  for (const hw::CollectiveTime& one : result.collectives) {
    const hw::CallTime& call = result.calls.at(one.call);
    const isa::Instrs& instrs = program.blocks[call.block].instrs;
    const auto* issued = std::ranges::find_if(instrs, [](const isa::Instr& i) { return isa::is_collective(i.op); });
    if (issued->group != workloads::stages_group(plan) && issued->group != workloads::ends_group(plan)) continue;
    sum += std::max(one.issued, call.begin) - call.begin;  // issued by the last of them
  }
  return sum;
}

/// From micro-batch to micro-batch when all stages are at work: by the last two, or, of interleaved ones, by the last
/// two rounds. `otherwise` when too few run.
double period_of(const DecoderJob& job, const StagePasses& passes, double otherwise) {
  const std::int64_t run = micro_batches_to_run(job);
  const bool interleaved = job.step.plan.chunks > 1;
  if (run <= (interleaved ? 2 : 1) * job.step.plan.pipeline) return otherwise;
  const std::size_t span = interleaved ? static_cast<std::size_t>(job.step.plan.pipeline) : 1;
  const std::size_t apart = passes.begin.size() * span / static_cast<std::size_t>(run);
  return hw::seconds(passes.begin.back() - passes.begin[passes.begin.size() - 1 - apart]) / static_cast<double>(span);
}

}  // namespace

Stages compile_stages(const DecoderJob& job, const hw::MachineParams& whole, runtime::BlockCache* blocks,
                      std::uint64_t give_up_at) {
  require_groups(job, whole);
  workloads::Step step = job.step;
  workloads::pipeline_turns(job.step.plan.pipeline, 0, step.plan.chunks,
                            step.plan.micro_batches);  // refuses what has none
  step.plan.micro_batches = micro_batches_to_run(job);
  Stages out;
  for (std::int64_t s = 0; s < job.step.plan.pipeline; ++s) {
    const workloads::Step spec = workloads::of_stage(step, s);
    auto made = workloads::decoder_step(job.config, spec);
    runtime::CompileOptions options = workloads::compile_options(spec, "train", job.passes);
    options.blocks = blocks;
    options.give_up_at = give_up_at;
    out.compiled.push_back(runtime::compile(std::move(made.graph), whole.target(), options));
    DecoderMemory memory = memory_of(out.compiled.back(), whole);
    memory.add("messages", inbox_bytes(job, s));
    if (memory.total > out.memory.total) out.memory = std::move(memory);
    if (give_up_at > 0 && out.memory.total > give_up_at) break;
  }
  return out;
}

StagesTime simulate_stages(const DecoderJob& job, const hw::MachineParams& whole, const Stages& stages,
                           double micro_seconds, hw::BlockTimes* times) {
  isa::Programs programs;
  for (const runtime::Compiled& one : stages.compiled) programs.push_back(&one.program);
  StagesTime out;
  out.device =
      hw::simulate_in_child(programs, whole, {.exact = job.exact, .any_memory = job.may_exceed_memory, .times = times});
  const hw::SimResult& result = out.device;
  const auto slowest = std::ranges::find_if(programs, [&](const isa::Program* p) { return p->runs_on(result.rank); });
  const StagePasses passes = passes_of(**slowest, result);
  out.micro_seconds = period_of(job, passes, micro_seconds);
  const std::int64_t run = micro_batches_to_run(job);
  const auto further = static_cast<double>(job.step.plan.micro_batches - run);
  out.step_seconds = hw::seconds(result.total - result.lead_in) + further * out.micro_seconds;
  const double busy = static_cast<double>(run) * out.micro_seconds;
  out.bubble_seconds = std::max(0.0, hw::seconds(passes.end - passes.begin.front()) - busy) +
                       hw::seconds(waits_at_the_end(job.step.plan, **slowest, result));
  return out;
}

}  // namespace trnsim
