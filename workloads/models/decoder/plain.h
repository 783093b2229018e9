// Decoders whose config.json says little more than sizes: LayerNorm, biases everywhere, an MLP without a gate. A family
// is a PlainFamily, its keys and its names, in a file of its own, and a row of workloads/models/registry.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "workloads/models/config/table.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/tensor_names.h"

namespace workloads {

struct PlainFamily;

enum class PlainBlock : std::uint8_t {
  kInTurn,     // attention, then MLP, each with a norm of its input
  kParallel,   // both read the same input
  kNormOfSum,  // in turn, with norms of the sums and none before the head
};

/// The keys that a query sees, and how it knows their positions.
struct PlainAttention {
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;  // 0: as many
  std::int64_t sliding_window = 0;       // tokens that one sees; 0: all
  std::int64_t full_every = 0;           // one in this many layers sees all nevertheless, the first of them; 0: none
  double rotary_share = 0;               // of each head's elements; 0: none turns
  std::int64_t rotary_dim = 0;           // the same as a number of them; 0: by the share
  double alibi_bias_max = 0;             // slopes of heads fall from 2^-(this / heads) to 2^-this; 0: no slopes
  double rope_theta = 10000;
  bool bias = false;          // of all linear layers of a family that has none of its own
  double clip_qkv = 0;        // queries, keys and values are kept within it; 0: they are not
  bool qk_layernorm = false;  // a norm of each head of queries and keys, with weights that heads share

  std::int64_t kv_heads() const { return num_key_value_heads > 0 ? num_key_value_heads : num_attention_heads; }
};

/// In place of each layer's MLP, as MixtureArch has them.
struct PlainExperts {
  std::int64_t experts = 0, top_k = 0;
  bool normalised = true;
  double capacity_factor = 0, balance = 0;
  bool output_router_logits = false;  // without it transformers leaves the router's loss out
};

struct PlainConfig : PlainAttention, PlainExperts {
  const PlainFamily* family = nullptr;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t max_position_embeddings = 0;
  Activation hidden_act = Activation::kGelu;
  double layer_norm_eps = 1e-5;
  double initializer_range = 0.02;
  double dropout = 0;  // of the outputs of attention and MLP
  double attention_dropout = 0;
  double embedding_dropout = 0;
  PlainBlock block = PlainBlock::kInTurn;
  std::int64_t embedding_size = 0;  // of a token's row in the table; 0: hidden_size, without projections
  bool scale_embedding = false;     // by the root of hidden_size
  bool tie_word_embeddings = false;
  std::int64_t bos_token_id = 0, eos_token_id = 0;
  std::optional<Lora> lora{};

  operator ModelPtr() const;  // make_model()
};

/// Each head has keys of its own, whatever key says so.
inline void read_own_keys(const Keys& keys, PlainConfig& config) {
  keys.only("num_key_value_heads", config.num_attention_heads);
}

/// Reads a key that is true in one form of block and false in the other.
template <PlainBlock kTrue, PlainBlock kFalse>
void read_block(const Keys& keys, const char* key, PlainConfig& config) {
  bool value = config.block == kTrue;
  keys.optional(key, value);
  config.block = value ? kTrue : kFalse;
}

/// How a family computes scores, as AttentionArch has it.
struct PlainScores {
  bool fp32_softmax = false;
  double scale = 0;
  bool scaled_slopes = false;  // slopes are multiplied as scores are
};

struct PlainFamily {
  std::string_view name, type;                      // "GPT-NeoX", "gpt_neox"
  void (*defaults)(PlainConfig& config) = nullptr;  // of keys that a file leaves out
  std::span<const Field<PlainConfig>> fields{};
  std::string blocks{};  // as DecoderArch has them
  BlockNames block{};
  EmbeddingArch embedding{};  // both with the names of projections, which a model has where it needs them
  HeadArch head{};
  bool qkv_bias = true, out_bias = true, mlp_bias = true, norm_bias = true;
  PlainScores scores{};
  bool neighbours = false;     // as RotaryArch has it
  MixtureArch experts{};       // their names; none: its layers have an MLP without a gate
  std::int64_t expansion = 0;  // the MLP is so many times as wide as the layers; 0: as it says
  TensorNames names{};
  LayerOps layer{};                                                         // counted as FrameworkOps says
  std::vector<WeightSpec> (*weights)(const PlainConfig& config) = nullptr;  // null: decoder_specs() says them
};

const PlainFamily& gpt_family();
const PlainFamily& first_gpt_family();
const PlainFamily& opt_family();  // whose layers BioGPT has
/// The activation in GPT's words.
nlohmann::json gpt_activation(const PlainConfig& config);
/// The family's configuration without sizes.
PlainConfig blank(const PlainFamily& family);

ModelPtr read_plain(const Keys& keys, const PlainFamily& family);
void check(const PlainConfig& config, std::string_view where);
void apply(const ModelChange& change, PlainConfig& config);
nlohmann::json to_json(const PlainConfig& config);
ModelPtr make_model(PlainConfig config);

}  // namespace workloads
