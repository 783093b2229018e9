// The configurations of BERT and its relatives, as Hugging Face writes it in config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program.h"
#include "workloads/models/config.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/lora.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"
#include "workloads/step/step.h"

namespace workloads {

enum class BertKind {
  kBert,
  kRoberta,
  kDistilBert,
  kElectra,
  kAlbert,
  kXlmRoberta,
  kCamembert,
  kEsm,
  kMpnet,
  kModernBert,
  kXlmRobertaXl,
  kMegatronBert,
  kRobertaPreLayerNorm,
  kData2VecText,
  kRemBert,
  kErnie,
  kXlm,
  kFlaubert,
  kRoFormer,
  kDeberta,
  kDebertaV2,
  kNew,
  kGte,
  kNomic,
  kEuroBert,
  kEmbeddingGemma
};

/// The tables of config.json's keys.
enum class BertKeys : std::uint8_t {
  kBert,
  kDistilBert,
  kModernBert,
  kXlm,
  kDeberta,
  kNew,
  kNomic,
  kEuro,
  kEmbeddingGemma
};

struct BertConfig;

/// Names of the embeddings' weights, behind the model's prefix; empty: there are none. A table of positions is there
/// unless the file says that they turn queries and keys.
struct BertEmbeddingNames {
  std::string_view tokens = "embeddings.word_embeddings", positions = "embeddings.position_embeddings",
                   types = "embeddings.token_type_embeddings", norm = "embeddings.LayerNorm";
  std::string_view places{}, places_norm{};            // of relative places
  std::string_view convolution{}, convolution_norm{};  // of tokens and their neighbours
};

/// ERNIE's table of tasks, behind the prefix.
inline constexpr std::string_view kTaskTypes = "embeddings.task_type_embeddings";

/// Names of the head for masked tokens: a dense layer (empty: none) and its norm; the bias behind the table of tokens;
/// the copies of table and bias that a file may have.
struct MaskedHeadNames {
  std::string_view dense, norm, bias, table_copy, bias_copy;
  bool own_table = false;  // no copy: the head has a table of its own under that name
};

/// Further norms of a layer: of heads of queries and keys; with NormPlace::kAround, of the outputs of both parts.
struct BertNormNames {
  std::string_view query{}, key{}, behind1{}, behind2{};
};

/// Names of a layer's weights, after their prefix. A file may have queries, keys and values in one tensor (`fused`),
/// and gate and up; or the layer's number behind the first part of the name ("attentions.0.q_lin").
struct BertLayerNames {
  std::string_view query, key, value, out, norm1, up, down, norm2;
  std::string_view fused{}, gate{}, fused_gate{};
  std::string_view place_key{}, place_query{};  // of relative places
  /// Where a file has these biases by themselves: then keys and the places of keys have none, and `fused` has queries,
  /// keys and values of each head side by side.
  std::string_view query_bias{}, value_bias{};
  BertNormNames norms{};
  bool numbered_behind = false;
  bool drops_inside = false;  // an MLP, between its two halves, as the layer drops their outputs
  bool gate_last = false;     // in `fused_gate`
};

/// How a relative embeds tokens.
struct BertEmbeddingTraits {
  bool one_type = false;          // the table of token types has a single one, which every token has
  bool places_after_pad = false;  // positions begin after pad_token_id
  bool dropout = true;            // of the sum
  bool norm_is_first = false;     // their norm is that of the first layer's attention, too
};

/// How it classifies texts and tokens.
struct BertHeadTraits {
  isa::Fn pooled_fn = isa::Fn::kTanh;
  bool pooled_dropout = false;  // before the layer on the first token, too
  bool masked_gelu = false;     // the head for masked tokens has GELU, independent of the layers
  bool same_layer = false;      // tokens are classified by the layer of texts
  bool dropout_key = true;      // config.json says its dropout; else it is that of the layers
  std::string_view norm{};      // behind the pooled layer, which single tokens have too; its activation is the file's
  std::string_view masked_suffix = "ForMaskedLM";  // of the architecture's name
};

/// The differences of a relative of BERT, and its names for shared parts. Source: transformers, modeling_NAME.py.
struct BertDialect {
  BertKind kind;
  std::string_view family, type, architecture;  // "RoBERTa", "roberta", "Roberta"
  std::string_view prefix, layers;              // "roberta.", "roberta.encoder.layer."
  BertLayerNames in_layer;
  std::string_view pooled, classifier;  // the layers on the first token; pooled is empty: there is one alone
  MaskedHeadNames masked;
  BertEmbeddingNames embedding{};
  std::string_view projection{};  // from embeddings of embedding_size to hidden_size; empty: they are as wide
  std::string_view relative{};    // the table of a bias by distance, of which layers share one
  std::string_view last_norm{};   // behind the layers
  NormPlace norms = NormPlace::kAfterSum;
  BertEmbeddingTraits embeds{};
  BertHeadTraits heads{};
  BertKeys keys = BertKeys::kBert;
  bool one_layer = false;                   // whose weights all layers have
  void (*defaults)(BertConfig&) = nullptr;  // of transformers' configuration, where they are not BERT's

  /// The prefix of the names of a layer's weights.
  std::string layer(std::int64_t number) const;
};
const BertDialect& dialect_of(BertKind kind);

/// Keys that few relatives have; the defaults are of those that have them not.
struct BertMore {
  bool rotary = false;         // positions turn queries and keys
  bool neighbours = false;     // a file's pairs that turn are neighbours
  bool norm_before = true;     // embeddings are normed, where the relative has a norm of them
  bool token_dropout = false;  // as TokenFading has it
  std::int64_t mask_token_id = 0;
  std::int64_t output_embedding_size = 0;  // of the table of the head for masked tokens
  bool use_task_id = false;                // the first row of a table of tasks is added to each token
  std::int64_t task_type_vocab_size = 3;
  bool norms_first = false;              // a layer's norms are of its parts' inputs
  double rope_factor = 1;                // of "ntk", by which rotary positions reach farther
  bool rms = false;                      // norms are by root mean squares
  std::int64_t num_key_value_heads = 0;  // 0: as many as of queries
  double norm_offset = 0;                // norms multiply by weight + this
  bool scale_embedding = false;          // by the root of hidden_size
  std::int64_t query_scalar = 0;         // scores are multiplied by 1 / sqrt of it; 0: by that of a head's size
};

/// The same of ModernBERT.
struct ModernBertMore {
  double global_theta = 10000, local_theta = 10000;  // of rotary positions: of all tokens, and of layers with a window
  std::int64_t full_every = 0;                       // one in this many layers sees all tokens, the first of them,
  bool full_first = true;                            // or the last
  std::int64_t local_attention = 0;                  // the others see half as many on both sides; 0: all
  bool norm_bias = true, attention_bias = true, mlp_bias = true, decoder_bias = true, classifier_bias = true;
  std::optional<bool> down_bias{};  // of an MLP's last layer; unset: as the others'
  bool mean_pooling = false;        // texts are classified by the mean of their tokens,
  bool late_pooling = false;        // by that of their tokens' logits
  double mlp_dropout = 0;
  double embedding_dropout = 0;
  Activation classifier_activation = Activation::kGelu;
};

/// The same of DeBERTa. Source: He et al., arXiv:2006.03654 and arXiv:2111.09543.
struct DebertaMore {
  bool absolute = true;                      // positions are rows of a table that is added to the tokens
  bool relative_attention = false;           // scores depend on relative places,
  bool of_keys = false, of_queries = false;  // of keys, of queries
  bool shared_projections = false;           // which the layers of content project
  bool normed_places = false;
  std::int64_t conv_kernel_size = 0;  // neighbours whose convolution is added behind the first layer; 0: none is
  Activation conv_act = Activation::kGelu;
  std::int64_t position_buckets = -1;        // of each side; not positive: each distance has a place
  std::int64_t max_relative_positions = -1;  // not positive: as many as positions

  bool uses_places() const { return relative_attention && (of_keys || of_queries); }
};

/// A BERT encoder with its head. The defaults are Hugging Face's, for keys that older files leave out.
struct BertConfig : BertMore, ModernBertMore, DebertaMore {
  BertKind kind = BertKind::kBert;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t embedding_size = 0;  // of the tables; 0: hidden_size
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
  bool tie_word_embeddings = true;           // else the head for hidden tokens would have a table of its own
  std::vector<std::string> label_names{"LABEL_0", "LABEL_1"};
  std::optional<Lora> lora{};
  /// A task's choice: config.json names the task that a model was saved from, not the one it is read for, so that
  /// reading gives kClassifier, or kTokens of a model that was saved from that.
  Head head = Head::kClassifier;

  std::int64_t num_labels() const { return static_cast<std::int64_t>(label_names.size()); }
  std::int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : hidden_size; }
  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
  std::int64_t key_heads() const { return num_key_value_heads > 0 ? num_key_value_heads : num_attention_heads; }
  std::int64_t first_position() const {
    return dialect_of(kind).embeds.places_after_pad && !rotary ? pad_token_id + 1 : 0;
  }
  /// Whether tokens have rows of a table of positions, and of one of types.
  bool has_positions() const { return !dialect_of(kind).embedding.positions.empty() && !rotary && absolute; }
  bool has_types() const { return !dialect_of(kind).embedding.types.empty() && type_vocab_size > 0; }
  operator ModelPtr() const;  // make_model()
};

BertConfig read_bert(const Keys& keys, BertKind kind = BertKind::kBert);
/// Errors: Fault::kData also when the file is of another family.
BertConfig read_bert_config(const std::filesystem::path& file_or_folder);
/// Errors: Fault::kData at `where` for sizes that are not positive or do not divide, or probabilities outside [0, 1).
void check(const BertConfig& config, std::string_view where);
void apply(const ModelChange& change, BertConfig& config);
nlohmann::json to_json(const BertConfig& config);

/// A relative with the defaults of transformers' configuration and without sizes.
BertConfig blank_bert_config(BertKind kind);
ModelPtr blank_bert(BertKind kind);

/// Whether embeddings are projected to the width of the layers. ALBERT always does.
bool has_projection(const BertConfig& config);
/// The width of the table of tokens that the head for masked tokens has.
std::int64_t masked_width(const BertConfig& config);
/// The layer that gives the logits: relatives with two layers have only one for tokens.
std::string classifier_of(const BertConfig& config);

/// All tensors of the model, in its order. Source: transformers, modeling_bert.py.
std::vector<WeightSpec> bert_weights(const BertConfig& config);

ModelPtr make_model(BertConfig config);

}  // namespace workloads
