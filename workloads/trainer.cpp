#include "workloads/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/session.h"
#include "workloads/train_checkpoint.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

runtime::CompileOptions compile_options(const char* name, const TrainerOptions& options) {
  return {.name = name, .ranks = options.step.ranks, .groups = replica_groups(options.step), .passes = options.passes};
}

StepSpec eval_spec(const TrainerOptions& options) {
  StepSpec spec = options.step;
  spec.batch = options.eval_batch;
  spec.micro_batches = 1;
  spec.training = false;
  return spec;
}

}  // namespace

struct Trainer::State {
  State(const BertConfig& c, const TokenizedDataset& data, TrainerOptions o)
      : config{c},
        train{data},
        options{std::move(o)},
        specs{bert_weights(c)},
        compiled{runtime::compile(bert_graph(c, options.step), compile_options("train", options))},
        sampler{data.size(),
                {.batch_size = static_cast<std::size_t>(options.step.batch),
                 .ranks = options.step.ranks,
                 .shuffle = true,
                 .seed = options.seed}} {
    runtime::CompileOptions eval = compile_options("evaluate", options);
    eval.shared = &compiled.program.regions;
    evaluation = runtime::compile(bert_graph(c, eval_spec(options)), eval);
    // One device runs both in turn, so it needs room for the larger one.
    const std::uint64_t bytes = std::max(compiled.program.hbm_bytes, evaluation.program.hbm_bytes);
    compiled.program.hbm_bytes = evaluation.program.hbm_bytes = bytes;
    device = options.make_device();
    use(compiled.program);
    steps_per_epoch =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(sampler.steps_per_epoch()) / options.step.micro_batches);
    max_steps = options.max_steps >= 0
                    ? options.max_steps
                    : static_cast<std::int64_t>(std::ceil(options.epochs * static_cast<double>(steps_per_epoch)));
    warmup = options.warmup_steps > 0
                 ? options.warmup_steps
                 : static_cast<std::int64_t>(std::ceil(options.warmup_ratio * static_cast<double>(max_steps)));
  }

  void use(const isa::Program& program) {
    if (loaded == &program) return;
    device->load(program);
    loaded = &program;
  }
  runtime::Session session() { return {*device, *loaded}; }

  void write_inputs(runtime::Session& session, std::uint32_t rank, std::int64_t micro, const Batch& batch,
                    float weight) {
    std::vector<float> mask(batch.attention_mask.begin(), batch.attention_mask.end()), weights;
    std::vector<std::int32_t> labels = batch.labels;
    for (std::int32_t& label : labels) {
      weights.push_back(label == Batch::kIgnoredLabel ? 0.0F : weight);
      if (label == Batch::kIgnoredLabel) label = 0;
    }
    session.write(rank, micro_name("input_ids", micro), batch.input_ids);
    session.write(rank, micro_name("token_type_ids", micro), batch.token_type_ids);
    session.write(rank, micro_name("attention_mask", micro), mask);
    session.write(rank, micro_name("labels", micro), labels);
    session.write(rank, micro_name("weights", micro), weights);
  }

  /// Step `step`, counted from 0.
  StepRecord train_step(std::int64_t step) {
    use(compiled.program);
    runtime::Session io = session();
    const StepSpec& spec = options.step;
    const std::int64_t epoch = step / steps_per_epoch, place = step % steps_per_epoch;
    sampler.set_epoch(static_cast<std::uint64_t>(epoch));
    const double rate = scheduled_rate(options.schedule, options.learning_rate, step, warmup, max_steps);
    for (std::uint32_t r = 0; r < spec.ranks; ++r) {
      for (std::int64_t m = 0; m < spec.micro_batches; ++m) {
        const auto samples = sampler.batch(static_cast<std::size_t>(place * spec.micro_batches + m), r);
        const Batch batch =
            make_batch(train, samples, static_cast<std::size_t>(spec.batch), static_cast<std::size_t>(spec.length));
        const double shares = static_cast<double>(std::max<std::size_t>(1, batch.samples)) *
                              static_cast<double>(spec.micro_batches) * static_cast<double>(spec.ranks);
        write_inputs(io, r, m, batch, static_cast<float>(1 / shares));
      }
      io.write(r, "hyper", hyper_values(spec, rate, step + 1));
    }
    device->run({.seed = options.seed, .step = static_cast<std::uint32_t>(step), .host_threads = options.host_threads});
    StepRecord record{.step = step + 1,
                      .epoch = static_cast<double>(step + 1) / static_cast<double>(steps_per_epoch),
                      .learning_rate = rate,
                      .grad_norm = io.read(0, "grad_norm").front()};
    for (std::uint32_t r = 0; r < spec.ranks; ++r)
      for (std::int64_t m = 0; m < spec.micro_batches; ++m)
        for (const float x : io.read(r, micro_name("loss", m))) record.loss += x;
    if (!std::isfinite(record.loss))
      throw Error{Fault::kNumerics, fmt::format("step {}", record.step), fmt::format("the loss is {}", record.loss),
                  "use a smaller --learning_rate, more warm-up, or --numerics bf16 or fp32"};
    return record;
  }

  void save(std::int64_t step) {
    if (options.checkpoint.empty()) return;
    use(compiled.program);
    runtime::Session io = session();
    save_train_checkpoint(options.checkpoint, io, compiled.program,
                          {.fingerprint = fingerprint(), .step = step, .loss_sum = loss_sum});
  }

  void resume() {
    if (options.resume.empty()) return;
    runtime::Session io = session();
    const TrainProgress progress = load_train_checkpoint(options.resume, io, compiled.program, fingerprint());
    done = progress.step;
    loss_sum = progress.loss_sum;
  }

  /// What must be the same for the bits to be the same.
  std::string fingerprint() const {
    const StepSpec& s = options.step;
    return fmt::format("{} {} {} {} {} {} wd {} clip {} lr {} {} warmup {} steps {} seed {} model {} {} {} data {} {}",
                       s.batch, s.length, s.micro_batches, s.ranks, s.numerics.name, s.optimizer, s.weight_decay,
                       s.max_grad_norm, options.learning_rate, options.schedule, warmup, max_steps, options.seed,
                       config.hidden_size, config.num_hidden_layers, config.vocab_size, train.size(), train.ids.size());
  }

  const BertConfig config;
  const TokenizedDataset& train;
  TrainerOptions options;
  std::vector<WeightSpec> specs;
  runtime::Compiled compiled, evaluation;
  Sampler sampler;
  std::unique_ptr<isa::Device> device;
  const isa::Program* loaded = nullptr;
  std::int64_t steps_per_epoch = 1, max_steps = 0, warmup = 0, done = 0;
  double loss_sum = 0;
};

Trainer::Trainer(const BertConfig& config, Weights& weights, const TokenizedDataset& train, TrainerOptions options)
    : state_{std::make_unique<State>(config, train, std::move(options))} {
  runtime::Session io = state_->session();
  for (const WeightSpec& spec : state_->specs) {
    const std::vector<float> values = weights.for_device(spec);
    for (std::uint32_t r = 0; r < state_->options.step.ranks; ++r) io.write(r, spec.name, values);
  }
  state_->resume();
}

Trainer::~Trainer() = default;

std::int64_t Trainer::max_steps() const { return state_->max_steps; }
std::int64_t Trainer::first_step() const { return state_->done; }
const isa::Program& Trainer::program() const { return state_->compiled.program; }

TrainOutcome Trainer::run(const TokenizedDataset* validation) {
  State& s = *state_;
  const auto begin = Clock::now();
  TrainOutcome out;
  out.max_steps = s.max_steps;
  TrainerState& history = out.state;
  history.max_steps = s.max_steps;
  history.num_train_epochs = static_cast<std::int64_t>(std::ceil(s.options.epochs));
  history.logging_steps = s.options.logging_steps;
  history.save_steps = s.options.save_steps;
  history.train_batch_size = s.options.step.batch;
  double logged = 0;
  std::int64_t since_log = 0;
  for (std::int64_t step = s.done; step < s.max_steps; ++step) {
    if ((out.interrupted = base::interrupted())) break;
    const StepRecord record = s.train_step(step);
    s.done = record.step;
    s.loss_sum += record.loss;
    logged += record.loss;
    ++since_log;
    out.epoch = record.epoch;
    if (on_step) on_step(record);
    if (record.step % s.options.logging_steps == 0) {
      history.log_history.push_back({.epoch = record.epoch,
                                     .step = record.step,
                                     .values = {{"loss", logged / static_cast<double>(since_log)},
                                                {"learning_rate", record.learning_rate},
                                                {"grad_norm", record.grad_norm}}});
      logged = 0, since_log = 0;
    }
    if (s.options.save_steps > 0 && record.step % s.options.save_steps == 0) s.save(record.step);
    const bool epoch_ends = record.step % s.steps_per_epoch == 0 || record.step == s.max_steps;
    if (!epoch_ends || !validation || !s.options.eval_each_epoch) continue;
    EvalRecord e = evaluate(*validation, "eval");
    e.step = record.step, e.epoch = record.epoch;
    history.log_history.push_back(
        {.epoch = e.epoch,
         .step = e.step,
         .values = {{"eval_loss", e.loss}, {"eval_accuracy", e.accuracy}, {"eval_f1", e.f1_macro}}});
    out.evaluations.push_back(e);
    if (on_eval) on_eval(e);
  }
  s.save(s.done);
  out.steps = s.done;
  out.epoch = static_cast<double>(s.done) / static_cast<double>(s.steps_per_epoch);
  out.train_loss = s.done > 0 ? s.loss_sum / static_cast<double>(s.done) : 0;
  out.host_seconds = since(begin);
  out.total_flos = bert_flops(s.config, s.options.step) * s.options.step.ranks * static_cast<double>(s.done);
  history.epoch = out.epoch, history.global_step = s.done, history.total_flos = out.total_flos;
  return out;
}

EvalRecord Trainer::evaluate(const TokenizedDataset& data, std::string split) {
  State& s = *state_;
  const auto begin = Clock::now();
  s.use(s.evaluation.program);
  runtime::Session io = s.session();
  const std::uint32_t ranks = s.options.step.ranks;
  const auto rows = static_cast<std::size_t>(s.options.eval_batch),
             length = static_cast<std::size_t>(s.options.step.length);
  Sampler order{data.size(), {.batch_size = rows, .ranks = ranks, .shuffle = false, .repeat_to_fill = false}};
  Confusion scores{static_cast<std::size_t>(s.config.num_labels())};
  double loss = 0;
  for (std::size_t step = 0; step < order.steps_per_epoch(); ++step) {
    std::vector<Batch> batches;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      batches.push_back(make_batch(data, order.batch(step, r), rows, length));
      s.write_inputs(io, r, 0, batches.back(), 1);
    }
    s.device->run({.seed = s.options.seed, .step = 0, .host_threads = s.options.host_threads});
    for (std::uint32_t r = 0; r < ranks; ++r) {
      scores.add(io.read(r, micro_name("logits", 0)), batches[r].labels);
      for (const float x : io.read(r, micro_name("loss", 0))) loss += x;
    }
  }
  s.use(s.compiled.program);
  return {.split = std::move(split),
          .step = s.done,
          .epoch = static_cast<double>(s.done) / static_cast<double>(s.steps_per_epoch),
          .loss = loss / static_cast<double>(data.size()),
          .accuracy = scores.accuracy(),
          .f1_macro = scores.macro_f1(),
          .f1_weighted = scores.weighted_f1(),
          .host_seconds = since(begin),
          .samples = static_cast<std::int64_t>(data.size())};
}

void Trainer::read_weights(Weights& weights) {
  state_->use(state_->compiled.program);
  runtime::Session io = state_->session();
  for (const WeightSpec& spec : state_->specs) weights.set_from_device(spec, io.read(0, spec.name));
}

}  // namespace workloads
