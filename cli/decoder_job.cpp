#include "cli/decoder_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/cost.h"
#include "analysis/stack.h"
#include "base/error.h"
#include "cli/pipeline_memory.h"
#include "cli/project.h"
#include "hw/replica_groups.h"
#include "hw/sim_device.h"
#include "workloads/framework_ops.h"
#include "workloads/model_files.h"
#include "workloads/presets.h"
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

/// With what follows from model and plan.
workloads::StepSpec stage_spec(const DecoderJob& job) {
  workloads::StepSpec step = job.step;
  step.head_sharing = workloads::head_sharing(job.config, step.tensor_parallel);
  return step;
}

runtime::Compiled compile_stage(const DecoderJob& job, std::int64_t micro_batches, runtime::BlockCache* blocks) {
  runtime::CompileOptions options = stage_options(job);
  options.blocks = blocks;
  return runtime::compile(stage_step(job, micro_batches).graph, options);
}

DecoderMemory memory_of(const DecoderJob& job, const runtime::Compiled& compiled, const hw::MachineParams& stage) {
  DecoderMemory memory{
      .by_kind = compiled.memory.bytes_by_kind, .total = compiled.memory.total, .capacity = stage.hbm_bytes_per_core()};
  // Each further stage keeps the activations of one micro-batch less, which are more than its messages.
  const std::uint64_t of_one = memory.by_kind["activations"];
  memory.add("activations", static_cast<std::uint64_t>(std::min(job.pipeline, job.step.micro_batches) - 1) * of_one);
  memory.add("messages", inbox_bytes(job, 0));
  return memory;
}

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

}  // namespace

workloads::DecoderStep stage_step(const DecoderJob& job, std::int64_t micro_batches) {
  workloads::StepSpec step = stage_spec(job);
  step.micro_batches = micro_batches;
  return workloads::decoder_step(stage_config(job), step);
}

runtime::CompileOptions stage_options(const DecoderJob& job) {
  const workloads::StepSpec step = stage_spec(job);
  return {.name = "train", .ranks = step.world(), .groups = workloads::replica_groups(step), .passes = job.passes};
}

workloads::StepSpec step_of_stages(const DecoderJob& job) {
  workloads::StepSpec step = stage_spec(job);
  step.pipeline_parallel = job.pipeline;
  return step;
}

hw::MachineParams load_cluster(const std::string& instance, std::vector<std::string> set, std::int64_t instances) {
  if (instances > 1) set.push_back(fmt::format("cluster.instances={}", instances));
  return hw::load_machine(instance, set);
}

hw::MachineParams stage_machine(const DecoderJob& job, const std::string& instance,
                                const std::vector<std::string>& set) {
  const hw::MachineParams one = hw::load_machine(instance, set);
  const std::int64_t there = static_cast<std::int64_t>(one.instance_cores()) * job.instances;
  if (job.cores() > there)
    throw Error{Fault::kUsage, "plan",
                fmt::format("needs {} cores (TP {} x PP {} x DP {}), {} x {} have {}", job.cores(),
                            job.step.tensor_parallel, job.pipeline, job.step.ranks, job.instances, instance, there),
                "use more --nnodes, or a smaller plan"};
  const std::int64_t per_stage = job.instances / job.pipeline;
  return per_stage > 1 ? load_cluster(instance, set, per_stage) : one;
}

void require_groups(const DecoderJob& job, const hw::MachineParams& whole) {
  const workloads::StepSpec step = step_of_stages(job);
  const auto groups = workloads::replica_groups(step);
  // Messages between stages run in pairs, wherever their two ranks are.
  const std::size_t first = workloads::link_group(step, 0), last = workloads::stages_group(step);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (job.pipeline > 1 && g >= first && g < last)
      hw::require_pairs(groups[g], whole, "plan");
    else
      hw::shape_of(groups[g], whole, "plan");
  }
}

std::uint64_t least_memory(const DecoderJob& job) {
  const workloads::StepSpec& s = job.step;
  const workloads::ModelConfig stage = stage_config(job);
  double weights = 0;
  for (const workloads::WeightSpec& w : workloads::decoder_weights(stage, s.tensor_parallel))
    weights += static_cast<double>(workloads::element_count(w.shape));
  // A stage has its embedding or its head; all of them have the layers.
  const auto vocabulary =
      std::visit([](const auto& c) { return static_cast<double>(c.vocab_size * c.hidden_size); }, job.config);
  if (job.pipeline > 1) weights -= 2 * vocabulary / static_cast<double>(s.tensor_parallel);
  const auto size = [](isa::Dtype type) { return static_cast<double>(isa::size_of(type)); };
  double state = 2 * size(s.numerics.optimizer) + (s.master_weights ? 4 : 0);
  if (s.zero1) state /= static_cast<double>(s.ranks);
  const double parameters = weights * (size(s.numerics.weight) + size(s.numerics.gradient) + state);
  const double tokens = static_cast<double>(s.batch * s.length);
  const double activations = std::visit(
      [&](const auto& c) {
        const auto layers = static_cast<double>(c.num_hidden_layers);
        const double rows = s.sequence_parallel ? tokens / static_cast<double>(s.tensor_parallel) : tokens;
        const double scores = tokens * static_cast<double>(s.length * c.num_attention_heads / s.tensor_parallel);
        // Kept for the backward: what enters the layer, or what enters each of its norms and matmuls.
        double per_layer = rows * static_cast<double>(c.hidden_size);
        if (s.recompute != workloads::Recompute::kFull)
          per_layer += 3 * rows * static_cast<double>(c.hidden_size) +
                       tokens * static_cast<double>(c.hidden_size + 2 * c.intermediate_size) /
                           static_cast<double>(s.tensor_parallel);
        if (s.recompute == workloads::Recompute::kNone) per_layer += scores;
        return layers * per_layer * size(s.numerics.activation);
      },
      stage);
  const auto kept = static_cast<double>(std::min(job.pipeline, s.micro_batches));
  return static_cast<std::uint64_t>(parameters + activations * kept);
}

DecoderMemory decoder_memory(const DecoderJob& job, const hw::MachineParams& stage, runtime::BlockCache* blocks) {
  // More micro-batches than these need no more memory.
  return memory_of(job, compile_stage(job, std::min<std::int64_t>(job.step.micro_batches, 2), blocks), stage);
}

DecoderProjection project(const DecoderJob& job, const hw::MachineParams& stage, runtime::BlockCache* blocks) {
  constexpr const char* kSmaller =
      "use --recompute full, --zero_1, a larger --tensor_parallel_size or a smaller --per_device_train_batch_size";
  if (!job.may_exceed_memory) {  // to compile what cannot fit by far takes longer than to see that it does not
    const std::uint64_t least = least_memory(job);
    runtime::require_fit("train", {{"at least", least}}, least, stage.hbm_bytes_per_core(), kSmaller);
  }
  DecoderProjection p = compile_job(job, stage, blocks);
  if (!job.may_exceed_memory)
    runtime::require_fit("train", p.memory.by_kind, p.memory.total, p.memory.capacity, kSmaller);
  simulate_job(job, stage, p);
  return p;
}

DecoderProjection compile_job(const DecoderJob& job, const hw::MachineParams& stage, runtime::BlockCache* blocks) {
  DecoderProjection p;
  p.compiled = compile_stage(job, simulated_of(job), blocks);
  p.memory = memory_of(job, p.compiled, stage);
  return p;
}

void simulate_job(const DecoderJob& job, const hw::MachineParams& stage, DecoderProjection& p) {
  const isa::Program& program = p.compiled.program;
  p.device = hw::simulate_in_child(program, stage, {.exact = job.exact, .any_memory = job.may_exceed_memory});
  p.micro_seconds = time_of_micro_batch(program, p.device);
  p.bubble_seconds = static_cast<double>(job.pipeline - 1) * p.micro_seconds;
  p.device_seconds = hw::seconds(p.device.total - p.device.lead_in) +
                     static_cast<double>(job.step.micro_batches - simulated_of(job)) * p.micro_seconds +
                     p.bubble_seconds;
  p.computed_seconds = p.device_seconds;
  time_job(job, stage, p);
}

void time_job(const DecoderJob& job, const hw::MachineParams& stage, DecoderProjection& p) {
  p.steps = std::max(1.0, job.sequences / job.sequences_per_step());
  p.time = analysis::job_time(analysis::load_stack(job.stack), shape_of(job, p));
  p.model_flops = workloads::decoder_flops(job.config, job.step);
  p.mfu = p.model_flops / (p.device_seconds * static_cast<double>(job.cores()) * p.device.peaks.matmul_flops);
  p.dollars = analysis::cost_of(p.time.total, stage.price_on_demand.value, static_cast<int>(job.instances), job.epochs,
                                p.steps * job.sequences_per_step())
                  .run;
}

workloads::ModelConfig decoder_config(const std::string& name_or_folder) {
  workloads::ModelConfig config = workloads::is_model_preset(name_or_folder) ? workloads::model_preset(name_or_folder)
                                  : std::filesystem::exists(name_or_folder)
                                      ? workloads::load_model_config(name_or_folder)
                                      : workloads::model_preset(name_or_folder);
  if (std::holds_alternative<workloads::BertConfig>(config))
    throw Error{Fault::kUsage, name_or_folder, "is an encoder: its plans are data parallel alone",
                "use trnsim run bert_emotion --mode timed, or name a Llama or GPT"};
  return config;
}

DecoderJob decoder_job(const TrainOptions& o, const workloads::ModelConfig& config, double sequences) {
  const hw::MachineParams machine = hw::load_machine(o.instance_type, o.set);
  const std::int64_t cores = cores_of(o, machine), share = o.tensor_parallel_size * o.pipeline_parallel_size;
  if (cores % share != 0)
    throw Error{
        Fault::kUsage, "--tensor_parallel_size",
        fmt::format("TP {} x PP {} does not divide {} cores", o.tensor_parallel_size, o.pipeline_parallel_size, cores),
        "choose degrees whose product divides the cores"};
  const std::string numerics = o.numerics.empty() || o.numerics == "off" ? "bf16" : o.numerics;
  DecoderJob job{.config = config, .step = {}};
  job.step = {.batch = o.per_device_train_batch_size,
              .length = o.max_length > 0 ? o.max_length : 2048,
              .micro_batches = o.gradient_accumulation_steps,
              .ranks = static_cast<std::uint32_t>(cores / share),
              .training = true,
              .numerics = runtime::numerics(o.optimizer_use_master_weights && numerics.starts_with("bf16")
                                                ? "bf16+fp32-optimizer" + numerics.substr(4)
                                                : numerics),
              .adam_beta1 = o.adam_beta1,
              .adam_beta2 = o.adam_beta2,
              .adam_epsilon = o.adam_epsilon,
              .weight_decay = o.weight_decay,
              .max_grad_norm = o.max_grad_norm,
              .tensor_parallel = o.tensor_parallel_size,
              .sequence_parallel = o.tensor_parallel_size > 1 && !o.disable_sequence_parallel,
              .zero1 = o.zero_1,
              .master_weights = o.optimizer_use_master_weights,
              .recompute = workloads::recompute_of(o.recompute)};
  job.pipeline = o.pipeline_parallel_size;
  job.instances = o.nnodes;
  job.sequences = sequences > 0 ? sequences : job.sequences_per_step();
  job.epochs = o.num_train_epochs;
  job.log_every = static_cast<double>(o.logging_steps);
  if (!o.stack.empty()) job.stack = o.stack;
  job.passes = runtime::parse_passes(
      analysis::passes_of(analysis::load_stack(job.stack), static_cast<double>(job.step.length), o.passes));
  job.exact = o.exact;
  return job;
}

std::optional<DecoderJob> nearest_that_fits(DecoderJob job, const std::string& instance,
                                            const std::vector<std::string>& set) {
  const auto fits = [&](const DecoderJob& candidate) {
    try {
      const hw::MachineParams stage = stage_machine(candidate, instance, set);
      return least_memory(candidate) <= stage.hbm_bytes_per_core() && decoder_memory(candidate, stage).fits();
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
