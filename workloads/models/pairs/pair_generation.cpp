// Generation of a text from another one, as nodes: one program reads the texts, makes every decoder layer's keys and
// values of them, and writes the first token; the other writes a further one. All texts of a batch are written in step.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/layers/layers.h"
#include "workloads/models/pairs/pair_arch.h"
#include "workloads/step/step.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::kNoValue;
using runtime::ValueId;

class PairGeneration : Places {
 public:
  PairGeneration(const ModelPtr& model, const PairArch& pair, const GenerationSpec& spec, bool prompt)
      : arch_{decoder_arch(model)},
        pair_{pair},
        spec_{spec},
        prompt_{prompt},
        graph_{spec.numerics},
        net_{graph_, generation_tensors(graph_, model, spec), {.batch = spec.batch, .length = spec.prompt}, *this} {}

  Graph run() {
    declare();
    if (prompt_) read();
    write();
    return std::move(graph_);
  }

 private:
  // ---- tensors

  Caches caches(const char* of, std::int64_t layer, std::int64_t rows) {
    const auto one = [&](const char* part) {
      return graph_.tensor(fmt::format("cache.{}{}.{}", of, part, layer), spec_.batch * rows,
                           arch_.block.attention.query_size(), spec_.numerics.activation, Kind::kCache);
    };
    const ValueId keys = one("keys"), values = one("values");
    return {keys, values};
  }

  void declare() {
    const isa::Dtype type = spec_.numerics.activation, fp32 = isa::Dtype::kFp32;
    for (std::int64_t l = 0; l < pair_.decoder.layers; ++l) {
      own_.push_back(caches("", l, spec_.length));
      source_.push_back(caches("source.", l, spec_.prompt));
    }
    enter("masks");
    if (!pair_.stem)
      source_mask_ = net_.hidden("source", net_.input("source_mask", spec_.batch, spec_.prompt, type), fp32);
    seen_ = net_.hidden("seen", net_.input("seen", spec_.batch, spec_.length, type), fp32);
    positions_ = net_.input("positions", spec_.batch, 1, isa::Dtype::kInt32);
    if (!pair_.decoder.positions.empty()) places_ = net_.input("places", spec_.batch, 1, isa::Dtype::kInt32);
    if (pair_.waves.size > 0 && places_ == kNoValue) place_ = net_.input("place", 1, pair_.waves.size, type);
    if (pair_.decoder.relative.empty()) return;
    distances_ = net_.input("distances", pair_.buckets.count, spec_.length, type);
  }

  // ---- places and nodes

  void enter_layer(const std::string& name, std::int64_t layer) {
    graph_.enter({.name = name,
                  .instance = static_cast<std::int32_t>(std::max<std::int64_t>(layer, 0)),
                  .phase = isa::Phase::kForward,
                  .layer = static_cast<std::int32_t>(layer)});
    net_.restart_stream();
  }
  void enter(const std::string& name) override { enter_layer(name, -1); }
  void enter_part(const std::string& part) override { enter(part); }

  bool after() const { return arch_.block.residual.norms == NormPlace::kAfterSum; }
  ValueId norm(ValueId x, const std::string& name) { return net_.norm("norm", x, arch_.block.norm, name); }
  /// The input of a part: x normed, unless the sum is.
  ValueId before(ValueId x, const std::string& name) { return after() ? x : norm(x, name); }
  /// x plus a part's output.
  ValueId plus(const std::string& label, ValueId x, ValueId y, const std::string& name) {
    x = net_.add(label + ".residual", y, x);
    return after() ? norm(x, name) : x;
  }
  std::vector<ValueId> self_qkv(ValueId x, const std::string& layer, const PairAttention& self) {
    const AttentionNames& n = self.names;
    return net_.products("attention.qkv", before(x, layer + self.norm),
                         {layer + n.query, layer + n.key, layer + n.value});
  }
  /// A number for each head and each column of `distances`.
  ValueId by_distance(const PairStack& stack, std::int64_t layer, ValueId distances) {
    return net_.matmul("distances", net_.w(stack.table(layer)), distances, {.dtype = spec_.numerics.activation});
  }
  ValueId attention(const std::string& label, ValueId x, const std::vector<ValueId>& qkv, const Seen& seen,
                    const PairAttention& names) {
    const ValueId context = net_.heads(label + ".heads", qkv, arch_.block.attention, seen);
    return plus(label, x, net_.row_split(label + ".output", context, layer_ + names.names.out), layer_ + names.norm);
  }
  ValueId mlp(ValueId x, const PairStack& stack) {
    const std::string name = layer_ + stack.mlp_norm;
    return plus("mlp", x, net_.mlp(before(x, name), arch_.block.mlp, with_prefix(layer_, stack.mlp)), name);
  }
  ValueId embedded(const PairStack& stack, ValueId x) {
    return stack.embedding_norm.empty() ? x : norm(x, stack.embedding_norm);
  }

  // ---- the source

  void read() {
    net_.program().mode = Mode::kPrompt;
    ValueId x = pair_.stem
                    ? stem(net_, pair_.stem)
                    : net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", spec_.batch * spec_.prompt);
    const PairStack& stack = pair_.encoder;
    ValueId positions = kNoValue;
    if (pair_.waves.size > 0 && stack.positions.empty())
      positions = net_.input("positions.encoder", spec_.prompt, pair_.waves.size, spec_.numerics.activation);
    if (!stack.positions.empty()) positions = net_.w(stack.positions + ".weight");
    if (positions != kNoValue)
      x = net_.add("add_position", x,
                   graph_.add1(runtime::kPositions, "position", {positions},
                               runtime::PositionsAttrs{.batch = spec_.batch,
                                                       .seq = spec_.prompt,
                                                       .first = pair_.first_position,
                                                       .dtype = spec_.numerics.activation}));
    x = embedded(stack, x);
    ValueId distances = kNoValue;
    if (!stack.relative.empty())
      distances = net_.input("distances.encoder", pair_.buckets.count, 2 * spec_.prompt - 1, spec_.numerics.activation);
    ValueId bias = source_bias(distances, 0);
    for (std::int64_t l = 0; l < stack.layers; ++l) {
      enter_layer("layer.encoder", l);
      layer_ = stack.prefix(l);
      if (stack.each_relative && l > 0) bias = source_bias(distances, l);
      x = attention("attention", x, self_qkv(x, layer_, stack.self),
                    {.queries = spec_.prompt, .mask = source_mask_, .bias = bias}, stack.self);
      x = mlp(x, stack);
    }
    if (!stack.last_norm.empty()) {
      enter("encoder.norm");
      x = norm(x, stack.last_norm);
    }
    for (std::int64_t l = 0; l < pair_.decoder.layers; ++l) {
      enter_layer("layer.source", pair_.encoder.layers + l);
      const std::string layer = pair_.decoder.prefix(pair_.decoder.first + l);
      const AttentionNames& names = pair_.decoder.cross.names;
      const auto kv = net_.products("cross.kv", x, {layer + names.key, layer + names.value});
      Caches& to = source_[static_cast<std::size_t>(l)];
      to = net_.filled("cross.cache", to, kv[0], kv[1]);
    }
  }

  ValueId source_bias(ValueId distances, std::int64_t layer) {
    if (distances == kNoValue) return kNoValue;
    return graph_.add1(runtime::kDiagonals, "biases", {by_distance(pair_.encoder, layer, distances)},
                       runtime::DiagonalsAttrs{.rows = spec_.prompt});
  }

  // ---- a token of each text that is written

  ValueId own_attention(ValueId x, const Caches& own, ValueId bias) {
    const PairAttention& self = pair_.decoder.self;
    const auto qkv = self_qkv(x, layer_, self);
    const ValueId keys = graph_.add1(runtime::kCacheAppend, "attention.cache.keys", {qkv[1], own.keys, positions_});
    const ValueId values =
        graph_.add1(runtime::kCacheAppend, "attention.cache.values", {qkv[2], own.values, positions_});
    return attention("attention", x, {qkv[0], keys, values}, {.queries = 1, .mask = seen_, .bias = bias}, self);
  }

  ValueId cross_attention(ValueId x, const Caches& source) {
    const PairAttention& cross = pair_.decoder.cross;
    const ValueId q = net_.linear("cross.query", before(x, layer_ + cross.norm), layer_ + cross.names.query);
    return attention("cross", x, {q, source.keys, source.values}, {.queries = 1, .mask = source_mask_}, cross);
  }

  void write() {
    net_.program().mode = Mode::kToken;
    const PairStack& stack = pair_.decoder;
    ValueId x = net_.tokens(arch_.embedding, "embeddings.target", "decoder_input_ids", "vocabulary", spec_.batch);
    if (places_ != kNoValue)
      x = net_.add("add_position", x,
                   graph_.add1(runtime::kEmbedding, "position", {net_.w(stack.positions + ".weight"), places_},
                               runtime::ResultAttrs{.dtype = spec_.numerics.activation}));
    if (place_ != kNoValue) x = net_.add("add_position", x, place_);
    x = embedded(stack, x);
    ValueId bias = stack.relative.empty() ? kNoValue : by_distance(stack, stack.first, distances_);
    for (std::int64_t l = 0; l < stack.layers; ++l) {
      enter_layer("layer.decoder", stack.first + l);
      layer_ = stack.prefix(stack.first + l);
      const auto at = static_cast<std::size_t>(l);
      if (stack.each_relative && l > 0) bias = by_distance(stack, stack.first + l, distances_);
      x = own_attention(x, own_[at], bias);
      x = cross_attention(x, source_[at]);
      x = mlp(x, stack);
    }
    enter("head");
    if (!arch_.head.norm.empty()) x = norm(x, arch_.head.norm);
    graph_.output(net_.logits(net_.times("logits.scale", x, arch_.head.scale), arch_.head, arch_.embedding.name),
                  "logits");
  }

  const DecoderArch arch_;
  const PairArch& pair_;
  const GenerationSpec& spec_;
  const bool prompt_;
  Graph graph_;
  Layers net_;
  std::vector<Caches> own_, source_;  // of each layer of the decoder
  ValueId source_mask_ = kNoValue, seen_ = kNoValue, positions_ = kNoValue, distances_ = kNoValue, places_ = kNoValue,
          place_ = kNoValue;
  std::string layer_;  // the prefix of the present layer's weights' names
};

}  // namespace

runtime::Graph pair_generation(const ModelPtr& model, const PairArch& pair, const GenerationSpec& spec, bool prompt) {
  if (pair.positions > 0) require_positions(spec.prompt, pair.source_positions());
  return PairGeneration{model, pair, spec, prompt}.run();
}

}  // namespace workloads
