#include "workloads/models/layers/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/graph/graph.h"
#include "runtime/ops/ops.h"

namespace workloads {

using runtime::ValueId;

std::int64_t expert_capacity(const MixtureArch& m, std::int64_t tokens) {
  if (m.capacity_factor <= 0) return tokens;
  const double share = static_cast<double>(tokens * m.top_k) / static_cast<double>(m.experts);
  return std::clamp<std::int64_t>(std::llround(std::ceil(m.capacity_factor * share)), 1, tokens);
}

std::int64_t expert_blocks(const MixtureArch& m, std::int64_t tokens, std::int64_t rows) {
  const std::int64_t pairs = tokens * m.top_k, others = m.experts - 1;
  return std::min(pairs, (std::max<std::int64_t>(pairs - others, 0) + rows - 1) / rows + others);
}

ValueId Mixture::expert(ValueId rows, std::int64_t number, const std::string& prefix) {
  const auto linear = [&](const char* label, ValueId x, const std::string& name) {
    return net_.linear(label, x, fmt::format("{}{}{}.{}", prefix, mixture_.prefix, number, name));
  };
  const ValueId up = linear("expert.up", rows, mixture_.up), gate = linear("expert.gate", rows, mixture_.gate);
  return linear("expert.down", net_.gated("expert", gate, up, arch_.mlp), mixture_.down);
}

/// The experts of this rank on the slots of all ranks.
ValueId Mixture::experts(ValueId slots, const std::string& prefix) {
  const std::int64_t ranks = net_.program().ranks, mine = mixture_.experts / ranks;
  if (mine == 1) return expert(slots, 0, prefix);
  const runtime::BlocksAttrs blocks{.blocks = ranks, .parts = mine};
  std::vector<ValueId> each = net_.graph().add(runtime::kSplitBlocks, "experts.split", {slots}, blocks);
  for (std::int64_t e = 0; e < mine; ++e)
    each[static_cast<std::size_t>(e)] = expert(each[static_cast<std::size_t>(e)], e, prefix);
  return net_.graph().add1(runtime::kJoinBlocks, "experts.join", each, blocks);
}

ValueId Mixture::routed(ValueId h, std::int64_t number, const std::string& prefix) {
  runtime::Graph& graph = net_.graph();
  const ValueId logits = net_.linear("router", h, prefix + mixture_.router, {.dtype = isa::Dtype::kFp32});
  runtime::RouteAttrs attrs = choice();
  attrs.capacity = expert_capacity(mixture_, graph.value(h).rows);
  const std::vector<ValueId> route = graph.add(runtime::kRoute, "router.route", choosing(logits, prefix), attrs);
  const ValueId place = route[0], gate = route[1], source = route[2], share = route[3];
  loads_.push_back(route[6]), masses_.push_back(route[7]);
  graph.output(route[6], net_.places().host_name(fmt::format("expert_load.{}", number)));
  const bool inputs = mixture_.choice.scales_inputs;
  ValueId slots = graph.add1(runtime::kToSlots, "experts.dispatch", {h, source, share, place, gate},
                             runtime::SlotAttrs{.weighted = inputs});
  const auto exchange = [&](const char* part) {
    if (!net_.program().split()) return;
    net_.places().enter_part(part);
    slots = graph.add1(runtime::kRankExchange, "experts.exchange", {slots}, net_.group());
  };
  exchange("dispatch");
  net_.places().enter_part("experts");
  slots = experts(slots, prefix);
  exchange("return");
  net_.places().enter_part("combine");
  const ValueId sum = graph.add1(runtime::kFromSlots, "experts.combine", {slots, place, gate, source, share},
                                 runtime::SlotAttrs{.weighted = !inputs});
  return with_shared(net_.times("experts.scale", sum, mixture_.scale), h, prefix);
}

/// Adds the expert of every token, which each rank has for its tokens in training. The sigmoid is by tanh: that has a
/// gradient. In training a product with ones spreads it over columns; nothing else gives it one.
ValueId Mixture::with_shared(ValueId sum, ValueId h, const std::string& prefix) {
  const SharedExpertArch& shared = mixture_.shared;
  if (shared.size == 0) return sum;
  runtime::Graph& graph = net_.graph();
  const ValueId y =
      net_.mlp(h, arch_.mlp, {.gate = prefix + shared.gate, .up = prefix + shared.up, .down = prefix + shared.down});
  if (shared.share.empty()) return net_.add("shared.sum", sum, y);
  ValueId part = net_.times("shared.half", net_.linear("shared.share", h, prefix + shared.share), 0.5);
  part = graph.add1(runtime::kAffine, "shared.sigmoid", {net_.active("shared.tanh", part, isa::Fn::kTanh)},
                    runtime::AffineAttrs{.alpha = 0.5, .beta = 0.5});
  if (net_.program().mode != Mode::kTrain)
    return graph.add1(runtime::kGatedSum, "shared.sum", {y, part, sum}, runtime::ColumnAttrs{.column = 0});
  const ValueId ones = graph.add1(
      runtime::kRamp, "shared.ones", {},
      runtime::RampAttrs{.rows = 1, .cols = graph.value(y).cols, .start = 1, .dtype = graph.value(part).dtype});
  const ValueId spread = net_.matmul("shared.spread", part, ones);
  return net_.add("shared.sum", sum, graph.add1(runtime::kMul, "shared.product", {y, spread}));
}

ValueId Mixture::gated(ValueId h, const std::string& prefix) {
  runtime::Graph& graph = net_.graph();
  const ValueId logits = net_.linear("router", h, prefix + mixture_.router, {.dtype = isa::Dtype::kFp32});
  const ValueId gates = graph.add1(runtime::kGates, "router.gates", choosing(logits, prefix), choice());
  const std::int64_t rows = net_.program().expert_block;
  if (rows > 0 && graph.value(h).rows * mixture_.top_k >= rows)
    return with_shared(net_.times("experts.scale", in_blocks(h, gates, prefix), mixture_.scale), h, prefix);
  const std::int64_t all = net_.program().experts_read > 0 ? net_.program().experts_read : mixture_.experts;
  ValueId sum = runtime::kNoValue;
  for (std::int64_t e = 0; e < all; ++e) {
    const auto name = [&](const std::string& part) {
      return fmt::format("{}{}{}.{}", prefix, mixture_.prefix, e, part);
    };
    const MlpNames names{.gate = name(mixture_.gate), .up = name(mixture_.up), .down = name(mixture_.down)};
    const bool inputs = mixture_.choice.scales_inputs;
    const ValueId x =
        inputs ? graph.add1(runtime::kGatedSum, "experts.input", {h, gates}, runtime::ColumnAttrs{.column = e}) : h;
    ValueId y = net_.mlp(x, arch_.mlp, names);
    if (mixture_.bias && net_.program().split()) y = net_.add("expert.down.bias", y, share_of_bias(names.down));
    if (inputs) {
      sum = sum == runtime::kNoValue ? y : net_.add("experts.sum", sum, y);
      continue;
    }
    std::vector<ValueId> in{y, gates};
    if (sum != runtime::kNoValue) in.push_back(sum);
    sum = graph.add1(runtime::kGatedSum, "experts.sum", in, runtime::ColumnAttrs{.column = e});
  }
  return with_shared(net_.times("experts.scale", sum, mixture_.scale), h, prefix);
}

ValueId Mixture::in_blocks(ValueId h, ValueId gates, const std::string& prefix) {
  runtime::Graph& graph = net_.graph();
  const std::int64_t rows = net_.program().expert_block;
  if (blocks_ == runtime::kNoValue)
    blocks_ = graph.tensor("expert_blocks", expert_blocks(mixture_, graph.value(h).rows, rows) * rows, 1,
                           isa::Dtype::kInt32, runtime::Kind::kInput);
  std::vector<ValueId> in{h, blocks_, gates};
  for (std::int64_t e = 0; e < mixture_.experts; ++e) {
    const auto name = [&](const std::string& part) {
      return fmt::format("{}{}{}.{}", prefix, mixture_.prefix, e, part);
    };
    for (const std::string* part : {&mixture_.gate, &mixture_.up, &mixture_.down})
      in.push_back(net_.w(name(*part) + ".weight"));
    if (!mixture_.bias) continue;
    in.push_back(net_.w(name(mixture_.gate) + ".bias")), in.push_back(net_.w(name(mixture_.up) + ".bias"));
    in.push_back(share_of_bias(name(mixture_.down)));
  }
  const MlpArch& mlp = arch_.mlp;
  return graph.add1(runtime::kExpertBlocks, "experts", in,
                    runtime::ExpertBlocksAttrs{
                        .block = rows,
                        .gate = {.fn = mlp.activation, .limit = mlp.limit, .slope = mlp.slope, .shift = mlp.shift},
                        .biased = mixture_.bias,
                        .scales_inputs = mixture_.choice.scales_inputs,
                        .operand = net_.numerics().operand});
}

/// A rank's share of the bias of a layer whose sums ranks add up.
ValueId Mixture::share_of_bias(const std::string& name) {
  return net_.times("expert.down.share", net_.w(name + ".bias"), 1 / static_cast<double>(net_.program().ranks));
}

runtime::RouteAttrs Mixture::choice() const {
  return {.top_k = mixture_.top_k,
          .normalised = mixture_.normalised,
          .sigmoid = mixture_.choice.sigmoid,
          .groups = mixture_.choice.groups,
          .top_groups = mixture_.choice.top_groups};
}

std::vector<ValueId> Mixture::choosing(ValueId logits, const std::string& prefix) const {
  if (mixture_.choice.bias.empty()) return {logits};
  return {logits, net_.w(prefix + mixture_.choice.bias)};
}

ValueId Mixture::over_ranks(const char* part, ValueId partial, const MixtureLoss& loss) {
  if (!net_.program().split()) return partial;
  loss.enter(part);
  return net_.graph().add1(runtime::kRankSum, part, {partial}, net_.group());
}

RouterSums Mixture::sums(const MixtureLoss& loss, const RouterSums& earlier) {
  loss.enter("router.layers");
  const auto total = [&](const char* label, std::vector<ValueId>& of_layers, ValueId sum) {
    for (const ValueId one : of_layers) sum = sum == runtime::kNoValue ? one : net_.add(label, sum, one);
    of_layers.clear();
    return sum;
  };
  const ValueId load = total("router.load", loads_, earlier.load);
  return {.load = load, .mass = total("router.mass", masses_, earlier.mass)};
}

/// HF's load_balancing_loss_func over all layers for one micro-batch on one data-parallel rank, wherever the layers
/// are: the stages of a pipeline hand their sums on. Source: transformers, modeling_mixtral.py.
ValueId Mixture::loss(const MixtureLoss& loss, const RouterSums& all) {
  const ValueId load = over_ranks("router.load", all.load, loss), mass = over_ranks("router.mass", all.mass, loss);
  loss.enter("router.loss");
  const auto tokens = static_cast<double>(net_.program().batch * net_.program().length);
  const auto layers = static_cast<double>(layers_);
  const double alpha =
      mixture_.balance * static_cast<double>(mixture_.experts) / (tokens * tokens * layers * layers * loss.parts);
  return net_.graph().add(runtime::kBalance, "router.loss", {load, mass},
                          runtime::BalanceAttrs{.alpha = alpha, .scale = net_.numerics().loss_scale})[0];
}

}  // namespace workloads
