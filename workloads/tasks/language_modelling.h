// Texts without labels, packed into sequences whose tokens are predicted from those before or, of an encoder, from
// those around them; or pairs of texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "workloads/data/corpus.h"
#include "workloads/tasks/training_data.h"

namespace workloads {

/// One of so many packed sequences is held out.
inline constexpr std::size_t kHeldOutOneOf = 20;

struct LanguageModelling : TrainingData {
  PackedDataset train;
  std::optional<PackedDataset> validation, test;
  std::size_t texts = 0;            // trained on
  std::optional<TokenMask> mask{};  // that hides tokens from an encoder

  TrainerData data() const override;
  TokenLengths lengths() const override;
  std::int64_t documents() const override { return static_cast<std::int64_t>(texts); }
};

/// Reads, tokenizes, packs, and fits a new model to the vocabulary. Errors: as the readers and pack(); Fault::kUsage
/// for a sequence that is longer than the model's positions, or a model that is not a decoder; Fault::kData when the
/// vocabulary has more tokens than the model's table.
LanguageModelling load_language_modelling(const DataOptions& options);

/// Where the tokenizer is: `vocab`, or without it the model's folder, which for a llama2.c file is its folder.
/// Empty for neither.
std::filesystem::path tokenizer_path(const std::string& vocab, const std::filesystem::path& model);

/// assumed: about what a vocabulary of 32,000 pieces makes of English.
inline constexpr std::size_t kBytesPerToken = 4;

/// Tokens of the texts of a training file, each with its end, as pack() would join them. `tokenizer`: what
/// load_tokenizer() reads, or empty: kBytesPerToken each. Errors: as the readers.
TokenLengths token_lengths(const std::filesystem::path& dataset, const std::filesystem::path& tokenizer,
                           std::size_t max_rows, bool strict);

/// Pairs of texts in a training file. Errors: as the readers.
std::size_t count_pairs(const std::filesystem::path& dataset, std::size_t max_rows, bool strict);

}  // namespace workloads
