#include "workloads/models/decoder/decoder_arch.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "workloads/models/decoder/decoder_model.h"

namespace workloads {
namespace {

struct OpsOf {
  double forward, backward;
};
constexpr OpsOf kDecoderEnds{34, 41};  // embedding, causal mask, last norm, head, loss

// Of peft's lora.Linear.forward, counted with PyTorch 1.13's dispatch mode on one layer.
constexpr OpsOf kAdapter{10, 20}, kAdapterDropout{4, 1};
constexpr double kWeightGradient = 5;  // that a frozen linear layer does not dispatch, with its addition to the others

/// torch_xla dispatches about four operations for a collective: the operand's layout, the token, the call, the result.
constexpr double kPerCollective = 4;

/// Of one layer. Source: Korthikanti et al., arXiv:2205.05198, section 4: two all-reduces each way; with sequence
/// parallelism two all-gathers and two reduce-scatters, and in backward the two inputs gathered again.
OpsOf collectives(const Plan& plan) {
  if (plan.tensor == 1) return {0, 0};
  return plan.sequence ? OpsOf{4 * kPerCollective, 6 * kPerCollective} : OpsOf{2 * kPerCollective, 2 * kPerCollective};
}

}  // namespace

isa::Fn device_function(Activation a) {
  return a == Activation::kSilu ? isa::Fn::kSilu : a == Activation::kGelu ? isa::Fn::kGelu : isa::Fn::kGeluTanh;
}

Sizes sizes_of(const DecoderArch& arch) {
  return {.layers = arch.layers,
          .hidden = arch.hidden,
          .heads = arch.heads,
          .kv_heads = arch.kv_heads,
          .head = arch.head,
          .ffn = arch.ffn,
          .vocabulary = arch.vocabulary,
          .positions = arch.positions,
          .experts = arch.mixture ? arch.mixture->experts : 0,
          .joint_heads = arch.norms_behind};
}

double score_scale(const DecoderArch& arch) {
  return arch.score_scale > 0 ? arch.score_scale : 1 / std::sqrt(static_cast<double>(arch.head));
}

DecoderArch decoder_arch(const ModelPtr& model) {
  if (const DecoderArch* arch = model->decoder()) return *arch;
  throw base::Error{base::Fault::kUsage, "model", "is an encoder, not a decoder", "choose a decoder"};
}

double decoder_kept_elements(const Sizes& c, const Plan& p, std::int64_t length) {
  const auto tokens = static_cast<double>(p.micro_batch * length), share = static_cast<double>(p.tensor);
  const auto hidden = static_cast<double>(c.hidden), ffn = static_cast<double>(c.ffn);
  const double rows = p.sequence ? tokens / share : tokens;
  double kept = rows * hidden;
  if (p.recompute != Recompute::kFull) kept += 3 * rows * hidden + tokens * (hidden + 2 * ffn) / share;
  if (p.recompute == Recompute::kNone) kept += tokens * static_cast<double>(length * (c.heads / p.tensor));
  return kept;
}

DecoderOps with_adapter_ops(DecoderOps layer, const Lora& lora, const std::vector<WeightSpec>& weights) {
  const auto linear = static_cast<double>(
      std::ranges::count_if(weights, [](const WeightSpec& w) { return w.layer == 0 && w.transposed && w.frozen; }));
  const auto targets = static_cast<double>(lora.targets.size());
  const bool drops = lora.dropout > 0;
  layer.forward += targets * (kAdapter.forward + (drops ? kAdapterDropout.forward : 0));
  layer.backward += targets * (kAdapter.backward + (drops ? kAdapterDropout.backward : 0)) - linear * kWeightGradient;
  return layer;
}

FrameworkOps decoder_traced_ops(DecoderOps layer, std::int64_t layers, const Plan& plan) {
  const OpsOf parallel = collectives(plan);
  layer.forward += parallel.forward;
  layer.backward += parallel.backward;
  if (plan.recompute == Recompute::kFull) layer.backward += layer.forward;
  if (plan.recompute == Recompute::kSelective) layer.backward += layer.core;
  const auto n = static_cast<double>(layers);
  return {n * layer.forward + kDecoderEnds.forward, n * layer.backward + kDecoderEnds.backward};
}

RopeTable rope_table(const DecoderArch& arch, std::int64_t length) {
  RopeTable table;
  const bool longer = !arch.long_frequencies.empty() && length > arch.long_from;
  for (std::int64_t p = 0; p < length; ++p)
    for (const double f : longer ? arch.long_frequencies : arch.frequencies) {
      table.cos.push_back(static_cast<float>(arch.rope_magnitude * std::cos(static_cast<double>(p) * f)));
      table.sin.push_back(static_cast<float>(arch.rope_magnitude * std::sin(static_cast<double>(p) * f)));
    }
  return table;
}

double decoder_flops(const DecoderArch& f, const Step& spec) {
  const auto h = static_cast<double>(f.hidden), ffn = static_cast<double>(f.ffn);
  const auto kv = static_cast<double>(f.kv_heads * f.head), q = static_cast<double>(f.heads * f.head);
  double mlp = (f.gated ? 3 : 2) * h * ffn;
  if (const auto& m = f.mixture) mlp = mlp * static_cast<double>(m->top_k) + h * static_cast<double>(m->experts);
  const double layer = h * (2 * q + 2 * kv) + mlp;
  const auto layers = static_cast<double>(f.layers), length = static_cast<double>(spec.kind.length);
  const double linear = 2 * (layers * layer + h * static_cast<double>(f.vocabulary)),
               others = 2 * f.adapter_parameters + 4 * layers * q * length;
  const double tokens =
      static_cast<double>(spec.plan.micro_batch * spec.kind.length * spec.plan.micro_batches) * spec.plan.data;
  if (!spec.kind.training) return (linear + others) * tokens;
  return (linear * (f.lora ? 2 : 3) + others * 3) * tokens;  // frozen weights have no gradient
}

}  // namespace workloads
