#include "workloads/step/optimizer_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"
#include "workloads/step/gradients.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

/// The tensors of a parameter that its update reads and writes.
struct Held {
  std::vector<ValueId> states;
  ValueId target = runtime::kNoValue;  // the weight, or its copy in fp32
};

const runtime::Op& rule_of(const OptimizerSpec& spec) {
  if (spec.name == "adamw") return runtime::kAdamW;
  if (spec.name == "lamb") return runtime::kLamb;
  if (spec.name == "sgd") return runtime::kMomentum;
  throw base::Error{base::Fault::kUsage, "optimizer", fmt::format("'{}' is not known", spec.name),
                    base::suggest_fix(spec.name, std::vector<std::string>{"adamw", "lamb", "sgd"})};
}

runtime::OptimizerAttrs factors_of(const OptimizerSpec& spec, bool decays) {
  return {.beta1 = spec.name == "sgd" ? spec.momentum : spec.beta1,
          .beta2 = spec.beta2,
          .eps = spec.epsilon,
          .decays = decays};
}

class Update {
 public:
  Update(Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step, std::string_view repeated,
         const ParameterSets& sets)
      : graph_{graph},
        step_{step},
        repeated_{repeated},
        sets_{sets},
        rule_{rule_of(step.optimizer)},
        all_{graph, gradients, step, repeated, sets} {}

  std::vector<ZeroBucket> run() {
    all_.reduce_all();
    clip_ = all_.clip_factor();
    hyper_ = graph_.tensor("hyper", 1, runtime::kOptimizerInputs, isa::Dtype::kFp32, Kind::kInput);
    if (step_.plan.zero1 && step_.plan.data > 1) {
      for (std::size_t b = 0; b < all_.shards().size(); ++b) update_shard(b);
      return std::move(buckets_);
    }
    if (is_lamb()) measure_parts();
    for_each("optimizer", [&](std::size_t i) { update(i); });
    return {};
  }

 private:
  const runtime::Value& weight(std::size_t i) const { return graph_.value(all_.weights()[i].weight); }
  bool is_lamb() const { return step_.optimizer.name == "lamb"; }
  std::string label(std::size_t i) const { return place_of(weight(i).name, repeated_).label; }

  /// Calls f for each parameter, in scopes of layers. Stochastic rounding counts instructions of a block: tensors on
  /// two stages stay equal in equal blocks only.
  template <class F>
  void for_each(const std::string& scope, const F& f) {
    const std::string tied_scope = scope + ".tied";
    for (const bool tied : {false, true})
      for (const auto& [layer, members] : all_.by_layer()) {
        all_.enter((tied ? tied_scope : scope).c_str(), layer, isa::Phase::kOptimizer);
        for (const std::size_t i : members)
          if (all_.is_tied(i) == tied) f(i);
      }
  }

  ValueId state(const std::string& name, const runtime::Value& like, isa::Dtype type) {
    return graph_.tensor(name, like.rows, like.cols, type, Kind::kOptimizer);
  }

  std::vector<ValueId> states(const std::string& name, const runtime::Value& like) {
    std::vector<ValueId> out;
    for (const std::string& one : optimizer_states(step_.optimizer))
      out.push_back(state(one + "." + name, like, step_.plan.numerics.optimizer));
    return out;
  }

  /// Operands in the order of the rules: target, gradient, states, factors, clip.
  std::vector<ValueId> operands(const Held& held, ValueId gradient) const {
    std::vector<ValueId> out{held.target, gradient};
    out.insert(out.end(), held.states.begin(), held.states.end());
    out.push_back(hyper_);
    out.push_back(clip_);
    return out;
  }

  /// A rank's part of a bucket: update, and hand the result to the others.
  void update_shard(std::size_t b) {
    const Gradients::Shard& shard = all_.shards()[b];
    const std::string name = fmt::format("shard.{}", b);
    std::vector<ValueId> weights;
    ZeroBucket bucket{.name = name, .weights = {}};
    for (const std::size_t i : shard.members) {
      weights.push_back(all_.weights()[i].weight);
      bucket.weights.push_back(weight(i).name);
    }
    buckets_.push_back(std::move(bucket));
    if (is_lamb())
      throw base::Error{base::Fault::kUsage, "optimizer",
                        fmt::format("'{}' does not support ZeRO", step_.optimizer.name),
                        "use adamw, or `zero_1` false"};
    const runtime::Value like = graph_.value(shard.gradient);
    const isa::Dtype type = graph_.value(weights.front()).dtype;
    graph_.enter(
        {.name = "optimizer.shard", .instance = static_cast<std::int32_t>(b), .phase = isa::Phase::kOptimizer});
    Held held{.states = {}, .target = state(name, like, step_.plan.master_weights ? isa::Dtype::kFp32 : type)};
    held.states = states(name, like);
    ValueId part =
        graph_.add(rule_, "shard", operands(held, shard.gradient), factors_of(step_.optimizer, shard.decays))[0];
    if (graph_.value(part).dtype != type)
      part = graph_.add1(runtime::kAffine, "shard.rounded", {part}, runtime::AffineAttrs{.dtype = type});
    all_.enter_collective("all_gather", b);
    std::vector<ValueId> in{part};
    in.insert(in.end(), weights.begin(), weights.end());
    graph_.add(
        runtime::kBucketGather, "parameters", in,
        runtime::CollectiveAttrs{.ranks = static_cast<std::int64_t>(step_.plan.data), .group = data_group(step_.plan)});
  }

  const Held& held(std::size_t i) {
    const auto [place, added] = held_.try_emplace(all_.weights()[i].weight);
    if (!added) return place->second;
    const runtime::Value w = weight(i);
    Held& held = place->second;
    held.states = states(w.name, w);
    const bool master = step_.plan.master_weights && w.dtype != isa::Dtype::kFp32;
    held.target = master ? state("master." + w.name, w, isa::Dtype::kFp32) : all_.weights()[i].weight;
    return held;
  }

  runtime::OptimizerAttrs factors(std::size_t i) const { return factors_of(step_.optimizer, all_.decays(i)); }

  void update(std::size_t i) {
    const auto [weight, gradient] = all_.weights()[i];
    const Held& mine = held(i);
    const auto norms = norms_.find(weight);
    const ValueId updated =
        norms == norms_.end()
            ? graph_.add(rule_, label(i), operands(mine, gradient), factors(i))[0]
            : graph_.add1(runtime::kLambApply, label(i),
                          {mine.target, mine.states[0], mine.states[1], hyper_, norms->second}, factors(i));
    if (mine.target != weight) graph_.add(runtime::kAssign, label(i) + ".rounded", {updated, weight});
  }

  // ---- LAMB: the ratio is of a tensor of the checkpoint, wherever its parts are

  /// Parameters that are parts of one tensor, on this rank or over ranks.
  std::map<std::string, std::vector<std::size_t>> tensors_in_parts() const {
    std::map<std::string, std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < all_.weights().size(); ++i)
      if (const auto found = sets_.parts.find(all_.weights()[i].weight); found != sets_.parts.end())
        out[found->second].push_back(i);
    std::erase_if(out, [&](const auto& one) { return one.second.size() == 1 && !all_.is_split(one.second.front()); });
    return out;
  }

  void measure_parts() {
    const auto tensors = tensors_in_parts();
    if (tensors.empty()) return;
    std::set<std::size_t> parts;
    for (const auto& [name, members] : tensors) parts.insert(members.begin(), members.end());
    for_each("optimizer.norms", [&](std::size_t i) {
      if (parts.contains(i)) measure(i);
    });
    graph_.enter({.name = "norms.sum", .instance = -1, .phase = isa::Phase::kOptimizer});
    std::vector<ValueId> split;
    for (const auto& [name, members] : tensors) {
      ValueId sum = norms_.at(all_.weights()[members.front()].weight);
      for (std::size_t k = 1; k < members.size(); ++k)
        sum = graph_.add1(runtime::kAdd, "norms", {sum, norms_.at(all_.weights()[members[k]].weight)});
      for (const std::size_t i : members) norms_[all_.weights()[i].weight] = sum;
      if (all_.is_split(members.front())) split.push_back(sum);
    }
    if (!split.empty()) over_ranks(split);
  }

  void measure(std::size_t i) {
    const auto [weight, gradient] = all_.weights()[i];
    const ValueId own =
        graph_.add(runtime::kLambNorms, label(i) + ".norms", operands(held(i), gradient), factors(i))[2];
    norms_[weight] = all_.is_shared(i)
                         ? graph_.add1(runtime::kAffine, "once", {own},
                                       runtime::AffineAttrs{.alpha = 1 / static_cast<double>(sets_.sharing)})
                         : own;
  }

  void over_ranks(const std::vector<ValueId>& split) {
    all_.enter_collective("norms.tensor", 0);
    const auto sums =
        graph_.add(runtime::kAllReduce, "norms", split, runtime::CollectiveAttrs{.group = tensor_group(step_.plan)});
    for (auto& [weight, norms] : norms_)
      if (const auto at = std::ranges::find(split, norms); at != split.end())
        norms = sums[static_cast<std::size_t>(at - split.begin())];
  }

  Graph& graph_;
  const Step& step_;
  const std::string_view repeated_;
  const ParameterSets& sets_;
  const runtime::Op& rule_;
  Gradients all_;
  std::vector<ZeroBucket> buckets_;
  ValueId hyper_ = runtime::kNoValue, clip_ = runtime::kNoValue;
  std::map<ValueId, Held> held_;
  std::map<ValueId, ValueId> norms_;  // of a weight's whole tensor
};

}  // namespace

std::vector<ZeroBucket> add_update(Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step,
                                   std::string_view repeated, const ParameterSets& sets) {
  return Update{graph, gradients, step, repeated, sets}.run();
}

std::vector<std::string> optimizer_states(const OptimizerSpec& spec) {
  if (spec.name == "sgd") return {"momentum_buffer"};
  return {"exp_avg", "exp_avg_sq"};
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
