#include "workloads/models/decoder/decoder_graph.h"

#include <fmt/format.h>

#include "runtime/ops/ops.h"
#include "workloads/models/decoder/mixture.h"
#include "workloads/models/decoder/split_graph.h"

namespace workloads {
namespace {

using runtime::Kind;
using runtime::ValueId;

class Decoder final : public SplitGraph {
 public:
  Decoder(const ModelPtr& config, const Step& spec)
      : SplitGraph{config, spec, spec.plan.micro_batch * spec.kind.length} {
    if (arch_.mixture)
      mixture_.emplace(
          graph_, arch_, spec_,
          Mixture::Places{.weight = [this](const std::string& name) { return w(layer_name(name)); },
                          .enter_part = [this](const char* part) { enter_part(part); },
                          .enter = [this](const char* name) { enter(name, place_of_loss()); },
                          .load = [this] { return micro_name(fmt::format("expert_load.{}", layer_), micro_); }});
  }

 private:
  void declare_tables() override {
    if (!arch_.rotary) return;
    const std::int64_t half = arch_.head / 2;
    cos_ = graph_.tensor("rope.cos", spec_.kind.length, half, isa::Dtype::kFp32, Kind::kInput);
    sin_ = graph_.tensor("rope.sin", spec_.kind.length, half, isa::Dtype::kFp32, Kind::kInput);
  }

  // ---- layers

  std::string layer_name(const std::string& name) const { return fmt::format("{}{}.{}", arch_.blocks, layer_, name); }

  ValueId embed() {
    layer_ = -1, stream_ = 0;
    const ValueId x = tokens("embeddings", "input_ids", "vocabulary", rows_);
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

  std::vector<ValueId> forward(std::int64_t number) override {
    const Chunk chunk = chunk_of(spec_, number, arch_.layers);
    ValueId x = chunk.first ? embed() : receive(number, rows_, chunk.from_group);
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

  bool of_heads(const WeightSpec& spec) const override {
    return arch_.query_norm && (spec.name.ends_with(fmt::format("{}.weight", arch_.query_norm)) ||
                                spec.name.ends_with(fmt::format("{}.weight", arch_.key_norm)));
  }

  ValueId cos_ = runtime::kNoValue, sin_ = runtime::kNoValue, places_ = runtime::kNoValue;
  std::int64_t chunk_ = 0;
  std::optional<Mixture> mixture_;
};

}  // namespace

StepGraph decoder_step(const ModelPtr& config, const Step& spec) {
  require_step(decoder_arch(config), spec);
  return Decoder{config, spec}.run();
}

}  // namespace workloads
