#include "cli/decoder_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/cost.h"
#include "analysis/stack.h"
#include "base/error.h"
#include "base/units.h"
#include "hw/sim_device.h"
#include "workloads/shards.h"
#include "workloads/weights.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

/// One stage as a model of its own: its layers, with embeddings and head.
workloads::ModelConfig stage_config(const DecoderJob& job) {
  workloads::check({.tensor_parallel_size = job.step.tensor_parallel, .pipeline_parallel_size = job.pipeline},
                   job.config);
  workloads::ModelConfig stage = job.config;
  std::visit([&](auto& c) { c.num_hidden_layers /= job.pipeline; }, stage);
  return stage;
}

runtime::Compiled compile_stage(const DecoderJob& job, std::int64_t micro_batches) {
  workloads::StepSpec step = job.step;
  step.micro_batches = micro_batches;
  auto made = workloads::decoder_step(stage_config(job), step);
  return runtime::compile(
      std::move(made.graph),
      {.name = "train", .ranks = step.world(), .groups = workloads::replica_groups(step), .passes = job.passes});
}

DecoderMemory memory_of(const DecoderJob& job, const runtime::Compiled& compiled, const hw::MachineParams& stage) {
  DecoderMemory memory{
      .by_kind = compiled.memory.bytes_by_kind, .total = compiled.memory.total, .capacity = stage.hbm_bytes_per_core()};
  const auto kept = static_cast<std::uint64_t>(std::min(job.pipeline, job.step.micro_batches) - 1);
  const std::uint64_t more = kept * memory.by_kind["activations"];
  memory.by_kind["activations"] += more;
  memory.total += more;
  return memory;
}

void require_fit(const DecoderMemory& memory) {
  if (memory.fits()) return;
  std::string table;
  const auto readable = [](std::uint64_t bytes) {
    return base::readable(static_cast<double>(bytes), base::Dimension::kBytes);
  };
  for (const auto& [kind, bytes] : memory.by_kind) table += fmt::format("\n  {:<12} {:>12}", kind, readable(bytes));
  throw Error{Fault::kCapacity, "train",
              fmt::format("needs {} of HBM per core, there are {}:{}", readable(memory.total),
                          readable(memory.capacity), table),
              "use --recompute full, --zero_1, a larger --tensor_parallel_size or a smaller "
              "--per_device_train_batch_size"};
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
  const auto tensors = static_cast<double>(workloads::model_weights(stage_config(job)).size());
  analysis::JobShape shape;
  shape.steps = p.steps;
  shape.device_step_seconds = p.device_seconds;
  shape.traced_ops =
      analysis::traced_ops({.parameter_tensors = tensors, .micro_steps = static_cast<double>(job.step.micro_batches)});
  shape.launches = static_cast<double>(job.step.micro_batches);
  shape.cores = static_cast<int>(std::min<std::int64_t>(job.cores() / job.instances, job.cores()));
  shape.samples_per_step = static_cast<double>(job.step.batch * job.step.micro_batches);
  shape.bytes_in_per_step = bytes_in(job.step);
  shape.log_every = job.log_every;
  return shape;
}

}  // namespace

hw::MachineParams stage_machine(const DecoderJob& job, const std::string& instance,
                                const std::vector<std::string>& set) {
  const hw::MachineParams one = hw::load_machine(instance, set);
  const std::int64_t there = static_cast<std::int64_t>(one.instance_cores()) * job.instances;
  if (job.cores() > there)
    throw Error{Fault::kUsage, "plan",
                fmt::format("needs {} cores (TP {} x PP {} x DP {}), {} x {} have {}", job.cores(),
                            job.step.tensor_parallel, job.pipeline, job.step.ranks, job.instances, instance, there),
                "use more --nnodes, or a smaller plan"};
  std::vector<std::string> overrides = set;
  const std::int64_t per_stage = std::max<std::int64_t>(1, job.instances / job.pipeline);
  if (per_stage > 1) overrides.push_back(fmt::format("cluster.instances={}", per_stage));
  return hw::load_machine(instance, overrides);
}

DecoderMemory decoder_memory(const DecoderJob& job, const hw::MachineParams& stage) {
  // More micro-batches than these need no more memory.
  return memory_of(job, compile_stage(job, std::min<std::int64_t>(job.step.micro_batches, 2)), stage);
}

DecoderProjection project(const DecoderJob& job, const hw::MachineParams& stage) {
  const std::int64_t all = job.step.micro_batches;
  const std::int64_t simulated = job.simulated_micro_batches > 0 ? std::min(all, job.simulated_micro_batches) : all;
  const runtime::Compiled compiled = compile_stage(job, simulated);
  DecoderProjection p;
  p.memory = memory_of(job, compiled, stage);
  require_fit(p.memory);
  p.device = hw::simulate_in_child(compiled.program, stage, {.exact = job.exact});
  p.micro_seconds = time_of_micro_batch(compiled.program, p.device);
  p.bubble_seconds = static_cast<double>(job.pipeline - 1) * p.micro_seconds;
  p.device_seconds = hw::seconds(p.device.total - p.device.lead_in) +
                     static_cast<double>(all - simulated) * p.micro_seconds + p.bubble_seconds;
  p.steps = std::max(1.0, job.sequences / job.sequences_per_step());
  p.time = analysis::job_time(analysis::load_stack(job.stack), shape_of(job, p));
  p.model_flops = workloads::decoder_flops(job.config, job.step);
  p.mfu = p.model_flops / (p.device_seconds * static_cast<double>(job.cores()) * p.device.peaks.matmul_flops);
  p.dollars = analysis::cost_of(p.time.total, stage.price_on_demand.value, static_cast<int>(job.instances), job.epochs,
                                p.steps * job.sequences_per_step())
                  .run;
  return p;
}

std::optional<DecoderJob> nearest_that_fits(DecoderJob job, const std::string& instance,
                                            const std::vector<std::string>& set) {
  const auto fits = [&](const DecoderJob& candidate) {
    try {
      return decoder_memory(candidate, stage_machine(candidate, instance, set)).fits();
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

std::string describe(const DecoderJob& job) {
  const workloads::StepSpec& s = job.step;
  return fmt::format("TP {}, PP {}, DP {}{}{}{}, recompute {}, {} micro-batches of {} x {}", s.tensor_parallel,
                     job.pipeline, s.ranks, s.sequence_parallel ? ", sequence parallel" : "", s.zero1 ? ", ZeRO-1" : "",
                     s.master_weights ? ", fp32 master weights" : "", workloads::name_of(s.recompute), s.micro_batches,
                     s.batch, s.length);
}

std::string flags_of(const DecoderJob& job) {
  const workloads::StepSpec& s = job.step;
  std::string out =
      fmt::format("--tensor_parallel_size {} --pipeline_parallel_size {}", s.tensor_parallel, job.pipeline);
  if (s.tensor_parallel > 1 && !s.sequence_parallel) out += " --disable_sequence_parallel";
  if (s.zero1) out += " --zero_1";
  if (s.master_weights) out += " --optimizer_use_master_weights";
  return out + fmt::format(" --recompute {} --gradient_accumulation_steps {}", workloads::name_of(s.recompute),
                           s.micro_batches);
}

}  // namespace cli
