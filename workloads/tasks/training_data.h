// Model, tokenizer and samples of a training, from the user's files or from bundled data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/data/dataset.h"
#include "workloads/data/lengths.h"
#include "workloads/models/lora.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/tasks/samples.h"
#include "workloads/text/tokenizer.h"

namespace workloads {

/// Rows of a new table for `tokens` tokens: a number that ranks can share.
constexpr std::int64_t shared_rows(std::int64_t tokens) { return (tokens + 63) / 64 * 64; }

struct DataOptions {
  std::string model_folder{};  // for load_model(); empty: `preset` from scratch
  std::string preset{};
  std::string dataset_path{};  // file or folder; empty: the embedded data set
  std::string validation_file{}, test_file{}, vocab{};
  ReadOptions read{};          // of labelled texts; `strict` of all
  std::optional<Head> head{};  // unset: as the data has labels, or the model reads
  bool packing = true;         // texts without labels are joined and cut; otherwise each is cut or padded
  bool hold_out = true;        // of texts without a validation file, some sequences become one
  std::size_t length = 0;      // tokens of a sequence; 0, of labelled texts: as many as each has
  std::size_t max_train_samples = 0, max_eval_samples = 0;  // 0: all
  std::size_t target_length = 0;  // of a model that reads one text and writes another: tokens of the latter
  std::uint64_t seed = 42;
  std::optional<Lora> lora{};  // trained beside the frozen model
};

struct TrainingData {
  ModelPtr config;
  Weights weights;
  std::unique_ptr<Tokenizer> tokenizer;  // null for pictures
  std::string source;                    // where the data comes from
  bool synthetic = false;
  std::vector<std::string> notes;  // skipped rows, missing heads, held-out data, a vocabulary made from the data

  TrainingData() = default;
  TrainingData(TrainingData&&) = default;
  TrainingData& operator=(TrainingData&&) = default;
  virtual ~TrainingData() = default;

  /// Must not outlive this.
  virtual TrainerData data() const = 0;
  /// Token lengths of the training samples, as used in training; empty for pictures.
  virtual TokenLengths lengths() const = 0;
  /// Texts that the training samples are made of, or pictures.
  virtual std::int64_t documents() const = 0;

  std::int64_t train_samples() const { return static_cast<std::int64_t>(data().train->size()); }
  std::int64_t validation_samples() const {
    const SamplesPtr some = data().validation;
    return some ? static_cast<std::int64_t>(some->size()) : 0;
  }
};
/// Gives the model the adapters of its folder, or new ones of the options. Errors: as load_adapter() and Model::with().
void adapt(const DataOptions& options, TrainingData& data);

using TrainingDataPtr = std::shared_ptr<const TrainingData>;

}  // namespace workloads
