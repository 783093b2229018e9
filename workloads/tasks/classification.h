// Samples with labels: texts, words of texts, pictures.
#pragma once

#include <filesystem>
#include <optional>

#include "workloads/tasks/training_data.h"
#include "workloads/training/batches.h"
#include "workloads/training/images.h"

namespace workloads {

struct Classification : TrainingData {
  TokenizedDataset train;
  std::optional<TokenizedDataset> validation, test;
  std::optional<ImageDataset> train_images, validation_images, test_images;  // instead of the texts

  /// Pictures without a validation split are evaluated on those of the test split after each epoch.
  TrainerData data() const override;
  TokenLengths lengths() const override;
  std::int64_t documents() const override { return train_samples(); }
};

/// Reads, tokenizes, and fits the model to the labels and the vocabulary. A model of images reads MNIST's or CIFAR-10's
/// files (workloads/data/image_files.h) or a folder of PNG and JPEG files for each class
/// (workloads/data/image_folder.h), or draws digits when no data is given. Errors: as the readers; Fault::kData when
/// the data has more labels than the model's own head, the vocabulary more tokens than its table, or the labels are of
/// words and the head is not, or the other way round.
Classification load_classification(const DataOptions& options);

/// Samples of the user's files, for a job that is not trained here. Errors: as the readers.
struct SampleCount {
  std::int64_t train = 0, validation = 0;
  bool of_words = false;  // labels are of words
};
SampleCount count_samples(const DataOptions& options);
/// Tokens of its training samples, by the tokenizer that a training of it would have. Errors: as
/// load_classification().
TokenLengths token_lengths(const DataOptions& options);
/// The same for a folder of pictures. Errors: as read_image_folder().
SampleCount count_images(const std::filesystem::path& folder);

}  // namespace workloads
