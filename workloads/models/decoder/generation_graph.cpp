#include "workloads/models/decoder/generation_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/ops/ops.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

constexpr const char* kHead = "lm_head.weight";

class Generation {
 public:
  Generation(const ModelPtr& config, const GenerationSpec& spec, bool prompt)
      : arch_{decoder_arch(config)},
        spec_{spec},
        prompt_{prompt},
        split_{spec.tensor_parallel > 1},
        rows_{prompt ? spec.batch * spec.prompt : spec.batch},
        graph_{spec.numerics} {
    check(spec, config);
    for (const GenerationWeight& w : generation_weights(config, spec.tensor_parallel)) {
      const auto [rows, cols] = device_shape(w.spec);
      weights_[w.spec.name] = graph_.tensor(w.spec.name, rows, cols, spec.numerics.weight, Kind::kWeight);
    }
    graph_.set_replica_groups(replica_groups(Plan{.tensor = spec.tensor_parallel}));
  }

  Graph run() {
    declare();
    ValueId x = embed();
    for (layer_ = 0; layer_ < arch_.layers; ++layer_) x = layer(x);
    head(x);
    return std::move(graph_);
  }

 private:
  // ---- tensors

  ValueId w(const std::string& name) const { return weights_.at(name); }
  std::string layer_name(const std::string& name) const { return fmt::format("{}{}.{}", arch_.blocks, layer_, name); }
  ValueId ints(const char* name, std::int64_t rows) {
    return graph_.tensor(name, rows, 1, isa::Dtype::kInt32, Kind::kInput);
  }

  void declare() {
    const std::int64_t groups = std::max<std::int64_t>(1, arch_.kv_heads / spec_.tensor_parallel);
    for (std::int64_t l = 0; l < arch_.layers; ++l)
      for (auto* list : {&keys_, &values_})
        list->push_back(graph_.tensor(fmt::format("cache.{}.{}", list == &keys_ ? "keys" : "values", l),
                                      spec_.batch * spec_.length, groups * arch_.head, spec_.numerics.activation,
                                      Kind::kCache));
    if (arch_.rotary) {  // fixed like weights
      cos_ = graph_.tensor("rope.cos", spec_.length, arch_.head / 2, isa::Dtype::kFp32, Kind::kWeight);
      sin_ = graph_.tensor("rope.sin", spec_.length, arch_.head / 2, isa::Dtype::kFp32, Kind::kWeight);
    }
    places_ = prompt_ ? ints("last", spec_.batch) : ints("positions", spec_.batch);
  }

  // ---- places in the program

  void enter(std::string name, std::int64_t number = 0) {
    const auto instance = static_cast<std::int32_t>(number);
    const std::int32_t layer = name.starts_with("layer") ? instance : -1;
    graph_.enter({.name = std::move(name), .instance = instance, .phase = isa::Phase::kForward, .layer = layer});
  }
  /// With one rank a layer is one block; ranks meet between its halves.
  void enter_part(const char* part) { enter(split_ ? std::string{"layer."} + part : std::string{"layer"}, layer_); }

  /// The sum of what the ranks have computed, in a scope of its own.
  ValueId summed(ValueId x) {
    if (!split_) return x;
    return graph_.add1(runtime::kRankSum, "sum", {x},
                       runtime::CollectiveAttrs{.ranks = spec_.tensor_parallel, .group = 0});
  }

  // ---- layers

  /// x times each of the weights, plus their biases. A token's rows are few: weights pass by once.
  std::vector<ValueId> products(const std::string& label, ValueId x, const std::vector<std::string>& names) {
    if (!prompt_)
      return graph_.add(runtime::kSkinnyMatmul, label, skinny(x, names),
                        runtime::SkinnyAttrs{.operand = spec_.numerics.operand});
    std::vector<ValueId> out;
    for (const std::string& name : names) out.push_back(biased(label, product(label, x, name), name));
    return out;
  }
  std::vector<ValueId> skinny(ValueId x, const std::vector<std::string>& names, bool bias = true) {
    std::vector<ValueId> in{x};
    for (const std::string& name : names) {
      in.push_back(w(name + ".weight"));
      if (bias && weights_.contains(name + ".bias")) in.push_back(w(name + ".bias"));
    }
    return in;
  }
  ValueId product(const std::string& label, ValueId x, const std::string& name) {
    return graph_.add1(runtime::kMatmul, label, {x, w(name + ".weight")},
                       runtime::MatmulAttrs{.blocked = true, .operand = spec_.numerics.operand});
  }
  ValueId biased(const std::string& label, ValueId y, const std::string& name) {
    return weights_.contains(name + ".bias") ? graph_.add1(runtime::kAdd, label + ".bias", {y, w(name + ".bias")}) : y;
  }
  /// The partial sums of a row-split layer; with one rank the bias is added at once, else once after the sum.
  ValueId output(const std::string& label, ValueId x, const std::string& name) {
    if (prompt_) return split_ ? product(label, x, name) : biased(label, product(label, x, name), name);
    return graph_.add1(runtime::kSkinnyMatmul, label, skinny(x, {name}, !split_),
                       runtime::SkinnyAttrs{.operand = spec_.numerics.operand});
  }

  ValueId times(const std::string& label, ValueId x, double factor) {
    return factor == 1 ? x : graph_.add1(runtime::kAffine, label, {x}, runtime::AffineAttrs{.alpha = factor});
  }
  ValueId gain(const std::string& label, const std::string& name) {
    const ValueId weight = w(name + ".weight");
    if (arch_.norm_offset == 0) return weight;
    return graph_.add1(runtime::kAffine, label + ".gain", {weight}, runtime::AffineAttrs{.beta = arch_.norm_offset});
  }
  ValueId norm(const std::string& label, ValueId x, const std::string& name) {
    if (arch_.rms)
      return graph_.add(runtime::kRmsNorm, label, {x, gain(label, name)}, runtime::NormAttrs{.eps = arch_.eps})[0];
    return graph_.add(runtime::kLayerNorm, label, {x, w(name + ".weight"), w(name + ".bias")},
                      runtime::NormAttrs{.eps = arch_.eps})[0];
  }

  /// The rows of a table of positions that this program's tokens need.
  ValueId at_positions(const std::string& label, ValueId table, isa::Dtype type) {
    if (!prompt_) return graph_.add1(runtime::kEmbedding, label, {table, places_}, runtime::ResultAttrs{.dtype = type});
    return graph_.add1(runtime::kPositions, label, {table},
                       runtime::PositionsAttrs{.batch = spec_.batch, .seq = spec_.prompt, .dtype = type});
  }
  ValueId rotated(const std::string& label, ValueId x) {
    if (!arch_.rotary) return x;
    return graph_.add1(runtime::kRope, label,
                       {x, at_positions(label + ".cos", cos_, isa::Dtype::kFp32),
                        at_positions(label + ".sin", sin_, isa::Dtype::kFp32)});
  }

  /// Queries or keys with their heads normalised, where the model does, and at their positions.
  ValueId turned(const std::string& label, ValueId x, const char* norm_name) {
    if (norm_name) x = norm(label + ".norm", x, layer_name(norm_name));
    return rotated(label + ".rope", x);
  }

  ValueId embed() {
    enter("embeddings");
    const ValueId ids = ints("input_ids", rows_);
    const isa::Dtype type = spec_.numerics.activation;
    ValueId x =
        graph_.add1(runtime::kEmbedding, "word", {w(arch_.embedding), ids}, runtime::ResultAttrs{.dtype = type});
    x = times("word.scale", x, arch_.embedding_scale);
    if (split_) {
      x = graph_.add1(runtime::kMul, "word.mine", {x, graph_.tensor("vocabulary", rows_, 1, type, Kind::kInput)});
      enter("embeddings.sum");
      x = summed(x);
    }
    if (arch_.rotary) return x;
    if (split_) enter("embeddings.position");
    return graph_.add1(runtime::kAdd, "sum", {x, at_positions("position", w("transformer.wpe.weight"), type)});
  }

  ValueId attention(ValueId h) {
    const auto qkv =
        products("attention.qkv", h, {layer_name(arch_.query), layer_name(arch_.key), layer_name(arch_.value)});
    const ValueId q = turned("attention.query", qkv[0], arch_.query_norm);
    const ValueId k = turned("attention.key", qkv[1], arch_.key_norm), v = qkv[2];
    const auto at = static_cast<std::size_t>(layer_);
    const std::int64_t ranks = spec_.tensor_parallel;
    const double scale = score_scale(arch_);
    const std::int64_t heads = arch_.heads / ranks, kv_heads = std::max<std::int64_t>(1, arch_.kv_heads / ranks);
    ValueId context = runtime::kNoValue;
    if (prompt_) {
      const runtime::AttentionAttrs attrs{.scale = scale,
                                          .batch = spec_.batch,
                                          .seq = spec_.prompt,
                                          .heads = heads,
                                          .kv_heads = kv_heads,
                                          .causal = true,
                                          .window = arch_.window,
                                          .unfused = !has_kernel(heads),
                                          .operand = spec_.numerics.operand,
                                          .softmax = spec_.numerics.softmax};
      context = graph_.add(runtime::kAttention, "attention.heads", {q, k, v}, attrs)[0];
      const runtime::CacheFillAttrs fill{.batch = spec_.batch, .seq = spec_.prompt};
      graph_.add(runtime::kCacheFill, "attention.cache.keys", {k, keys_[at]}, fill);
      graph_.add(runtime::kCacheFill, "attention.cache.values", {v, values_[at]}, fill);
    } else {
      const runtime::CachedAttentionAttrs attrs{.scale = scale,
                                                .batch = spec_.batch,
                                                .seq = spec_.rows_read(),
                                                .heads = heads,
                                                .kv_heads = kv_heads,
                                                .operand = spec_.numerics.operand};
      context = graph_.add(runtime::kCachedAttention, "attention.heads", {q, k, v, keys_[at], values_[at], places_},
                           attrs)[0];
    }
    return output("attention.output", context, layer_name(arch_.out));
  }

  /// transformers-neuronx hands prompts from 4096 tokens on to a kernel that keeps scores on the chip; below it builds
  /// attention operation by operation (layers/attention.py, flash_attention and context_combined). That the kernel
  /// takes one head of a core is assumed: published prompts of 4096 tokens with two heads take three times as long.
  bool has_kernel(std::int64_t heads) const {
    constexpr std::int64_t kKernelFrom = 4096;
    return spec_.prompt >= kKernelFrom && heads == 1;
  }

  ValueId mlp(ValueId h) {
    if (arch_.mixture) return experts(h, *arch_.mixture);
    std::vector<std::string> names{layer_name(arch_.up)};
    if (arch_.gated) names.insert(names.begin(), layer_name("mlp.gate_proj"));
    return feed_forward(h, names, layer_name(arch_.down));
  }

  ValueId feed_forward(ValueId h, const std::vector<std::string>& names, const std::string& down) {
    if (!prompt_)
      return output("mlp.down",
                    graph_.add1(runtime::kSkinnyActive, "mlp.up", skinny(h, names),
                                runtime::SkinnyAttrs{.fn = arch_.activation, .operand = spec_.numerics.operand}),
                    down);
    const auto wide = products("mlp.up", h, names);
    ValueId active =
        graph_.add1(runtime::kActivate, "mlp.activation", {wide[0]}, runtime::ActivationAttrs{.fn = arch_.activation});
    if (arch_.gated) active = graph_.add1(runtime::kMul, "mlp.product", {active, wide[1]});
    return output("mlp.down", active, down);
  }

  /// Every expert on all rows, whatever they chose.
  ValueId experts(ValueId h, const MixtureArch& m) {
    const std::string router = layer_name(m.router);
    const isa::Dtype operand = spec_.numerics.operand, fp32 = isa::Dtype::kFp32;
    const ValueId logits = prompt_
                               ? graph_.add1(runtime::kMatmul, "router", {h, w(router + ".weight")},
                                             runtime::MatmulAttrs{.blocked = true, .dtype = fp32, .operand = operand})
                               : graph_.add1(runtime::kSkinnyMatmul, "router", skinny(h, {router}),
                                             runtime::SkinnyAttrs{.dtype = fp32, .operand = operand});
    const ValueId gates = graph_.add1(runtime::kGates, "router.gates", {logits},
                                      runtime::RouteAttrs{.top_k = m.top_k, .normalised = m.normalised});
    ValueId sum = runtime::kNoValue;
    for (std::int64_t e = 0; e < spec_.experts_read(arch_.mixture->experts, arch_.mixture->top_k, rows_); ++e) {
      const auto name = [&](const std::string& part) { return layer_name(fmt::format("{}{}.{}", m.prefix, e, part)); };
      std::vector<ValueId> in{feed_forward(h, {name(m.gate), name(m.up)}, name(m.down)), gates};
      if (sum != runtime::kNoValue) in.push_back(sum);
      sum = graph_.add1(runtime::kGatedSum, "experts.sum", in, runtime::ColumnAttrs{.column = e});
    }
    return sum;
  }

  /// x becomes its sum with what a part of the model has left in owed_; the result is the norm of that. A residual is
  /// added only where it is needed, which saves a way through HBM and, between ranks, a call.
  ValueId settled_norm(const std::string& label, ValueId& x, const std::string& name) {
    if (!prompt_) return skinny_norm(label, x, name);
    if (owed_ != runtime::kNoValue && !owed_bias_.empty())
      owed_ = graph_.add1(runtime::kAdd, label + ".bias", {owed_, w(owed_bias_)});
    x = settled(label, x);
    return norm(label, x, name);
  }
  ValueId skinny_norm(const std::string& label, ValueId& x, const std::string& name) {
    std::vector<ValueId> in{x, gain(label, name)};
    if (!arch_.rms) in.push_back(w(name + ".bias"));
    if (owed_ != runtime::kNoValue) in.push_back(owed_);
    if (owed_ != runtime::kNoValue && !owed_bias_.empty()) in.push_back(w(owed_bias_));
    const auto out = graph_.add(arch_.rms ? runtime::kSkinnyRmsNorm : runtime::kSkinnyLayerNorm, label, in,
                                runtime::NormAttrs{.eps = arch_.eps});
    if (out.size() > 1) x = out[1];
    owed_ = runtime::kNoValue;
    return out[0];
  }
  /// What a half of a layer adds to x, summed over the ranks; its bias is added once.
  void owe(ValueId part, const char* sum, const char* name) {
    part = times("residual.scale", part, arch_.residual_scale);  // before the sum, whose scope holds nothing else
    if (split_) enter_part(sum);
    owed_ = summed(part);
    owed_bias_ = split_ && arch_.bias ? layer_name(name) + ".bias" : "";
  }

  /// x with what it is owed.
  ValueId settled(const std::string& label, ValueId x) {
    if (owed_ != runtime::kNoValue) x = graph_.add1(runtime::kAdd, label + ".residual", {owed_, x});
    owed_ = runtime::kNoValue;
    return x;
  }
  /// A layer whose norms are of what its parts give; it is on one rank.
  ValueId layer_with_norms_behind(ValueId x) {
    enter_part("attention");
    x = settled("attention", x);
    owe(norm("attention.norm", attention(x), layer_name(arch_.norm1)), "sum1", arch_.out);
    enter_part("mlp");
    x = settled("mlp", x);
    owe(norm("mlp.norm", mlp(x), layer_name(arch_.norm2)), "sum2", arch_.down);
    return x;
  }

  ValueId layer(ValueId x) {
    if (arch_.norms_behind) return layer_with_norms_behind(x);
    enter_part("attention");
    owe(attention(settled_norm("attention.norm", x, layer_name(arch_.norm1))), "sum1", arch_.out);
    enter_part("mlp");
    owe(mlp(settled_norm("mlp.norm", x, layer_name(arch_.norm2))), "sum2", arch_.down);
    return x;
  }

  /// Of a prompt only its last token is asked for what comes next.
  void head(ValueId x) {
    enter("head");
    const auto last = [&](ValueId v) {
      return graph_.add1(runtime::kEmbedding, "last", {v, places_},
                         runtime::ResultAttrs{.dtype = spec_.numerics.activation});
    };
    if (prompt_) x = last(x);
    if (prompt_ && owed_ != runtime::kNoValue) owed_ = last(owed_);
    x = times("logits.scale", skinny_norm("norm", x, arch_.last_norm), arch_.logit_scale);
    const ValueId logits =
        graph_.add1(runtime::kSkinnyMatmul, "head", {x, w(kHead)},
                    runtime::SkinnyAttrs{.dtype = isa::Dtype::kFp32, .operand = spec_.numerics.operand});
    graph_.output(logits, "logits");
  }

  const DecoderArch arch_;
  const GenerationSpec& spec_;
  const bool prompt_, split_;
  const std::int64_t rows_;
  Graph graph_;
  std::map<std::string, ValueId> weights_;
  std::vector<ValueId> keys_, values_;
  ValueId cos_ = runtime::kNoValue, sin_ = runtime::kNoValue, places_ = runtime::kNoValue;
  std::int64_t layer_ = 0;
  ValueId owed_ = runtime::kNoValue;
  std::string owed_bias_;  // of the sum that x is still owed, if it has one
};

/// Whether it makes keys or values of what an encoder has read.
bool is_of_source(const std::string& name) {
  return name.ends_with("EncDecAttention.k.weight") || name.ends_with("EncDecAttention.v.weight");
}

}  // namespace

std::vector<GenerationWeight> generation_weights(const ModelPtr& config, std::int64_t tensor_parallel) {
  const DecoderArch arch = decoder_arch(config);
  std::vector<GenerationWeight> out;
  for (WeightSpec& spec : decoder_weights(config, generation_plan(tensor_parallel))) {
    const bool table = spec.name == arch.embedding || spec.name == "transformer.wpe.weight";
    const bool head = spec.name == kHead;
    if (head) spec.transposed = true;  // GPT's file has [vocabulary, hidden] too
    const bool of_distances = spec.name.find("relative_attention_bias") != std::string::npos;  // rows are heads
    const bool blocked = spec.shape.size() == 2 && !table && !of_distances;
    const bool once = config->pairs() && (spec.name.starts_with("encoder.") || is_of_source(spec.name));
    out.push_back({std::move(spec), blocked, once});
  }
  if (arch.tied) {
    WeightSpec head = std::ranges::find(out, arch.embedding, [](const auto& w) { return w.spec.name; })->spec;
    head.name = kHead, head.transposed = true;
    out.push_back({std::move(head), true, false});
  }
  return out;
}

Graph Model::generation(const GenerationSpec& spec, bool prompt) const {
  return Generation{shared_from_this(), spec, prompt}.run();
}

Graph prompt_graph(const ModelPtr& config, const GenerationSpec& spec) { return config->generation(spec, true); }

Graph token_graph(const ModelPtr& config, const GenerationSpec& spec) { return config->generation(spec, false); }

}  // namespace workloads
