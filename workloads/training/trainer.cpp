#include "workloads/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "workloads/step/pipeline.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

TrainerState new_history(const TrainerOptions& options, std::int64_t max_steps) {
  TrainerState history;
  history.max_steps = max_steps;
  history.num_train_epochs = static_cast<std::int64_t>(std::ceil(options.epochs));
  history.logging_steps = options.logging_steps;
  history.save_steps = options.save_steps;
  history.train_batch_size = options.step.plan.micro_batch;
  return history;
}

}  // namespace

Trainer::Programs Trainer::compile(std::vector<runtime::Graph> train, std::vector<runtime::Graph> evaluation,
                                   const TrainerOptions& options, std::vector<std::vector<runtime::Graph>> shorter) {
  base::ensure(train.size() == evaluation.size(), "trainer", "a stage has no program");
  Programs out;
  std::uint64_t bytes = 0;
  for (std::size_t stage = 0; stage < train.size(); ++stage) {
    const Step spec = of_stage(options.step, static_cast<std::int64_t>(stage));
    out.train.push_back(runtime::compile(std::move(train[stage]), options.target,
                                         compile_options(spec, "train", options.passes, options.cache)));
    runtime::CompileOptions eval = compile_options(spec, "evaluate", options.passes, options.cache);
    eval.shared = &out.train.back().program.regions;
    out.evaluation.push_back(runtime::compile(std::move(evaluation[stage]), options.target, eval));
    bytes = std::max({bytes, out.train.back().program.hbm_bytes, out.evaluation.back().program.hbm_bytes});
  }
  for (std::vector<runtime::Graph>& graphs : shorter) {
    out.shorter.emplace_back();
    for (std::size_t stage = 0; stage < graphs.size(); ++stage) {
      runtime::CompileOptions same = compile_options(of_stage(options.step, static_cast<std::int64_t>(stage)), "train",
                                                     options.passes, options.cache);
      same.shared = &out.train[stage].program.regions;
      out.shorter.back().push_back(runtime::compile(std::move(graphs[stage]), options.target, same));
      bytes = std::max(bytes, out.shorter.back().back().program.hbm_bytes);
    }
  }
  // One device runs all in turn, so it needs room for the largest.
  const auto make_room = [bytes](std::vector<runtime::Compiled>& stages) {
    for (runtime::Compiled& stage : stages) stage.program.hbm_bytes = bytes;
  };
  make_room(out.train), make_room(out.evaluation);
  std::ranges::for_each(out.shorter, make_room);
  return out;
}

std::vector<Trainer::LengthPrograms> Trainer::programs_of_lengths() const {
  const std::vector<double> steps = steps_of_lengths();
  if (steps.empty()) return {{programs(), static_cast<double>(steps_per_epoch_)}};
  std::vector<LengthPrograms> out;
  for (std::size_t i = 0; i < steps.size(); ++i)
    out.push_back({i < programs_.shorter.size() ? programs_of(programs_.shorter[i]) : programs(), steps[i]});
  return out;
}

Step Trainer::eval_spec(const TrainerOptions& options) {
  Step spec = options.step;
  spec.plan.micro_batch = options.eval_batch;
  spec.plan.micro_batches = spec.plan.pipeline;
  spec.kind.training = false;
  return spec;
}

isa::Programs Trainer::programs_of(const std::vector<runtime::Compiled>& stages) {
  isa::Programs out;
  for (const runtime::Compiled& stage : stages) out.push_back(&stage.program);
  return out;
}

Trainer::Trainer(TrainerOptions options, Programs programs, std::int64_t steps_per_epoch)
    : options_{std::move(options)}, programs_{std::move(programs)}, steps_per_epoch_{steps_per_epoch} {
  device_ = options_.make_device();
  use_training();
  max_steps_ = options_.max_steps >= 0
                   ? options_.max_steps
                   : static_cast<std::int64_t>(std::ceil(options_.epochs * static_cast<double>(steps_per_epoch_)));
  warmup_ = options_.warmup_steps > 0
                ? options_.warmup_steps
                : static_cast<std::int64_t>(std::ceil(options_.warmup_ratio * static_cast<double>(max_steps_)));
  history_ = new_history(options_, max_steps_);
}

void Trainer::use(const std::vector<runtime::Compiled>& stages) {
  isa::Programs programs = programs_of(stages);
  if (loaded_ == programs) return;
  device_->load_all(programs);
  loaded_ = std::move(programs);
}

void Trainer::run_device(std::int64_t step) {
  device_->run(
      {.seed = options_.seed, .step = static_cast<std::uint32_t>(step), .host_threads = options_.host_threads});
}

void Trainer::evaluate_batch(std::size_t done, std::size_t all) {
  device_->run({.seed = options_.seed, .step = 0, .host_threads = options_.host_threads, .give_up = base::interrupted});
  if (on_eval_batch) on_eval_batch(static_cast<std::int64_t>(done), static_cast<std::int64_t>(all));
}

std::string Trainer::settings_text(const Model& model) const {
  const OptimizerSpec& o = options_.step.optimizer;
  return fmt::format("{} {} betas {} {} eps {} wd {} clip {} lr {} {} warmup {} steps {} seed {} model {}",
                     options_.step.plan.numerics.name, o.name, o.beta1, o.beta2, o.epsilon, o.weight_decay,
                     o.max_grad_norm, options_.learning_rate, options_.schedule, warmup_, max_steps_, options_.seed,
                     base::hash_text(base::hash64(model.config_json())));
}

void Trainer::go_on(const TrainProgress& progress) {
  done_ = progress.step;
  loss_sum_ = progress.loss_sum;
  unlogged_loss_ = progress.unlogged_loss, unlogged_steps_ = progress.unlogged_steps;
  history_.log_history = trainer_state_of(progress.history, options_.resume.string()).log_history;
}

StepRecord Trainer::next_step() {
  use_training();
  const Place place{.step = done_,
                    .epoch = done_ / steps_per_epoch_,
                    .in_epoch = done_ % steps_per_epoch_,
                    .rate = scheduled_rate(options_.schedule, options_.learning_rate, done_, warmup_, max_steps_)};
  const StepResult result = train_step(place);
  const StepRecord record{.step = done_ + 1,
                          .epoch = static_cast<double>(done_ + 1) / static_cast<double>(steps_per_epoch_),
                          .loss = result.loss,
                          .learning_rate = place.rate,
                          .grad_norm = result.grad_norm};
  if (!std::isfinite(record.loss))
    throw Error{Fault::kNumerics, fmt::format("step {}", record.step), fmt::format("the loss is {}", record.loss),
                "use a smaller `learning_rate`, more warm-up, or `numerics` bf16 or fp32"};
  done_ = record.step;
  loss_sum_ += record.loss;
  return record;
}

void Trainer::save_now() {
  history_.epoch = static_cast<double>(done_) / static_cast<double>(steps_per_epoch_);
  history_.global_step = done_;
  history_.total_flos = flops_per_step() * static_cast<double>(done_);
  if (options_.checkpoint.empty()) return;
  use_training();
  save({.fingerprint = fingerprint(),
        .step = done_,
        .loss_sum = loss_sum_,
        .unlogged_loss = unlogged_loss_,
        .unlogged_steps = unlogged_steps_,
        .history = trainer_state_json(history_)});
}

/// The mean loss since the last entry of the history.
void Trainer::log(const StepRecord& record) {
  unlogged_loss_ += record.loss;
  ++unlogged_steps_;
  if (record.step % options_.logging_steps != 0) return;
  history_.log_history.push_back({.epoch = record.epoch,
                                  .step = record.step,
                                  .values = {{"loss", unlogged_loss_ / static_cast<double>(unlogged_steps_)},
                                             {"learning_rate", record.learning_rate},
                                             {"grad_norm", record.grad_norm}}});
  unlogged_loss_ = 0, unlogged_steps_ = 0;
}

EvalRecord Trainer::evaluate(Split split) {
  const auto begin = Clock::now();
  EvalRecord record{.split = split == Split::kTest ? "test" : "eval",
                    .step = done_,
                    .epoch = static_cast<double>(done_) / static_cast<double>(steps_per_epoch_),
                    .scores = {}};
  use_evaluation();
  score(split, record);
  use_training();
  record.interrupted = base::interrupted();
  record.host_seconds = since(begin);
  return record;
}

bool Trainer::evaluates_at(std::int64_t step) const {
  if (!options_.eval_each_epoch || samples(Split::kValidation) == 0) return false;
  return step == 0 ? options_.eval_on_start : step % steps_per_epoch_ == 0 || step == max_steps_;
}

bool Trainer::has_evaluated(std::int64_t step) const {
  return std::ranges::any_of(history_.log_history, [step](const LogEntry& entry) {
    return entry.step == step &&
           std::ranges::any_of(entry.values, [](const auto& v) { return v.first == "eval_loss"; });
  });
}

void Trainer::evaluate_into(TrainOutcome& out) {
  if (!evaluates_at(done_) || has_evaluated(done_)) return;
  const EvalRecord e = evaluate(Split::kValidation);
  if (e.interrupted) return;
  LogEntry entry{.epoch = e.epoch, .step = e.step, .values = {{"eval_loss", e.loss}}};
  for (const auto& [name, value] : e.scores) entry.values.emplace_back("eval_" + name, value);
  history_.log_history.push_back(std::move(entry));
  out.evaluations.push_back(e);
  if (on_eval) on_eval(e);
}

TrainOutcome Trainer::run() {
  const auto begin = Clock::now();
  TrainOutcome out{.max_steps = max_steps_, .evaluations = {}, .state = {}, .events = {}};
  evaluate_into(out);
  while (done_ < max_steps_ && !base::interrupted()) {
    const StepRecord record = next_step();
    if (on_step) on_step(record);
    log(record);
    if (options_.save_steps > 0 && record.step % options_.save_steps == 0) save_now();
    evaluate_into(out);
  }
  save_now();
  out.interrupted = base::interrupted();
  out.steps = done_;
  out.epoch = history_.epoch;
  out.train_loss = done_ > 0 ? loss_sum_ / static_cast<double>(done_) : 0;
  out.host_seconds = since(begin);
  out.total_flos = history_.total_flos;
  out.state = history_;
  for (std::uint32_t rank = 0; rank < loaded_.front()->ranks; ++rank) out.events += device_->memory(rank).events();
  return out;
}

}  // namespace workloads
