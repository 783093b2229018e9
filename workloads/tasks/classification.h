// Model, tokenizer and data of a classification run, of texts or of pictures, from the user's files or from those that
// are bundled.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/data/dataset.h"
#include "workloads/data/lengths.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"
#include "workloads/tasks/task.h"
#include "workloads/text/tokenizer.h"
#include "workloads/training/batches.h"

namespace workloads {

struct ClassificationOptions {
  std::string model_folder;  // Hugging Face folder; empty: `preset` from scratch
  std::string preset;
  std::string dataset_path;  // file or folder; empty: the embedded data set
  std::string validation_file, test_file, vocab;
  ReadOptions read;
  std::optional<Head> head;  // unset: Head::kTokens when the data has a label of each word, else Head::kClassifier
  std::size_t max_length = 0, max_train_samples = 0, max_eval_samples = 0;
  std::uint64_t seed = 42;
};

struct Classification {
  ModelPtr config;
  Weights weights;
  std::unique_ptr<Tokenizer> tokenizer;  // null for pictures
  TokenizedDataset train;
  std::optional<TokenizedDataset> validation, test;
  std::optional<ImageDataset> train_images, validation_images, test_images;  // instead of the texts
  std::string source;                                                        // where the data comes from
  bool synthetic = false;
  std::vector<std::string> notes;  // skipped rows, missing heads, a vocabulary made from the data

  /// What a trainer trains on: must not outlive this. Pictures without a validation split are evaluated on those of
  /// the test split after each epoch.
  ClassifierData data() const;
  std::int64_t train_samples() const;
  std::int64_t validation_samples() const;
};

/// Reads, tokenizes, and fits the model to the labels and the vocabulary. A model of images reads MNIST's or CIFAR-10's
/// files (workloads/data/image_files.h) or a folder of PNG and JPEG files for each class
/// (workloads/data/image_folder.h), or draws digits when no data is given. Errors: as the readers; Fault::kData when
/// the data has more labels than the model's own head, the vocabulary more tokens than its table, or the labels are of
/// words and the head is not, or the other way round.
Classification load_classification(const ClassificationOptions& options);

/// Samples of the user's files, for a job that is not trained here. Errors: as the readers.
struct SampleCount {
  std::int64_t train = 0, validation = 0;
  bool of_words = false;  // labels are of words
};
SampleCount count_samples(const ClassificationOptions& options);
/// Tokens of its training samples, by the tokenizer that a training of it would have. Errors: as
/// load_classification().
TokenLengths token_lengths(const ClassificationOptions& options);
/// Of samples as they are trained on.
TokenLengths token_lengths(const TokenizedDataset& data, std::string source);
/// The same of a folder of pictures. Errors: as read_image_folder().
SampleCount count_images(const std::filesystem::path& folder);

}  // namespace workloads
