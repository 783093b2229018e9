#include "trnsim/project/figures.h"

#include <fmt/format.h>

#include "analysis/cost/cost.h"
#include "base/text.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/job/lengths.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/compiler_memory.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using analysis::Maybe;

analysis::ModelFigures model_figures(const workloads::ModelPtr& model) {
  analysis::ModelFigures out{.family = base::lower(model->family()),
                             .layers = model->sizes().layers,
                             .hidden = model->sizes().hidden,
                             .parameters = static_cast<double>(workloads::parameter_count(model->weights())),
                             .trained_parameters = {}};
  if (model->lora()) out.trained_parameters = static_cast<double>(workloads::trained_count(model->weights()));
  return out;
}

Maybe evaluation_seconds(const Job& job, const Projection& p) {
  return job.evaluations() > 0 ? Maybe{p.time.part("evaluation") / job.evaluations()} : Maybe{};
}

/// Figures that a generation does not have, or has under another name.
Maybe of_training(const Job& job, double value) { return job.generation ? Maybe{} : value; }

analysis::TimeFigures time_figures(const Job& job, const Projection& p) {
  const GenerationTime* g = p.generation ? &*p.generation : nullptr;
  return {.step_seconds = p.time.step,
          .device_step_seconds = p.time.device_step,
          .host_step_seconds = p.time.host_step,
          .collectives_exposed_seconds = hw::seconds(p.stage().device().collective_exposed),
          .train_runtime = of_training(job, p.time.total),
          .end_to_end_seconds = p.end_to_end,
          .evaluation_seconds = evaluation_seconds(job, p),
          .evaluations_seconds = of_training(job, p.time.part("evaluation")),
          .read_backs_seconds = of_training(job, p.time.part("logging")),
          .checkpoints_seconds = of_training(job, p.time.part("checkpoints")),
          .interrupted_runtime = p.time.interrupted ? Maybe{p.time.interrupted->seconds} : Maybe{},
          .interrupted_save_steps = p.time.interrupted ? Maybe{p.time.interrupted->save_steps} : Maybe{},
          .interrupted_as_saved_runtime = p.time.interrupted ? p.time.interrupted->as_saved : Maybe{},
          .generate_runtime = g ? Maybe{p.time.total} : Maybe{},
          .time_to_first_token_seconds = g ? Maybe{g->first_token} : Maybe{},
          .time_per_output_token_p50_seconds = g && !g->tokens.empty() ? Maybe{g->per_token} : Maybe{},
          .stack = job.stack,
          .overlapped = p.time.overlapped,
          .parts = p.time.parts,
          .other_instances = {}};
}

analysis::CompileFigures compile_figures(const Job& job, const Projection& p) {
  const CompileCost compile = compile_cost(job, p);
  // How long a generation's cached programs take to load is not modelled.
  return {.start_seconds = of_training(job, p.time.part("start")),
          .compile_seconds = p.time.compile,
          .compile_first_seconds = p.time.compile_first,
          .largest_module = compile.instructions,
          .largest_module_limit = compile.limit,
          .host_memory_bytes = compile.host_bytes,
          .host_capacity_bytes = compile.host_capacity};
}

/// Operations of one pass over the whole model, on however many cores.
double framework_ops(const Job& job) {
  const workloads::FrameworkOps ops = job.model->traced_ops(job.step);
  return ops.forward + (job.generation ? 0 : ops.backward);
}

analysis::WorkFigures work_figures(const Job& job, const Projection& p) {
  const bool reads = job.generation && !writes_text(*job.model);  // requests whose tokens are those read
  const double of_sample = reads            ? static_cast<double>(job.generation->prompt_tokens)
                           : job.generation ? p.steps
                                            : job.mean_length();
  const double tokens = p.samples * of_sample;
  return {.sequences_per_step = job.sequences_per_step(),
          .tokens_per_step = job.tokens_per_step(),
          .model_flops_per_step = p.model_flops,
          .steps = p.steps,
          .samples = p.samples,
          .tokens = tokens,
          .job_model_flops = p.model_flops * p.steps,
          .train_samples_per_second = of_training(job, p.samples_per_second()),
          .train_steps_per_second = of_training(job, p.steps / p.time.total),
          .job_mfu_percent = 100 * p.job_mfu,
          .device_mfu_percent = 100 * p.mfu,
          .instance_tokens_per_second = job.generation ? Maybe{tokens / p.time.total * copies_of(job)} : Maybe{},
          .framework_ops = framework_ops(job),
          .texts = {}};
}

analysis::PlanFigures plan_figures(const Job& job, const Projection& p) {
  const runtime::Plan& plan = job.step.plan;
  analysis::PlanFigures out;
  out.text = describe(job), out.numerics = plan.numerics.name;
  out.tensor = plan.tensor, out.pipeline = plan.pipeline, out.data = plan.data;
  out.micro_batches = plan.micro_batches;
  out.bubble_seconds = p.bubble_seconds;
  if (plan.pipeline == 1) return out;
  out.micro_batch_seconds = p.micro_seconds;
  out.recorded_micro_batches = p.micro_batches;
  out.slowest_stage = static_cast<std::int64_t>(p.slowest);
  for (const Stage& stage : p.stages)
    out.stage_seconds.push_back(hw::seconds(stage.device().total - stage.device().lead_in));
  return out;
}

analysis::CostFigures cost_figures(const Job& job, const Projection& p) {
  if (!p.price_per_hour) return {};
  if (job.generation) {
    const double copies = copies_of(job);
    return {.price_per_hour = p.price_per_hour,
            .copies_per_instance = copies > 1 ? Maybe{copies} : Maybe{},
            .dollars = p.dollars,
            .dollars_per_epoch = {},
            .dollars_per_1k_samples = *p.dollars / p.samples * 1000,
            .interrupted_dollars = {}};
  }
  const analysis::Cost cost = analysis::cost_of(p.time.total, *p.price_per_hour, static_cast<int>(job.instances()),
                                                job.sizes.epochs, p.samples);
  return {.price_per_hour = p.price_per_hour,
          .copies_per_instance = {},
          .dollars = cost.run,
          .dollars_per_epoch = cost.per_epoch,
          .dollars_per_1k_samples = cost.per_1k_samples,
          .interrupted_dollars =
              p.time.interrupted && p.time.interrupted->dollars ? Maybe{*p.time.interrupted->dollars} : Maybe{}};
}

std::vector<analysis::EngineFigures> engine_figures(const hw::SimResult& result) {
  std::vector<analysis::EngineFigures> out;
  for (const analysis::EngineShare& e : analysis::engine_shares(result)) {
    auto& engine = out.emplace_back();
    engine.engine = e.engine, engine.busy = e.busy, engine.idle = e.idle, engine.instructions = e.instructions;
    for (std::size_t h = 0; h < hw::kHoldCount; ++h) engine.waiting.emplace_back(hw::kHoldNames[h], e.waiting[h]);
  }
  return out;
}

}  // namespace

analysis::MemoryFigures figures_of(const Memory& memory) {
  analysis::MemoryFigures out;
  for (const auto& [kind, bytes] : memory.by_kind) out.kinds.emplace_back(kind, bytes);
  for (const auto& [part, bytes] : compiler_parts(memory)) out.compiler.emplace_back(part, bytes);
  out.hbm_bytes = static_cast<double>(memory.total), out.hbm_capacity_bytes = static_cast<double>(memory.capacity);
  out.verdict = verdict(memory);
  return out;
}

analysis::AnswerFigures figures_of(const Answer& answer, const std::optional<std::vector<Change>>& changes) {
  analysis::AnswerFigures out{.time = answer.time,
                              .dollars = answer.dollars,
                              .memory = answer.memory,
                              .bound_by = answer.bound,
                              .sure = answer.sure,
                              .interrupted = answer.interrupted,
                              .binds = answer.binds,
                              .changes = {}};
  if (!changes) return out;
  out.changes.emplace();
  for (std::size_t i = 0; i < changes->size(); ++i) {
    const Change& change = (*changes)[i];
    analysis::ChangeFigures& one = out.changes->emplace_back();
    one.settings = change.settings;
    one.text = answer.changes[i].text;
    one.command = answer.changes[i].command;  // without the program's folder: the file is read elsewhere
    one.command.erase(0, one.command.find_last_of('/', one.command.find(' ')) + 1);
    one.speed_up_percent = 100 * change.speed_up, one.runtime = change.seconds, one.dollars = change.dollars;
  }
  return out;
}

analysis::Figures figures_of(const Job& job, const Projection& p) {
  analysis::Figures out;
  out.workload.model = model_figures(job.model);
  out.workload.samples = static_cast<std::int64_t>(job.sizes.samples);
  out.machine.instance_type = job.machine.name, out.machine.hash = fmt::format("{:016x}", job.machine.hash);
  out.machine.instances = static_cast<double>(job.instances()), out.machine.cores = static_cast<double>(job.cores());
  out.time = time_figures(job, p);
  out.compile = compile_figures(job, p);
  out.work = work_figures(job, p);
  if (!p.lengths.empty()) out.lengths = lengths_figures(job, p);
  out.plan = plan_figures(job, p);
  out.cost = cost_figures(job, p);
  const hw::SimResult& device = p.stage().device();
  out.core = analysis::core_figures(analysis::utilisation(device, p.stage().compiled().program));
  out.engines = engine_figures(device);
  out.resources = analysis::resources(device);
  out.memory = figures_of(p.memory);
  for (const auto& [name, bytes, count] : p.stage().compiled().memory.fullest)
    out.memory.fullest.push_back(
        {.name = name, .bytes = static_cast<std::int64_t>(bytes), .count = static_cast<std::int64_t>(count)});
  return out;
}

}  // namespace trnsim
