#include "workloads/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "workloads/training/checkpoint.h"

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

/// The step that evaluates: forward only, of one evaluation batch for each stage, so that all have one at work.
Step evaluation_of(const TrainerOptions& options) {
  Step step = options.step;
  step.plan.micro_batch = options.eval_batch;
  step.plan.micro_batches = step.plan.pipeline;
  step.kind.training = false;
  step.kind.with_loss = true;
  return step;
}

DealerOptions dealer_options(const TaskRow& task, const TrainerOptions& options) {
  return {.dealing = task.dealing, .lengths = options.lengths, .seed = options.seed};
}

}  // namespace

Trainer::Trainer(ModelPtr model, const Weights& weights, TrainerData data, TrainerOptions options)
    : options_{std::move(options)},
      model_{std::move(model)},
      data_{std::move(data)},
      task_{task_row(model_->task())},
      programs_{compile_training(model_, options_.step, evaluation_of(options_), options_.lengths,
                                 {options_.target, options_.passes, options_.cache})},
      state_{model_, options_.step, programs_.zero},
      dealer_{*data_.train, options_.step, dealer_options(task_, options_)},
      device_{options_.make_device()},
      steps_per_epoch_{dealer_.steps_per_epoch()} {
  max_steps_ = options_.max_steps >= 0
                   ? options_.max_steps
                   : static_cast<std::int64_t>(std::ceil(options_.epochs * static_cast<double>(steps_per_epoch_)));
  warmup_ = options_.warmup.steps > 0
                ? options_.warmup.steps
                : static_cast<std::int64_t>(std::ceil(options_.warmup.ratio * static_cast<double>(max_steps_)));
  history_ = new_history(options_, max_steps_);
  use(programs_.train);
  runtime::Session io = session();
  options_.resume.empty() ? state_.write_weights(io, weights) : resume();
}

std::vector<Trainer::LengthPrograms> Trainer::programs_of_lengths() const {
  const std::vector<double> steps = dealer_.steps_of_lengths();
  if (steps.empty()) return {{programs(), static_cast<double>(steps_per_epoch_)}};
  std::vector<LengthPrograms> out;
  for (std::size_t i = 0; i < steps.size(); ++i) out.push_back({of_length(i).programs(), steps[i]});
  return out;
}

const StepPrograms& Trainer::of_length(std::size_t i) const {
  return i < programs_.shorter.size() ? programs_.shorter[i] : programs_.train;
}

void Trainer::use(const StepPrograms& programs) {
  isa::Programs wanted = programs.programs();
  if (loaded_ == wanted) return;
  device_->load_all(wanted);
  loaded_ = std::move(wanted);
  runtime::Session io = session();
  programs.io.write_tables(io);
}

const Samples* Trainer::data_of(Split split) const {
  return (split == Split::kTest ? data_.test : data_.validation).get();
}

std::int64_t Trainer::samples(Split split) const {
  const Samples* data = data_of(split);
  return data ? static_cast<std::int64_t>(data->size()) : 0;
}

std::string Trainer::settings_text() const {
  const OptimizerSpec& o = options_.step.optimizer;
  return fmt::format("{} {} betas {} {} eps {} wd {} clip {} lr {} {} warmup {} steps {} seed {} model {}",
                     options_.step.plan.numerics.name, o.name, o.beta1, o.beta2, o.epsilon, o.weight_decay,
                     o.max_grad_norm, options_.learning_rate, options_.schedule, warmup_, max_steps_, options_.seed,
                     base::hash_text(base::hash64(model_->config_json())));
}

/// Where a step's labels count alike the plan is not part of it: the order in which sums are made changes the last
/// bits, not the run.
std::string Trainer::fingerprint() const {
  const Step& s = options_.step;
  const std::string data = data_.train->fingerprint();
  if (task_.dealing == Dealing::kByStep)
    return fmt::format("batch {} x {} {} data {}", s.plan.sequences_per_step(), s.kind.length, settings_text(), data);
  std::string lengths;
  for (const std::int64_t length : options_.lengths) lengths += fmt::format(" {}", length);
  return fmt::format("batch {} x {} x {} x {} {} data {}", s.plan.micro_batch,
                     lengths.empty() ? fmt::format("{}", s.kind.length) : lengths, s.plan.micro_batches, s.plan.data,
                     settings_text(), data);
}

void Trainer::resume() {
  runtime::Session io = session();
  const TrainProgress progress = load_checkpoint(options_.resume, {model_, state_, io}, fingerprint());
  done_ = progress.step;
  loss_sum_ = progress.loss_sum;
  unlogged_loss_ = progress.unlogged_loss, unlogged_steps_ = progress.unlogged_steps;
  history_.log_history = trainer_state_of(progress.history, options_.resume.string()).log_history;
}

std::vector<Batch> Trainer::batches_of(const Samples& data, const Dealer::Parts& parts, const Step& step,
                                       std::int64_t length) const {
  std::vector<Batch> out;
  for (const std::vector<std::uint32_t>& part : parts.samples)
    out.push_back(data.batch({.samples = part, .rows = step.plan.micro_batch, .length = length, .epoch = parts.epoch}));
  return out;
}

void Trainer::write(const StepPrograms& programs, const Step& step, const std::vector<Batch>& batches) {
  use(programs);
  runtime::Session io = session();
  for (std::size_t i = 0; i < batches.size(); ++i)
    programs.io.write_batch(io, static_cast<std::uint32_t>(i % step.plan.data),
                            static_cast<std::int64_t>(i / step.plan.data), batches[i]);
}

double Trainer::train_step(double rate) {
  const Dealer::Parts parts = dealer_.step(done_ / steps_per_epoch_, done_ % steps_per_epoch_);
  const StepPrograms& programs = of_length(options_.lengths.empty() ? programs_.shorter.size() : parts.length);
  std::vector<Batch> batches =
      batches_of(*data_.train, parts, options_.step,
                 options_.lengths.empty() ? options_.step.kind.length : options_.lengths[parts.length]);
  dealer_.weigh(batches);
  write(programs, options_.step, batches);
  runtime::Session io = session();
  programs.io.write_hyper(io, hyper_values(options_.step.optimizer, rate, done_ + 1));
  device_->run(
      {.seed = options_.seed, .step = static_cast<std::uint32_t>(done_), .host_threads = options_.host_threads});
  return programs.io.loss(io);
}

StepRecord Trainer::next_step() {
  const double rate = scheduled_rate(options_.schedule, options_.learning_rate, done_, warmup_, max_steps_);
  const double loss = train_step(rate);
  const StepRecord record{.step = done_ + 1,
                          .epoch = static_cast<double>(done_ + 1) / static_cast<double>(steps_per_epoch_),
                          .loss = loss,
                          .learning_rate = rate,
                          .grad_norm = session().read(0, "grad_norm").front()};
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
  use(programs_.train);
  runtime::Session io = session();
  save_checkpoint(options_.checkpoint, {model_, state_, io}, data_.tokenizer,
                  {.fingerprint = fingerprint(),
                   .step = done_,
                   .loss_sum = loss_sum_,
                   .unlogged_loss = unlogged_loss_,
                   .unlogged_steps = unlogged_steps_,
                   .history = trainer_state_json(history_, TrainerStateForm::kDense)});
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

void Trainer::score(Split split, EvalRecord& record) {
  const Samples& data = *data_of(split);
  const Step step = evaluation_of(options_);
  Dealer dealer{data, step, {.dealing = task_.dealing, .shuffle = false}};
  const std::unique_ptr<Scores> scores = task_.scores(*model_);
  const HostIo& host = programs_.evaluation.io;
  double loss = 0;
  std::int64_t labelled = 0;
  for (std::int64_t at = 0; at < dealer.steps_per_epoch() && !base::interrupted(); ++at) {
    std::vector<Batch> batches = batches_of(data, dealer.step(0, at), step, step.kind.length);
    for (Batch& batch : batches) Dealer::weigh(batch, 1), labelled += counted(batch.labels);
    write(programs_.evaluation, step, batches);
    device_->run(
        {.seed = options_.seed, .step = 0, .host_threads = options_.host_threads, .give_up = base::interrupted});
    if (on_eval_batch) on_eval_batch(at + 1, dealer.steps_per_epoch());
    if (base::interrupted()) break;  // half of a batch
    runtime::Session io = session();
    loss += host.loss(io);
    for (std::size_t i = 0; scores->reads_logits() && i < batches.size(); ++i)
      scores->add(batches[i], host.logits(io, static_cast<std::uint32_t>(i % step.plan.data),
                                          static_cast<std::int64_t>(i / step.plan.data)));
  }
  record.samples = static_cast<std::int64_t>(data.size());
  record.loss = loss / static_cast<double>(std::max<std::int64_t>(1, labelled));
  record.scores = scores->metrics(record.loss);
}

double Trainer::flops_per_step() const {
  const std::vector<double> steps = dealer_.steps_of_lengths();
  if (steps.empty()) return model_->flops(options_.step);
  double flops = 0, all = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step step = options_.step;
    step.kind.length = options_.lengths[i];
    flops += steps[i] * model_->flops(step), all += steps[i];
  }
  return flops / all;  // per step, on average
}

Weights Trainer::read_weights() {
  use(programs_.train);
  runtime::Session io = session();
  Weights weights;
  for (const WeightSpec& spec : state_.tensors()) weights.values[spec.name] = state_.read(io, spec, false);
  return weights;
}

EvalRecord Trainer::evaluate(Split split) {
  const auto begin = Clock::now();
  EvalRecord record{.split = split == Split::kTest ? "test" : "eval",
                    .step = done_,
                    .epoch = static_cast<double>(done_) / static_cast<double>(steps_per_epoch_),
                    .scores = {}};
  score(split, record);
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
