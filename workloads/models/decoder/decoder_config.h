// The configurations of Llama and GPT, as Hugging Face writes them in config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/config.h"
#include "workloads/lora.h"
#include "workloads/models/registry.h"
#include "workloads/weights.h"

namespace workloads {

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
  std::optional<Lora> lora{};                  // in config.json only of our own checkpoints

  operator ModelPtr() const;  // make_model()
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
  operator ModelPtr() const;  // make_model()
};

LlamaConfig read_llama(const Keys& keys);
GptConfig read_gpt(const Keys& keys);
/// Errors: Fault::kData also when the file is of another family.
LlamaConfig read_llama_config(const std::filesystem::path& file_or_folder);
GptConfig read_gpt_config(const std::filesystem::path& file_or_folder);
/// Errors: Fault::kData at `where` for sizes that are not positive or do not divide, or probabilities outside [0, 1).
void check(const LlamaConfig& config, std::string_view where);
void check(const GptConfig& config, std::string_view where);
nlohmann::json to_json(const LlamaConfig& config);
nlohmann::json to_json(const GptConfig& config);

/// Radians per position of each of the head_dim / 2 rotated pairs (element j goes with j + head_dim / 2).
std::vector<double> rope_frequencies(const LlamaConfig& config);

std::vector<Preset> llama_presets();
std::vector<Preset> gpt_presets();
std::vector<FamilyWord> llama_words();
std::vector<FamilyWord> gpt_words();

/// LlamaForCausalLM: every linear weight is transposed for the device.
std::vector<WeightSpec> llama_weights(const LlamaConfig& config);
/// GPT2LMHeadModel: its Conv1D weights are [in, out] in the file already; an untied lm_head is [vocab, hidden].
std::vector<WeightSpec> gpt_weights(const GptConfig& config);

ModelPtr make_model(LlamaConfig config);
ModelPtr make_model(GptConfig config);

}  // namespace workloads
