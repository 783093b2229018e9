#include "workloads/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/interrupt.h"
#include "workloads/pipeline.h"

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

/// The mean loss since the last entry of the history.
class LossLog {
 public:
  void add(const StepRecord& record, std::int64_t every, TrainerState& history) {
    sum_ += record.loss;
    ++steps_;
    if (record.step % every != 0) return;
    history.log_history.push_back({.epoch = record.epoch,
                                   .step = record.step,
                                   .values = {{"loss", sum_ / static_cast<double>(steps_)},
                                              {"learning_rate", record.learning_rate},
                                              {"grad_norm", record.grad_norm}}});
    sum_ = 0, steps_ = 0;
  }

 private:
  double sum_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

Trainer::Programs Trainer::compile(std::vector<runtime::Graph> train, std::vector<runtime::Graph> evaluation,
                                   const TrainerOptions& options) {
  base::ensure(train.size() == evaluation.size(), "trainer", "a stage has no program");
  Programs out;
  std::uint64_t bytes = 0;
  for (std::size_t stage = 0; stage < train.size(); ++stage) {
    const Step spec = of_stage(options.step, static_cast<std::int64_t>(stage));
    out.train.push_back(
        runtime::compile(std::move(train[stage]), options.target, compile_options(spec, "train", options.passes)));
    runtime::CompileOptions eval = compile_options(spec, "evaluate", options.passes);
    eval.shared = &out.train.back().program.regions;
    out.evaluation.push_back(runtime::compile(std::move(evaluation[stage]), options.target, eval));
    bytes = std::max({bytes, out.train.back().program.hbm_bytes, out.evaluation.back().program.hbm_bytes});
  }
  // One device runs both in turn, so it needs room for the larger one.
  for (auto* programs : {&out.train, &out.evaluation})
    for (runtime::Compiled& stage : *programs) stage.program.hbm_bytes = bytes;
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

std::string Trainer::schedule_text() const {
  return fmt::format("lr {} {} warmup {} steps {} seed {}", options_.learning_rate, options_.schedule, warmup_,
                     max_steps_, options_.seed);
}

void Trainer::go_on(const TrainProgress& progress) {
  done_ = progress.step;
  loss_sum_ = progress.loss_sum;
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
  if (options_.checkpoint.empty()) return;
  use_training();
  save({.fingerprint = fingerprint(), .step = done_, .loss_sum = loss_sum_});
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
  record.host_seconds = since(begin);
  return record;
}

void Trainer::evaluate_into(TrainOutcome& out) {
  if (!options_.eval_each_epoch || samples(Split::kValidation) == 0) return;
  const EvalRecord e = evaluate(Split::kValidation);
  LogEntry entry{.epoch = e.epoch, .step = e.step, .values = {{"eval_loss", e.loss}}};
  for (const auto& [name, value] : e.scores) entry.values.emplace_back("eval_" + name, value);
  out.state.log_history.push_back(std::move(entry));
  out.evaluations.push_back(e);
  if (on_eval) on_eval(e);
}

TrainOutcome Trainer::run() {
  const auto begin = Clock::now();
  TrainOutcome out{.max_steps = max_steps_, .evaluations = {}, .state = new_history(options_, max_steps_)};
  LossLog log;
  if (options_.eval_on_start && done_ == 0) evaluate_into(out);
  while (done_ < max_steps_) {
    if ((out.interrupted = base::interrupted())) break;
    const StepRecord record = next_step();
    if (on_step) on_step(record);
    log.add(record, options_.logging_steps, out.state);
    if (options_.save_steps > 0 && record.step % options_.save_steps == 0) save_now();
    if (record.step % steps_per_epoch_ == 0 || record.step == max_steps_) evaluate_into(out);
  }
  save_now();
  out.steps = done_;
  out.epoch = static_cast<double>(done_) / static_cast<double>(steps_per_epoch_);
  out.train_loss = done_ > 0 ? loss_sum_ / static_cast<double>(done_) : 0;
  out.host_seconds = since(begin);
  out.total_flos = flops_per_step() * static_cast<double>(done_);
  out.state.epoch = out.epoch, out.state.global_step = done_, out.state.total_flos = out.total_flos;
  return out;
}

}  // namespace workloads
