// The architecture of a transformer's layers, for any family, in training and in generation: plain
// values, which a family's own file fills from its configuration. Names of weights are those of Hugging Face's files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/program.h"
#include "workloads/models/config.h"

namespace workloads {

isa::Fn device_function(Activation activation);

/// The slope of xIELU at 0, and the least curvature below it; the first values of its numbers, where curvatures are
/// 0.8. Source: transformers, activations.py, XIELUActivation.
inline constexpr double kXieluSlope = 0.5, kXieluFirst = 0.8, kXieluEps = -1e-6;

/// RMSNorm or LayerNorm.
struct NormArch {
  bool rms = false;
  bool gain = true, bias = true;  // of a LayerNorm: it multiplies by a weight, and adds a bias
  double eps = 0;
  double offset = 0;  // it multiplies by weight + this
};

/// Where a layer's norms are: each layer has two parts, attention and MLP, whose results are added to its input.
enum class NormPlace : std::uint8_t {
  kBefore,    // of a part's input
  kBehind,    // of a part's output, before it is added
  kAround,    // both
  kAfterSum,  // of the sum
};

/// Queries, and keys with values, by way of fewer elements; the part of a key that turns is one for all heads.
/// Source: DeepSeek-AI, arXiv:2405.04434, section 2.1.
struct LatentArch {
  std::int64_t queries = 0;  // elements between; 0: queries have one projection
  std::int64_t keys = 0;     // the same of keys and values; 0: nothing of all this
  std::int64_t values = 0;   // of a head's values
  double eps = 1e-6;         // of the norms between
};

/// Scores that depend on places too: of a query and the place of its key, of a key and the place of its query. Places
/// are relative, rows of one table that each layer projects. Source: He et al., arXiv:2006.03654, section 3.1.
struct PlacesArch {
  bool of_keys = false, of_queries = false;
  double dropout = 0;  // of the table, before it is projected

  explicit operator bool() const { return of_keys || of_queries; }
};

/// Norms of queries and keys, where a layer has them: of each head, with weights that heads share or of its own; of all
/// heads together; of each head that turns, without weights.
enum class HeadNorms : std::uint8_t { kShared, kOwn, kJoint, kBare };

/// The tokens that a query of a layer sees.
struct WindowArch {
  std::int64_t tokens = 0;      // itself among them; 0: all
  std::int64_t first = 0;       // the layers in front of this one see all tokens nevertheless,
  std::int64_t full_every = 0;  // and one in this many layers; 0: none
  bool full_first = false;      // the first of these, not the last

  std::int64_t of(std::int64_t layer) const {
    const bool full = full_every > 0 && (layer + (full_first ? 0 : 1)) % full_every == 0;
    return full || layer < first ? 0 : tokens;
  }
};

struct AttentionArch {
  std::int64_t heads = 0, kv_heads = 0, head = 0;  // head: elements of one
  bool causal = true;                              // a token sees no later ones
  double scale = 0;                                // of q k^T; 0: 1 / sqrt(head)
  double dropout = 0;                              // of the probabilities
  double soft_cap = 0;                             // scores s become cap * tanh(s / cap); 0: they do not
  WindowArch window{};
  bool fp32_softmax = false;  // for any type of the activations
  bool qkv_bias = false, out_bias = false;
  HeadNorms norms = HeadNorms::kShared;
  bool norms_turned = false;       // of heads that have turned already
  std::optional<NormArch> norm{};  // of queries and keys; none: as the layer's
  double clip = 0;                 // queries, keys and values are kept within it; 0: they are not
  LatentArch latent{};
  PlacesArch places{};
  std::vector<double> slopes{};  // of each head: its key's number times this is added to a score; empty: nothing is

  std::int64_t value() const { return latent.keys > 0 ? latent.values : head; }  // elements of a head's values
  double score_scale() const { return scale > 0 ? scale : 1 / std::sqrt(static_cast<double>(head)); }
  /// Elements of a token's queries, and of its keys.
  std::int64_t query_size() const { return heads * head; }
  std::int64_t key_size() const { return kv_heads * head; }
  /// And of the heads' contexts.
  std::int64_t context_size() const { return heads * value(); }
};

/// Rotary positions: queries and keys are turned by angles that grow with the position.
struct RotaryArch {
  std::vector<double> frequencies{};       // radians per position of each turned pair of a head; empty: nothing turns
  std::vector<double> long_frequencies{};  // the same in sequences of more than `long_from` tokens, if they differ
  std::int64_t long_from = 0;
  std::vector<double> windowed{};  // the same for layers that see only a window, if they differ
  double magnitude = 1;            // of cosines and sines, but those of a window
  std::int64_t none_every = 0;     // one in this many layers rotates nothing; 0: all rotate
  /// Where heads turn as a whole: queries are times 1 + growth * log(1 + floor(position / span)).
  double query_growth = 0;
  std::int64_t query_span = 0;
  bool neighbours = false;  // a file's pairs are elements 2j and 2j + 1 of a head, not j and j + half of them

  bool turns(std::int64_t layer) const {
    return !frequencies.empty() && (none_every == 0 || (layer + 1) % none_every != 0);
  }
  std::int64_t pairs() const { return static_cast<std::int64_t>(frequencies.size()); }
  /// Whether queries in sequences of so many tokens have cosines and sines of their own.
  bool grows(std::int64_t length) const { return query_growth > 0 && length > query_span; }
  double query_size(std::int64_t position) const {
    return 1 + query_growth * std::log(1 + static_cast<double>(position / query_span));
  }
};

/// down(activation(up(x))), or down(activation(gate(x)) * up(x)).
struct MlpArch {
  std::int64_t size = 0;
  bool gated = false;
  isa::Fn activation = isa::Fn::kGelu;
  bool squared = false;  // its value is squared
  bool xielu = false;    // in its place xIELU, whose two numbers are trained
  double dropout = 0;    // of the input of `down`
  bool bias = false;
  // A gated one has min(gate, limit) and up within it (0: neither); activation(slope * gate) / slope * (up + shift).
  double limit = 0, slope = 1, shift = 0;

  bool is_plain() const { return !xielu && limit == 0 && slope == 1 && shift == 0; }
};

struct MlpNames {
  std::string gate{}, up{}, down{};
  std::string fused{};  // where a file has gate and up in one tensor
  std::string curve{};  // of the numbers of xIELU, before .alpha_p and so on
};

/// An expert of every token, whose output is times the sigmoid of a number that a layer of its own, `share`, gives.
struct SharedExpertArch {
  std::int64_t size = 0;                // 0: there is none
  std::string gate, up, down, share{};  // names; without the last it counts as it is
  std::string fused{};                  // where a file has gate and up in one tensor
};

/// A router's choice. Source: DeepSeek-AI, arXiv:2412.19437, section 2.1.2.
struct RouterArch {
  bool sigmoid = false;                     // scores are sigmoids of the logits; else their softmax
  std::int64_t groups = 1, top_groups = 1;  // a token's experts are of so many of these groups
  std::string bias{};                       // added to the scores for the choice alone, and not trained; empty: none
  bool bias_is_row = false;                 // in a file it has a first axis of one
  bool scales_inputs = false;               // a gate multiplies what its expert reads; else what it writes
};

/// The tensors of a file that has all experts in one; empty: each has its own.
struct FusedExperts {
  std::string wide{}, down{};  // each one's gate and up [experts, 2 size, hidden], and each one's down
  bool by_inputs = false;      // these are [experts, hidden, 2 size], gate and up in turn, and [experts, size, hidden]
  bool halves = false;         // gate before up, not in turn
  std::string gate{}, up{};    // or by themselves [experts size, hidden], as is the transpose of each one's down
  /// Both of the latter are without ".weight" in their names.
  bool flat() const { return !gate.empty(); }
};

/// Experts in place of each layer's MLP, which is then that of one expert. Tensor-parallel ranks hold equal numbers of
/// them.
struct MixtureArch {
  std::int64_t experts = 0, top_k = 0;         // top_k: of a token
  bool normalised = true;                      // the gates of a token add up to 1
  double capacity_factor = 0;                  // slots of an expert over an even share; 0: for every token
  double balance = 0;                          // weight of the router's loss
  std::string router, prefix, gate, up, down;  // names: "mlp.gate", "mlp.experts.", "gate_proj", ...
  FusedExperts fused{};
  bool bias = false;  // of the router and of each layer of an expert, in a file behind the names above and "_bias"
  SharedExpertArch shared{};
  RouterArch choice{};
  double scale = 1;                     // of the experts' sum
  std::int64_t first = 0, every = 1;    // of the layers, the first that has experts, and one in so many after it
  std::vector<std::int64_t> without{};  // these layers have none all the same
  std::int64_t dense_size = 0;          // the others have an MLP of this size

  bool is_of(std::int64_t layer) const {
    return layer >= first && (layer - first) % every == 0 && std::ranges::find(without, layer) == without.end();
  }
  /// How many of a model's layers have experts.
  std::int64_t count(std::int64_t layers) const {
    std::int64_t out = 0;
    for (std::int64_t l = 0; l < layers; ++l) out += is_of(l) ? 1 : 0;
    return out;
  }
};

/// How a layer adds up the outputs of its parts.
struct ResidualArch {
  NormPlace norms = NormPlace::kBefore;
  bool bare_first = false;  // the first layer's attention has no norm: its input was normed before
  bool parallel = false;    // both parts read the layer's input; else the MLP reads attention's output
  double scale = 1;         // of the added values
  double dropout = 0;       // of it
};

/// Names of a layer's weights, after the layer's prefix and without ".weight".
struct AttentionNames {
  std::string query{}, key{}, value{}, out{};
  std::string query_norm{}, key_norm{};  // before they are turned
  std::string sinks{};                   // weights: of each head, one score more, which has no value; empty: none
  std::string fused{};                   // where a file has queries, keys and values in one tensor
  /// Whose rows are in so many groups of whole heads, each with its queries, its keys and its values; 0: one for each
  /// head of keys.
  std::int64_t fused_groups = 1;
  bool values_first = false;               // before the keys
  std::string place_key{}, place_query{};  // of the table of places
  bool listed_norms = false;               // a file has the norms' weights head by head, as NAME.norms.0
  /// With LatentArch: the projections between, their norms, and the part of a key that turns. A file has both
  /// projections of keys and values in one tensor, and behind them those of all heads in `fused`.
  std::string query_low{}, query_low_norm{}, low{}, low_norm{}, turned{}, low_fused{};
};
struct BlockNames {
  AttentionNames attention{};
  MlpNames mlp{};
  std::string norm1{}, norm2{};      // of attention and of the MLP; parallel parts may both read the first
  std::string behind1{}, behind2{};  // with NormPlace::kAround: of the outputs of the two parts
  std::string scale1{}, scale2{};    // of the columns' factors of these, with any ending; empty: none
};

struct BlockArch {
  NormArch norm{};
  AttentionArch attention{};
  RotaryArch rotary{};
  MlpArch mlp{};
  ResidualArch residual{};
  std::optional<MixtureArch> mixture{};
  BlockNames names{};
};

/// A table of tokens, and one of positions if there is one.
struct EmbeddingArch {
  std::string name;                 // "model.embed_tokens"
  std::string positions{};          // empty: none
  std::int64_t first_position = 0;  // the row of a sequence's first token
  std::int64_t width = 0;           // of a token's row; 0: as wide as the layers
  std::string projection{};         // from that width to the layers', without a bias
  std::string norm{};               // of the tokens, before anything else; empty: none
  bool trains_padding = true;       // else the row of padding has no gradient from here
  double scale = 1;
  double dropout = 0;
};

/// From the last norm to logits.
struct HeadArch {
  std::string norm, name;    // "model.norm" (empty: none), "lm_head"
  std::string projection{};  // behind the norm, to the width of the table of tokens, without a bias
  /// Behind these, of tokens: a layer as wide as its input, with an activation and a norm; empty: there is none.
  std::string dense{}, dense_norm{};
  isa::Fn activation = isa::Fn::kGelu;
  bool tied = false;  // the table of tokens stands for it, and the name is that of a copy
  bool bias = false;
  bool unit_rows = false;    // its rows are divided by their lengths before they are used
  double scale = 1;          // of the logits
  double soft_cap = 0;       // logits l become cap * tanh(l / cap); 0: they do not
  double dropout = 0;        // behind the norm
  std::int64_t classes = 0;  // of texts, by their last tokens; 0: tokens are predicted
};

}  // namespace workloads
