#include "workloads/models/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {

using base::Error;
using base::Fault;

std::string TensorNames::canonical(std::string name) const {
  for (const auto& [from, to] : endings)
    if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
  const bool bare = std::ranges::any_of(tops, [&](const std::string& top) { return name.starts_with(top); });
  return bare ? prefix + name : name;
}

bool TensorNames::leaves_out(std::string_view name) const {
  return std::ranges::any_of(left_out, [name](std::string_view pattern) {
    const std::size_t star = std::min(pattern.find('*'), pattern.size());
    const std::string_view begin = pattern.substr(0, star), end = pattern.substr(std::min(star + 1, pattern.size()));
    if (star == pattern.size()) return name == pattern;
    return name.size() >= begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end);
  });
}

bool TensorNames::may_be_missing(std::string_view name) const {
  return std::ranges::any_of(drawn, [name](const std::string& begin) { return name.starts_with(begin); });
}

std::optional<std::string> TensorNames::tied_to(const std::string& name) const {
  const auto at = copies.find(name);
  return at == copies.end() ? std::nullopt : std::optional{at->second};
}

namespace {

// Operations of peft's lora.Linear.forward, counted with PyTorch 1.13's dispatch mode on one layer.
constexpr LayerOps kAdapter{.forward = 10, .backward = 20, .core = 0},
    kAdapterDropout{.forward = 4, .backward = 1, .core = 0};
constexpr double kWeightGradient = 5;  // that a frozen linear layer does not dispatch, with its addition to the others

}  // namespace

LayerOps with_recomputation(LayerOps layer, Recompute recompute) {
  if (recompute == Recompute::kFull) layer.backward += layer.forward;
  if (recompute == Recompute::kSelective) layer.backward += layer.core;
  return layer;
}

LayerOps with_adapter_ops(LayerOps layer, const std::optional<Lora>& lora, const std::vector<WeightSpec>& weights,
                          std::int64_t number) {
  if (!lora) return layer;
  const auto count = [&](const auto& is) {
    return static_cast<double>(
        std::ranges::count_if(weights, [&](const WeightSpec& w) { return w.layer == number && is(w); }));
  };
  const double linear = count([](const WeightSpec& w) {
    const bool first = w.pieces.empty() || w.pieces.front().first == 0;  // of those that a file has as one
    return w.shape.size() == 2 && !w.table && w.frozen && first;
  });
  const double adapted = count([](const WeightSpec& w) { return is_first_factor(w.name); });
  layer.forward += adapted * (kAdapter.forward + (lora->dropout > 0 ? kAdapterDropout.forward : 0));
  layer.backward +=
      adapted * (kAdapter.backward + (lora->dropout > 0 ? kAdapterDropout.backward : 0)) - linear * kWeightGradient;
  return layer;
}

double step_flops(ForwardFlops forward, bool training, const std::optional<Lora>& lora) {
  if (!training) return forward.linear + forward.others;
  return (lora ? 2 : 3) * forward.linear + 3 * forward.others;
}

double adapter_flops(const std::vector<WeightSpec>& weights) {
  double out = 0;
  for (const WeightSpec& w : weights)
    if (is_adapter(w.name)) out += 2 * static_cast<double>(element_count(w.shape));
  return out;
}

bool Model::ends_text(std::int64_t id) const { return decoder() && std::ranges::count(decoder()->end_tokens, id) > 0; }

double Model::input_bytes(const StepKind& kind) const {
  if (image()) return 4.0 * static_cast<double>(image()->elements());
  if (sound()) return 4.0 * static_cast<double>(sound()->elements()) + 8.0 * static_cast<double>(kind.target_length);
  if (pairs()) return 8.0 * static_cast<double>(2 * kind.length + kind.target_length);
  return 3.0 * 8.0 * static_cast<double>(kind.length);
}

double Model::kept_elements(const Plan& plan, std::int64_t length) const {
  const Sizes& c = sizes();
  if (splits()) {
    Plan least = plan;
    if (lora()) least.recompute = Recompute::kFull;  // the input of a frozen matmul need not be kept
    const double kept = decoder_kept_elements(c, least, length);
    return pairs() ? kept * static_cast<double>(c.layers - pairs()->layers) / static_cast<double>(c.layers) : kept;
  }
  const auto tokens = static_cast<double>(plan.micro_batch * length), share = static_cast<double>(plan.tensor);
  const auto hidden = static_cast<double>(c.hidden);
  if (plan.recompute == Recompute::kFull) return tokens * hidden;
  const double kept = tokens * (2 * hidden + (hidden + static_cast<double>(c.ffn)) / share);
  return plan.recompute == Recompute::kNone ? kept + tokens * static_cast<double>(length * c.heads) / share : kept;
}

isa::GroupTables Model::groups(const Plan& plan) const {
  const std::int64_t heads = std::max<std::int64_t>(1, sizes().kv_heads);
  return replica_groups(plan, std::max<std::int64_t>(1, plan.tensor / heads));
}

ModelPtr Model::padded_for(std::int64_t ranks) const {
  const Sizes& s = sizes();
  const auto padded = [&](std::int64_t size) { return (size + ranks - 1) / ranks * ranks; };
  if (!info_.free_heads || ranks < 1 || s.joint_heads) return shared_from_this();
  // Heads of keys and values that neither divide the ranks nor are a multiple of them are copied for each head:
  // GQA.CONVERT_TO_MHA of NxD Inference, GQA.REPLICATED_HEADS of transformers-neuronx.
  const bool shared = s.kv_heads < s.heads, copies = s.kv_heads % ranks == 0 || ranks % s.kv_heads == 0;
  const std::int64_t heads = padded(s.heads), ffn = padded(s.ffn);
  const std::int64_t kv_heads = shared && copies ? s.kv_heads : heads;
  if (heads == s.heads && ffn == s.ffn && kv_heads == s.kv_heads) return shared_from_this();
  return with_sizes({.heads = heads, .kv_heads = kv_heads, .head = s.head, .ffn = ffn});
}

void Model::require_possible(const ModelChange& change) const {
  if (change.lora && *change.lora && info_.given)
    throw Error{Fault::kUsage, "`lora_r`", fmt::format("{} models do not take adapters", family()),
                "leave it out, or use another model"};
  if (change.capacity_factor && sizes().experts == 0)
    throw Error{Fault::kUsage, "`capacity_factor`", fmt::format("a {} model has no experts", family()),
                "leave it out, or use a mixture of experts"};
}

void require_plan(const Model& model, const Plan& plan) {
  if (const auto problem = model.refuses(plan)) throw Error{Fault::kUsage, problem->where, problem->what, problem->fix};
}

}  // namespace workloads
