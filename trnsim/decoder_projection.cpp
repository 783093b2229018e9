#include "trnsim/decoder_projection.h"

#include <algorithm>

#include "analysis/cost.h"
#include "analysis/stack.h"
#include "base/error.h"
#include "hw/sim_device.h"
#include "runtime/block.h"
#include "trnsim/stages.h"
#include "workloads/traced_ops.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

std::int64_t simulated_of(const DecoderJob& job) {
  const std::int64_t all = job.step.micro_batches;
  return job.simulated_micro_batches > 0 ? std::min(all, job.simulated_micro_batches) : all;
}

/// When each micro-batch begins.
std::vector<hw::Fs> beginnings(const isa::Program& program, const hw::SimResult& result) {
  std::vector<hw::Fs> out;
  for (const hw::CallTime& call : result.calls)
    if (program.blocks[call.block].name == "embeddings") out.push_back(call.begin);
  return out;
}

double time_of_micro_batch(const isa::Program& program, const hw::SimResult& result) {
  const std::vector<hw::Fs> begin = beginnings(program, result);
  base::ensure(!begin.empty(), "train", "no micro-batch begins");
  if (begin.size() > 1) return hw::seconds(begin.back() - begin[begin.size() - 2]);
  for (const hw::CallTime& call : result.calls)
    if (call.phase == isa::Phase::kOptimizer) return hw::seconds(call.begin - begin.front());
  return hw::seconds(result.total - begin.front());
}

double bytes_in(const workloads::StepSpec& step) {
  return static_cast<double>(step.batch * step.micro_batches * step.length) * 3 * 8;  // ids, mask, labels as int64
}

analysis::JobShape shape_of(const DecoderJob& job, const DecoderProjection& p) {
  const workloads::FrameworkOps ops = workloads::framework_ops(stage_config(job), job.step);
  analysis::JobShape shape;
  shape.steps = p.steps;
  shape.device_step_seconds = p.device_seconds;
  analysis::TracedModel traced{.forward_ops = ops.forward,
                               .backward_ops = ops.backward,
                               .tensors = ops.tensors,
                               .micro_steps = static_cast<double>(job.step.micro_batches),
                               .optimizer = job.step.optimizer};
  shape.traced_ops = analysis::traced_ops(traced);
  // Micro-batches are one graph, compiled once.
  traced.micro_steps = 1;
  shape.compiled_ops = analysis::traced_ops(traced);
  shape.launches = static_cast<double>(job.step.micro_batches);
  shape.cores = static_cast<int>(job.cores() / job.instances);
  shape.samples_per_step = static_cast<double>(job.step.batch * job.step.micro_batches);
  shape.bytes_in_per_step = bytes_in(job.step);
  shape.log_every = job.log_every;
  return shape;
}

void time_one_stage(const DecoderJob& job, const hw::MachineParams& machine, hw::BlockTimes* times,
                    DecoderProjection& p) {
  const isa::Program& program = p.compiled.program;
  // No real stage has both embeddings and head, so that this one may need more memory than there is.
  const bool any_memory = job.may_exceed_memory || job.pipeline > 1;
  p.device = hw::simulate_in_child(program, machine, {.exact = job.exact, .any_memory = any_memory, .times = times});
  p.micro_seconds = time_of_micro_batch(program, p.device);
  p.bubble_seconds = static_cast<double>(job.pipeline - 1) * p.micro_seconds;
  p.computed_seconds = hw::seconds(p.device.total - p.device.lead_in) +
                       static_cast<double>(job.step.micro_batches - simulated_of(job)) * p.micro_seconds +
                       p.bubble_seconds;
  p.device_seconds = p.computed_seconds;
}

void time_pipeline(const DecoderJob& job, const hw::MachineParams& whole, const Stages& stages, hw::BlockTimes* times,
                   DecoderProjection& p) {
  StagesTime time = simulate_stages(job, whole, stages, p.micro_seconds, times);
  p.micro_seconds = time.micro_seconds;
  p.bubble_seconds = time.bubble_seconds;
  p.device_seconds = time.step_seconds;
  if (p.compiled.program.calls.empty()) p.device = std::move(time.device);
}

/// The job around a step of p.device_seconds.
void time_job(const DecoderJob& job, const hw::MachineParams& stage, DecoderProjection& p) {
  p.steps = std::max(1.0, job.sequences / job.sequences_per_step());
  p.time = analysis::job_time(analysis::load_stack(job.stack), shape_of(job, p));
  p.model_flops = workloads::decoder_flops(job.config, job.step);
  p.mfu = p.model_flops / (p.device_seconds * static_cast<double>(job.cores()) * p.device.peaks.matmul_flops);
  p.price_per_hour = analysis::price_per_hour(stage.name, job.price);
  if (p.price_per_hour)
    p.dollars = analysis::cost_of(p.time.total, *p.price_per_hour, static_cast<int>(job.instances), job.epochs,
                                  p.steps * job.sequences_per_step())
                    .run;
}

void compile_one_stage(const DecoderJob& job, const isa::Target& target, runtime::BlockCache* blocks,
                       std::uint64_t give_up_at, DecoderProjection& p) {
  runtime::CompileOptions options = stage_options(job);
  options.blocks = blocks;
  options.give_up_at = give_up_at;
  p.compiled = runtime::compile(stage_step(job, simulated_of(job)).graph, target, options);
}

}  // namespace

DecoderProjection project_if_it_fits(const DecoderJob& job, const JobMachines& machines,
                                     const ProjectOptions& options) {
  runtime::BlockCache own{kKeptInstructions};  // stages have the same layers
  runtime::BlockCache* const blocks = options.blocks ? options.blocks : &own;
  DecoderProjection p;
  Stages stages;
  const std::uint64_t give_up_at = options.give_up && !job.may_exceed_memory ? machines.whole.hbm_bytes_per_core() : 0;
  if (job.pipeline > 1) {
    stages = compile_stages(job, machines.whole, blocks, give_up_at);
    p.memory = stages.memory;
  } else {
    compile_one_stage(job, machines.stage.target(), blocks, give_up_at, p);
    p.memory = memory_of(p.compiled, machines.stage);
  }
  if (!p.memory.fits() && !job.may_exceed_memory) return p;
  if (job.pipeline > 1 && options.one_stage) compile_one_stage(job, machines.stage.target(), blocks, 0, p);
  if (job.pipeline == 1 || options.one_stage) time_one_stage(job, machines.stage, options.times, p);
  if (job.pipeline > 1) time_pipeline(job, machines.whole, stages, options.times, p);
  time_job(job, machines.stage, p);
  return p;
}

DecoderProjection project(const DecoderJob& job, const JobMachines& machines, const ProjectOptions& options) {
  constexpr const char* kSmaller =
      "use --recompute full, --zero_1, a larger --tensor_parallel_size or a smaller --per_device_train_batch_size";
  if (!job.may_exceed_memory) {  // to compile what cannot fit by far takes longer than to see that it does not
    const std::uint64_t least = least_memory(job);
    runtime::require_fit("train", {{"at least", least}}, least, machines.stage.hbm_bytes_per_core(), kSmaller);
  }
  DecoderProjection p = project_if_it_fits(job, machines, options);
  if (!job.may_exceed_memory)
    runtime::require_fit("train", p.memory.by_kind, p.memory.total, p.memory.capacity, kSmaller);
  return p;
}

std::optional<DecoderJob> nearest_that_fits(const DecoderJob& job, const std::string& instance,
                                            const std::vector<std::string>& set) {
  runtime::BlockCache blocks{kKeptInstructions};
  const auto fits = [&](const DecoderJob& candidate) {
    try {
      const hw::MachineParams whole = machines_of(candidate, instance, set).whole;
      const std::uint64_t there = whole.hbm_bytes_per_core();
      return least_memory(candidate) <= there && compile_stages(candidate, whole, &blocks, there).memory.fits();
    } catch (const Error& e) {
      if (e.fault() == Fault::kUsage || e.fault() == Fault::kProgram) return false;
      throw;
    }
  };
  const auto narrower = [](const DecoderJob& from, std::int64_t tensor, std::int64_t pipeline) {
    DecoderJob to = from;
    const std::int64_t factor = tensor * pipeline;
    if (from.step.ranks % factor != 0) return to;
    to.step.ranks /= static_cast<std::uint32_t>(factor);
    to.step.micro_batches *= factor;  // the same batch for the optimizer
    to.step.tensor_parallel *= tensor;
    to.pipeline *= pipeline;
    to.step.sequence_parallel = to.step.tensor_parallel > 1;
    return to;
  };
  using workloads::Recompute;
  std::vector<DecoderJob> candidates;
  for (const auto& [tensor, pipeline] :
       {std::pair{1, 1}, {2, 1}, {4, 1}, {1, 2}, {2, 2}, {8, 1}, {1, 4}, {4, 2}, {8, 2}})
    for (const bool zero : {job.step.zero1, true})
      for (const Recompute again : {job.step.recompute, Recompute::kSelective, Recompute::kFull}) {
        DecoderJob candidate = narrower(job, tensor, pipeline);
        candidate.step.zero1 = zero;
        candidate.step.recompute = again;
        candidates.push_back(candidate);
      }
  const auto found = std::ranges::find_if(candidates, fits);
  return found == candidates.end() ? std::nullopt : std::optional{*found};
}

}  // namespace trnsim
