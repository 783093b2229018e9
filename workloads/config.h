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

/// BertForSequenceClassification. The defaults are Hugging Face's, for keys that older files leave out.
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

  std::int64_t num_labels() const { return static_cast<std::int64_t>(label_names.size()); }
  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
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
};

using ModelConfig = std::variant<BertConfig, LlamaConfig>;

/// Reads a config.json, or the one in a folder. Errors: Fault::kData naming file and key: missing, of the wrong type,
/// out of range; an unknown model_type or activation (with the known ones); a feature that would change the numbers and
/// is not modelled (relative positions, decoder, biases in Llama's projections, scaled rotary embedding).
ModelConfig read_config(const std::filesystem::path& file_or_folder);
/// The same, for callers that can take only one kind. Errors: Fault::kData also when it is the other.
BertConfig read_bert_config(const std::filesystem::path& file_or_folder);
LlamaConfig read_llama_config(const std::filesystem::path& file_or_folder);

/// Errors: Fault::kData at `where` for sizes that are not positive or do not divide, or probabilities outside [0, 1).
void check(const BertConfig& config, std::string_view where);
void check(const LlamaConfig& config, std::string_view where);

/// "bert-base-uncased", "bert-base-cased", "bert-large-uncased" as published, and "bert-small", ours: 2 layers of 128.
/// Errors: Fault::kUsage with the nearest name.
BertConfig bert_preset(std::string_view name);
std::vector<std::string> bert_preset_names();

/// What transformers' from_pretrained reads: architectures, id2label, label2id and every field. Ends with a newline.
std::string config_json(const BertConfig& config);
/// Writes config.json into `folder`. Errors: Fault::kEnvironment.
void write_config(const BertConfig& config, const std::filesystem::path& folder);

}  // namespace workloads
