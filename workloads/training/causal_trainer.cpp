#include "workloads/training/causal_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "base/interrupt.h"
#include "workloads/checkpoints/decoder_checkpoint.h"
#include "workloads/data/random.h"
#include "workloads/training/batches.h"

namespace workloads {
namespace {

std::int64_t step_sequences(const Step& spec) {
  return spec.plan.micro_batch * spec.plan.micro_batches * spec.plan.data;
}

Sampler step_sampler(const PackedDataset& data, const TrainerOptions& options) {
  return {data.size(),
          {.batch_size = static_cast<std::size_t>(step_sequences(options.step)),
           .ranks = 1,
           .shuffle = true,
           .seed = options.seed}};
}

Step with_loss(Step spec) {
  spec.kind.with_loss = true;
  return spec;
}

/// What part `index` of equal parts of `size` has of a list that may end early.
std::span<const std::uint32_t> part(std::span<const std::uint32_t> list, std::size_t index, std::size_t size) {
  const std::size_t begin = std::min(list.size(), index * size);
  return list.subspan(begin, std::min(size, list.size() - begin));
}

std::uint64_t hash_of(const PackedDataset& data) {
  if (data.answer_length == 0 && data.used.empty()) return base::hash64(std::as_bytes(std::span{data.ids}));
  base::Hasher hasher;
  hasher.add(std::as_bytes(std::span{data.ids}));
  hasher.add(std::as_bytes(std::span{data.used}));
  hasher.add(std::as_bytes(std::span{data.answers}));
  return hasher.digest();
}

}  // namespace

CausalTrainer::Prepared CausalTrainer::prepare(const ModelPtr& config, TrainerOptions options) {
  DecoderPipeline train = decoder_pipeline(config, options.step);
  DecoderPipeline evaluation = decoder_pipeline(config, with_loss(eval_spec(options)));
  return {std::move(options), std::move(train), std::move(evaluation)};
}

CausalTrainer::CausalTrainer(const ModelPtr& config, const Weights& weights, const CausalData& data,
                             const TrainerOptions& options)
    : CausalTrainer{config, weights, data, prepare(config, options)} {}

CausalTrainer::CausalTrainer(const ModelPtr& config, const Weights& weights, const CausalData& data, Prepared p)
    : Trainer{p.options, compile(std::move(p.train.graphs), std::move(p.evaluation.graphs), p.options),
              static_cast<std::int64_t>(step_sampler(*data.train, p.options).steps_per_epoch())},
      config_{config},
      data_{data},
      sampler_{step_sampler(*data.train, p.options)},
      io_{config, p.options.step, p.train.zero},
      eval_io_{config, with_loss(eval_spec(p.options)), p.evaluation.zero},
      state_{config, p.options.step, p.train.zero},
      data_hash_{hash_of(*data.train)} {
  runtime::Session io = session();
  io_.write_tables(io);
  if (options_.resume.empty())
    io_.write_weights(io, weights);
  else
    go_on(load_decoder_checkpoint(options_.resume, config_, io_, state_, io, fingerprint()));
}

const PackedDataset* CausalTrainer::data_of(Split split) const {
  return split == Split::kTest ? data_.test : data_.validation;
}

std::int64_t CausalTrainer::samples(Split split) const {
  const PackedDataset* data = data_of(split);
  return data ? static_cast<std::int64_t>(data->size()) : 0;
}

DecoderBatch CausalTrainer::batch_of(const PackedDataset& data, std::span<const std::uint32_t> sequences,
                                     std::int64_t rows, double weight) const {
  const CausalBatch batch = make_batch(data, sequences, static_cast<std::size_t>(rows), data_.tokenizer->pad_id());
  DecoderBatch out{.ids = batch.input_ids, .targets = {}, .weights = {}};
  if (data.answer_length > 0) {
    for (const std::uint32_t s : sequences)
      out.targets.insert(out.targets.end(), data.answer(s).begin(), data.answer(s).end());
    out.targets.resize(static_cast<std::size_t>(rows) * data.answer_length, Batch::kIgnoredLabel);
    out.source = std::exchange(
        out.ids, predecessors(out.targets, static_cast<std::int64_t>(data.answer_length), *config_->pairs()));
    for (std::size_t row = 0; row < batch.rows; ++row)
      for (std::size_t c = 0; c < data.length; ++c)
        out.source_mask.push_back(row >= sequences.size() || c < data.used_of(sequences[row]));
  } else {
    for (std::size_t row = 0; row < batch.rows; ++row)
      for (std::size_t c = 0; c < batch.length; ++c)
        out.targets.push_back(c + 1 == batch.length ? Batch::kIgnoredLabel : batch.labels[row * batch.length + c + 1]);
  }
  for (const std::int32_t target : out.targets)
    out.weights.push_back(target == Batch::kIgnoredLabel ? 0.0F : static_cast<float>(weight));
  return out;
}

void CausalTrainer::write_batch(runtime::Session& session, const DecoderIo& io, std::uint32_t data_rank,
                                std::int64_t micro_batch, const PackedDataset& data,
                                std::span<const std::uint32_t> sequences, std::int64_t rows, double weight) const {
  io.write_batch(session, data_rank, micro_batch, batch_of(data, sequences, rows, weight));
}

double CausalTrainer::read_loss(runtime::Session& session, const Step& spec) {
  double loss = 0;
  for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m)
    for (std::uint32_t d = 0; d < spec.plan.data; ++d) {
      const std::vector<float> tokens =
          session.read(spec.plan.rank_of(d, 0, spec.plan.last_stage()), micro_name("loss", m));
      loss += std::accumulate(tokens.begin(), tokens.end(), 0.0);
    }
  return loss;
}

Trainer::StepResult CausalTrainer::train_step(const Place& place) {
  runtime::Session io = session();
  const Step& spec = options_.step;
  sampler_.set_epoch(static_cast<std::uint64_t>(place.epoch));
  const std::vector<std::uint32_t> chosen = sampler_.batch(static_cast<std::size_t>(place.in_epoch), 0);
  const double weight = 1 / static_cast<double>(std::max<std::size_t>(data_.train->targets(chosen), 1));
  for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m)
    for (std::uint32_t d = 0; d < spec.plan.data; ++d)
      write_batch(io, io_, d, m, *data_.train,
                  part(chosen, static_cast<std::size_t>(m * spec.plan.data + d),
                       static_cast<std::size_t>(spec.plan.micro_batch)),
                  spec.plan.micro_batch, weight);
  io_.write_hyper(io, hyper_values(spec.optimizer, place.rate, place.step + 1));
  run_device(place.step);
  return {.loss = read_loss(io, spec), .grad_norm = io.read(0, "grad_norm").front()};
}

void CausalTrainer::score(Split split, EvalRecord& record) {
  const PackedDataset& data = *data_of(split);
  runtime::Session io = session();
  eval_io_.write_tables(io);
  std::vector<std::uint32_t> all(data.size());
  std::iota(all.begin(), all.end(), 0U);
  const Step spec = eval_spec(options_);
  const auto rows = static_cast<std::size_t>(spec.plan.micro_batch),
             at_once = static_cast<std::size_t>(step_sequences(spec));
  double loss = 0;
  for (std::size_t first = 0; first < all.size() && !base::interrupted(); first += at_once) {
    for (std::int64_t m = 0; m < spec.plan.micro_batches; ++m)
      for (std::uint32_t d = 0; d < spec.plan.data; ++d)
        write_batch(io, eval_io_, d, m, data,
                    part(all, first / rows + static_cast<std::size_t>(m) * spec.plan.data + d, rows),
                    spec.plan.micro_batch, 1);
    evaluate_batch(first / at_once + 1, (all.size() + at_once - 1) / at_once);
    loss += read_loss(io, spec);
  }
  record.samples = static_cast<std::int64_t>(data.size());
  record.loss = loss / static_cast<double>(std::max<std::size_t>(data.targets(all), 1));
  record.scores = {{"perplexity", std::exp(record.loss)}};
}

void CausalTrainer::save(const TrainProgress& progress) {
  runtime::Session io = session();
  save_decoder_checkpoint(options_.checkpoint, config_, state_, io, *data_.tokenizer, progress);
}

double CausalTrainer::flops_per_step() const { return config_->flops(options_.step); }

/// The plan is not part of it: the order in which sums are made changes the last bits, not the run.
std::string CausalTrainer::fingerprint() const {
  const Step& s = options_.step;
  return fmt::format("batch {} x {} {} data {} sequences {}", step_sequences(s), s.kind.length, settings_text(*config_),
                     data_.train->size(), base::hash_text(data_hash_));
}

Weights CausalTrainer::read_weights() {
  use_training();
  runtime::Session io = session();
  Weights weights;
  for (const WeightSpec& spec : io_.tensors()) weights.values[spec.name] = io_.read(io, spec, false);
  return weights;
}

}  // namespace workloads
