#include "trnsim/projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "analysis/cost/cost.h"
#include "analysis/host/stack.h"
#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "runtime/compiler/program_cache.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/generate/inference_time.h"
#include "trnsim/job/lengths.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/known_facts.h"
#include "trnsim/project/least_time.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/same_device.h"
#include "trnsim/project/stages.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

/// FLOPs of a step on all cores.
double flops_of(const Job& job) { return job.model->flops(job.step); }

/// The operations that one process traces: for a pipeline, those of a stage's share of the layers.
workloads::FrameworkOps traced_ops_of(const Job& job, KnownFacts& known) {
  const std::int64_t layers = job.model->sizes().layers / job.step.plan.pipeline;
  return known.with_layers(job.model, layers)->traced_ops(job.step);
}

/// Checkpoints of one instance. Adapters are saved without the frozen weights; cores that share a model save their
/// parts of it, those that share the optimizer's state theirs, and of copies one is saved.
analysis::Checkpoints checkpoints_of(const Job& job, double steps, KnownFacts& known) {
  const runtime::Plan& plan = job.step.plan;
  const SavePlan& save = job.sizes.save;
  const double trained = known.trained(job.model);
  const auto size = [](isa::Dtype type) { return static_cast<double>(isa::size_of(type)); };
  const double state = trained * (2 * size(plan.numerics.optimizer) + (plan.master_weights ? 4 : 0));
  const auto instances = static_cast<double>(job.instances());
  const double cores = static_cast<double>(job.cores()) / instances;
  const double of_model = std::max(1.0, std::ceil(static_cast<double>(plan.tensor * plan.pipeline) / cores));
  return {.count = save.every > 0 ? std::floor(steps / static_cast<double>(save.every)) : 0,
          .bytes = trained * size(plan.numerics.weight) / of_model + state / (plan.zero1 ? instances : of_model),
          .disk_rate = save.disk_rate,
          .in_background = save.in_background};
}

/// A job as its host sees it.
analysis::JobShape shape_of(const Job& job, const analysis::Stack& stack, const Projection& p, KnownFacts& known) {
  const runtime::Plan& plan = job.step.plan;
  const workloads::FrameworkOps ops = traced_ops_of(job, known);
  analysis::TracedModel traced{.forward_ops = ops.forward,
                               .backward_ops = ops.backward,
                               .tensors = ops.tensors,
                               .micro_steps = static_cast<double>(plan.micro_batches),
                               .optimizer = job.step.optimizer.name,
                               .clips = job.step.optimizer.max_grad_norm > 0,
                               .optimizer_ops = stack.optimizer_ops.value};
  analysis::JobShape shape;
  shape.steps = p.steps;
  shape.device_step_seconds = p.device_seconds;
  shape.traced_ops = analysis::traced_ops(traced);
  traced.micro_steps = 1;  // micro-batches are one graph, compiled once
  shape.compiled_ops = analysis::traced_ops(traced);
  shape.launches = static_cast<double>(plan.micro_batches);
  shape.cores = static_cast<int>(job.cores() / job.instances());
  shape.physical_cores = job.machine.physical_cores();
  shape.started = job.sizes.samples > 0 || job.sizes.max_steps >= 0;  // a whole job, not a step of one
  shape.samples_per_step = static_cast<double>(plan.micro_batch * plan.micro_batches);
  shape.bytes_in_per_step = shape.samples_per_step * job.model->input_bytes(job.step.kind);
  shape.prefetch = true;  // torch-xla's MpDeviceLoader has a thread of its own
  shape.loaders = std::max(1.0, job.sizes.loaders);
  shape.log_every = job.sizes.log_every;
  shape.checkpoints = checkpoints_of(job, p.steps, known);
  if (p.eval_seconds > 0) {
    const auto at_once = static_cast<double>(job.sizes.eval_batch * plan.data * plan.pipeline);
    shape.eval_passes = job.evaluations();
    shape.eval_steps = std::ceil(static_cast<double>(job.sizes.eval_samples) / at_once);
    shape.eval_device_step_seconds = p.eval_seconds;
    shape.eval_traced_ops = ops.forward;
  }
  return shape;
}

/// The time of a job of one length.
void time_one(const Job& job, const analysis::Stack& stack, Projection& p) {
  p.steps = job.steps();
  p.samples = job.samples();
  KnownFacts own;
  p.time = analysis::job_time(stack, shape_of(job, stack, p, own));
  p.model_flops = flops_of(job);
}

void add_time(analysis::JobTime& to, const analysis::JobTime& more, double share) {
  to.total += more.total, to.compile += more.compile, to.start += more.start;
  to.step += share * more.step, to.host_step += share * more.host_step, to.device_step += share * more.device_step;
  to.checkpoint = std::max(to.checkpoint, more.checkpoint), to.restore = std::max(to.restore, more.restore);
  to.background = std::max(to.background, more.background);
  to.compile_first = std::max(to.compile_first, more.compile_first), to.overlapped = more.overlapped;
  for (std::size_t i = 0; i < more.parts.size(); ++i) {
    if (i == to.parts.size()) to.parts.push_back({more.parts[i].name, 0});
    to.parts[i].seconds += more.parts[i].seconds;
  }
}

/// Steps of each length one after the other, in any order: the time of a step is their mean.
void time_lengths(const Job& job, const analysis::Stack& stack, Projection& p) {
  p.steps = job.steps(), p.samples = job.samples();
  p.time = {}, p.model_flops = p.device_seconds = 0;
  for (std::size_t i = 0; i < p.lengths.size(); ++i) {
    LengthTime& of = p.lengths[i];
    const Job part = of_length(job, i);
    if (part.steps() <= 0) continue;
    Projection q;
    q.device_seconds = of.device_seconds, q.eval_seconds = of.eval_seconds;
    time_one(part, stack, q);
    const double share = q.steps / p.steps;
    of.samples = q.samples, of.steps = q.steps, of.step_seconds = q.time.step, of.seconds = q.time.total;
    p.device_seconds += share * of.device_seconds, p.model_flops += share * q.model_flops;
    add_time(p.time, q.time, share);
  }
}

/// The expected time of a job that is interrupted.
std::optional<analysis::InterruptedTime> interrupted(const Job& job, const Projection& p) {
  if (job.sizes.save.interrupted_every <= 0) return {};
  const analysis::Interruptions at{.every = job.sizes.save.interrupted_every,
                                   .checkpoint = p.time.checkpoint,
                                   .restart = p.time.start + p.time.restore,
                                   .background = p.time.background};
  const double work = p.time.total - p.time.part("checkpoints") - p.time.part("start");
  const double steps = std::clamp(std::round(best_interval(at, work, p.time.step) / p.time.step), 1.0, p.steps);
  analysis::InterruptedTime out{.save_steps = steps, .checkpoint = at.wait(steps * work / p.steps)};
  const auto every = [&](double n) { return p.time.part("start") + expected_seconds(at, work, n * work / p.steps); };
  out.seconds = every(steps);
  if (!std::isfinite(out.seconds))
    throw base::Error{base::Fault::kUsage, "`interrupted_every`",
                      fmt::format("the job would never end: a restart alone takes {}",
                                  base::readable(at.restart, base::Dimension::kTime)),
                      "give a longer time"};
  if (const auto own = static_cast<double>(job.sizes.save.every); own > 0) out.as_saved = every(std::min(own, p.steps));
  if (const auto price = job.sizes.save.interrupted_price)
    out.dollars = analysis::dollars_of(out.seconds, *price, static_cast<double>(job.instances()));
  return out;
}

void time_job(const Job& job, Projection& p) {
  const analysis::Stack stack = job.load_stack();
  p.lengths.empty() ? time_one(job, stack, p) : time_lengths(job, stack, p);
  const double peak = static_cast<double>(job.cores()) * p.stage().device().peaks.matmul_flops;
  p.mfu = p.model_flops / (p.device_seconds * peak);
  p.job_mfu = p.model_flops / (p.time.step * peak);
  // Each core takes its part of the weights; one replica of the model is saved.
  const double weights = job.parameters() * static_cast<double>(isa::size_of(job.step.plan.numerics.weight));
  const double replicas = static_cast<double>(job.step.plan.data) / static_cast<double>(job.instances());
  p.end_to_end = p.time.total + weights * (std::max(1.0, replicas) + 1) / stack.copy_bandwidth.value;
  p.time.interrupted = interrupted(job, p);
  p.price_per_hour = job.price_per_hour;
  if (p.price_per_hour)
    p.dollars = analysis::cost_of(p.time.total, *p.price_per_hour, static_cast<int>(job.instances()), job.sizes.epochs,
                                  p.samples)
                    .run;
}

}  // namespace

void open_compile_cache(Settings& settings) {
  if (!settings.machine.compile_cache.empty())
    settings.machine.programs = std::make_shared<runtime::ProgramCache>(settings.machine.compile_cache);
}

std::string text_of(const runtime::ProgramCache& cache) {
  const runtime::CacheUse use = cache.use();
  return fmt::format("programs: {} from the cache, {} compiled", use.found, use.compiled);
}

namespace {

LengthTime time_of(std::int64_t length, const Projection& p) {
  return {.length = length, .device_seconds = p.device_seconds, .eval_seconds = p.eval_seconds};
}

/// The lengths beside the longest, which `p` has, and the one length instead of them.
void add_lengths(const Job& job, ProjectOptions options, Projection& p) {
  options.trace = {};
  for (std::size_t i = 0; i + 1 < job.sizes.lengths.size(); ++i)
    p.lengths.push_back(time_of(job.sizes.lengths[i].length, project_if_it_fits(of_length(job, i), options)));
  p.lengths.push_back(time_of(job.step.kind.length, p));
  const Job one = of_one_length(job);
  if (one.step.kind.length == job.step.kind.length) {
    p.one_length = p.lengths.back();
  } else if (const Projection q = project_if_it_fits(one, options); q.memory.fits()) {
    p.one_length = time_of(one.step.kind.length, q);
  }
}

Projection project_training(const Job& job, const ProjectOptions& given) {
  // Compiling a job that cannot fit by far takes longer than detecting it.
  Projection p;
  if (!given.any_memory) {
    p.memory = least_memory(job);
    if (!p.memory.fits()) return p;
  }
  std::optional<SharedBlocks> own;  // stages and lengths have the same layers
  ProjectOptions options = given;
  if (!options.shared) options.shared = &own.emplace(job.machine.target());
  SharedBlocks& shared = *options.shared;
  CompiledStages compiled =
      compile_stages(job, shared,
                     {.micro_batches = options.micro_batches,
                      .give_up_at = options.give_up && !options.any_memory ? job.machine.hbm_bytes_per_core() : 0});
  p.memory = std::move(compiled.memory);
  p.micro_batches = compiled.micro_batches;
  if (!p.memory.fits() && !options.any_memory) return p;
  const SimulateStages simulate{
      .exact = options.exact, .any_memory = options.any_memory, .in_child = options.in_child, .trace = options.trace};
  const StepTime time = simulate_stages(job, compiled, shared, simulate);
  p.stages = std::move(compiled.stages);
  p.slowest = time.slowest;
  p.device_seconds = time.seconds, p.micro_seconds = time.micro_seconds, p.bubble_seconds = time.bubble_seconds;
  if (job.sizes.eval_samples > 0) p.eval_seconds = simulate_evaluation(job, shared, simulate);
  if (!job.sizes.lengths.empty()) add_lengths(job, options, p);
  time_job(job, p);
  return p;
}

}  // namespace

Projection project_if_it_fits(const Job& job, const ProjectOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Projection p = !job.generation                   ? project_training(job, options)
                 : job.generation->new_tokens == 0 ? project_inference(job, options)
                                                   : project_generation(job, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  base::log_debug("projected in {:.2f} s: {} on {}: {}", took.count(), describe(job), job.machine.name,
                  p.memory.fits() || options.any_memory
                      ? fmt::format("a step of {}", base::readable(p.time.step, base::Dimension::kTime))
                      : fmt::format("{} per core do not fit",
                                    base::readable(static_cast<double>(p.memory.total), base::Dimension::kBytes)));
  return p;
}

Projection project(const Job& job, const ProjectOptions& options) {
  Projection p = project_if_it_fits(job, options);
  if (!options.any_memory) require_fit(job, p.memory);
  return p;
}

namespace {

/// FLOPs of a step with those that recomputation adds: a second forward pass of all layers when it is full.
double computed_flops(const Job& job, KnownFacts& known) {
  const double once = flops_of(job);
  if (job.step.plan.recompute != runtime::Recompute::kFull) return once;
  const auto of = [&](std::int64_t layers) { return known.with_layers(job.model, layers)->flops(job.step); };
  constexpr double kForward =
      1.0 / 3;  // of a training's FLOPs; less when not all weights are trained: their share is more
  return once + kForward * static_cast<double>(job.model->sizes().layers) * (of(2) - of(1));
}

}  // namespace

LeastTime::LeastTime(const Job& job, KnownFacts& known) {
  if (!job.sizes.lengths.empty()) return;
  const runtime::Plan& plan = job.step.plan;
  passes_ = static_cast<double>(plan.micro_batches), stages_ = static_cast<double>(plan.pipeline);
  // While a pipeline fills and drains, a stage waits for as many micro-batches as there are others.
  waits_ = (stages_ - 1) / (passes_ * static_cast<double>(plan.chunks));
  arithmetic_ =
      computed_flops(job, known) * (1 + waits_) / (static_cast<double>(job.cores()) * job.machine.peaks().matmul_flops);
  stack_ = known.stack(job);
  Projection p;
  p.steps = job.steps();
  shape_ = shape_of(job, *stack_, p, known);
}

double LeastTime::seconds(double pass) const {
  // The gradients of another stage's weights, a third of the FLOPs of its pass, are not waited for.
  constexpr double kWaitedFor = 2.0 / 3;
  if (!stack_) return 0;
  analysis::JobShape shape = shape_;
  shape.device_step_seconds = std::max(arithmetic_, pass / stages_ * passes_ * (1 + kWaitedFor * waits_));
  return analysis::job_time(*stack_, shape).total;
}

double least_seconds(const Job& job, double pass) {
  KnownFacts own;
  return LeastTime{job, own}.seconds(pass);
}

std::uint64_t device_hash(const Job& job) {
  const analysis::Stack stack = job.load_stack();
  Job device = job;
  // Evaluation has a program of its own; of the software only its memory and how it builds a prompt's program are on
  // the device.
  device.sizes = {.eval_samples = std::min<std::int64_t>(job.sizes.eval_samples, 1),
                  .eval_batch = job.sizes.eval_batch,
                  .one_length = {.length = job.sizes.one_length.length, .passes = job.sizes.one_length.passes}};
  for (const LengthShare& one : job.sizes.lengths)
    device.sizes.lengths.push_back({.length = one.length, .passes = one.passes});
  device.stack.clear();
  for (const analysis::Stack::Field& field : analysis::Stack::fields())
    if (field.on_device) device.stack += fmt::format("{} ", (stack.*field.member).value);
  device.stack_changes = {}, device.purchase = {}, device.price_per_hour = {};
  return hash_of(device);
}

Projection with_host_of(const Job& job, Projection device) {
  if (job.generation)
    job.generation->new_tokens == 0 ? time_inference(job, device) : time_generation(job, device);
  else
    time_job(job, device);
  return device;
}

std::map<std::string, double> runtime_on_other_instances(const Job& job, const Projection& projection,
                                                         std::span<const std::string> set) {
  std::map<std::string, double> out;
  if (job.instances() > 1) return out;
  Projection timed = projection;  // copied once: it holds the programs
  for (const std::string& name : hw::machine_names()) {
    Job there = job;
    if (problem_of([&] { there.machine = hw::load_machine(name, set); })) continue;  // has no such parts to change
    const bool enough = there.machine.instance_cores() >= job.cores();
    if (!job.generation && there.machine.training.value == 0) continue;
    if (name == job.machine.name || !enough || !same_device(job.machine, there.machine, job.cores())) continue;
    timed = with_host_of(there, std::move(timed));
    out[name] = timed.time.total;
  }
  return out;
}

}  // namespace trnsim
