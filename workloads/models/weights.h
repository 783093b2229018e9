// The tensors of a model: Hugging Face's names and shapes, first values, loading and saving.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/config.h"

namespace workloads {

enum class Init : std::uint8_t {
  kNormal,         // mean 0, standard deviation initializer_range
  kNormalPadZero,  // the same, but the row of pad_token_id is 0
  kZeros,
  kOnes,
  kNormalDeep,    // standard deviation initializer_range / sqrt(2 num_hidden_layers): GPT-2's output projections
  kValue,         // `value`
  kUniformFanIn,  // up to 1 / sqrt(inputs) either way: torch.nn.Linear, and so PEFT's lora_A
};

/// The split of a tensor over tensor-parallel ranks, by the axes of the file. Source: Shoeybi et al., arXiv:1909.08053,
/// section 3.
enum class TensorSplit : std::uint8_t {
  kNone,            // every rank holds all of it
  kAxis0,           // equal parts of axis 0
  kAxis1,           // equal parts of axis 1
  kVocabulary,      // parts of ceil(vocab_size / ranks) of axis 0; the last may be smaller
  kEvenVocabulary,  // the same where ranks divide it, else every rank holds all of it
  kKeyValue,        // axis 0 by key-value heads; with fewer heads than ranks, neighbours hold the same head
  kFused,           // the last axis is query, key and value, one after the other, each split in equal parts
};

/// Rows of a tensor of a file: stretches of its last axis, or elements where it has one axis alone.
struct FilePiece {
  std::string name;
  Shape shape;  // of the whole tensor
  std::int64_t first = 0, rows = 0;
  std::int64_t step = 1;     // from one of the rows to the next
  bool elements = false;     // rows are single elements
  std::int64_t columns = 0;  // of the matrix that the rows are, whose transpose the layer has; 0: they are as they are
  std::int64_t pitch = 0;    // elements from one row of that matrix to the next
};

struct WeightSpec {
  std::string name;  // "bert.encoder.layer.0.attention.self.query.weight"
  Shape shape;       // as in the file; a linear layer's is [out, in]
  Init init = Init::kNormal;
  bool transposed = false;  // a linear layer's weight: the device wants [in, out]
  TensorSplit split = TensorSplit::kNone;
  std::int64_t layer = kBeforeLayers;  // or one of the places below: which pipeline stage has it
  std::string fused{};                 // on a device that has query, key and value apart: the file's tensor,
  std::int64_t third = 0;              // and which of them this is
  bool frozen = false;                 // not trained: it has no gradient and no optimizer state
  std::int64_t stack = 0;  // not 0: on a device it is several tensors of this many rows; `third` selects one
  /// The split of an expert, or of each of a stack, where ranks share each of them and not their number.
  std::optional<TensorSplit> expert_split{};
  double deviation = 0;             // of the first values; 0: as the model draws them
  double value = 0;                 // the first value
  bool constant = false;            // a buffer, and no parameter: it has its first value for ever; a file may lack it
  bool table = false;               // its rows are read by number: nothing is multiplied by it
  bool once = false;                // when text is written, read by the program of a prompt alone
  bool norm = false;                // a gain or bias of a normalization
  std::vector<FilePiece> pieces{};  // where a file has it in other tensors or in another order: their rows in turn
  std::vector<std::string> also{};  // further names under which layers find it

  /// Whether a file has it as a tensor of its own, be it with its rows in another order.
  bool is_whole() const { return file_tensor() == name; }
  /// The file's tensor that it is, or is rows of.
  const std::string& file_tensor() const { return pieces.empty() ? name : pieces.front().name; }
  /// The file's tensor that has it.
  const std::string& in_file() const { return fused.empty() ? name : fused; }
  /// Whether weight decay spares it under the rule of transformers' Trainer: parameters of normalizations, and those
  /// with "bias" in their name. Source: transformers, trainer.py, get_decay_parameter_names().
  bool is_spared() const { return norm || name.find("bias") != std::string::npos; }

  static constexpr std::int64_t kBeforeLayers = -1;          // embeddings: the first stage
  static constexpr std::int64_t kAfterLayers = -2;           // final norm and head: the last
  static constexpr std::int64_t kBeforeAndAfterLayers = -3;  // embeddings that are the head too: both
};

/// The values of a tensor in a checkpoint, put together from its pieces. `prefix`: in front of the names there.
std::vector<float> stored_values(const Checkpoint& checkpoint, std::string_view prefix, const WeightSpec& spec);
/// A tensor of a file, and where its values come from.
struct StoredTensor {
  std::string name;
  Shape shape;
  ElementType type = ElementType::kF32;
  std::vector<const WeightSpec*> parts;  // one, or those that are rows of it
};
/// The tensors of a file that has `specs`; it must not outlive them.
std::vector<StoredTensor> stored_tensors(const std::vector<WeightSpec>& specs,
                                         const std::function<ElementType(const WeightSpec&)>& type);
/// Its values from those of its parts.
std::vector<float> stored_values(const StoredTensor& tensor,
                                 const std::function<std::vector<float>(const WeightSpec&)>& values);

/// Parameters in all of them.
std::size_t parameter_count(const std::vector<WeightSpec>& specs);

/// First values, as Hugging Face draws them. They depend only on seed and name.
std::vector<float> initial_values(const WeightSpec& spec, const ModelPtr& model, std::uint64_t seed);

/// A tensor of the file as a matrix of the device: [in, out] of a linear layer, whose file has [out, ...]; of others
/// all but the last axis are rows.
std::array<std::int64_t, 2> device_shape(const WeightSpec& spec);

/// [rows, cols] -> [cols, rows].
std::vector<float> transpose(std::span<const float> values, std::size_t rows, std::size_t cols);

/// The weights of a model, fp32, in the shapes of the specs (not transposed).
struct Weights {
  std::map<std::string, std::vector<float>> values;
  std::vector<std::string> notes;  // notes for the user, one sentence each

  /// The values in the device's layout: [in, out] for linear layers. Errors: Fault::kInternal for an unknown name.
  std::vector<float> for_device(const WeightSpec& spec) const;
  void set_from_device(const WeightSpec& spec, std::span<const float> values);
};

Weights initial_weights(const ModelPtr& model, std::uint64_t seed);

/// Reads a checkpoint of this configuration, of any floating type, one file or many. Names without the model's prefix
/// ("bert.", "model.", "transformer.") and the old LayerNorm.gamma and .beta are understood. A missing pooler or head
/// of BERT is drawn from `seed`, with a note; heads of other tasks, position_ids and other buffers are left out, with a
/// note. Errors: Fault::kData naming tensor, file, actual and required shape: wrong shape, no floats, missing,
/// unknown, a head that config.json calls tied but that differs from the embeddings; Fault::kNumerics when a value is
/// NaN or infinite.
Weights load_weights(const std::filesystem::path& file_or_folder, const ModelPtr& model, std::uint64_t seed);

/// Writes model.safetensors into `folder`. Errors: Fault::kEnvironment.
void save_weights(const std::filesystem::path& folder, const ModelPtr& model, const Weights& weights,
                  ElementType type = ElementType::kF32);

}  // namespace workloads
