#include "workloads/training_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/hyper.h"
#include "runtime/ops.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

/// A weight's name taken apart: which of the repeated blocks it belongs to (-1: none), and what it is called there.
struct Place {
  std::int32_t layer = -1;
  std::string label;
};

Place place_of(const std::string& name, std::string_view repeated) {
  if (repeated.empty() || !name.starts_with(repeated)) return {-1, name};
  Place place;
  const char* begin = name.data() + repeated.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), place.layer);
  if (error != std::errc{}) return {-1, name};
  place.label = name.substr(static_cast<std::size_t>(end - name.data()) + 1);
  return place;
}

/// HF Trainer's rule: everything but biases and gains of normalizations.
bool is_gain_or_bias(const runtime::Value& value) { return value.rows == 1; }

class Update {
 public:
  Update(Graph& graph, const std::map<ValueId, ValueId>& gradients, const StepSpec& spec, std::string_view repeated)
      : graph_{graph}, spec_{spec}, repeated_{repeated} {
    for (const auto& [weight, gradient] : gradients) weights_.push_back({weight, gradient});
  }

  void run() {
    if (spec_.ranks > 1) reduce();
    const ValueId clip = clip_factor();
    hyper_ = graph_.tensor("hyper", 1, runtime::kHyperSize, isa::Dtype::kFp32, Kind::kInput);
    for (const auto& [layer, members] : by_layer()) {
      enter("optimizer", layer, isa::Phase::kOptimizer);
      for (const std::size_t i : members) update(weights_[i].first, weights_[i].second, clip);
    }
  }

 private:
  void enter(const char* what, std::int32_t layer, isa::Phase phase) {
    graph_.enter({.name = fmt::format("{}{}", what, layer >= 0 ? ".layer" : ""), .instance = layer, .phase = phase});
  }

  std::map<std::int32_t, std::vector<std::size_t>> by_layer() const {
    std::map<std::int32_t, std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      out[place_of(graph_.value(weights_[i].first).name, repeated_).layer].push_back(i);
    return out;
  }

  /// Buckets in the order in which backward finishes them.
  void reduce() {
    std::vector<std::size_t> order(weights_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return graph_.value(weights_[i].second).producer; });
    std::vector<std::size_t> bucket;
    double bytes = 0;
    std::int32_t number = 0;
    const auto flush = [&] {
      if (bucket.empty()) return;
      graph_.enter({.name = "all_reduce", .instance = number++, .phase = isa::Phase::kCommunication});
      std::vector<ValueId> in;
      for (const std::size_t i : bucket) in.push_back(weights_[i].second);
      const auto out = graph_.add(runtime::kAllReduce, "gradients", in);
      for (std::size_t k = 0; k < bucket.size(); ++k) weights_[bucket[k]].second = out[k];
      bucket.clear();
      bytes = 0;
    };
    for (const std::size_t i : order) {
      bucket.push_back(i);
      bytes += static_cast<double>(graph_.value(weights_[i].second).bytes());
      if (bytes >= spec_.bucket_bytes) flush();
    }
    flush();
  }

  ValueId clip_factor() {
    std::vector<ValueId> parts;
    for (const auto& [layer, members] : by_layer()) {
      enter("grad_norm", layer, isa::Phase::kOptimizer);
      std::vector<ValueId> in;
      for (const std::size_t i : members) in.push_back(weights_[i].second);
      parts.push_back(graph_.add1(runtime::kSumSquares, "sum_squares", in));
    }
    graph_.enter({.name = "clip", .instance = -1, .phase = isa::Phase::kOptimizer});
    const auto out = graph_.add(runtime::kClipScale, "clip", parts,
                                {.alpha = spec_.max_grad_norm, .beta = 1 / spec_.numerics.loss_scale});
    graph_.output(out[0], "grad_norm");
    return out[1];
  }

  const runtime::Op& rule() const {
    if (spec_.optimizer == "adamw") return runtime::kAdamW;
    if (spec_.optimizer == "lamb") return runtime::kLamb;
    throw base::Error{base::Fault::kUsage, "optimizer", fmt::format("'{}' is not known", spec_.optimizer),
                      base::suggest_fix(spec_.optimizer, std::vector<std::string>{"adamw", "lamb"})};
  }

  void update(ValueId weight, ValueId gradient, ValueId clip) {
    const runtime::Value w = graph_.value(weight);
    const auto moment = [&](const char* which) {
      return graph_.tensor(fmt::format("{}.{}", which, w.name), w.rows, w.cols, spec_.numerics.optimizer,
                           Kind::kOptimizer);
    };
    const bool decays = spec_.weight_decay > 0 && (spec_.decay_all || !is_gain_or_bias(w));
    const std::string label = place_of(w.name, repeated_).label;
    graph_.add(
        rule(), label, {weight, gradient, moment("exp_avg"), moment("exp_avg_sq"), hyper_, clip},
        {.alpha = spec_.adam_beta1, .beta = spec_.adam_beta2, .p = decays ? 1.0 : 0.0, .eps = spec_.adam_epsilon});
  }

  Graph& graph_;
  const StepSpec& spec_;
  std::string_view repeated_;
  std::vector<std::pair<ValueId, ValueId>> weights_;
  ValueId hyper_ = runtime::kNoValue;
};

}  // namespace

void add_update(Graph& graph, const std::map<ValueId, ValueId>& gradients, const StepSpec& spec,
                std::string_view repeated) {
  Update{graph, gradients, spec, repeated}.run();
}

std::map<std::string, ValueId> declare_weights(Graph& graph, const std::vector<WeightSpec>& specs, bool fold) {
  std::map<std::string, ValueId> out;
  for (const WeightSpec& spec : specs) {
    std::int64_t rows = spec.shape.size() == 2 ? spec.shape[0] : 1, cols = spec.shape.back();
    if (spec.transposed) std::swap(rows, cols);
    const isa::Dtype type = spec.transposed && fold ? graph.numerics().operand : graph.numerics().weight;
    out[spec.name] = graph.tensor(spec.name, rows, cols, type, Kind::kWeight);
  }
  return out;
}

std::vector<float> hyper_values(const StepSpec& spec, double learning_rate, std::int64_t step) {
  std::vector<float> out(runtime::kHyperSize, 0.0F);
  const auto t = static_cast<double>(step);
  out[runtime::kRate] = static_cast<float>(learning_rate / (1 - std::pow(spec.adam_beta1, t)));
  out[runtime::kRootScale] = static_cast<float>(1 / std::sqrt(1 - std::pow(spec.adam_beta2, t)));
  out[runtime::kDecay] = static_cast<float>(1 - learning_rate * spec.weight_decay);
  out[runtime::kLearningRate] = static_cast<float>(learning_rate);
  out[runtime::kDecayedShare] = static_cast<float>(learning_rate * spec.weight_decay);
  return out;
}

std::string micro_name(std::string_view name, std::int64_t micro_batch) {
  return fmt::format("{}.{}", name, micro_batch);
}

double scheduled_rate(std::string_view schedule, double rate, std::int64_t step, std::int64_t warmup,
                      std::int64_t total) {
  const std::vector<std::string> names{"linear", "constant", "constant_with_warmup", "cosine"};
  if (std::ranges::find(names, schedule) == names.end())
    throw base::Error{base::Fault::kUsage, "--lr_scheduler_type", fmt::format("'{}' is not known", schedule),
                      base::suggest_fix(std::string{schedule}, names)};
  if (schedule == "constant") return rate;
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup), t = static_cast<double>(total);
  if (step < warmup) return rate * s / std::max(1.0, w);
  if (schedule == "constant_with_warmup") return rate;
  const double left = std::max(0.0, t - s) / std::max(1.0, t - w);
  return schedule == "linear" ? rate * left : rate * 0.5 * (1 + std::cos(std::numbers::pi * (1 - left)));
}

}  // namespace workloads
