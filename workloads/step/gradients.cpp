#include "workloads/step/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/ops/ops.h"

namespace workloads {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

WeightPlace place_of(const std::string& name, std::string_view repeated) {
  const std::size_t at = repeated.empty() ? std::string::npos : name.find(repeated);
  if (at == std::string::npos) return {-1, name};
  WeightPlace place;
  const char* begin = name.data() + at + repeated.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), place.layer);
  if (error != std::errc{}) return {-1, name};
  place.label = name.substr(static_cast<std::size_t>(end - name.data()) + 1);
  return place;
}

Gradients::Gradients(Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step,
                     std::string_view repeated, const ParameterSets& sets)
    : graph_{graph}, step_{step}, repeated_{repeated}, sets_{sets} {
  for (const auto& [weight, gradient] : gradients) weights_.push_back({weight, gradient});
}

void Gradients::reduce_all() {
  if (!sets_.partial.empty()) reduce_set(sets_.partial, "all_reduce.tokens", tensor_group(step_.plan));
  if (!sets_.shared.empty()) reduce_set(sets_.shared, "all_reduce.heads", heads_group(step_.plan));
  reduce_tied();
  if (step_.plan.data == 1) return;
  if (step_.plan.zero1)
    scatter();
  else
    reduce();
}

ValueId Gradients::clip_factor() {
  std::vector<ValueId> parts = squares(false);
  for (const ValueId v : squares(true)) parts.push_back(v);
  if (step_.plan.pipeline > 1) parts = {over_stages(parts)};
  graph_.enter({.name = "clip", .instance = -1, .phase = isa::Phase::kOptimizer});
  const auto out = graph_.add(
      runtime::kClipScale, "clip", parts,
      runtime::ClipAttrs{.max_norm = step_.optimizer.max_grad_norm, .scale = 1 / step_.plan.numerics.loss_scale});
  graph_.output(out[0], "grad_norm");
  return out[1];
}

std::map<std::int32_t, std::vector<std::size_t>> Gradients::by_layer() const {
  std::map<std::int32_t, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    out[place_of(graph_.value(weights_[i].weight).name, repeated_).layer].push_back(i);
  return out;
}

void Gradients::enter(const char* what, std::int32_t layer, isa::Phase phase) {
  graph_.enter({.name = fmt::format("{}{}", what, layer >= 0 ? ".layer" : ""),
                .instance = layer,
                .phase = phase,
                .layer = layer});
}

void Gradients::enter_collective(const char* what, std::size_t number) {
  graph_.enter({.name = what, .instance = static_cast<std::int32_t>(number), .phase = isa::Phase::kCommunication});
}

/// Buckets of equal `kind`, each in the order in which backward finishes them, and in the order of the last one.
template <class KindOf>
std::vector<std::vector<std::size_t>> Gradients::buckets(const KindOf& kind_of) const {
  std::vector<std::size_t> order(weights_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair{graph_.value(weights_[i].gradient).producer, i};
  });
  std::map<int, std::pair<std::vector<std::size_t>, double>> open;
  std::vector<std::vector<std::size_t>> out;
  for (const std::size_t i : order) {
    auto& [bucket, bytes] = open[kind_of(i)];
    bucket.push_back(i);
    bytes += static_cast<double>(graph_.value(weights_[i].gradient).bytes());
    if (bytes < step_.optimizer.bucket_bytes) continue;
    out.push_back(std::exchange(bucket, {}));
    bytes = 0;
  }
  for (auto& [kind, rest] : open)
    if (!rest.first.empty()) out.push_back(std::move(rest.first));
  return out;
}

std::vector<ValueId> Gradients::gradients_of(const std::vector<std::size_t>& members) const {
  std::vector<ValueId> out;
  for (const std::size_t i : members) out.push_back(weights_[i].gradient);
  return out;
}

/// `parts`: into how many the bucket will be cut later on.
void Gradients::all_reduce(const std::vector<std::size_t>& members, const char* scope, std::size_t number,
                           std::uint8_t group, std::int64_t parts) {
  enter_collective(scope, number);
  const auto out = graph_.add(runtime::kAllReduce, "gradients", gradients_of(members),
                              runtime::CollectiveAttrs{.ranks = parts, .group = group});
  for (std::size_t k = 0; k < members.size(); ++k) weights_[members[k]].gradient = out[k];
}

void Gradients::reduce() {
  // Gradients that are in a bucket already stay in it. Those that two stages share are rounded in a bucket: one of
  // its own on both.
  const auto all = buckets([&](std::size_t i) {
    return sets_.partial.contains(weights_[i].weight) ? 1 : is_shared(i) ? 2 : is_tied(i) ? 3 : 0;
  });
  for (std::size_t b = 0; b < all.size(); ++b) all_reduce(all[b], "all_reduce", b, data_group(step_.plan));
}

/// Gains of normalizations under sequence parallelism, of which each rank has seen some of the tokens; key-value
/// heads that ranks share, of whose queries each has some.
void Gradients::reduce_set(const std::set<ValueId>& set, const char* scope, std::uint8_t group) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (set.contains(weights_[i].weight)) members.push_back(i);
  if (!members.empty()) all_reduce(members, scope, 0, group, static_cast<std::int64_t>(step_.plan.data));
}

/// Reduces the gradients of weights that the first and the last stage share. Other stages do not wait here: both have
/// already sent everything that the stages between them need.
void Gradients::reduce_tied() {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto [weight, own] = weights_[i];
    if (!is_tied(i)) continue;
    enter_collective("all_reduce.tied", i);
    const ValueId sum = graph_.add1(runtime::kRankSum, "tied", {own},
                                    runtime::CollectiveAttrs{.ranks = 2, .group = ends_group(step_.plan)});
    graph_.set_kind(sum, Kind::kGradient);
    graph_.rename(sum, graph_.value(own).name);
    graph_.rename(own, "own." + graph_.value(own).name);
    weights_[i].gradient = sum;
  }
}

void Gradients::scatter() {
  // Gradients that are in a bucket already stay in it, as in reduce().
  const auto kind = [&](std::size_t i) {
    const bool partial = sets_.partial.contains(weights_[i].weight);
    return (is_shared(i) ? 16 : 0) + (is_tied(i) ? 8 : 0) + (is_split(i) ? 4 : 0) + (partial ? 2 : 0) +
           (decays(i) ? 1 : 0);
  };
  for (const auto& members : buckets(kind)) {
    enter_collective("reduce_scatter", shards_.size());
    const ValueId part = graph_.add1(
        runtime::kBucketScatter, "gradients", gradients_of(members),
        runtime::CollectiveAttrs{.ranks = static_cast<std::int64_t>(step_.plan.data), .group = data_group(step_.plan)});
    const std::size_t i = members.front();
    shards_.push_back({members, part, is_split(i), is_shared(i), is_counted(i), decays(i)});
  }
}

/// Squares of the scope's gradients; those that ranks share count once.
void Gradients::add_squares(std::vector<ValueId>& parts, const std::vector<ValueId>& gradients, bool shared) {
  if (gradients.empty()) return;
  ValueId sum = graph_.add1(runtime::kSumSquares, "sum_squares", gradients);
  if (shared)
    sum = graph_.add1(runtime::kAffine, "once", {sum},
                      runtime::AffineAttrs{.alpha = 1 / static_cast<double>(sets_.sharing)});
  parts.push_back(sum);
}

/// Sums of squares of gradients, of parameters that are split or not; over the ranks that share them.
std::vector<ValueId> Gradients::squares(bool split) {
  std::vector<ValueId> parts;
  if (!shards_.empty()) {
    for (std::size_t b = 0; b < shards_.size(); ++b) {
      if (shards_[b].split != split || !shards_[b].counted) continue;
      graph_.enter(
          {.name = "grad_norm.shard", .instance = static_cast<std::int32_t>(b), .phase = isa::Phase::kOptimizer});
      add_squares(parts, {shards_[b].gradient}, shards_[b].shared);
    }
    if (!parts.empty()) sum_over(parts, split ? "norm.data.split" : "norm.data", data_group(step_.plan));
  } else {
    for (const auto& [layer, members] : by_layer()) {
      std::vector<ValueId> in, shared;
      for (const std::size_t i : members)
        if (is_split(i) == split && is_counted(i)) (is_shared(i) ? shared : in).push_back(weights_[i].gradient);
      if (in.empty() && shared.empty()) continue;
      enter(split ? "grad_norm.split" : "grad_norm", layer, isa::Phase::kOptimizer);
      add_squares(parts, in, false);
      add_squares(parts, shared, true);
    }
  }
  if (split && !parts.empty()) sum_over(parts, "norm.tensor", tensor_group(step_.plan));
  return parts;
}

void Gradients::sum_over(std::vector<ValueId>& parts, const char* scope, std::uint8_t group) {
  enter_collective(scope, 0);
  parts = graph_.add(runtime::kAllReduce, "norm", parts, runtime::CollectiveAttrs{.group = group});
}

ValueId Gradients::over_stages(const std::vector<ValueId>& parts) {
  graph_.enter({.name = "norm.sum", .instance = -1, .phase = isa::Phase::kOptimizer});
  ValueId sum = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) sum = graph_.add1(runtime::kAdd, "norm.sum", {sum, parts[i]});
  enter_collective("norm.stages", 0);
  return graph_.add1(runtime::kRankSum, "norm", {sum},
                     runtime::CollectiveAttrs{.ranks = step_.plan.pipeline, .group = stages_group(step_.plan)});
}

}  // namespace workloads
