// T5's generation as nodes: one program reads the texts, makes every decoder layer's keys and values of them, and
// writes the first token; the other writes a further one. All texts of a batch are written in step.
#include <fmt/format.h>

#include <map>

#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/t5/t5.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::kNoValue;
using runtime::ValueId;

class T5Generation {
 public:
  T5Generation(const ModelPtr& model, const T5Config& config, const GenerationSpec& spec, bool prompt)
      : arch_{decoder_arch(model)}, t5_{config}, spec_{spec}, prompt_{prompt}, graph_{spec.numerics} {
    for (const GenerationWeight& one : generation_weights(model, 1)) {
      const auto [rows, cols] = device_shape(one.spec);
      weights_[one.spec.name] = graph_.tensor(one.spec.name, rows, cols, spec.numerics.weight, Kind::kWeight);
    }
  }

  Graph run() {
    declare();
    if (prompt_) read();
    write();
    return std::move(graph_);
  }

 private:
  /// Keys and values of a layer of the decoder, as attention reads them.
  struct Caches {
    ValueId keys, values;
  };

  // ---- tensors

  ValueId w(const std::string& name) const { return weights_.at(name); }
  ValueId input(const char* name, std::int64_t rows, std::int64_t cols, isa::Dtype type) {
    return graph_.tensor(name, rows, cols, type, Kind::kInput);
  }
  Caches caches(const char* of, std::int64_t layer, std::int64_t rows) {
    const auto one = [&](const char* what) {
      return graph_.tensor(fmt::format("cache.{}{}.{}", of, what, layer), spec_.batch * rows, t5_.inner(),
                           spec_.numerics.activation, Kind::kCache);
    };
    return {one("keys"), one("values")};
  }

  void declare() {
    const isa::Dtype type = spec_.numerics.activation;
    for (std::int64_t l = 0; l < t5_.num_decoder_layers; ++l) {
      own_.push_back(caches("", l, spec_.length));
      source_.push_back(caches("source.", l, spec_.prompt));
    }
    enter("masks");
    source_mask_ = hidden("source", input("source_mask", spec_.batch, spec_.prompt, type));
    seen_ = hidden("seen", input("seen", spec_.batch, spec_.length, type));
    positions_ = input("positions", spec_.batch, 1, isa::Dtype::kInt32);
    distances_ = input("distances", t5_.relative_attention_num_buckets, spec_.length, type);
  }

  /// What is added to the scores of keys: nothing where `mask` is 1, much less than any score where it is 0.
  ValueId hidden(const char* label, ValueId mask) {
    constexpr double kHide = 1e9;
    return graph_.add1(runtime::kAffine, label, {mask},
                       runtime::AffineAttrs{.alpha = kHide, .beta = -kHide, .dtype = isa::Dtype::kFp32});
  }

  // ---- nodes

  void enter(std::string name, std::int64_t layer = -1) {
    graph_.enter({.name = std::move(name),
                  .instance = static_cast<std::int32_t>(std::max<std::int64_t>(layer, 0)),
                  .phase = isa::Phase::kForward,
                  .layer = static_cast<std::int32_t>(layer)});
  }

  /// x times each of the weights: of few rows, so that weights pass by once, or of all tokens that are read.
  std::vector<ValueId> products(const std::string& label, ValueId x, const std::vector<std::string>& names) {
    std::vector<ValueId> in{x}, out;
    for (const std::string& name : names) in.push_back(w(name + ".weight"));
    if (!reads_)
      return graph_.add(runtime::kSkinnyMatmul, label, in, runtime::SkinnyAttrs{.operand = spec_.numerics.operand});
    for (std::size_t i = 1; i < in.size(); ++i)
      out.push_back(graph_.add1(runtime::kMatmul, label, {x, in[i]},
                                runtime::MatmulAttrs{.blocked = true, .operand = spec_.numerics.operand}));
    return out;
  }
  ValueId norm(ValueId x, const std::string& name) {
    return graph_.add(runtime::kRmsNorm, "norm", {x, w(name + ".weight")}, runtime::NormAttrs{.eps = arch_.eps})[0];
  }
  ValueId plus(const std::string& label, ValueId x, ValueId y) {
    return graph_.add1(runtime::kAdd, label + ".residual", {y, x});
  }
  ValueId embedding(ValueId ids) {
    return graph_.add1(runtime::kEmbedding, "word", {w(arch_.embedding), ids},
                       runtime::ResultAttrs{.dtype = spec_.numerics.activation});
  }
  /// A number for each head and each column of `distances`.
  ValueId by_distance(const char* stack, ValueId distances) {
    const std::string table = fmt::format("{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", stack);
    return graph_.add1(runtime::kMatmul, "distances", {w(table), distances},
                       runtime::MatmulAttrs{.dtype = spec_.numerics.activation, .operand = spec_.numerics.operand});
  }
  ValueId attention(const std::string& label, ValueId q, Caches of, std::int64_t queries, ValueId mask, ValueId bias) {
    std::vector<ValueId> in{q, of.keys, of.values, mask};
    if (bias != kNoValue) in.push_back(bias);
    const runtime::AttentionAttrs attrs{.scale = arch_.score_scale,
                                        .batch = spec_.batch,
                                        .seq = queries,
                                        .heads = arch_.heads,
                                        .kv_heads = arch_.heads,
                                        .biased = bias != kNoValue,
                                        .operand = spec_.numerics.operand,
                                        .softmax = isa::Dtype::kFp32};
    return graph_.add(runtime::kAttention, label + ".heads", in, attrs)[0];
  }
  ValueId mlp(ValueId x, const std::string& layer) {
    const std::string name = layer + "DenseReluDense.";
    const std::vector<ValueId> up =
        products("mlp.up", norm(x, layer + "layer_norm"),
                 t5_.gated ? std::vector{name + "wi_0", name + "wi_1"} : std::vector{name + "wi"});
    ValueId active =
        graph_.add1(runtime::kActivate, "mlp.activation", {up[0]}, runtime::ActivationAttrs{.fn = arch_.activation});
    if (t5_.gated) active = graph_.add1(runtime::kMul, "mlp.product", {active, up[1]});
    return plus("mlp", x, products("mlp.down", active, {name + "wo"})[0]);
  }

  // ---- what is read

  void read() {
    reads_ = true;
    enter("embeddings");
    const std::int64_t rows = spec_.batch * spec_.prompt;
    ValueId x = embedding(input("input_ids", rows, 1, isa::Dtype::kInt32));
    const ValueId distances =
        input("distances.encoder", t5_.relative_attention_num_buckets, 2 * spec_.prompt - 1, spec_.numerics.activation);
    const ValueId bias = graph_.add1(runtime::kDiagonals, "biases", {by_distance("encoder", distances)},
                                     runtime::DiagonalsAttrs{.rows = spec_.prompt});
    for (std::int64_t l = 0; l < t5_.num_layers; ++l) {
      enter("layer.encoder", l);
      const std::string layer = fmt::format("encoder.block.{}.layer.", l), name = layer + "0.SelfAttention.";
      const auto qkv = products("attention.qkv", norm(x, layer + "0.layer_norm"), {name + "q", name + "k", name + "v"});
      const ValueId context = attention("attention", qkv[0], {qkv[1], qkv[2]}, spec_.prompt, source_mask_, bias);
      x = plus("attention", x, products("attention.output", context, {name + "o"})[0]);
      x = mlp(x, layer + "1.");
    }
    enter("encoder.norm");
    x = norm(x, "encoder.final_layer_norm");
    const runtime::CacheFillAttrs fill{.batch = spec_.batch, .seq = spec_.prompt};
    for (std::int64_t l = 0; l < t5_.num_decoder_layers; ++l) {
      enter("layer.source", t5_.num_layers + l);
      const std::string name = fmt::format("decoder.block.{}.layer.1.EncDecAttention.", l);
      const auto kv = products("cross.kv", x, {name + "k", name + "v"});
      Caches& to = source_[static_cast<std::size_t>(l)];
      to.keys = graph_.add1(runtime::kCacheFill, "cross.cache.keys", {kv[0], to.keys}, fill);
      to.values = graph_.add1(runtime::kCacheFill, "cross.cache.values", {kv[1], to.values}, fill);
    }
    reads_ = false;
  }

  // ---- a token of each text that is written

  ValueId own_attention(ValueId x, const std::string& layer, Caches& own, ValueId bias) {
    const std::string name = layer + "0.SelfAttention.";
    const auto qkv = products("attention.qkv", norm(x, layer + "0.layer_norm"), {name + "q", name + "k", name + "v"});
    own.keys = graph_.add1(runtime::kCacheAppend, "attention.cache.keys", {qkv[1], own.keys, positions_});
    own.values = graph_.add1(runtime::kCacheAppend, "attention.cache.values", {qkv[2], own.values, positions_});
    const ValueId context = attention("attention", qkv[0], own, 1, seen_, bias);
    return plus("attention", x, products("attention.output", context, {name + "o"})[0]);
  }

  ValueId cross_attention(ValueId x, const std::string& layer, const Caches& source) {
    const std::string name = layer + "1.EncDecAttention.";
    const ValueId q = products("cross.query", norm(x, layer + "1.layer_norm"), {name + "q"})[0];
    const ValueId context = attention("cross", q, source, 1, source_mask_, kNoValue);
    return plus("cross", x, products("cross.output", context, {name + "o"})[0]);
  }

  void write() {
    enter("embeddings.target");
    ValueId x = embedding(input("decoder_input_ids", spec_.batch, 1, isa::Dtype::kInt32));
    const ValueId bias = by_distance("decoder", distances_);
    for (std::int64_t l = 0; l < t5_.num_decoder_layers; ++l) {
      enter("layer.decoder", t5_.num_layers + l);
      const std::string layer = fmt::format("decoder.block.{}.layer.", l);
      const auto at = static_cast<std::size_t>(l);
      x = own_attention(x, layer, own_[at], bias);
      x = cross_attention(x, layer, source_[at]);
      x = mlp(x, layer + "2.");
    }
    enter("head");
    x = norm(x, arch_.last_norm);
    if (arch_.logit_scale != 1)
      x = graph_.add1(runtime::kAffine, "logits.scale", {x}, runtime::AffineAttrs{.alpha = arch_.logit_scale});
    const ValueId logits =
        graph_.add1(runtime::kSkinnyMatmul, "head", {x, w("lm_head.weight")},
                    runtime::SkinnyAttrs{.dtype = isa::Dtype::kFp32, .operand = spec_.numerics.operand});
    graph_.output(logits, "logits");
  }

  const DecoderArch arch_;
  const T5Config& t5_;
  const GenerationSpec& spec_;
  const bool prompt_;
  bool reads_ = false;  // whether the present nodes are those of what is read
  Graph graph_;
  std::map<std::string, ValueId> weights_;
  std::vector<Caches> own_, source_;  // of each layer of the decoder
  ValueId source_mask_ = kNoValue, seen_ = kNoValue, positions_ = kNoValue, distances_ = kNoValue;
};

}  // namespace

runtime::Graph t5_generation(const ModelPtr& model, const T5Config& config, const GenerationSpec& spec, bool prompt) {
  check(spec, model);
  return T5Generation{model, config, spec, prompt}.run();
}

}  // namespace workloads
