// The configurations of Llama and its relatives, as Hugging Face writes them in config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/lora.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"

namespace workloads {

/// The scaling of the rotary embedding for longer texts. kLlama3 (Llama 3.1): slow rotations are slowed by `factor`,
/// fast ones kept, and those between blended. kLinear: all are slowed. kDynamic: none within max_position_embeddings,
/// the only lengths that are modelled. Source: transformers, modeling_rope_utils.py.
struct RopeScaling {
  enum class Type { kLlama3, kLinear, kDynamic, kLong };
  Type type = Type::kLlama3;
  double factor = 8;  // of kLong: positions over original_max_position_embeddings
  /// For kLong: the divisors of each pair's frequency, in sequences of up to original_max_position_embeddings tokens
  /// and in longer ones, and the factor of cosines and sines; 0: transformers' formula.
  std::vector<double> short_factor{}, long_factor{};
  double attention_factor = 0;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  std::int64_t original_max_position_embeddings = 8192;
  bool operator==(const RopeScaling&) const = default;
};

enum class LlamaKind {
  kLlama,
  kMistral,
  kQwen2,
  kQwen3,
  kGemma,
  kGemma2,
  kGemma3,
  kGranite,
  kPhi3,
  kMixtral,
  kQwen3Moe,
  kOlmoe,
  kOlmo2,
  kSmolLm3,
  kStableLm
};

/// A relative's names of its experts, in config.json and in checkpoints; empty for a model without experts.
struct ExpertNames {
  const char* count = nullptr;  // "num_experts"
  const char *router = nullptr, *prefix = nullptr, *gate = nullptr, *up = nullptr, *down = nullptr;
};

/// The differences of a relative of Llama. Source: transformers, modeling_NAME.py.
struct LlamaDialect {
  LlamaKind kind;
  std::string_view family, type, architecture;  // "Qwen2", "qwen2", "Qwen2ForCausalLM"
  bool qkv_bias = false;                        // queries, keys and values have a bias
  bool head_norms = false;                      // RMSNorm of each head of queries and keys
  bool joint_norms = false;                     // one norm over all heads of queries, and one of keys
  bool norms_behind = false;                    // norms follow a layer's parts instead of preceding them
  bool norms_around = false;  // a norm before each part of a layer and one behind it; scores are scaled by a key
  bool gemma = false;         // norms multiply by 1 + weight, embeddings are scaled by sqrt(hidden_size)
  bool window = false;        // "sliding_window" says how far back a token sees
  bool multipliers = false;   // of embeddings, residuals, scores and logits
  bool tied = false;          // when the file does not say
  bool layer_norm = false;    // norms are LayerNorms, with biases
  bool fused = false;         // a file has queries, keys and values in one tensor, and gate and up
  ExpertNames experts{};
  double eps = 1e-6;  // the same
  Activation activation = Activation::kSilu;
  double theta = 10000;         // of the rotary positions, the same
  std::int64_t full_every = 0;  // one in this many layers has no window; the same
};
const LlamaDialect& dialect_of(LlamaKind kind);

/// The differences between layers of a relative of Llama.
struct LlamaPattern {
  std::int64_t sliding_window = 0;  // tokens that one sees; 0: all
  std::int64_t full_every = 0;      // one in this many layers sees all nevertheless; 0: none
  double local_theta = 0;           // rope_theta of the layers with a window; 0: the same
  std::int64_t no_rope_every = 0;   // every so many layers, one turns nothing; 0: all turn
  double rotary_share = 1;          // of a head's elements, those that turn
  bool qkv_bias = false;            // where the file says so
};

struct LlamaScales {
  double embedding_multiplier = 1, residual_multiplier = 1, logits_scaling = 1;
  double attention_multiplier = 0;      // of scores; 0: 1 / sqrt(head_dim)
  std::int64_t query_scalar = 0;        // scores are multiplied by 1 / sqrt of it; 0: by attention_multiplier
  double score_cap = 0, logit_cap = 0;  // 0: none
};

struct LlamaExperts {
  std::int64_t num_experts = 0, num_experts_per_tok = 0;  // of a layer
  bool norm_topk_prob = true;                             // a token's gates add up to 1
  double router_aux_loss_coef = 0;
  bool output_router_logits = false;  // without it transformers leaves the router's loss out
  double capacity_factor = 0;         // slots of an expert over an even share of the tokens; 0: none is dropped
};

/// The labels of texts that LlamaForSequenceClassification learns, and the token that fills rows behind a text.
struct TextClasses {
  std::vector<std::string> names;
  std::int64_t pad_token_id = -1;  // -1: none
};

/// LlamaForCausalLM and its relatives.
struct LlamaConfig : LlamaPattern, LlamaScales, LlamaExperts {
  LlamaKind kind = LlamaKind::kLlama;
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
  double attention_dropout = 0;
  bool tie_word_embeddings = false;
  std::optional<RopeScaling> rope_scaling{};
  std::int64_t bos_token_id = 1;
  std::vector<std::int64_t> eos_token_ids{2};  // generation ends at any of them
  std::optional<Lora> lora{};                  // in config.json only of our own checkpoints
  std::optional<TextClasses> classes{};        // none: it predicts tokens

  operator ModelPtr() const;  // make_model()
};

LlamaConfig read_llama(const Keys& keys, LlamaKind kind = LlamaKind::kLlama);
/// Errors: Fault::kData also when the file is of another family.
LlamaConfig read_llama_config(const std::filesystem::path& file_or_folder);
/// Errors: Fault::kData at `where` for sizes that are not positive or do not divide, or probabilities outside [0, 1).
void check(const LlamaConfig& config, std::string_view where);
void apply(const ModelChange& change, LlamaConfig& config);
nlohmann::json to_json(const LlamaConfig& config);

/// Radians per position of each of the head_dim / 2 rotated pairs (element j goes with j + head_dim / 2); `longer`: in
/// sequences beyond the original positions of a model that has such.
std::vector<double> rope_frequencies(const LlamaConfig& config, bool longer = false);
/// The factor of cosines and sines.
double rope_magnitude(const LlamaConfig& config);

/// Without sizes.
LlamaConfig blank_config(LlamaKind kind);
ModelPtr blank_llama(LlamaKind kind);

/// Every linear weight is transposed for the device.
std::vector<WeightSpec> llama_weights(const LlamaConfig& config);

ModelPtr make_model(LlamaConfig config);

}  // namespace workloads
