// Model, tokenizer and packed text, or pairs of texts, of a language-model run, from the user's files or from bundled
// ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/data/corpus.h"
#include "workloads/data/lengths.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/text/tokenizer.h"

namespace workloads {

struct LanguageModellingOptions {
  std::string model_folder{};  // what load_model() reads; empty: `preset` from scratch
  std::string preset{};
  std::string dataset_path{};  // file or folder; empty: the embedded data set
  std::string validation_file{}, test_file{}, vocab{};
  bool strict = false;
  bool packing = true;   // texts are joined and cut; otherwise each is cut or padded
  bool hold_out = true;  // without a validation file, some sequences become one
  std::size_t length = 0, max_train_samples = 0, max_eval_samples = 0;  // tokens of a sequence; texts
  std::size_t target_length = 0;  // of a model that reads one text and writes another: tokens of the latter
  std::uint64_t seed = 42;
  std::optional<Lora> lora{};  // trained beside the frozen model
};

/// One of so many packed sequences is held out.
inline constexpr std::size_t kHeldOutOneOf = 20;

struct LanguageModelling {
  ModelPtr config;
  Weights weights;
  std::unique_ptr<Tokenizer> tokenizer;
  PackedDataset train;
  std::optional<PackedDataset> validation, test;
  std::string source;  // where the data comes from
  bool synthetic = false;
  std::size_t texts = 0;           // trained on
  std::vector<std::string> notes;  // skipped rows, what is held out, a vocabulary made from the data
};

/// Reads, tokenizes, packs, and fits a new model to the vocabulary. Errors: as the readers and pack(); Fault::kUsage
/// for a sequence that is longer than the model's positions, or a model that is not a decoder; Fault::kData when the
/// vocabulary has more tokens than the model's table.
LanguageModelling load_language_modelling(const LanguageModellingOptions& options);

/// Of sequences as they are trained on.
TokenLengths token_lengths(const PackedDataset& data, std::string source);

/// Where the tokenizer is: `vocab`, or without it the model's folder, which for a llama2.c file is the one it lies in.
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
