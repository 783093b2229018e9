// The layers of transformers as nodes of a graph, each written once for training, for a prompt and for a token that is
// written. The differences between these are in here, those between families in arch.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/lora.h"

namespace workloads {

enum class Mode : std::uint8_t {
  kTrain,   // all tokens of texts; forward alone too
  kPrompt,  // the same, whose keys and values are kept for tokens that follow; weights are blocked
  kToken,   // one token of each text
};

/// The program that the layers are part of.
struct LayerProgram {
  Mode mode = Mode::kTrain;
  std::int64_t batch = 1, length = 1;  // texts, and tokens of each
  std::int64_t ranks = 1;              // tensor-parallel
  std::uint8_t group = 0;              // of these
  bool sequence = false;               // values not split by heads or columns are split by tokens
  bool training = false;               // with dropout, and gradients behind
  double smoothing = 0;                // of labels
  std::int64_t cached = 0;             // rows of a text's cache that a token reads
  std::int64_t grown = 0;              // tokens that a text grows to
  std::int64_t kernel_from = 0;        // as GenerationSpec's
  bool prompt_kernel = true;           // as GenerationSpec's
  bool scores_together = false;        // as GenerationSpec's
  bool beside = false;                 // as GenerationSpec's
  std::int64_t experts_read = 0;       // of each mixture, when text is written; 0: all
  std::int64_t expert_block = 0;       // as GenerationSpec's
  std::optional<Lora> lora{};

  bool split() const { return ranks > 1; }
};

/// The scopes of nodes, and the names there of tensors that the host writes.
class Places {
 public:
  /// A scope outside the layers.
  virtual void enter(const std::string& name) = 0;
  /// A part of the present layer.
  virtual void enter_part(const std::string& part) = 0;
  virtual std::string host_name(std::string_view name) const { return std::string{name}; }

 protected:
  ~Places() = default;
};

/// Whether tensor-parallel ranks have the same columns of a value, or parts of it.
enum class Across : std::uint8_t { kSame, kParts };

/// Inputs of attention besides queries, keys and values.
struct Seen {
  std::int64_t queries = 0;  // per text
  bool causal = false;
  std::int64_t window = 0;
  runtime::ValueId mask = runtime::kNoValue;   // added to the scores of each key
  runtime::ValueId bias = runtime::kNoValue;   // of each head's scores
  runtime::ValueId sinks = runtime::kNoValue;  // of each head
};

/// Keys and values of one layer, as tokens that follow read them.
struct Caches {
  runtime::ValueId keys = runtime::kNoValue, values = runtime::kNoValue;
};

/// Relative places as attention reads them: their table, and ones at the row of each distance between a query and its
/// key, forwards and backwards [2 * tokens - 1, rows].
struct PlaceTable {
  runtime::ValueId rows = runtime::kNoValue, forwards = runtime::kNoValue, backwards = runtime::kNoValue;
};

/// The rows of a text that a convolution reads.
struct Neighbours {
  std::int64_t places = 3;  // in one sum, an odd number
  std::int64_t length = 0;  // rows of a text
  std::int64_t stride = 1;  // from the middle of a sum to that of the next
};

/// Inputs of a loss, by their names, and the loss as an output.
struct LossNames {
  const char *labels = "labels", *weights = "weights", *loss = "loss";
};

class Layers {
 public:
  using ValueId = runtime::ValueId;

  /// Keeps references to graph and places. `weights`: the graph's, by their names.
  Layers(runtime::Graph& graph, std::map<std::string, ValueId> weights, LayerProgram program, Places& places)
      : graph_{graph}, weights_{std::move(weights)}, program_{std::move(program)}, places_{places} {}

  runtime::Graph& graph() const { return graph_; }
  const runtime::Numerics& numerics() const { return graph_.numerics(); }
  LayerProgram& program() { return program_; }
  const LayerProgram& program() const { return program_; }
  Places& places() const { return places_; }
  const std::map<std::string, ValueId>& weights() const { return weights_; }

  ValueId w(const std::string& name) const { return weights_.at(name); }
  bool has(const std::string& name) const { return weights_.contains(name); }
  /// A tensor that the host writes.
  ValueId input(std::string_view name, std::int64_t rows, std::int64_t cols, isa::Dtype type);
  /// Random numbers are counted from here.
  void restart_stream(std::uint32_t first = 0) { stream_ = first; }

  // ---- linear.cpp

  ValueId matmul(const std::string& label, ValueId x, ValueId weight, runtime::MatmulAttrs attrs = {});
  /// x times the weight, plus adapters and bias if there are any.
  ValueId linear(const std::string& label, ValueId x, const std::string& name, runtime::MatmulAttrs attrs = {});
  /// As above, for several weights. A token's rows are few: weights are streamed once.
  std::vector<ValueId> products(const std::string& label, ValueId x, const std::vector<std::string>& names);
  /// A linear layer whose inputs ranks split: between ranks partial sums, to which the bias is added after the sum.
  ValueId row_split(const std::string& label, ValueId x, const std::string& name);
  ValueId add(const std::string& label, ValueId x, ValueId y);
  ValueId times(const std::string& label, ValueId x, double factor);
  ValueId dropout(const std::string& label, ValueId x, double p, Across ranks = Across::kSame);
  ValueId active(const std::string& label, ValueId x, isa::Fn fn);
  /// cap * tanh(x / cap); of 0 x itself.
  ValueId soft_capped(const std::string& label, ValueId x, double cap);
  /// The term added to the scores of keys: nothing where `mask` is 1, much less than any score where it is 0.
  ValueId hidden(const std::string& label, ValueId mask, isa::Dtype type);

  // ---- linear.cpp, between ranks

  runtime::CollectiveAttrs group() const { return {.ranks = program_.ranks, .group = program_.group}; }
  /// The operand of work that is split by columns or heads: all tokens, on every rank.
  ValueId shared(ValueId x);
  /// The sum over the ranks; under sequence parallelism each gets its tokens of it.
  ValueId summed(ValueId x);

  // ---- norm.cpp

  ValueId norm(const std::string& label, ValueId x, const NormArch& arch, const std::string& name);
  /// One norm over the columns of all ranks, by root mean squares: `squares` [rows, 1] is the sum over all of them.
  ValueId joint_norm(const std::string& label, ValueId x, ValueId squares, const NormArch& arch,
                     const std::string& name);
  /// The norm of each head of `size` elements, with weights of its own.
  ValueId own_norms(const std::string& label, ValueId x, const NormArch& arch, const std::string& name,
                    std::int64_t size);
  /// The same with ones of that type in the place of weights.
  ValueId bare_norms(const std::string& label, ValueId x, const NormArch& arch, std::int64_t size, isa::Dtype type);
  /// The norm of few rows. `x` becomes its sum with `pending` and `bias`, if they are there.
  ValueId skinny_norm(const std::string& label, ValueId& x, const NormArch& arch, const std::string& name,
                      ValueId pending = runtime::kNoValue, ValueId bias = runtime::kNoValue);

  // ---- embedding.cpp

  /// Tables of cosines and sines of `rows` positions, and the places of tokens in a program that has them.
  void declare_rotary(const RotaryArch& arch, std::int64_t rows, runtime::Kind kind);
  void set_places(ValueId places) { at_ = places; }
  /// The slopes of the rank's heads [1, heads], where the model has such.
  void declare_slopes(const AttentionArch& arch, runtime::Kind kind);
  /// The same in caches that keep a window alone, where they are others.
  void set_slots(ValueId slots) { slots_ = slots; }
  /// The embeddings of `rows` tokens in scope `place`; the host writes `ids` and, between ranks, `mine`.
  ValueId tokens(const EmbeddingArch& arch, const char* place, const char* ids, const char* mine, std::int64_t rows);
  /// Their norm, where the model has one.
  ValueId normed_tokens(const EmbeddingArch& arch, const NormArch& norm, ValueId x);
  /// x plus learned positions. `by_rank`: ranks share the tokens of one sequence.
  ValueId with_positions(const EmbeddingArch& arch, ValueId x, bool by_rank);
  /// Queries or keys at their positions.
  ValueId rotated(const std::string& label, ValueId x, const BlockArch& arch, std::int64_t layer, bool queries);

  // ---- attention.cpp

  /// x within a limit on both sides, or below it; of 0 x itself.
  ValueId clipped(const std::string& label, ValueId x, double limit, bool above_only = false);
  /// Each head's part of x behind the part that all heads share, and of the result.
  ValueId with_shared_part(const std::string& label, ValueId shared, ValueId x, std::int64_t heads);

  /// The heads' contexts, side by side, of queries, keys and values.
  ValueId heads(const std::string& label, const std::vector<ValueId>& qkv, const AttentionArch& arch, const Seen& seen);
  /// The bias of all scores [texts * heads * tokens, tokens] by the places of keys and queries, whose projections the
  /// names are.
  ValueId place_scores(const std::vector<ValueId>& qkv, const AttentionArch& arch, const PlaceTable& table,
                       const std::string& key, const std::string& query);
  /// As above, for a token, whose keys and values go to the caches.
  ValueId cached_heads(const std::string& label, std::vector<ValueId> qkv, const AttentionArch& arch,
                       const Caches& caches, const Seen& seen);
  /// The caches with a prompt's keys and values; of one that is longer than a cache with the rows that the host names
  /// in "kept" [batch * rows of a cache, 1].
  Caches filled(const std::string& label, const Caches& caches, ValueId keys, ValueId values);

  // ---- mlp.cpp

  /// The operand of `down`, of the products of a gated MLP's two first layers. `label`: of its parts.
  ValueId gated(const std::string& label, ValueId gate, ValueId up, const MlpArch& arch);
  /// xIELU of x, whose two numbers are weights: CURVE.alpha_p and CURVE.alpha_n.
  ValueId xielu(const std::string& label, ValueId x, const std::string& curve);
  /// As row_split(). The names are those of the weights, with the layer's prefix.
  ValueId mlp(ValueId h, const MlpArch& arch, const MlpNames& names);

  // ---- convolution.cpp

  /// Sums over each row of a text, or every `stride`-th, and its neighbours. The weight of the neighbour at place i is
  /// NAME.i. [batch * length, width] -> [batch * length / stride, width of the weights].
  ValueId convolved(const std::string& label, ValueId x, const Neighbours& neighbours, const std::string& name);

  // ---- head.cpp

  /// x through the head's dense layer, where it has one, and its norm.
  ValueId before_logits(ValueId x, const HeadArch& arch, const NormArch& norm);
  /// Logits of x, which all ranks have. `weight`: of the head, or the table of tokens.
  ValueId logits(ValueId x, const HeadArch& arch, const std::string& table);
  /// The loss of each of `rows` rows of logits, whose columns ranks share unless all have the same. Its output is in
  /// place `head.loss`.
  ValueId token_loss(ValueId logits, std::int64_t rows, std::int64_t classes, const LossNames& names = {},
                     Across ranks = Across::kParts);
  /// As above, for a classifier, which every rank has.
  ValueId class_loss(ValueId logits, std::int64_t rows, const LossNames& names = {});

 private:
  ValueId activated(ValueId x, const MlpArch& arch, const MlpNames& names);
  ValueId by_lengths(ValueId y, const std::string& head, bool rows);
  /// The term of scores of slopes or these sinks.
  runtime::ScoreTerm term(ValueId sinks) const;
  ValueId partial(const std::string& label, ValueId x, const std::string& name, runtime::MatmulAttrs attrs = {},
                  Across ranks = Across::kSame);
  ValueId by_distance(const std::string& label, ValueId x, ValueId places, const AttentionArch& arch, bool turned);
  ValueId adapted(const std::string& label, ValueId y, ValueId x, const std::string& name, Across ranks);
  std::vector<ValueId> skinny(ValueId x, const std::vector<std::string>& names, bool bias = true) const;
  ValueId gain(const std::string& label, const NormArch& arch, const std::string& name);
  std::vector<ValueId> norm_operands(const std::string& label, ValueId x, const NormArch& arch,
                                     const std::string& name);

  runtime::Graph& graph_;
  const std::map<std::string, ValueId> weights_;
  LayerProgram program_;
  Places& places_;
  /// Tables of cosines and sines: of all layers, of those that see a window, and of queries, where these differ.
  struct Angles {
    ValueId cos = runtime::kNoValue, sin = runtime::kNoValue;
  } angles_, windowed_, grown_;
  ValueId at_ = runtime::kNoValue;     // the rows of a token program's texts, or of a rank's tokens
  ValueId slots_ = runtime::kNoValue;  // the rows of a windowed cache that these tokens enter
  ValueId kept_ = runtime::kNoValue;   // the rows of a prompt that such a cache keeps
  ValueId slopes_ = runtime::kNoValue;
  ValueId learned_at_ = runtime::kNoValue;              // the same in a table of learned positions
  std::uint32_t stream_ = 0;                            // of random numbers, within a place
  std::map<std::pair<ValueId, ValueId>, ValueId> low_;  // products of an input and an adapter's first factor
};

}  // namespace workloads
