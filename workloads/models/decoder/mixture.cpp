#include "workloads/models/decoder/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/ops/ops.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {

using runtime::ValueId;

std::int64_t expert_capacity(const MixtureArch& m, std::int64_t tokens) {
  if (m.capacity_factor <= 0) return tokens;
  const double share = static_cast<double>(tokens * m.top_k) / static_cast<double>(m.experts);
  return std::clamp<std::int64_t>(std::llround(std::ceil(m.capacity_factor * share)), 1, tokens);
}

runtime::CollectiveAttrs Mixture::group() const {
  return {.ranks = step_.plan.tensor, .group = tensor_group(step_.plan)};
}

ValueId Mixture::expert(ValueId rows, std::int64_t number) {
  const runtime::MatmulAttrs attrs{.operand = step_.plan.numerics.operand};
  const auto linear = [&](const char* label, ValueId x, const char* name) {
    const std::string weight = fmt::format("{}{}.{}.weight", mixture_.prefix, number, name);
    return graph_.add1(runtime::kMatmul, label, {x, places_.weight(weight)}, attrs);
  };
  const ValueId up = linear("expert.up", rows, mixture_.up), gate = linear("expert.gate", rows, mixture_.gate);
  const ValueId active =
      graph_.add1(runtime::kActivate, "expert.activation", {gate}, runtime::ActivationAttrs{.fn = arch_.activation});
  return linear("expert.down", graph_.add1(runtime::kMul, "expert.product", {active, up}), mixture_.down);
}

/// The experts of this rank on the slots of all ranks.
ValueId Mixture::experts(ValueId slots) {
  const std::int64_t ranks = step_.plan.tensor, mine = mixture_.experts / ranks;
  if (mine == 1) return expert(slots, 0);
  const runtime::BlocksAttrs blocks{.blocks = ranks, .parts = mine};
  std::vector<ValueId> each = graph_.add(runtime::kSplitBlocks, "experts.split", {slots}, blocks);
  for (std::int64_t e = 0; e < mine; ++e)
    each[static_cast<std::size_t>(e)] = expert(each[static_cast<std::size_t>(e)], e);
  return graph_.add1(runtime::kJoinBlocks, "experts.join", each, blocks);
}

ValueId Mixture::layer(ValueId h) {
  const bool ranks = step_.plan.tensor > 1;
  const auto router = fmt::format("{}.weight", mixture_.router);
  const ValueId logits =
      graph_.add1(runtime::kMatmul, "router", {h, places_.weight(router)},
                  runtime::MatmulAttrs{.dtype = isa::Dtype::kFp32, .operand = step_.plan.numerics.operand});
  const std::vector<ValueId> route =
      graph_.add(runtime::kRoute, "router.route", {logits},
                 runtime::RouteAttrs{.top_k = mixture_.top_k,
                                     .capacity = expert_capacity(mixture_, graph_.value(h).rows),
                                     .normalised = mixture_.normalised});
  const ValueId place = route[0], gate = route[1], source = route[2], share = route[3];
  loads_.push_back(route[6]), masses_.push_back(route[7]);
  graph_.output(route[6], places_.load());
  ValueId slots = graph_.add1(runtime::kToSlots, "experts.dispatch", {h, source, share, place, gate});
  const auto exchange = [&](const char* part) {
    if (!ranks) return;
    places_.enter_part(part);
    slots = graph_.add1(runtime::kRankExchange, "experts.exchange", {slots}, group());
  };
  exchange("dispatch");
  places_.enter_part("experts");
  slots = experts(slots);
  exchange("return");
  places_.enter_part("combine");
  return graph_.add1(runtime::kFromSlots, "experts.combine", {slots, place, gate, source, share},
                     runtime::SlotAttrs{.weighted = true});
}

ValueId Mixture::over_ranks(const char* part, ValueId partial) {
  if (step_.plan.tensor == 1) return partial;
  places_.enter(part);
  return graph_.add1(runtime::kRankSum, part, {partial}, group());
}

/// HF's load_balancing_loss_func over the layers of one micro-batch on one data-parallel rank; a stage of a pipeline
/// knows its own layers, and weighs them by their number. Source: transformers, modeling_mixtral.py.
ValueId Mixture::loss() {
  const auto layers = static_cast<double>(loads_.size());
  if (loads_.empty() || mixture_.balance <= 0 || !step_.kind.training) {
    loads_.clear(), masses_.clear();
    return runtime::kNoValue;
  }
  places_.enter("router.layers");
  const auto total = [&](const char* label, std::vector<ValueId>& of_layers) {
    ValueId sum = of_layers.front();
    for (std::size_t i = 1; i < of_layers.size(); ++i) sum = graph_.add1(runtime::kAdd, label, {sum, of_layers[i]});
    of_layers.clear();
    return sum;
  };
  ValueId load = total("router.load", loads_), mass = total("router.mass", masses_);
  load = over_ranks("router.load", load), mass = over_ranks("router.mass", mass);
  places_.enter("router.loss");
  const auto tokens = static_cast<double>(step_.plan.micro_batch * step_.kind.length);
  const double parts = static_cast<double>(step_.plan.micro_batches) * step_.plan.data;
  const double alpha = mixture_.balance * static_cast<double>(mixture_.experts) /
                       (tokens * tokens * layers * static_cast<double>(arch_.layers) * parts);
  return graph_.add(runtime::kBalance, "router.loss", {load, mass},
                    runtime::BalanceAttrs{.alpha = alpha, .scale = step_.plan.numerics.loss_scale})[0];
}

}  // namespace workloads
