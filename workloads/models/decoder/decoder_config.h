// The configurations of Llama and its relatives, as Hugging Face writes them in config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/lora.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"

namespace workloads {

/// The scaling of the rotary embedding for longer texts. kLlama3 (Llama 3.1): slow rotations are slowed by `factor`,
/// fast ones kept, and those between blended. kLinear: all are slowed. kDynamic: none within max_position_embeddings,
/// the only lengths that are modelled. kYarn (Peng et al., arXiv:2309.00071): pairs that turn less often than beta_slow
/// times in the original positions are slowed, those that turn more often than beta_fast kept, others blended by their
/// number. Source: transformers, modeling_rope_utils.py.
struct RopeScaling {
  enum class Type { kLlama3, kLinear, kDynamic, kLong, kYarn };
  Type type = Type::kLlama3;
  double factor = 8;  // of kLong: positions over original_max_position_embeddings
  /// For kLong: the divisors of each pair's frequency, in sequences of up to original_max_position_embeddings tokens
  /// and in longer ones, and the factor of cosines and sines; 0: transformers' formula.
  std::vector<double> short_factor{}, long_factor{};
  double attention_factor = 0;
  double beta_fast = 32, beta_slow = 1;  // for kYarn, with the factors of its magnitude; 0: transformers' formula
  double mscale = 0, mscale_all_dim = 0;
  bool truncate = true;  // the blend begins and ends at whole pairs
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  std::int64_t original_max_position_embeddings = 8192;
  double alpha = 0;         // for kDynamic of a relative that has it: a larger base for all lengths; 0: none
  double query_growth = 0;  // of queries with each of the original positions, as RotaryArch has it; 0: none
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
  kStableLm,
  kCohere,
  kCohere2,
  kGlm,
  kGlm4,
  kHelium,
  kErnie45,
  kNemotron,
  kArcee,
  kSeedOss,
  kExaone4,
  kOlmo,
  kOlmo3,
  kGraniteMoe,
  kQwen2Moe,
  kGraniteMoeShared,
  kDeepseek,
  kDeepseekV2,
  kDeepseekV3,
  kGlm4Moe,
  kDots1,
  kFlexOlmo,
  kGptOss,
  kLlama4,
  kInternLm,
  kInternLm2,
  kInternLm3,
  kBaichuan,
  kExaone,
  kChatGlm,
  kQwen,
  kMiniCpm,
  kMiniCpm3,
  kOrion,
  kAquila,
  kXverse,
  kYi,
  kErnie45Moe,
  kKimiK2,
  kMinistral3,
  kGranite4,
  kHunyuan,
  kMiniMaxM2,
  kApertus,
  kBailing,
  kBailing2,
  kModernBertDecoder
};

/// A relative's names of its experts, in config.json and in checkpoints; empty for a model without experts.
struct ExpertNames {
  const char* count = nullptr;  // "num_experts"
  const char *router = nullptr, *prefix = nullptr, *gate = nullptr, *up = nullptr, *down = nullptr;
  const char *fused_wide = "", *fused_down = "";  // as MixtureArch has them
  bool fused_by_inputs = false, fused_halves = false, have_bias = false;
  bool sigmoid = false, scale_inputs = false;  // as RouterArch has them
  /// The expert of all tokens, where a relative has one, as SharedExpertArch has it.
  const char *shared = "", *shared_share = "", *shared_fused = "", *shared_down = "";
  const char* bias = "";         // as RouterArch has it, of sigmoids
  bool bias_of_softmax = false;  // or of their softmax, in a file as one row
};

/// The norms of a relative.
struct DialectNorms {
  NormPlace place = NormPlace::kBefore;
  bool of_heads = false;            // RMSNorm of each head of queries and keys
  bool joint = false;               // one norm over all heads of queries, and one of keys
  const char* heads_key = nullptr;  // a key that says whether each head of queries and keys has a norm of its own
  const char *query = nullptr, *key_name = nullptr;  // names of these norms, where they are not Qwen3's
  bool listed = false;                               // as AttentionNames has it
  bool turned = false;                               // as AttentionArch has it
  bool layer = false;                                // they are LayerNorms
  bool gain = true, bias = true;
  double offset = 0;                                 // they multiply by weight + this
  const char* key = "rms_norm_eps";                  // of their eps; empty: a file has none
  double eps = 1e-6;                                 // when the file does not say
  const char* behind = "post_attention_layernorm";   // with NormPlace::kAround: of attention's output,
  const char* before = "pre_feedforward_layernorm";  // and of the MLP's input
  const char* last = "post_feedforward_layernorm";   // and of its output
};

/// The tokens that a layer of a relative sees, and how it knows their positions.
struct DialectPositions {
  bool neighbours = false;      // pairs that turn are neighbours
  bool only_windowed = false;   // where layers have windows, those without one turn nothing
  double theta = 10000;         // when the file does not say
  double share = 0;             // of a head's elements, those that turn when the file does not say; 0: no key says it
  bool window = false;          // "sliding_window" says how far back a token sees
  bool switched = false;        // where "use_sliding_window" is on, from a layer on
  std::int64_t span = 0;        // when the file does not say; 0: all
  std::int64_t full_every = 0;  // one in this many layers has no window; the same
  bool pattern = false;         // "sliding_window_pattern" says it,
  bool listed = false;          // and "layer_types", which is written
  bool scaled_full = false;     // "rope_scaling" is of layers without a window alone
  bool alpha = false;           // as RopeScaling has it
  bool growth = false;          // "rope_scaling" says how queries grow
};

/// The biases of a relative: of queries, keys and values always, or those that a key of the file has.
struct DialectBiases {
  bool qkv = false;        // when the file does not say
  bool attention = false;  // "attention_bias" is that of queries, keys and values,
  bool out = false;        // and of attention's output
  bool mlp = false;        // "mlp_bias"
};

/// The operations of a layer beyond a Llama's, counted as FrameworkOps says by tests/golden/make/count_ops.py.
struct DialectOps {
  double forward = 0, backward = 0;
};

/// The projections that a relative's files have in one tensor.
struct DialectFused {
  bool qkv = false;  // of queries, keys and values
  bool mlp = false;  // gate and up
};

/// The MLP of a relative, or of its experts, as MlpArch has it.
struct DialectMlp {
  std::string_view layer = "mlp.";  // of a layer's names
  bool gated = true;
  Activation activation = Activation::kSilu;
  double limit = 0;  // when the file does not say; 0: no key says it
  double slope = 1, shift = 0;
};

/// The heads of attention of a relative.
struct DialectHeads {
  std::int64_t size = 0, kv = 0;  // "head_dim" and "num_key_value_heads" when the file does not say; 0: as Llama
  bool latent = false;            // keys and values by way of fewer elements
  bool sinks = false;             // as AttentionNames has them
};

/// A relative's names of its weights; gate, up and down are behind the names of MLPs' layers.
struct DialectNames {
  const char *prefix, *tokens, *layers, *last, *head, *norm1, *norm2;
  const char *query, *key, *value, *qkv, *out;
  std::int64_t groups = 1;  // of rows in `qkv`, as AttentionNames has them
  const char *gate, *up, *down, *wide;
  /// A norm of the tokens, which is that of the first layer's attention too, and the head's dense layer and its norm.
  const char *first = "", *dense = "", *dense_norm = "";
};

/// The differences of a relative of Llama. Source: transformers, modeling_NAME.py; of InternLM to Yi their publishers'.
struct LlamaDialect {
  LlamaKind kind;
  std::string_view family, type, architecture;  // "Qwen2", "qwen2", "Qwen2ForCausalLM"
  DialectNorms norms{};
  DialectPositions positions{};
  DialectBiases biases{};
  bool gemma = false;        // embeddings are scaled by sqrt(hidden_size), and further keys
  bool multipliers = false;  // of embeddings, residuals, scores and logits
  bool tied = false;         // when the file does not say
  bool parallel = false;     // attention and MLP read the same norm
  bool classifies = true;    // transformers has a model that classifies texts
  DialectFused fused{};
  DialectMlp mlp{};
  DialectHeads heads{};
  ExpertNames experts{};
  DialectOps more{};                    // besides those of norms of heads, Gemma's and experts
  const DialectNames* names = nullptr;  // none: Llama's
  std::span<const KeyName> keys{};      // a file's words for Llama's keys
};
const LlamaDialect& dialect_of(LlamaKind kind);
const DialectNames& names_of(const LlamaDialect& dialect);

/// The differences between layers of a relative of Llama.
struct LlamaPattern {
  std::int64_t sliding_window = 0;  // tokens that one sees; 0: all
  std::int64_t full_every = 0;      // one in this many layers sees all nevertheless; 0: none
  bool full_first = false;          // the first of them, not the last
  std::int64_t windowed_from = 0;   // the layers in front of this one have no window
  double local_theta = 0;           // rope_theta of the layers with a window; 0: the same
  std::int64_t no_rope_every = 0;   // every so many layers, one turns nothing; 0: all turn
  double rotary_share = 1;          // of a head's elements, those that turn
};

/// A layer's parts, attention and MLP.
struct LlamaParts {
  bool qkv_bias = false, out_bias = false, mlp_bias = false;
  bool parallel = false;        // both read the same norm
  double residual_dropout = 0;  // of their outputs
  bool head_norms = false;      // queries and keys have a norm that heads share
  double swiglu_limit = 0;      // of gates and ups of an MLP; 0: none
  bool own_norms = false;       // each head of queries and keys has a norm of its own
  double clip_qkv = 0;          // queries, keys and values are kept within it; 0: they are not
  bool bare_norms = false;      // heads of queries and keys that turn have a norm without weights
  bool alibi = false;           // heads have slopes, and nothing turns
  bool norm_head = false;       // rows of the head have the length 1
  bool head_bias = false;       // of words
};

/// The tokens of a chunk see each other alone, in layers that turn; in the others queries grow with the logarithm of
/// their position over `floor_scale`, rounded down. Both change nothing in sequences of one chunk that do not reach
/// that position: the only lengths that are modelled. Source: transformers, modeling_llama4.py.
struct LlamaChunks {
  std::int64_t attention_chunk_size = 0, floor_scale = 0;  // 0: there is no such thing
  double attn_scale = 0.1;
};

/// Attention by way of fewer elements, as LatentArch has it.
struct LlamaLatent {
  std::int64_t q_lora_rank = 0, kv_lora_rank = 0;  // of queries 0: one projection
  std::int64_t qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  bool rope_interleave = true;  // a file's pairs that turn are neighbours
};

struct LlamaScales {
  double embedding_multiplier = 1, residual_multiplier = 1, logits_scaling = 1;
  double logit_scale = 1;               // of the logits, too
  double attention_multiplier = 0;      // of scores; 0: 1 / sqrt(head_dim)
  std::int64_t query_scalar = 0;        // scores are multiplied by 1 / sqrt of it; 0: by attention_multiplier
  double score_cap = 0, logit_cap = 0;  // 0: none
  double scale_depth = 0;               // outputs of parts are times this over the root of the layers; 0: they are not
  std::int64_t dim_model_base = 0;      // logits are times this over hidden_size; 0: they are not
};

struct LlamaExperts {
  std::int64_t num_experts = 0, num_experts_per_tok = 0;  // of a layer
  bool norm_topk_prob = true;                             // a token's gates add up to 1
  double router_aux_loss_coef = 0;
  bool output_router_logits = false;  // without it transformers leaves the router's loss out
  std::int64_t shared_size = 0;       // of an expert that every token has; 0: there is none
  double capacity_factor = 0;         // slots of an expert over an even share of the tokens; 0: none is dropped
  std::int64_t first_dense = 0;       // so many layers have no experts, but an MLP
  std::int64_t expert_every = 1;      // from then on, one in so many has experts
  std::vector<std::int64_t> mlp_only_layers{};  // these have none all the same
  std::int64_t dense_size = 0;                  // of an MLP
  double routed_scale = 1;                      // of the sum of a token's experts
  std::int64_t groups = 1, top_groups = 1;      // as RouterArch has them
};

/// The labels of texts that LlamaForSequenceClassification learns, and the token that fills rows behind a text.
struct TextClasses {
  std::vector<std::string> names;
  std::int64_t pad_token_id = -1;  // -1: none
};

/// LlamaForCausalLM and its relatives.
struct LlamaConfig : LlamaPattern, LlamaParts, LlamaChunks, LlamaLatent, LlamaScales, LlamaExperts {
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

/// Elements of a head that turn: an even number.
std::int64_t turned_elements(const LlamaConfig& config);
/// Radians per position of each of the head_dim / 2 rotated pairs (element j goes with j + head_dim / 2); `longer`: in
/// sequences beyond the original positions of a model that has such.
std::vector<double> rope_frequencies(const LlamaConfig& config, bool longer = false);
/// YaRN's factor of cosines and sines, or the root of one of scores.
double yarn_magnitude(double factor, double scale);
/// The factor of cosines and sines.
double rope_magnitude(const LlamaConfig& config);

/// Without sizes.
LlamaConfig blank_config(LlamaKind kind);
ModelPtr blank_llama(LlamaKind kind);

/// Every linear weight is transposed for the device.
std::vector<WeightSpec> llama_weights(const LlamaConfig& config);

ModelPtr make_model(LlamaConfig config);

}  // namespace workloads
