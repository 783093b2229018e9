#include "workloads/step/optimizer_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

/// A weight's name taken apart: the repeated block that it belongs to (-1: none), and its name there.
struct Place {
  std::int32_t layer = -1;
  std::string label;
};

Place place_of(const std::string& name, std::string_view repeated) {
  const std::size_t at = repeated.empty() ? std::string::npos : name.find(repeated);
  if (at == std::string::npos) return {-1, name};
  Place place;
  const char* begin = name.data() + at + repeated.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), place.layer);
  if (error != std::errc{}) return {-1, name};
  place.label = name.substr(static_cast<std::size_t>(end - name.data()) + 1);
  return place;
}

/// HF Trainer's rule: everything but biases and gains of normalizations.
bool is_gain_or_bias(const runtime::Value& value) { return value.rows == 1; }

/// The weights of a stage with their gradients: reduced over ranks, and their norm.
class Gradients {
 public:
  struct Parameter {
    ValueId weight, gradient;
  };
  /// The part of a bucket that one data-parallel rank updates.
  struct Shard {
    std::vector<std::size_t> members;
    ValueId gradient;
    bool split, shared, counted, decays;
  };

  Gradients(Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step, std::string_view repeated,
            const ParameterSets& sets)
      : graph_{graph}, step_{step}, repeated_{repeated}, sets_{sets} {
    for (const auto& [weight, gradient] : gradients) weights_.push_back({weight, gradient});
  }

  void reduce_all() {
    if (!sets_.partial.empty()) reduce_set(sets_.partial, "all_reduce.tokens", tensor_group(step_.plan));
    if (!sets_.shared.empty()) reduce_set(sets_.shared, "all_reduce.heads", heads_group(step_.plan));
    reduce_tied();
    if (step_.plan.data == 1) return;
    if (step_.plan.zero1)
      scatter();
    else
      reduce();
  }

  /// The factor of clipping by the norm over all ranks and stages.
  ValueId clip_factor() {
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

  const std::vector<Parameter>& weights() const { return weights_; }
  /// Empty without ZeRO.
  const std::vector<Shard>& shards() const { return shards_; }
  bool is_tied(std::size_t i) const { return sets_.tied.contains(weights_[i].weight); }
  bool decays(const runtime::Value& w) const {
    return step_.optimizer.weight_decay > 0 && (step_.optimizer.decay_all || !is_gain_or_bias(w));
  }

  std::map<std::int32_t, std::vector<std::size_t>> by_layer() const {
    std::map<std::int32_t, std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      out[place_of(graph_.value(weights_[i].weight).name, repeated_).layer].push_back(i);
    return out;
  }

  void enter(const char* what, std::int32_t layer, isa::Phase phase) {
    graph_.enter({.name = fmt::format("{}{}", what, layer >= 0 ? ".layer" : ""),
                  .instance = layer,
                  .phase = phase,
                  .layer = layer});
  }
  /// A collective has a scope of its own.
  void enter_collective(const char* what, std::size_t number) {
    graph_.enter({.name = what, .instance = static_cast<std::int32_t>(number), .phase = isa::Phase::kCommunication});
  }

 private:
  bool is_split(std::size_t i) const { return sets_.split.contains(weights_[i].weight); }
  bool is_shared(std::size_t i) const { return sets_.shared.contains(weights_[i].weight); }
  /// Whether its gradient counts in the norm here: tensors on two stages count on the first.
  bool is_counted(std::size_t i) const { return step_.stage == 0 || !is_tied(i); }

  /// Buckets of equal `kind`, each in the order in which backward finishes them, and in the order of the last one.
  template <class KindOf>
  std::vector<std::vector<std::size_t>> buckets(const KindOf& kind_of) const {
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

  std::vector<ValueId> gradients_of(const std::vector<std::size_t>& members) const {
    std::vector<ValueId> out;
    for (const std::size_t i : members) out.push_back(weights_[i].gradient);
    return out;
  }

  /// `parts`: into how many the bucket will be cut later on.
  void all_reduce(const std::vector<std::size_t>& members, const char* scope, std::size_t number, std::uint8_t group,
                  std::int64_t parts = 1) {
    enter_collective(scope, number);
    const auto out = graph_.add(runtime::kAllReduce, "gradients", gradients_of(members),
                                runtime::CollectiveAttrs{.ranks = parts, .group = group});
    for (std::size_t k = 0; k < members.size(); ++k) weights_[members[k]].gradient = out[k];
  }

  void reduce() {
    // Gradients that are in a bucket already stay in it. Those that two stages share are rounded in a bucket: one of
    // its own on both.
    const auto all = buckets([&](std::size_t i) {
      return sets_.partial.contains(weights_[i].weight) ? 1 : is_shared(i) ? 2 : is_tied(i) ? 3 : 0;
    });
    for (std::size_t b = 0; b < all.size(); ++b) all_reduce(all[b], "all_reduce", b, data_group(step_.plan));
  }

  /// Gains of normalizations under sequence parallelism, of which each rank has seen some of the tokens; key-value
  /// heads that ranks share, of whose queries each has some.
  void reduce_set(const std::set<ValueId>& set, const char* scope, std::uint8_t group) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      if (set.contains(weights_[i].weight)) members.push_back(i);
    if (!members.empty()) all_reduce(members, scope, 0, group, static_cast<std::int64_t>(step_.plan.data));
  }

  /// Reduces the gradients of weights that the first and the last stage share. Other stages do not wait here: both have
  /// already sent everything that the stages between them need.
  void reduce_tied() {
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

  void scatter() {
    const auto kind = [&](std::size_t i) {
      return (is_shared(i) ? 8 : 0) + (is_tied(i) ? 4 : 0) + (is_split(i) ? 2 : 0) +
             (decays(graph_.value(weights_[i].weight)) ? 1 : 0);
    };
    for (const auto& members : buckets(kind)) {
      enter_collective("reduce_scatter", shards_.size());
      const ValueId part = graph_.add1(runtime::kBucketScatter, "gradients", gradients_of(members),
                                       runtime::CollectiveAttrs{.ranks = static_cast<std::int64_t>(step_.plan.data),
                                                                .group = data_group(step_.plan)});
      const std::size_t i = members.front();
      shards_.push_back(
          {members, part, is_split(i), is_shared(i), is_counted(i), decays(graph_.value(weights_[i].weight))});
    }
  }

  /// Squares of the scope's gradients; those that ranks share count once.
  void add_squares(std::vector<ValueId>& parts, const std::vector<ValueId>& gradients, bool shared) {
    if (gradients.empty()) return;
    ValueId sum = graph_.add1(runtime::kSumSquares, "sum_squares", gradients);
    if (shared)
      sum = graph_.add1(runtime::kAffine, "once", {sum},
                        runtime::AffineAttrs{.alpha = 1 / static_cast<double>(sets_.sharing)});
    parts.push_back(sum);
  }

  /// Sums of squares of gradients, of parameters that are split or not; over the ranks that share them.
  std::vector<ValueId> squares(bool split) {
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

  void sum_over(std::vector<ValueId>& parts, const char* scope, std::uint8_t group) {
    enter_collective(scope, 0);
    parts = graph_.add(runtime::kAllReduce, "norm", parts, runtime::CollectiveAttrs{.group = group});
  }

  ValueId over_stages(const std::vector<ValueId>& parts) {
    graph_.enter({.name = "norm.sum", .instance = -1, .phase = isa::Phase::kOptimizer});
    ValueId sum = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) sum = graph_.add1(runtime::kAdd, "norm.sum", {sum, parts[i]});
    enter_collective("norm.stages", 0);
    return graph_.add1(runtime::kRankSum, "norm", {sum},
                       runtime::CollectiveAttrs{.ranks = step_.plan.pipeline, .group = stages_group(step_.plan)});
  }

  Graph& graph_;
  const Step& step_;
  const std::string_view repeated_;
  const ParameterSets& sets_;
  std::vector<Parameter> weights_;
  std::vector<Shard> shards_;
};

class Update {
 public:
  Update(Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step, std::string_view repeated,
         const ParameterSets& sets)
      : graph_{graph}, step_{step}, repeated_{repeated}, all_{graph, gradients, step, repeated, sets} {}

  std::vector<ZeroBucket> run() {
    all_.reduce_all();
    const ValueId clip = all_.clip_factor();
    hyper_ = graph_.tensor("hyper", 1, runtime::kOptimizerInputs, isa::Dtype::kFp32, Kind::kInput);
    if (step_.plan.zero1 && step_.plan.data > 1) {
      for (std::size_t b = 0; b < all_.shards().size(); ++b) update_shard(b, clip);
      return std::move(buckets_);
    }
    // Stochastic rounding counts instructions of a block: tensors on two stages stay equal in equal blocks only.
    for (const bool tied : {false, true})
      for (const auto& [layer, members] : all_.by_layer()) {
        all_.enter(tied ? "optimizer.tied" : "optimizer", layer, isa::Phase::kOptimizer);
        for (const std::size_t i : members)
          if (all_.is_tied(i) == tied) update(all_.weights()[i].weight, all_.weights()[i].gradient, clip);
      }
    return {};
  }

 private:
  ValueId state(const std::string& name, const runtime::Value& like, isa::Dtype type) {
    return graph_.tensor(name, like.rows, like.cols, type, Kind::kOptimizer);
  }

  /// A rank's part of a bucket: update, and hand the result to the others.
  void update_shard(std::size_t b, ValueId clip) {
    const Gradients::Shard& shard = all_.shards()[b];
    const std::string name = fmt::format("shard.{}", b);
    std::vector<ValueId> weights;
    ZeroBucket bucket{.name = name, .weights = {}};
    for (const std::size_t i : shard.members) {
      weights.push_back(all_.weights()[i].weight);
      bucket.weights.push_back(graph_.value(all_.weights()[i].weight).name);
    }
    buckets_.push_back(std::move(bucket));
    if (step_.optimizer.name != "adamw")
      throw base::Error{base::Fault::kUsage, "optimizer", fmt::format("'{}' knows no ZeRO", step_.optimizer.name),
                        "use adamw, or `zero_1` false"};
    const runtime::Value like = graph_.value(shard.gradient);
    const isa::Dtype type = graph_.value(weights.front()).dtype;
    graph_.enter(
        {.name = "optimizer.shard", .instance = static_cast<std::int32_t>(b), .phase = isa::Phase::kOptimizer});
    ValueId part = state(name, like, step_.plan.master_weights ? isa::Dtype::kFp32 : type);
    const ValueId m = state("exp_avg." + name, like, step_.plan.numerics.optimizer);
    const ValueId v = state("exp_avg_sq." + name, like, step_.plan.numerics.optimizer);
    part = graph_.add(runtime::kAdamW, "shard", {part, shard.gradient, m, v, hyper_, clip}, factors(shard.decays))[0];
    if (graph_.value(part).dtype != type)
      part = graph_.add1(runtime::kAffine, "shard.rounded", {part}, runtime::AffineAttrs{.dtype = type});
    all_.enter_collective("all_gather", b);
    std::vector<ValueId> in{part};
    in.insert(in.end(), weights.begin(), weights.end());
    graph_.add(
        runtime::kBucketGather, "parameters", in,
        runtime::CollectiveAttrs{.ranks = static_cast<std::int64_t>(step_.plan.data), .group = data_group(step_.plan)});
  }

  runtime::OptimizerAttrs factors(bool decays) const {
    return {.beta1 = step_.optimizer.beta1,
            .beta2 = step_.optimizer.beta2,
            .eps = step_.optimizer.epsilon,
            .decays = decays};
  }

  const runtime::Op& rule() const {
    if (step_.optimizer.name == "adamw") return runtime::kAdamW;
    if (step_.optimizer.name == "lamb") return runtime::kLamb;
    throw base::Error{base::Fault::kUsage, "optimizer", fmt::format("'{}' is not known", step_.optimizer.name),
                      base::suggest_fix(step_.optimizer.name, std::vector<std::string>{"adamw", "lamb"})};
  }

  void update(ValueId weight, ValueId gradient, ValueId clip) {
    const runtime::Value w = graph_.value(weight);
    const std::string label = place_of(w.name, repeated_).label;
    const ValueId m = state("exp_avg." + w.name, w, step_.plan.numerics.optimizer);
    const ValueId v = state("exp_avg_sq." + w.name, w, step_.plan.numerics.optimizer);
    const bool master = step_.plan.master_weights && w.dtype != isa::Dtype::kFp32;
    const ValueId target = master ? state("master." + w.name, w, isa::Dtype::kFp32) : weight;
    const ValueId updated =
        graph_.add(rule(), label, {target, gradient, m, v, hyper_, clip}, factors(all_.decays(w)))[0];
    if (master) graph_.add(runtime::kAssign, label + ".rounded", {updated, weight});
  }

  Graph& graph_;
  const Step& step_;
  const std::string_view repeated_;
  Gradients all_;
  std::vector<ZeroBucket> buckets_;
  ValueId hyper_ = runtime::kNoValue;
};

}  // namespace

std::vector<ZeroBucket> add_update(Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step,
                                   std::string_view repeated, const ParameterSets& sets) {
  return Update{graph, gradients, step, repeated, sets}.run();
}

void add_accumulation(Graph& graph, const std::map<ValueId, ValueId>& gradients, std::string_view repeated) {
  std::map<std::int32_t, std::vector<std::pair<ValueId, ValueId>>> by_layer;
  for (const auto& pair : gradients) by_layer[place_of(graph.value(pair.first).name, repeated).layer].push_back(pair);
  for (const auto& [layer, members] : by_layer) {
    graph.enter({.name = layer >= 0 ? "accumulate.layer" : "accumulate",
                 .instance = layer,
                 .phase = isa::Phase::kBackward,
                 .layer = layer});
    for (const auto& [weight, gradient] : members) {
      const runtime::Value like = graph.value(gradient);
      const std::string name = graph.value(weight).name;
      const ValueId sum = graph.tensor("sum." + name, like.rows, like.cols, like.dtype, Kind::kGradient);
      graph.set_kind(gradient, Kind::kActivation);  // read once, here
      graph.add(runtime::kAccumulate, place_of(name, repeated).label, {sum, gradient});
    }
  }
}

}  // namespace workloads
