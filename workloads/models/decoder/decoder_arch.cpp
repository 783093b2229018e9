#include "workloads/models/decoder/decoder_arch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "workloads/models/decoder/decoder_model.h"

namespace workloads {
namespace {

struct OpsOf {
  double forward, backward;
};
constexpr OpsOf kDecoderEnds{34, 41};  // embedding, causal mask, last norm, head, loss

/// torch_xla dispatches about four operations for a collective: the operand's layout, the token, the call, the result.
constexpr double kPerCollective = 4;

/// Collectives of one layer. Source: Korthikanti et al., arXiv:2205.05198, section 4: two all-reduces each way; with
/// sequence parallelism two all-gathers and two reduce-scatters, and in backward the two inputs gathered again.
OpsOf collectives(const Plan& plan) {
  if (plan.tensor == 1) return {0, 0};
  return plan.sequence ? OpsOf{4 * kPerCollective, 6 * kPerCollective} : OpsOf{2 * kPerCollective, 2 * kPerCollective};
}

}  // namespace

Sizes sizes_of(const DecoderArch& arch) {
  const auto& mixture = arch.block.mixture;
  const bool others = mixture && mixture->count(arch.layers) < arch.layers;  // layers with an MLP
  return {.layers = arch.layers,
          .hidden = arch.hidden,
          .heads = arch.block.attention.heads,
          .kv_heads = arch.block.attention.kv_heads,
          .head = arch.block.attention.head,
          .ffn = arch.block.mlp.size,
          .vocabulary = arch.vocabulary,
          .positions = arch.positions,
          .experts = mixture ? mixture->experts : 0,
          .shared = mixture ? mixture->shared.size : 0,
          .dense = others ? mixture->dense_size : 0,
          .joint_heads = arch.block.attention.norms == HeadNorms::kJoint};
}

std::string DecoderArch::layer_prefix(std::int64_t layer) const { return fmt::format("{}{}.", blocks, layer); }

DecoderArch decoder_arch(const ModelPtr& model) {
  if (const DecoderArch* arch = model->decoder()) return *arch;
  throw base::Error{base::Fault::kUsage, model->family(), "is an encoder, which writes no tokens",
                    "choose a decoder, or time requests: trnsim estimate MODEL with `task` inference and without "
                    "`max_new_tokens`"};
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

LayerOps with_collectives(LayerOps layer, const Plan& plan) {
  const OpsOf parallel = collectives(plan);
  layer.forward += parallel.forward;
  layer.backward += parallel.backward;
  return layer;
}

FrameworkOps decoder_traced_ops(LayerOps layer, std::int64_t layers, const Plan& plan) {
  layer = with_recomputation(with_collectives(layer, plan), plan.recompute);
  const auto n = static_cast<double>(layers);
  return {n * layer.forward + kDecoderEnds.forward, n * layer.backward + kDecoderEnds.backward};
}

ModelInfo decoder_info(std::string_view family, DecoderArch arch, TensorNames names) {
  if (arch.head.tied) names.copies.emplace(arch.head.name + ".weight", arch.embedding.name + ".weight");
  return {.family = family,
          .sizes = sizes_of(arch),
          .task = arch.head.classes > 0 ? Task::kClassification : Task::kNextToken,
          .head = arch.head.classes > 0 ? Head::kClassifier : Head::kNone,
          .sharing = Sharing::kAll,
          .decoder = std::move(arch),
          .names = std::move(names)};
}

std::vector<WeightSpec> decoder_weights_of(const DecoderArch& arch) {
  return with_adapters(decoder_specs(arch), arch.lora);
}

FrameworkOps decoder_ops(const Model& model, LayerOps layer, const Step& step) {
  const std::vector<WeightSpec> weights = model.weights();
  layer = with_adapter_ops(layer, model.lora(), weights);
  FrameworkOps ops = decoder_traced_ops(layer, model.sizes().layers, step.plan);
  ops.tensors = static_cast<double>(std::ranges::count(weights, false, &WeightSpec::frozen));
  return ops;
}

std::vector<HostTable> rope_tables(const RotaryArch& rotary, std::int64_t length) {
  std::vector<HostTable> out;
  const auto add = [&](const std::string& name, const std::vector<double>& frequencies, double magnitude,
                       bool of_queries = false) {
    if (frequencies.empty()) return;
    HostTable cos{name + ".cos", {}}, sin{name + ".sin", {}};
    for (std::int64_t p = 0; p < length; ++p) {
      const double size = of_queries ? magnitude * rotary.query_size(p) : magnitude;
      for (const double f : frequencies) {
        cos.values.push_back(static_cast<float>(size * std::cos(static_cast<double>(p) * f)));
        sin.values.push_back(static_cast<float>(size * std::sin(static_cast<double>(p) * f)));
      }
    }
    out.push_back(std::move(cos)), out.push_back(std::move(sin));
  };
  const bool longer = !rotary.long_frequencies.empty() && length > rotary.long_from;
  const std::vector<double>& of_all = longer ? rotary.long_frequencies : rotary.frequencies;
  add("rope", of_all, rotary.magnitude);
  add("rope.window", rotary.windowed, 1);
  if (rotary.grows(length)) add("rope.query", of_all, rotary.magnitude, true);
  return out;
}

std::vector<double> slopes_of_heads(std::int64_t heads, double most) {
  std::vector<double> all;
  if (most <= 0 || heads <= 0) return all;
  const auto count = std::bit_ceil(static_cast<std::uint64_t>(heads));
  for (std::uint64_t h = 1; h <= count; ++h)
    all.push_back(std::exp2(-most * static_cast<double>(h) / static_cast<double>(count)));
  if (std::ssize(all) == heads) return all;
  std::vector<double> out;
  for (const std::size_t first : {1, 0})
    for (std::size_t h = first; h < all.size(); h += 2) out.push_back(all[h]);
  out.resize(static_cast<std::size_t>(heads));
  return out;
}

std::vector<float> slopes_of_rank(const AttentionArch& attention, std::int64_t ranks, std::int64_t rank) {
  const std::int64_t heads = std::ssize(attention.slopes) / ranks;
  return {attention.slopes.begin() + rank * heads, attention.slopes.begin() + (rank + 1) * heads};
}

double decoder_flops(const DecoderArch& f, const Step& step, double adapters) {
  const auto h = static_cast<double>(f.hidden), ffn = static_cast<double>(f.block.mlp.size);
  const auto kv = static_cast<double>(f.block.attention.key_size()),
             q = static_cast<double>(f.block.attention.query_size());
  const auto layers = static_cast<double>(f.layers), length = static_cast<double>(step.kind.length);
  double mlps = layers * (f.block.mlp.gated ? 3 : 2) * h * ffn;
  if (const auto& m = f.block.mixture) {
    const auto shared = static_cast<double>(m->shared.size), dense = layers - static_cast<double>(m->count(f.layers));
    double mlp = mlps / layers * static_cast<double>(m->top_k) + h * static_cast<double>(m->experts);
    if (m->shared.size > 0) mlp += h * (3 * shared + (m->shared.share.empty() ? 0 : 1));
    mlps = (layers - dense) * mlp + dense * 3 * h * static_cast<double>(m->dense_size);
  }
  const auto context = static_cast<double>(f.block.attention.context_size());
  double projections = h * (q + context + 2 * kv);
  if (const LatentArch& l = f.block.attention.latent; l.keys > 0) {
    const auto low = static_cast<double>(l.keys), turned = static_cast<double>(2 * f.block.rotary.pairs());
    const auto queries = static_cast<double>(l.queries), heads = static_cast<double>(f.block.attention.heads);
    projections = (l.queries > 0 ? queries * (h + q) : h * q) + h * (low + turned + context) +
                  low * (q - heads * turned + context);
  }
  const double head = f.head.classes > 0 ? static_cast<double>(f.head.classes) / length  // of one token of a text
                                         : static_cast<double>(f.vocabulary);
  const auto width = static_cast<double>(f.token_width());
  double ends = (f.head.classes > 0 ? h : width) * head;
  for (const std::string* projection : {&f.embedding.projection, &f.head.projection})
    if (!projection->empty()) ends += h * width;
  if (!f.head.dense.empty()) ends += h * h;
  const bool classifies = f.head.classes > 0;  // by a head that is trained beside adapters
  const double linear = 2 * (layers * projections + mlps + (classifies ? 0 : ends));
  const double others = adapters + 2 * layers * (q + context) * length + (classifies ? 2 * ends : 0);
  const double tokens =
      static_cast<double>(step.plan.micro_batch * step.kind.length * step.plan.micro_batches) * step.plan.data;
  return step_flops({.linear = linear, .others = others}, step.kind.training, f.lora) * tokens;
}

}  // namespace workloads
