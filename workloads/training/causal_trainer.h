// Trains a model that predicts tokens, on packed text or on pairs of texts, on simulated cores, on any plan of data,
// tensor and pipeline parallel ranks.
#pragma once

#include "workloads/data/corpus.h"
#include "workloads/text/tokenizer.h"
#include "workloads/training/batches.h"
#include "workloads/training/decoder_state.h"
#include "workloads/training/host_io.h"
#include "workloads/training/trainer.h"

namespace workloads {

/// Must outlive the trainer; held-out data that is not there is null.
struct CausalData {
  const Tokenizer* tokenizer = nullptr;  // saved with the checkpoint, and for filler rows
  const PackedDataset* train = nullptr;
  const PackedDataset* validation = nullptr;
  const PackedDataset* test = nullptr;
};

/// Which sequences a step sees depends on the seed and on how many there are in a step, not on how the ranks share
/// them, so that runs under different plans see the same. The last step of an epoch may have fewer; each token counts
/// the same in the loss of its step.
class CausalTrainer final : public Trainer {
 public:
  /// Compiles the programs and loads the weights. Errors: Fault::kUsage as decoder_pipeline() and DecoderIo;
  /// Fault::kCapacity; Fault::kData when `options.resume` is not a checkpoint of this run.
  CausalTrainer(const ModelPtr& config, const Weights& weights, const CausalData& data, const TrainerOptions& options);

  std::int64_t samples(Split split) const override;
  Weights read_weights() override;

 private:
  /// Options with what follows from model and plan, and the steps of its stages.
  struct Prepared {
    TrainerOptions options;
    DecoderPipeline train, evaluation;
  };
  static Prepared prepare(const ModelPtr& config, TrainerOptions options);
  CausalTrainer(const ModelPtr& config, const Weights& weights, const CausalData& data, Prepared prepared);

  StepResult train_step(const Place& place) override;
  void score(Split split, EvalRecord& record) override;
  void save(const TrainProgress& progress) override;
  double flops_per_step() const override;
  std::string fingerprint() const override;
  const PackedDataset* data_of(Split split) const;
  /// One micro-batch of `data`'s sequences; each token counts `weight`.
  DecoderBatch batch_of(const PackedDataset& data, std::span<const std::uint32_t> sequences, std::int64_t rows,
                        double weight) const;
  /// Writes it.
  void write_batch(runtime::Session& session, const DecoderIo& io, std::uint32_t data_rank, std::int64_t micro_batch,
                   const PackedDataset& data, std::span<const std::uint32_t> sequences, std::int64_t rows,
                   double weight) const;
  /// The sum of what all tokens of a step count in the loss.
  static double read_loss(runtime::Session& session, const Step& spec);

  const ModelPtr config_;
  const CausalData data_;
  Sampler sampler_;
  const DecoderIo io_, eval_io_;
  const DecoderState state_;
  const std::uint64_t data_hash_;
};

}  // namespace workloads
