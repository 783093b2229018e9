// One micro-batch of one data-parallel rank for any task: the host's inputs of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace workloads {

/// Row by row. A model reads the inputs that its step names; those that it does not read are empty.
struct Batch {
  static constexpr std::int32_t kIgnoredLabel = -100;  // PyTorch's ignore_index

  std::size_t rows = 0, length = 0;
  std::size_t samples = 0;                     // rows that hold a sample; the others are filler
  std::vector<std::int32_t> input_ids{};       // [rows, length]; of pairs of texts: of the one that is read
  std::vector<std::int32_t> token_type_ids{};  // [rows, length]
  std::vector<float> attention_mask{};         // [rows, length]: 1 for tokens, 0 for padding
  std::vector<float> patches{};                // [rows * length, elements of a patch]
  std::vector<float> frames{};                 // of sounds: [rows * frames, bands]
  std::vector<std::int32_t> labels{};          // of each row of the logits; kIgnoredLabel where nothing is learnt
  std::vector<float> weights{};                // per label: its share in the loss
};

}  // namespace workloads
