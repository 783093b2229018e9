// Model configurations as Hugging Face writes them in config.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace workloads {

enum class Activation { kGelu, kGeluTanh, kSilu };
/// Hugging Face's name of it: "gelu" (by erf), "gelu_pytorch_tanh", "silu".
std::string_view name_of(Activation activation);

/// What sits on top of the encoder. A task's choice: config.json names the task that a model was saved from, not the
/// one it is read for, so that reading always gives kClassifier.
enum class BertHead {
  kClassifier,   // BertForSequenceClassification
  kPretraining,  // BertForPreTraining: masked-LM head, tied to the word embeddings, and next-sentence head
};

/// A BERT encoder with its head. The defaults are Hugging Face's, for keys that older files leave out.
struct BertConfig {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t max_position_embeddings = 0;
  std::int64_t type_vocab_size = 2;
  std::int64_t pad_token_id = 0;
  Activation hidden_act = Activation::kGelu;
  double layer_norm_eps = 1e-12;
  double initializer_range = 0.02;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  // unset: hidden_dropout_prob
  std::vector<std::string> label_names{"LABEL_0", "LABEL_1"};
  BertHead head = BertHead::kClassifier;

  std::int64_t num_labels() const { return static_cast<std::int64_t>(label_names.size()); }
  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
};

/// Llama 3.1's longer context (rope_type "llama3"): slow rotations are slowed by `factor`, fast ones kept, and those
/// between blended. Source: transformers, modeling_rope_utils.py, _compute_llama3_parameters.
struct RopeScaling {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  std::int64_t original_max_position_embeddings = 8192;
  bool operator==(const RopeScaling&) const = default;
};

/// LlamaForCausalLM.
struct LlamaConfig {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;  // a file without it has as many as attention heads
  std::int64_t head_dim = 0;             // a file without it has hidden_size / num_attention_heads
  std::int64_t intermediate_size = 0;
  std::int64_t max_position_embeddings = 0;
  Activation hidden_act = Activation::kSilu;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000;
  double initializer_range = 0.02;
  bool tie_word_embeddings = false;
  std::optional<RopeScaling> rope_scaling{};
  std::int64_t bos_token_id = 1;
  std::vector<std::int64_t> eos_token_ids{2};  // generation ends at any of them
};

/// GPT2LMHeadModel: learned positions, LayerNorm before each part, biases everywhere, fused query-key-value.
struct GptConfig {
  std::int64_t vocab_size = 50257;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t intermediate_size = 0;  // a file without it has 4 * hidden_size
  std::int64_t max_position_embeddings = 0;
  Activation hidden_act = Activation::kGeluTanh;
  double layer_norm_eps = 1e-5;
  double initializer_range = 0.02;
  double embd_pdrop = 0.1;
  double resid_pdrop = 0.1;
  double attn_pdrop = 0.1;
  bool tie_word_embeddings = true;
  std::int64_t bos_token_id = 50256;
  std::int64_t eos_token_id = 50256;

  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
};

using ModelConfig = std::variant<BertConfig, LlamaConfig, GptConfig>;
/// "BERT", "Llama" or "GPT".
std::string_view family_of(const ModelConfig& config);
std::int64_t vocabulary_of(const ModelConfig& config);

/// Reads a config.json, or the one in a folder. Errors: Fault::kData naming file and key: missing, of the wrong type,
/// out of range; an unknown model_type or activation (with the known ones); a feature that would change the numbers and
/// is not modelled (relative positions, decoder, biases in Llama's projections, other scalings of the rotary
/// embedding).
ModelConfig read_config(const std::filesystem::path& file_or_folder);
/// The same, for callers that can take only one kind. Errors: Fault::kData also when it is another.
BertConfig read_bert_config(const std::filesystem::path& file_or_folder);
LlamaConfig read_llama_config(const std::filesystem::path& file_or_folder);
GptConfig read_gpt_config(const std::filesystem::path& file_or_folder);

/// Errors: Fault::kData at `where` for sizes that are not positive or do not divide, or probabilities outside [0, 1).
void check(const BertConfig& config, std::string_view where);
void check(const LlamaConfig& config, std::string_view where);
void check(const GptConfig& config, std::string_view where);
void check(const ModelConfig& config, std::string_view where);

/// Radians per position of each of the head_dim / 2 rotated pairs (element j goes with j + head_dim / 2).
std::vector<double> rope_frequencies(const LlamaConfig& config);

/// "bert-base-uncased", "bert-base-cased", "bert-large-uncased" as published, and "bert-small", ours: 2 layers of 128.
/// Errors: Fault::kUsage with the nearest name. All families: workloads/presets.h.
BertConfig bert_preset(std::string_view name);
std::vector<std::string> bert_preset_names();

/// What transformers' from_pretrained reads: architectures and every field. Ends with a newline.
std::string config_json(const ModelConfig& config);
/// Writes config.json into `folder`. Errors: Fault::kEnvironment.
void write_config(const ModelConfig& config, const std::filesystem::path& folder);

}  // namespace workloads
