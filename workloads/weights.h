// The tensors of a BERT model: Hugging Face's names and shapes, first values, loading and saving.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/config.h"
#include "workloads/safetensors.h"

namespace workloads {

enum class Init : std::uint8_t {
  kNormal,         // mean 0, standard deviation initializer_range
  kNormalPadZero,  // the same, but the row of pad_token_id is 0
  kZeros,
  kOnes,
};

struct WeightSpec {
  std::string name;  // "bert.encoder.layer.0.attention.self.query.weight"
  Shape shape;       // as in the file; a linear layer's is [out, in]
  Init init = Init::kNormal;
  bool transposed = false;  // a linear layer's weight: the device wants [in, out]
};

/// All tensors of BertForSequenceClassification, in the order of the model.
std::vector<WeightSpec> bert_weights(const BertConfig& config);
/// Parameters in all of them.
std::size_t parameter_count(const std::vector<WeightSpec>& specs);

/// First values, as Hugging Face draws them. They depend on seed and name alone.
std::vector<float> initial_values(const WeightSpec& spec, const BertConfig& config, std::uint64_t seed);

/// [rows, cols] -> [cols, rows].
std::vector<float> transpose(std::span<const float> values, std::size_t rows, std::size_t cols);

/// The weights of a model, fp32, in the shapes of the specs (not transposed).
struct Weights {
  std::map<std::string, std::vector<float>> values;
  std::vector<std::string> notes;  // what a user should know, one sentence each

  /// The values as the device wants them: [in, out] for linear layers. Errors: Fault::kInternal for an unknown name.
  std::vector<float> for_device(const WeightSpec& spec) const;
  void set_from_device(const WeightSpec& spec, std::span<const float> values);
};

Weights initial_weights(const BertConfig& config, std::uint64_t seed);

/// Reads a checkpoint of this configuration, of any floating type, one file or many. Names without "bert." in front and
/// the old LayerNorm.gamma and .beta are understood. A missing classifier or pooler is drawn from `seed`, with a note;
/// heads of pre-training and position_ids are left out, with a note. Errors: Fault::kData naming tensor, file, what it
/// is and what it must be: wrong shape, no floats, missing, unknown; Fault::kNumerics when a value is NaN or infinite.
Weights load_weights(const std::filesystem::path& file_or_folder, const BertConfig& config, std::uint64_t seed);

/// Writes model.safetensors into `folder`. Errors: Fault::kEnvironment.
void save_weights(const std::filesystem::path& folder, const BertConfig& config, const Weights& weights,
                  ElementType type = ElementType::kF32);

}  // namespace workloads
