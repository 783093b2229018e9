// T5's generation as nodes: one program reads the texts, makes every decoder layer's keys and values of them, and
// writes the first token; the other writes a further one. All texts of a batch are written in step.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/layers/layers.h"
#include "workloads/models/t5/t5.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::kNoValue;
using runtime::ValueId;

class T5Generation : Places {
 public:
  T5Generation(const ModelPtr& model, const T5Config& config, const GenerationSpec& spec, bool prompt)
      : arch_{decoder_arch(model)},
        t5_{config},
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
      return graph_.tensor(fmt::format("cache.{}{}.{}", of, part, layer), spec_.batch * rows, t5_.inner(),
                           spec_.numerics.activation, Kind::kCache);
    };
    const ValueId keys = one("keys"), values = one("values");
    return {keys, values};
  }

  void declare() {
    const isa::Dtype type = spec_.numerics.activation, fp32 = isa::Dtype::kFp32;
    for (std::int64_t l = 0; l < t5_.num_decoder_layers; ++l) {
      own_.push_back(caches("", l, spec_.length));
      source_.push_back(caches("source.", l, spec_.prompt));
    }
    enter("masks");
    source_mask_ = net_.hidden("source", net_.input("source_mask", spec_.batch, spec_.prompt, type), fp32);
    seen_ = net_.hidden("seen", net_.input("seen", spec_.batch, spec_.length, type), fp32);
    positions_ = net_.input("positions", spec_.batch, 1, isa::Dtype::kInt32);
    distances_ = net_.input("distances", t5_.relative_attention_num_buckets, spec_.length, type);
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

  ValueId norm(ValueId x, const std::string& name) { return net_.norm("norm", x, arch_.block.norm, name); }
  ValueId plus(const std::string& label, ValueId x, ValueId y) { return net_.add(label + ".residual", y, x); }
  std::vector<ValueId> self_qkv(ValueId x, const std::string& layer) {
    const std::string name = layer + "0.SelfAttention.";
    return net_.products("attention.qkv", norm(x, layer + "0.layer_norm"), {name + "q", name + "k", name + "v"});
  }
  /// A number for each head and each column of `distances`.
  ValueId by_distance(const char* stack, ValueId distances) {
    const std::string table = fmt::format("{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", stack);
    return net_.matmul("distances", net_.w(table), distances, {.dtype = spec_.numerics.activation});
  }
  /// `out`: the output layer of its heads.
  ValueId attention(const std::string& label, ValueId x, const std::vector<ValueId>& qkv, const Seen& seen,
                    const std::string& out) {
    const ValueId context = net_.heads(label + ".heads", qkv, arch_.block.attention, seen);
    return plus(label, x, net_.row_split(label + ".output", context, out));
  }
  ValueId mlp(ValueId x, const std::string& layer) {
    return plus("mlp", x, net_.mlp(norm(x, layer + "layer_norm"), arch_.block.mlp, t5_mlp(t5_, layer)));
  }

  // ---- the source

  void read() {
    net_.program().mode = Mode::kPrompt;
    ValueId x = net_.tokens(arch_.embedding, "embeddings", "input_ids", "vocabulary", spec_.batch * spec_.prompt);
    const ValueId distances = net_.input("distances.encoder", t5_.relative_attention_num_buckets, 2 * spec_.prompt - 1,
                                         spec_.numerics.activation);
    const ValueId bias = graph_.add1(runtime::kDiagonals, "biases", {by_distance("encoder", distances)},
                                     runtime::DiagonalsAttrs{.rows = spec_.prompt});
    for (std::int64_t l = 0; l < t5_.num_layers; ++l) {
      enter_layer("layer.encoder", l);
      const std::string layer = fmt::format("encoder.block.{}.layer.", l);
      x = attention("attention", x, self_qkv(x, layer), {.queries = spec_.prompt, .mask = source_mask_, .bias = bias},
                    layer + "0.SelfAttention.o");
      x = mlp(x, layer + "1.");
    }
    enter("encoder.norm");
    x = norm(x, "encoder.final_layer_norm");
    for (std::int64_t l = 0; l < t5_.num_decoder_layers; ++l) {
      enter_layer("layer.source", t5_.num_layers + l);
      const std::string name = fmt::format("decoder.block.{}.layer.1.EncDecAttention.", l);
      const auto kv = net_.products("cross.kv", x, {name + "k", name + "v"});
      Caches& to = source_[static_cast<std::size_t>(l)];
      to = net_.filled("cross.cache", to, kv[0], kv[1]);
    }
  }

  // ---- a token of each text that is written

  ValueId own_attention(ValueId x, const std::string& layer, const Caches& own, ValueId bias) {
    const auto qkv = self_qkv(x, layer);
    const ValueId keys = graph_.add1(runtime::kCacheAppend, "attention.cache.keys", {qkv[1], own.keys, positions_});
    const ValueId values =
        graph_.add1(runtime::kCacheAppend, "attention.cache.values", {qkv[2], own.values, positions_});
    return attention("attention", x, {qkv[0], keys, values}, {.queries = 1, .mask = seen_, .bias = bias},
                     layer + "0.SelfAttention.o");
  }

  ValueId cross_attention(ValueId x, const std::string& layer, const Caches& source) {
    const std::string name = layer + "1.EncDecAttention.";
    const ValueId q = net_.linear("cross.query", norm(x, layer + "1.layer_norm"), name + "q");
    return attention("cross", x, {q, source.keys, source.values}, {.queries = 1, .mask = source_mask_}, name + "o");
  }

  void write() {
    net_.program().mode = Mode::kToken;
    ValueId x = net_.tokens(arch_.embedding, "embeddings.target", "decoder_input_ids", "vocabulary", spec_.batch);
    const ValueId bias = by_distance("decoder", distances_);
    for (std::int64_t l = 0; l < t5_.num_decoder_layers; ++l) {
      enter_layer("layer.decoder", t5_.num_layers + l);
      const std::string layer = fmt::format("decoder.block.{}.layer.", l);
      const auto at = static_cast<std::size_t>(l);
      x = own_attention(x, layer, own_[at], bias);
      x = cross_attention(x, layer, source_[at]);
      x = mlp(x, layer + "2.");
    }
    enter("head");
    x = net_.times("logits.scale", norm(x, arch_.head.norm), arch_.head.scale);
    graph_.output(net_.logits(x, arch_.head, arch_.embedding.name), "logits");
  }

  const DecoderArch arch_;
  const T5Config& t5_;
  const GenerationSpec& spec_;
  const bool prompt_;
  Graph graph_;
  Layers net_;
  std::vector<Caches> own_, source_;  // of each layer of the decoder
  ValueId source_mask_ = kNoValue, seen_ = kNoValue, positions_ = kNoValue, distances_ = kNoValue;
};

}  // namespace

runtime::Graph t5_generation(const ModelPtr& model, const T5Config& config, const GenerationSpec& spec, bool prompt) {
  return T5Generation{model, config, spec, prompt}.run();
}

}  // namespace workloads
