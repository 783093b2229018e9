#include "trnsim/decoder_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/stack.h"
#include "base/error.h"
#include "hw/replica_groups.h"
#include "trnsim/project.h"
#include "workloads/model_files.h"
#include "workloads/presets.h"
#include "workloads/shards.h"
#include "workloads/weights.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// The step of one stage as a model of its own.
workloads::StepSpec stage_spec(const DecoderJob& job) {
  workloads::StepSpec step = job.step;
  step.virtual_stages = 1;
  return step;
}

}  // namespace

workloads::ModelConfig stage_config(const DecoderJob& job) {
  workloads::check({.tensor_parallel_size = job.step.tensor_parallel,
                    .pipeline_parallel_size = job.pipeline,
                    .virtual_pipeline_size = job.step.virtual_stages},
                   job.config);
  workloads::ModelConfig stage = job.config;
  std::visit([&](auto& c) { c.num_hidden_layers /= job.pipeline; }, stage);
  return stage;
}

workloads::DecoderStep stage_step(const DecoderJob& job, std::int64_t micro_batches) {
  workloads::StepSpec step = stage_spec(job);
  step.micro_batches = micro_batches;
  return workloads::decoder_step(stage_config(job), step);
}

runtime::CompileOptions stage_options(const DecoderJob& job) {
  const workloads::StepSpec step = stage_spec(job);
  return {.name = "train", .ranks = step.world(), .passes = job.passes};
}

workloads::StepSpec step_of_stages(const DecoderJob& job) {
  workloads::StepSpec step = job.step;
  step.pipeline_parallel = job.pipeline;
  return step;
}

std::int64_t micro_batches_to_run(const DecoderJob& job) {
  const std::int64_t rounds = job.step.virtual_stages > 1 ? 3 : 2;
  return std::min(job.step.micro_batches, rounds * job.pipeline);
}

DecoderMemory memory_of(const runtime::Compiled& compiled, const hw::MachineParams& machine) {
  return {.by_kind = compiled.memory.bytes_by_kind,
          .total = compiled.memory.total,
          .capacity = machine.hbm_bytes_per_core()};
}

hw::MachineParams load_cluster(const std::string& instance, std::vector<std::string> set, std::int64_t instances) {
  if (instances > 1) set.push_back(fmt::format("cluster.instances={}", instances));
  return hw::load_machine(instance, set);
}

JobMachines machines_of(const DecoderJob& job, const std::string& instance, const std::vector<std::string>& set) {
  const hw::MachineParams one = hw::load_machine(instance, set);
  const std::int64_t there = static_cast<std::int64_t>(one.instance_cores()) * job.instances;
  if (job.cores() > there)
    throw Error{Fault::kUsage, "plan",
                fmt::format("needs {} cores (TP {} x PP {} x DP {}), {} x {} have {}", job.cores(),
                            job.step.tensor_parallel, job.pipeline, job.step.ranks, job.instances, instance, there),
                "use more --nnodes, or a smaller plan"};
  const std::int64_t per_stage = job.instances / job.pipeline;
  return {.whole = load_cluster(instance, set, job.instances),
          .stage = per_stage > 1 ? load_cluster(instance, set, per_stage) : one};
}

void require_groups(const DecoderJob& job, const hw::MachineParams& whole) {
  const workloads::StepSpec step = step_of_stages(job);
  const auto groups = workloads::decoder_groups(job.config, step);
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
  DecoderJob job{.config = config, .step = {}, .price = {.set = o.set}};
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
              .virtual_stages = o.virtual_pipeline_size,
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

bool is_decoder(const workloads::Job& job) {
  return workloads::is_model_preset(job.model) &&
         !std::holds_alternative<workloads::BertConfig>(workloads::model_preset(job.model));
}

std::string describe(const DecoderJob& job) {
  const workloads::StepSpec& s = job.step;
  const std::string chunks = s.virtual_stages > 1 ? fmt::format(" x {} chunks", s.virtual_stages) : "";
  return fmt::format("TP {}, PP {}{}, DP {}{}{}{}, recompute {}, {} micro-batches of {} x {}", s.tensor_parallel,
                     job.pipeline, chunks, s.ranks, s.sequence_parallel ? ", sequence parallel" : "",
                     s.zero1 ? ", ZeRO-1" : "", s.master_weights ? ", fp32 master weights" : "",
                     workloads::name_of(s.recompute), s.micro_batches, s.batch, s.length);
}

std::string flags_of(const DecoderJob& job) {
  const workloads::StepSpec& s = job.step;
  std::string out =
      fmt::format("--tensor_parallel_size {} --pipeline_parallel_size {}", s.tensor_parallel, job.pipeline);
  if (s.batch > 1) out += fmt::format(" --per_device_train_batch_size {}", s.batch);
  if (s.virtual_stages > 1) out += fmt::format(" --virtual_pipeline_size {}", s.virtual_stages);
  if (s.tensor_parallel > 1 && !s.sequence_parallel) out += " --disable_sequence_parallel";
  if (s.zero1) out += " --zero_1";
  if (s.master_weights) out += " --optimizer_use_master_weights";
  return out + fmt::format(" --recompute {} --gradient_accumulation_steps {}", workloads::name_of(s.recompute),
                           s.micro_batches);
}

}  // namespace trnsim
