#include "trnsim/project.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>

#include "analysis/cost.h"
#include "analysis/stack.h"
#include "base/error.h"
#include "hw/sim_device.h"
#include "isa/check.h"
#include "runtime/memory_plan.h"
#include "workloads/traced_ops.h"
#include "workloads/weights.h"

namespace trnsim {
namespace {

runtime::CompileOptions compile_options(const ProjectedJob& job, const char* name, const hw::MachineParams& machine) {
  return {.name = name, .ranks = job.step.ranks, .passes = job.passes, .hbm_bytes = machine.hbm_bytes_per_core()};
}

/// An evaluation batch, forward only; its weights lie where training left them.
runtime::Compiled compile_evaluation(const ProjectedJob& job, const hw::MachineParams& machine) {
  workloads::StepSpec spec = job.step;
  spec.training = false;
  spec.batch = job.eval_batch;
  spec.micro_batches = 1;
  return runtime::compile(workloads::bert_graph(job.config, spec), machine.target(),
                          compile_options(job, "evaluate", machine));
}

/// Bytes that one rank's host copies in per sequence: ids, types and mask as int64, as the framework holds them.
double input_bytes(const workloads::StepSpec& spec) {
  return static_cast<double>(spec.batch * spec.micro_batches * spec.length) * 3 * 8;
}

analysis::JobShape job_shape(const ProjectedJob& job, const Projection& p) {
  const workloads::StepSpec& spec = job.step;
  analysis::JobShape shape;
  shape.steps = p.steps;
  shape.device_step_seconds = hw::seconds(p.device.total - p.device.lead_in);
  const workloads::FrameworkOps ops = workloads::framework_ops(job.config, spec);
  shape.traced_ops = analysis::traced_ops({.forward_ops = ops.forward,
                                           .backward_ops = ops.backward,
                                           .tensors = ops.tensors,
                                           .micro_steps = static_cast<double>(spec.micro_batches),
                                           .optimizer = spec.optimizer});
  shape.launches = static_cast<double>(spec.micro_batches);
  shape.cores = static_cast<int>(spec.ranks);
  shape.samples_per_step = static_cast<double>(spec.batch * spec.micro_batches);
  shape.bytes_in_per_step = input_bytes(spec);
  shape.log_every = job.log_every;
  if (p.eval_device) {
    shape.eval_passes = std::floor(job.epochs);
    shape.eval_steps =
        std::ceil(static_cast<double>(job.eval_samples) / static_cast<double>(job.eval_batch * spec.ranks));
    shape.eval_device_step_seconds = hw::seconds(p.eval_device->total - p.eval_device->lead_in);
    shape.eval_traced_ops = ops.forward;
  }
  return shape;
}

/// What no compiler can do without, per core: weights, gradients, moments, and of each layer what its backward pass
/// reads: the inputs of its six linear layers (of which three are one) and attention's probabilities.
std::map<std::string, std::uint64_t> least_memory(const ProjectedJob& job) {
  const workloads::StepSpec& s = job.step;
  const workloads::BertConfig& c = job.config;
  const auto size = [](isa::Dtype type) { return static_cast<double>(isa::size_of(type)); };
  const auto weights = static_cast<double>(workloads::parameter_count(workloads::bert_weights(c)));
  const auto tokens = static_cast<double>(s.batch * s.length);
  const double per_token = static_cast<double>(3 * c.hidden_size + c.intermediate_size) +
                           static_cast<double>(s.length * c.num_attention_heads);
  const double kept = static_cast<double>(c.num_hidden_layers) * tokens * per_token * size(s.numerics.activation);
  return {{"activations", static_cast<std::uint64_t>(kept)},
          {"gradients", static_cast<std::uint64_t>(weights * size(s.numerics.gradient))},
          {"optimizer", static_cast<std::uint64_t>(weights * 2 * size(s.numerics.optimizer))},
          {"weights", static_cast<std::uint64_t>(weights * size(s.numerics.weight))}};
}

/// To compile what cannot fit by far takes longer than to see that it does not.
void require_possible(const ProjectedJob& job, const hw::MachineParams& machine) {
  const auto least = least_memory(job);
  std::uint64_t total = 0;
  for (const auto& [kind, bytes] : least) total += bytes;
  runtime::require_fit("train, at the very least,", least, total, machine.hbm_bytes_per_core(),
                       "use a smaller --per_device_train_batch_size or --max_length");
}

}  // namespace

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint32_t cores_of(const TrainOptions& options, const hw::MachineParams& machine) {
  const std::int64_t most = machine.instance_cores();
  const std::int64_t cores = options.nproc_per_node > 0 ? options.nproc_per_node : most;
  if (cores > most)
    throw base::Error{base::Fault::kUsage, "--nproc_per_node",
                      fmt::format("{} cores, but {} has {}", cores, machine.name, most),
                      fmt::format("use --nproc_per_node {} or less, or a larger --instance_type", most)};
  return static_cast<std::uint32_t>(cores * options.nnodes);
}

ProjectedJob projected_job(const TrainOptions& o, const workloads::BertConfig& config, std::int64_t samples,
                           std::int64_t eval_samples) {
  const std::string passes =
      o.stack.empty() ? o.passes
                      : analysis::passes_of(analysis::load_stack(o.stack), static_cast<double>(o.max_length), o.passes);
  ProjectedJob job{.config = config,
                   .step = {},
                   .samples = samples,
                   .eval_samples = eval_samples,
                   .eval_batch = o.per_device_eval_batch_size,
                   .epochs = o.num_train_epochs,
                   .max_steps = o.max_steps,
                   .eval_each_epoch = o.eval_strategy == "epoch",
                   .log_every = static_cast<double>(o.logging_steps),
                   .stack = o.stack,
                   .passes = runtime::parse_passes(passes),
                   .exact = o.exact,
                   .price = {.set = o.set}};
  job.step = {.batch = o.per_device_train_batch_size,
              .length = o.max_length,
              .micro_batches = o.gradient_accumulation_steps,
              .ranks = 1,
              .training = true,
              .head = workloads::Head::kClassifier,
              .numerics = runtime::numerics(o.numerics.empty() || o.numerics == "off" ? "bf16" : o.numerics),
              .adam_beta1 = o.adam_beta1,
              .adam_beta2 = o.adam_beta2,
              .adam_epsilon = o.adam_epsilon,
              .weight_decay = o.weight_decay,
              .decay_all = false,
              .max_grad_norm = o.max_grad_norm};
  return job;
}

Projection project(const ProjectedJob& job, const hw::MachineParams& machine) {
  Projection p;
  const double begin = wall_clock();
  require_possible(job, machine);
  p.compiled = runtime::compile(workloads::bert_graph(job.config, job.step), machine.target(),
                                compile_options(job, "train", machine));
  isa::check(p.compiled.program, machine.target());
  const double compiled = wall_clock();
  p.device = hw::simulate(p.compiled.program, machine,
                          {.exact = job.exact, .trace_from = job.trace.from, .trace_until = job.trace.until});
  p.compile_seconds = compiled - begin;
  p.simulate_seconds = wall_clock() - compiled;
  if (job.eval_each_epoch && job.eval_samples > 0) {
    const runtime::Compiled evaluation = compile_evaluation(job, machine);
    p.eval_device = hw::simulate(evaluation.program, machine, {.exact = job.exact});
  }
  const double per_step = static_cast<double>(job.step.batch * job.step.micro_batches * job.step.ranks);
  p.steps = job.max_steps >= 0 ? static_cast<double>(job.max_steps)
                               : std::ceil(static_cast<double>(job.samples) / per_step * job.epochs);
  p.samples = job.max_steps >= 0 ? p.steps * per_step : static_cast<double>(job.samples) * job.epochs;
  p.time = analysis::job_time(analysis::load_stack(job.stack), job_shape(job, p));
  p.model_flops = p.compiled.program.model_flops * job.step.ranks;
  p.price_per_hour = analysis::price_per_hour(machine.name, job.price);
  if (p.price_per_hour)
    p.dollars = analysis::cost_of(p.time.total, *p.price_per_hour, static_cast<int>(machine.instances.value),
                                  job.epochs, p.samples)
                    .run;
  return p;
}

}  // namespace trnsim
