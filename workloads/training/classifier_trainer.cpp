#include "workloads/training/classifier_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/interrupt.h"

namespace workloads {
namespace {

Sampler training_sampler(const ClassifierTask& data, const TrainerOptions& options) {
  return {data.size(),
          {.batch_size = static_cast<std::size_t>(options.step.plan.micro_batch),
           .ranks = options.step.plan.data,
           .shuffle = true,
           .seed = options.seed}};
}

std::optional<LengthSampler> length_sampler(const ClassifierTask& data, const TrainerOptions& options) {
  if (options.lengths.empty()) return std::nullopt;
  return LengthSampler{data.lengths(), options.lengths,
                       static_cast<std::size_t>(options.step.plan.sequences_per_step()), options.seed};
}

std::int64_t steps_of_epoch(const ClassifierTask& data, const TrainerOptions& options) {
  if (const auto lengths = length_sampler(data, options)) return static_cast<std::int64_t>(lengths->steps_per_epoch());
  const auto micro_steps = static_cast<std::int64_t>(training_sampler(data, options).steps_per_epoch());
  return std::max<std::int64_t>(1, micro_steps / options.step.plan.micro_batches);
}

std::vector<runtime::Graph> graphs_of(const Model& model, const Step& step) {
  std::vector<runtime::Graph> out;
  out.push_back(model.step(step).graph);
  return out;
}

/// Steps of the lengths but the last, which is the step's own.
std::vector<std::vector<runtime::Graph>> shorter_graphs(const Model& model, const TrainerOptions& options) {
  std::vector<std::vector<runtime::Graph>> out;
  for (std::size_t i = 0; i + 1 < options.lengths.size(); ++i) {
    Step step = options.step;
    step.kind.length = options.lengths[i];
    out.push_back(graphs_of(model, step));
  }
  return out;
}

/// What rank `rank` has of a step's samples in its micro-batch number `part`.
std::span<const std::uint32_t> part_of(std::span<const std::uint32_t> samples, std::size_t part, std::size_t size) {
  const std::size_t begin = std::min(samples.size(), part * size);
  return samples.subspan(begin, std::min(size, samples.size() - begin));
}

}  // namespace

ClassifierTrainer::ClassifierTrainer(const ModelPtr& model, const Weights& weights, const ClassifierData& data,
                                     TrainerOptions options)
    : Trainer{options,
              compile(graphs_of(*model, options.step), graphs_of(*model, eval_spec(options)), options,
                      shorter_graphs(*model, options)),
              steps_of_epoch(*data.train, options)},
      model_{model},
      data_{data},
      specs_{model->weights()},
      sampler_{training_sampler(*data.train, options)},
      lengths_{length_sampler(*data.train, options)} {
  runtime::Session io = session();
  for (const WeightSpec& spec : specs_) {
    const std::vector<float> values = weights.for_device(spec);
    for (std::uint32_t r = 0; r < options_.step.plan.data; ++r) io.write(r, spec.name, values);
  }
  if (!options_.resume.empty()) go_on(load_train_checkpoint(options_.resume, io, *programs().front(), fingerprint()));
}

const ClassifierTask* ClassifierTrainer::data_of(Split split) const {
  return (split == Split::kTest ? data_.test : data_.validation).get();
}

std::int64_t ClassifierTrainer::samples(Split split) const {
  const ClassifierTask* data = data_of(split);
  return data ? static_cast<std::int64_t>(data->size()) : 0;
}

void ClassifierTrainer::write_samples(const Place& place) {
  runtime::Session io = session();
  const Step& spec = options_.step;
  sampler_.set_epoch(static_cast<std::uint64_t>(place.epoch));
  const double parts = static_cast<double>(spec.plan.micro_batches) * static_cast<double>(spec.plan.data);
  for (std::uint32_t r = 0; r < spec.plan.data; ++r)
    for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m) {
      const auto samples = sampler_.batch(static_cast<std::size_t>(place.in_epoch * spec.plan.micro_batches + m), r);
      write_batch(io, *data_.train, {r, m, samples, spec.plan.micro_batch, spec.kind.length}, 1 / parts, true);
    }
}

/// A step of one length may have fewer samples than others: each of its labels counts alike.
void ClassifierTrainer::write_length(const Place& place) {
  const Step& spec = options_.step;
  lengths_->set_epoch(static_cast<std::uint64_t>(place.epoch));
  const LengthSampler::Step& step = lengths_->step(static_cast<std::size_t>(place.in_epoch));
  use_length(step.length);
  runtime::Session io = session();
  const auto batch = [&](std::uint32_t r, std::int64_t m) {
    const auto part = static_cast<std::size_t>(m * spec.plan.data + r),
               size = static_cast<std::size_t>(spec.plan.micro_batch);
    return RankBatch{r, m, part_of(step.samples, part, size), spec.plan.micro_batch, options_.lengths[step.length]};
  };
  std::int64_t labels = 0;
  for (std::uint32_t r = 0; r < spec.plan.data; ++r)
    for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m) labels += counted(data_.train->labels(batch(r, m)));
  for (std::uint32_t r = 0; r < spec.plan.data; ++r)
    for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m)
      write_batch(io, *data_.train, batch(r, m), 1 / static_cast<double>(std::max<std::int64_t>(1, labels)), false);
}

Trainer::StepResult ClassifierTrainer::train_step(const Place& place) {
  const Step& spec = options_.step;
  lengths_ ? write_length(place) : write_samples(place);
  runtime::Session io = session();
  for (std::uint32_t r = 0; r < spec.plan.data; ++r)
    io.write(r, "hyper", hyper_values(spec.optimizer, place.rate, place.step + 1));
  run_device(place.step);
  StepResult result{.grad_norm = io.read(0, "grad_norm").front()};
  for (std::uint32_t r = 0; r < spec.plan.data; ++r)
    for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m)
      for (const float x : io.read(r, micro_name("loss", m))) result.loss += x;
  return result;
}

std::vector<double> ClassifierTrainer::steps_of_lengths() const {
  return lengths_ ? lengths_->steps_of_lengths() : std::vector<double>{};
}

void ClassifierTrainer::score(Split split, EvalRecord& record) {
  const ClassifierTask& data = *data_of(split);
  const bool of_tokens = options_.step.kind.head == Head::kTokens;
  runtime::Session io = session();
  const std::uint32_t ranks = options_.step.plan.data;
  const auto rows = static_cast<std::size_t>(options_.eval_batch);
  const Sampler order{data.size(), {.batch_size = rows, .ranks = ranks, .shuffle = false, .repeat_to_fill = false}};
  Confusion scores{model_->label_names().size()};
  EntityCounts entities{model_->label_names()};
  double loss = 0;
  std::int64_t labelled = 0;
  for (std::size_t step = 0; step < order.steps_per_epoch() && !base::interrupted(); ++step) {
    std::vector<std::vector<std::int32_t>> labels;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const auto samples = order.batch(step, r);
      labels.push_back(
          write_batch(io, data, {r, 0, samples, options_.eval_batch, options_.step.kind.length}, 1, false));
      labelled += counted(labels.back());
    }
    evaluate_batch(step + 1, order.steps_per_epoch());
    if (base::interrupted()) break;  // half of a batch
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::vector<std::int32_t> predicted =
          predictions(io.read(r, micro_name("logits", 0)), labels[r], scores.labels());
      for (std::size_t i = 0; i < predicted.size(); ++i) scores.add(labels[r][i], predicted[i]);
      if (of_tokens) entities.add(labels[r], predicted, static_cast<std::size_t>(options_.step.kind.length));
      for (const float x : io.read(r, micro_name("loss", 0))) loss += x;
    }
  }
  record.samples = static_cast<std::int64_t>(data.size());
  record.loss = loss / static_cast<double>(std::max<std::int64_t>(1, labelled));
  record.scores = {
      {"accuracy", scores.accuracy()}, {"f1_macro", scores.macro_f1()}, {"f1_weighted", scores.weighted_f1()}};
  if (of_tokens && entities.tagged())
    record.scores.insert(record.scores.end(),
                         {{"precision", entities.precision()}, {"recall", entities.recall()}, {"f1", entities.f1()}});
}

void ClassifierTrainer::save(const TrainProgress& progress) {
  runtime::Session io = session();
  save_train_checkpoint(options_.checkpoint, io, *programs().front(), progress);
}

double ClassifierTrainer::flops_per_step() const {
  if (!lengths_) return model_->flops(options_.step);
  const std::vector<double> steps = lengths_->steps_of_lengths();
  double flops = 0, all = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step step = options_.step;
    step.kind.length = options_.lengths[i];
    flops += steps[i] * model_->flops(step), all += steps[i];
  }
  return flops / all;  // of a step, on average
}

std::string ClassifierTrainer::fingerprint() const {
  const Step& s = options_.step;
  std::string lengths;
  for (const std::int64_t length : options_.lengths) lengths += fmt::format(" {}", length);
  return fmt::format("batch {} x {} x {} x {} {} data {}", s.plan.micro_batch,
                     lengths.empty() ? fmt::format("{}", s.kind.length) : lengths, s.plan.micro_batches, s.plan.data,
                     settings_text(*model_), data_.train->fingerprint());
}

Weights ClassifierTrainer::read_weights() {
  use_training();
  runtime::Session io = session();
  Weights weights;
  for (const WeightSpec& spec : specs_) weights.set_from_device(spec, io.read(0, spec.name));
  return weights;
}

}  // namespace workloads
