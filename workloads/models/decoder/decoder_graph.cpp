#include "workloads/decoder_graph.h"

#include <fmt/format.h>

#include <cmath>

#include "runtime/autodiff.h"
#include "runtime/ops.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/mixture.h"
#include "workloads/pipeline.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

class Decoder {
 public:
  Decoder(const ModelPtr& config, const Step& spec)
      : config_{config},
        arch_{decoder_arch(config)},
        spec_{spec},
        graph_{spec.plan.numerics},
        specs_{decoder_weights(config, spec)},
        weights_{declare_weights(graph_, specs_, spec.kind.fold_weights)},
        rows_{spec.plan.micro_batch * spec.kind.length},
        split_{spec.plan.tensor > 1},
        sequence_{split_ && spec.plan.sequence} {
    if (arch_.mixture)
      mixture_.emplace(
          graph_, arch_, spec_,
          Mixture::Places{.weight = [this](const std::string& name) { return w(layer_name(name)); },
                          .enter_part = [this](const char* part) { enter_part(part); },
                          .enter = [this](const char* name) { enter(name, place_of_loss()); },
                          .load = [this] { return micro_name(fmt::format("expert_load.{}", layer_), micro_); }});
  }

  StepGraph run() {
    graph_.set_replica_groups(config_->groups(spec_.plan));
    if (arch_.rotary) {
      const std::int64_t half = arch_.head / 2;
      cos_ = graph_.tensor("rope.cos", spec_.kind.length, half, isa::Dtype::kFp32, Kind::kInput);
      sin_ = graph_.tensor("rope.sin", spec_.kind.length, half, isa::Dtype::kFp32, Kind::kInput);
    }
    runtime::Backward backward{graph_};
    backward.recompute([this](const runtime::Node& node) { return segment_of(node); });
    // All tokens of a layer's norms would be most of what is kept.
    backward.repeat_ahead([](const runtime::Node& node) { return node.op->repeated_ahead_by; });
    // Backward follows its forward as soon as it can, so that a micro-batch's activations are gone before others begin.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<ValueId>> ends;
    for (const Turn& turn :
         pipeline_turns(spec_.plan.pipeline, spec_.stage, spec_.plan.chunks, spec_.plan.micro_batches)) {
      micro_ = turn.micro_batch;
      if (turn.forward)
        ends[{turn.chunk, micro_}] = forward(turn.chunk);
      else if (spec_.kind.training)
        backward.run(ends.at({turn.chunk, micro_}));
    }
    std::vector<ZeroBucket> zero;
    if (spec_.kind.training) zero = add_update(graph_, backward.finish(), spec_, arch_.blocks, parameter_sets());
    return {std::move(graph_), std::move(zero)};
  }

 private:
  // ---- places in the program

  void enter(std::string name, std::int64_t number) {
    const std::int64_t layer = name.starts_with("layer") ? layer_ : -1;
    graph_.enter({.name = std::move(name),
                  .instance = static_cast<std::int32_t>(number),
                  .phase = isa::Phase::kForward,
                  .rng = static_cast<std::uint32_t>(micro_ * (arch_.layers + 2) + layer_ + 2),
                  .layer = static_cast<std::int32_t>(layer)});
  }
  /// A part of a layer. With one rank a layer is one block; ranks wait for each other between parts.
  void enter_part(const char* part) {
    const std::int64_t number = micro_ * arch_.layers + layer_;
    if (split_)
      enter(std::string{"layer."} + part, number);
    else
      enter("layer", number);
  }

  /// What a backward pass computes again: numbered by layer and micro-batch.
  std::int32_t segment_of(const runtime::Node& node) const {
    const runtime::Scope& scope = graph_.scope_of(node);
    if (spec_.plan.recompute == Recompute::kNone || !scope.name.starts_with("layer")) return -1;
    if (spec_.plan.recompute == Recompute::kSelective && !node.op->recomputed_selectively) return -1;
    return scope.instance;
  }

  // ---- between ranks

  runtime::CollectiveAttrs group() const { return {.ranks = spec_.plan.tensor, .group = tensor_group(spec_.plan)}; }

  /// The operand of work that is split by columns or heads: all tokens, on every rank.
  ValueId shared(ValueId x) {
    if (!split_) return x;
    return graph_.add1(sequence_ ? runtime::kRankGather : runtime::kRankFork, "share", {x}, group());
  }
  /// The sum of what the ranks have computed; under sequence parallelism each gets its tokens of it.
  ValueId summed(ValueId x) {
    if (!split_) return x;
    return graph_.add1(sequence_ ? runtime::kRankScatter : runtime::kRankSum, "sum", {x}, group());
  }

  // ---- layers

  ValueId w(const std::string& name) const { return weights_.at(name); }
  std::string layer_name(const std::string& name) const { return fmt::format("{}{}.{}", arch_.blocks, layer_, name); }
  ValueId input(const char* name, isa::Dtype type) {
    return graph_.tensor(micro_name(name, micro_), rows_, 1, type, Kind::kInput);
  }

  ValueId linear(const std::string& label, ValueId x, const std::string& name, bool bias = true) {
    ValueId y = graph_.add1(runtime::kMatmul, label, {x, w(name + ".weight")},
                            runtime::MatmulAttrs{.operand = spec_.plan.numerics.operand});
    if (weights_.contains(name + ".lora_A.weight")) y = adapted(label + ".lora", y, x, name);
    const bool has = bias && weights_.contains(name + ".bias");
    return has ? graph_.add1(runtime::kAdd, label + ".bias", {y, w(name + ".bias")}) : y;
  }

  ValueId times(const std::string& label, ValueId x, double factor) {
    return factor == 1 ? x : graph_.add1(runtime::kAffine, label, {x}, runtime::AffineAttrs{.alpha = factor});
  }

  /// With what low rank adds to a frozen weight's product y. Between ranks a product of split inputs is a sum, and so
  /// is this; one of split outputs has the same columns.
  ValueId adapted(const std::string& label, ValueId y, ValueId x, const std::string& name) {
    runtime::MatmulAttrs attrs{.operand = spec_.plan.numerics.operand};
    x = dropout(label + ".dropout", x, arch_.lora->dropout);
    x = graph_.add1(runtime::kMatmul, label + ".a", {x, w(name + ".lora_A.weight")}, attrs);
    attrs.alpha = arch_.lora->scale();
    x = graph_.add1(runtime::kMatmul, label + ".b", {x, w(name + ".lora_B.weight")}, attrs);
    return graph_.add1(runtime::kAdd, label, {y, x});
  }

  ValueId norm(const std::string& label, ValueId x, const std::string& name) {
    if (arch_.rms) {
      ValueId gain = w(name + ".weight");
      if (arch_.norm_offset != 0)
        gain = graph_.add1(runtime::kAffine, label + ".gain", {gain}, runtime::AffineAttrs{.beta = arch_.norm_offset});
      return graph_.add(runtime::kRmsNorm, label, {x, gain}, runtime::NormAttrs{.eps = arch_.eps})[0];
    }
    return graph_.add(runtime::kLayerNorm, label, {x, w(name + ".weight"), w(name + ".bias")},
                      runtime::NormAttrs{.eps = arch_.eps})[0];
  }

  ValueId dropout(const std::string& label, ValueId x, double p) {
    if (!spec_.kind.training || p <= 0) return x;
    return graph_.add1(runtime::kDropout, label, {x}, runtime::DropoutAttrs{.p = p, .stream = stream_++});
  }

  ValueId embed() {
    layer_ = -1, stream_ = 0;
    enter("embeddings", micro_);
    const ValueId ids = input("input_ids", isa::Dtype::kInt32);
    ValueId x = graph_.add1(runtime::kEmbedding, "word", {w(arch_.embedding), ids},
                            runtime::ResultAttrs{.dtype = spec_.plan.numerics.activation});
    x = times("word.scale", x, arch_.embedding_scale);
    if (split_) {
      const ValueId mine = input("vocabulary", spec_.plan.numerics.activation);
      x = graph_.add1(runtime::kMul, "word.mine", {x, mine});
      enter("embeddings.sum", micro_);
      x = summed(x);
    }
    if (arch_.rotary) return x;
    if (split_) enter("embeddings.position", micro_);
    const ValueId all = graph_.add1(runtime::kAdd, "sum", {x, positions(graph_.value(x).rows)});
    return dropout("dropout", all, arch_.embedding_dropout);
  }

  /// Of learned positions, those of the rank's tokens.
  ValueId positions(std::int64_t rows) {
    const ValueId table = w("transformer.wpe.weight");
    const isa::Dtype type = spec_.plan.numerics.activation;
    if (places_by_rank(spec_.plan)) {
      if (places_ == runtime::kNoValue) places_ = graph_.tensor("places", rows, 1, isa::Dtype::kInt32, Kind::kInput);
      return graph_.add1(runtime::kEmbedding, "position", {table, places_}, runtime::ResultAttrs{.dtype = type});
    }
    return graph_.add1(
        runtime::kPositions, "position", {table},
        runtime::PositionsAttrs{.batch = rows / spec_.kind.length, .seq = spec_.kind.length, .dtype = type});
  }

  ValueId rotated(const std::string& label, ValueId x) {
    if (!arch_.rotary) return x;
    const runtime::PositionsAttrs attrs{
        .batch = spec_.plan.micro_batch, .seq = spec_.kind.length, .dtype = isa::Dtype::kFp32};
    const ValueId cos = graph_.add1(runtime::kPositions, label + ".cos", {cos_}, attrs);
    const ValueId sin = graph_.add1(runtime::kPositions, label + ".sin", {sin_}, attrs);
    return graph_.add1(runtime::kRope, label, {x, cos, sin});
  }

  /// Queries or keys with their heads normalised, where the model does, and at their positions.
  ValueId turned(const std::string& label, ValueId x, const char* norm_name) {
    if (norm_name) x = norm(label + ".norm", x, layer_name(norm_name));
    return rotated(label + ".rope", x);
  }

  /// Partial sums of attention's output.
  ValueId attention(ValueId h) {
    const std::int64_t ranks = spec_.plan.tensor;
    const ValueId q =
        turned("attention.query", linear("attention.query", h, layer_name(arch_.query)), arch_.query_norm);
    const ValueId k = turned("attention.key", linear("attention.key", h, layer_name(arch_.key)), arch_.key_norm);
    const ValueId v = linear("attention.value", h, layer_name(arch_.value));
    const runtime::AttentionAttrs attrs{
        .scale = score_scale(arch_),
        .batch = spec_.plan.micro_batch,
        .seq = spec_.kind.length,
        .heads = arch_.heads / ranks,
        .kv_heads = std::max<std::int64_t>(1, arch_.kv_heads / ranks),
        .causal = true,
        .window = arch_.window,
        .p = spec_.kind.training ? arch_.attention_dropout : 0,
        .stream = stream_++,
        .operand = spec_.plan.numerics.operand,
        .softmax = arch_.gated ? isa::Dtype::kFp32 : spec_.plan.numerics.softmax};  // as modeling_llama has it
    const ValueId context = graph_.add(runtime::kAttention, "attention.heads", {q, k, v}, attrs)[0];
    return linear("attention.output", context, layer_name(arch_.out), !split_);
  }

  ValueId mlp(ValueId h) {
    const ValueId up = linear("mlp.up", h, layer_name(arch_.up));
    if (!arch_.gated) {
      const ValueId active =
          graph_.add1(runtime::kActivate, "mlp.activation", {up}, runtime::ActivationAttrs{.fn = arch_.activation});
      return linear("mlp.down", active, layer_name(arch_.down), !split_);
    }
    const ValueId gate = linear("mlp.gate", h, layer_name("mlp.gate_proj"));
    const ValueId active =
        graph_.add1(runtime::kActivate, "mlp.activation", {gate}, runtime::ActivationAttrs{.fn = arch_.activation});
    return linear("mlp.down", graph_.add1(runtime::kMul, "mlp.product", {active, up}), layer_name(arch_.down), !split_);
  }

  /// The bias of a row-split layer is added once, after the sum.
  ValueId residual(const std::string& label, ValueId y, ValueId x, const char* name) {
    if (split_ && arch_.bias) y = graph_.add1(runtime::kAdd, label + ".bias", {y, w(layer_name(name) + ".bias")});
    y = times(label + ".scale", y, arch_.residual_scale);
    return graph_.add1(runtime::kAdd, label, {dropout(label + ".dropout", y, arch_.dropout), x});
  }

  /// A layer whose norms are of what its parts give; it is on one rank.
  ValueId layer_with_norms_behind(ValueId x) {
    enter_part("attention");
    x = residual("attention.residual", norm("attention.norm", attention(x), layer_name(arch_.norm1)), x, arch_.out);
    return residual("mlp.residual", norm("mlp.norm", mlp(x), layer_name(arch_.norm2)), x, arch_.down);
  }

  ValueId layer(ValueId x) {
    stream_ = 0;
    if (arch_.norms_behind) return layer_with_norms_behind(x);
    enter_part("norm1");
    ValueId h = norm("attention.norm", x, layer_name(arch_.norm1));
    enter_part("share1");
    h = shared(h);
    enter_part("attention");
    h = attention(h);
    enter_part("sum1");
    h = summed(h);
    enter_part("norm2");
    x = residual("attention.residual", h, x, arch_.out);
    h = norm("mlp.norm", x, layer_name(arch_.norm2));
    if (mixture_) return residual("mlp.residual", mixture_->layer(h), x, arch_.down);
    enter_part("share2");
    h = shared(h);
    enter_part("mlp");
    h = mlp(h);
    enter_part("sum2");
    h = summed(h);
    enter_part("residual");
    return residual("mlp.residual", h, x, arch_.down);
  }

  // ---- the loss

  /// What the stage before has sent; what the next one gets stands for the loss.
  ValueId receive(std::int64_t chunk, std::uint8_t from) {
    layer_ = -1;
    enter("stage.receive", micro_ * spec_.plan.chunks + chunk);
    return graph_.add1(runtime::kStageReceive, "receive", {},
                       runtime::ReceiveAttrs{.rows = sequence_ ? rows_ / spec_.plan.tensor : rows_,
                                             .cols = arch_.hidden,
                                             .group = from,
                                             .peer = 0,
                                             .dtype = spec_.plan.numerics.activation});
  }
  ValueId send(std::int64_t chunk, ValueId x, std::uint8_t to) {
    enter("stage.send", micro_ * spec_.plan.chunks + chunk);
    return graph_.add1(runtime::kStageSend, "send", {x}, runtime::SendAttrs{.group = to, .peer = 1});
  }

  /// Where gradients begin: the loss, or what the next stage gets, and the loss of the routers.
  std::vector<ValueId> forward(std::int64_t number) {
    const Chunk chunk = chunk_of(spec_, number, arch_.layers);
    ValueId x = chunk.first ? embed() : receive(number, chunk.from_group);
    for (layer_ = chunk.begin; layer_ < chunk.end; ++layer_) x = layer(x);
    chunk_ = number;
    std::vector<ValueId> ends;
    if (mixture_)
      if (const ValueId loss = mixture_->loss(); loss != runtime::kNoValue) {
        graph_.output(loss, micro_name(fmt::format("router_loss.{}", number), micro_));
        ends.push_back(loss);
      }
    ends.push_back(chunk.last ? head(x) : send(number, x, chunk.to_group));
    return ends;
  }
  std::int64_t place_of_loss() const { return micro_ * spec_.plan.chunks + chunk_; }

  ValueId head(ValueId x) {
    enter("head.norm", micro_);
    x = times("logits.scale", norm("norm", x, arch_.last_norm), arch_.logit_scale);  // logits are linear in it
    if (split_) enter("head.share", micro_);
    x = shared(x);
    enter("head", micro_);
    const ValueId logits =
        graph_.add1(runtime::kMatmul, "head", {x, w(arch_.tied ? arch_.embedding : "lm_head.weight")},
                    runtime::MatmulAttrs{
                        .trans_b = arch_.tied, .dtype = isa::Dtype::kFp32, .operand = spec_.plan.numerics.operand});
    if (spec_.kind.keep_logits) graph_.output(logits, micro_name("logits", micro_));
    return spec_.kind.training || spec_.kind.with_loss ? loss(logits) : logits;
  }

  ValueId loss(ValueId logits) {
    const ValueId labels = input("labels", isa::Dtype::kInt32), weights = input("weights", isa::Dtype::kFp32);
    const runtime::LossAttrs attrs{.scale = spec_.plan.numerics.loss_scale,
                                   .smoothing = spec_.kind.training ? spec_.kind.smoothing : 0,
                                   .classes = arch_.vocabulary,
                                   .dtype = spec_.plan.numerics.activation};
    runtime::CollectiveAttrs most_attrs = group();
    most_attrs.alu = isa::Alu::kMax;
    ValueId most = graph_.add1(runtime::kRowMax, "loss.max", {logits});
    if (split_) {
      enter("head.max", micro_);
      most = graph_.add1(runtime::kRankSum, "loss.max.all", {most}, most_attrs);
      enter("head.sums", micro_);
    }
    ValueId sums = graph_.add1(runtime::kLossSums, "loss.sums", {logits, labels, most}, attrs);
    if (split_) {
      enter("head.sum", micro_);
      sums = graph_.add1(runtime::kRankSum, "loss.sums.all", {sums}, group());
      enter("head.loss", micro_);
    }
    const ValueId loss = graph_.add(runtime::kSplitLoss, "loss", {logits, labels, weights, most, sums}, attrs)[0];
    graph_.output(loss, micro_name("loss", micro_));
    return loss;
  }

  /// Whether it is a norm of heads: each rank has the gradient of its own heads alone.
  bool of_heads(const WeightSpec& spec) const {
    return arch_.query_norm && (spec.name.ends_with(fmt::format("{}.weight", arch_.query_norm)) ||
                                spec.name.ends_with(fmt::format("{}.weight", arch_.key_norm)));
  }

  ParameterSets parameter_sets() const {
    ParameterSets sets;
    for (const WeightSpec& spec : specs_)
      if (spec_.plan.pipeline > 1 && spec.layer == WeightSpec::kBeforeAndAfterLayers)
        sets.tied.insert(weights_.at(spec.name));
    if (!split_) return sets;
    sets.sharing = head_sharing(config_, spec_.plan.tensor);
    for (const WeightSpec& spec : specs_) {
      const ValueId v = weights_.at(spec.name);
      if (spec.split == TensorSplit::kKeyValue && sets.sharing > 1) sets.shared.insert(v);
      if (spec.split != TensorSplit::kNone)
        sets.split.insert(v);
      else if (sequence_ || arch_.lora ||
               of_heads(spec))  // what a factor of all ranks adds to is one rank's columns or inputs
        sets.partial.insert(v);
    }
    return sets;
  }

  const ModelPtr& config_;
  const DecoderArch arch_;
  const Step& spec_;
  Graph graph_;
  const std::vector<WeightSpec> specs_;
  std::map<std::string, ValueId> weights_;
  const std::int64_t rows_;
  const bool split_, sequence_;
  ValueId cos_ = runtime::kNoValue, sin_ = runtime::kNoValue, places_ = runtime::kNoValue;
  std::int64_t micro_ = 0, layer_ = 0, chunk_ = 0;
  std::optional<Mixture> mixture_;
  std::uint32_t stream_ = 0;
};

}  // namespace

StepGraph decoder_step(const ModelPtr& config, const Step& spec) {
  require_step(decoder_arch(config), spec);
  return Decoder{config, spec}.run();
}

}  // namespace workloads
