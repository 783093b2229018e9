// The samples of a split as a trainer sees them, whatever they are: texts, words, pictures, sequences of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/data/batch.h"
#include "workloads/data/corpus.h"
#include "workloads/models/model.h"
#include "workloads/text/tokenizer.h"
#include "workloads/training/batches.h"
#include "workloads/training/images.h"

namespace workloads {

/// The rows of a micro-batch: samples, and filler rows, which count nothing, up to `rows`.
struct BatchRows {
  std::span<const std::uint32_t> samples{};
  std::int64_t rows = 0, length = 0;
  std::int64_t epoch = 0;  // from 0
};

class Samples {
 public:
  virtual ~Samples() = default;
  virtual std::size_t size() const = 0;
  /// Tokens of each sample without padding; of pictures nothing.
  virtual std::vector<std::int64_t> lengths() const { return {}; }
  /// Distinguishes the data from other data with as many samples, for checkpoints.
  virtual std::string fingerprint() const = 0;
  /// Everything but the weights of the labels. Errors: Fault::kUsage when a sample is longer than `length`.
  virtual Batch batch(const BatchRows& rows) const = 0;
};
using SamplesPtr = std::shared_ptr<const Samples>;

/// The data must outlive the samples; without data the samples are null.
/// Texts with a label each, or with a label of each token.
SamplesPtr labelled_texts(const TokenizedDataset* data);
/// Pictures with a label each. `shape`: of the model that looks at them.
SamplesPtr labelled_pictures(const ImageDataset* data, const ImageShape& shape);
/// Sequences whose tokens are predicted, each from those before it; of pairs those of the text that is written.
SamplesPtr token_sequences(const PackedDataset* data, std::int32_t pad_id);

/// How tokens are hidden. Source: Devlin et al., arXiv:1810.04805, section 3.1, and transformers'
/// DataCollatorForLanguageModeling: of the tokens kChosen are predicted, of these kHidden behind the mask, kReplaced
/// replaced by any token, the others as they are.
struct TokenMask {
  static constexpr double kChosen = 0.15, kHidden = 0.8, kReplaced = 0.1;
  std::int32_t id = 0;               // of the mask
  std::uint32_t vocabulary = 0;      // tokens that may replace one
  std::vector<std::int32_t> kept{};  // special tokens, which are never predicted
  std::uint64_t seed = 42;
};
/// Sequences of which some tokens are predicted, from those on both sides. Which ones depends on seed, epoch and
/// sequence alone.
SamplesPtr masked_sequences(const PackedDataset* data, std::int32_t pad_id, TokenMask mask);

/// The samples that a model is trained on and scored by; a missing split is null.
struct TrainerData {
  SamplesPtr train{}, validation{}, test{};
  const Tokenizer* tokenizer = nullptr;  // saved with checkpoints; null for pictures
};

/// Labels that are not ignored.
std::int64_t counted(std::span<const std::int32_t> labels);

}  // namespace workloads
