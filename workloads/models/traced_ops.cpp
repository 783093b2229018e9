#include "workloads/traced_ops.h"

#include "workloads/decoder_graph.h"
#include "workloads/weights.h"

namespace workloads {
namespace {

/// `core`: of the forward operations, those between the projections of attention, which selective recomputation
/// repeats.
struct OpCount {
  double forward, backward, core = 0;
};

constexpr OpCount kBertLayer{70, 118};
constexpr OpCount kBertEmbeddings{33, 19};  // with the mask
constexpr OpCount kBertClassifier{18, 38};
constexpr OpCount kBertTokens{13, 21};
constexpr OpCount kBertPretraining{31, 76};
constexpr OpCount kLlamaLayer{109, 157, 22};
constexpr OpCount kGroupedQueries{14, 14};  // more, when heads share keys and values
constexpr OpCount kGptLayer{59, 89, 24};
constexpr OpCount kDecoderEnds{34, 41};  // embedding, causal mask, last norm, head, loss

/// torch_xla dispatches about four operations for a collective: the operand's layout, the token, the call, the result.
constexpr double kPerCollective = 4;

/// Of one layer. Source: Korthikanti et al., arXiv:2205.05198, section 4: two all-reduces each way; with sequence
/// parallelism two all-gathers and two reduce-scatters, and in backward the two inputs gathered again.
OpCount collectives(const Step& spec) {
  if (spec.plan.tensor == 1) return {0, 0};
  return spec.plan.sequence ? OpCount{4 * kPerCollective, 6 * kPerCollective}
                            : OpCount{2 * kPerCollective, 2 * kPerCollective};
}

FrameworkOps decoder_ops(OpCount layer, std::int64_t layers, const Step& spec) {
  const OpCount parallel = collectives(spec);
  layer.forward += parallel.forward;
  layer.backward += parallel.backward;
  if (spec.plan.recompute == Recompute::kFull) layer.backward += layer.forward;
  if (spec.plan.recompute == Recompute::kSelective) layer.backward += layer.core;
  const auto n = static_cast<double>(layers);
  return {n * layer.forward + kDecoderEnds.forward, n * layer.backward + kDecoderEnds.backward};
}

FrameworkOps of(const BertConfig& c, const Step& spec) {
  const auto n = static_cast<double>(c.num_hidden_layers);
  const OpCount head = spec.kind.head == Head::kNone          ? OpCount{0, 0}
                       : spec.kind.head == Head::kTokens      ? kBertTokens
                       : spec.kind.head == Head::kPretraining ? kBertPretraining
                                                              : kBertClassifier;
  return {n * kBertLayer.forward + kBertEmbeddings.forward + head.forward,
          n * kBertLayer.backward + kBertEmbeddings.backward + head.backward};
}

FrameworkOps of(const LlamaConfig& c, const Step& spec) {
  OpCount layer = kLlamaLayer;
  if (c.num_key_value_heads != c.num_attention_heads) {
    layer.forward += kGroupedQueries.forward;
    layer.backward += kGroupedQueries.backward;
  }
  return decoder_ops(layer, c.num_hidden_layers, spec);
}

FrameworkOps of(const GptConfig& c, const Step& spec) { return decoder_ops(kGptLayer, c.num_hidden_layers, spec); }

}  // namespace

FrameworkOps framework_ops(const ModelConfig& config, const Step& spec) {
  FrameworkOps ops = std::visit([&](const auto& c) { return of(c, spec); }, config);
  ops.tensors = static_cast<double>(model_weights(config).size());
  return ops;
}

FrameworkOps framework_ops(const BlockSpec& spec) {
  const auto n = static_cast<double>(spec.layers);
  constexpr double kTensors = 12;  // weights and biases of four linear layers, gains and biases of two norms
  return {n * kGptLayer.forward, n * kGptLayer.backward, n * kTensors};
}

}  // namespace workloads
