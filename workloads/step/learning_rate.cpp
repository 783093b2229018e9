// Values that change from step to step: the learning rate by its schedule, and the optimizer's factors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/suggest.h"
#include "runtime/ops/optimizer_inputs.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {

std::vector<float> hyper_values(const OptimizerSpec& spec, double learning_rate, std::int64_t step) {
  std::vector<float> out(runtime::kOptimizerInputs, 0.0F);
  const auto t = static_cast<double>(step);
  out[runtime::kRate] = static_cast<float>(learning_rate / (1 - std::pow(spec.beta1, t)));
  out[runtime::kRootScale] = static_cast<float>(1 / std::sqrt(1 - std::pow(spec.beta2, t)));
  out[runtime::kDecay] = static_cast<float>(1 - learning_rate * spec.weight_decay);
  out[runtime::kLearningRate] = static_cast<float>(learning_rate);
  out[runtime::kDecayedShare] = static_cast<float>(learning_rate * spec.weight_decay);
  out[runtime::kWeightDecay] = static_cast<float>(spec.weight_decay);
  return out;
}

double scheduled_rate(std::string_view schedule, double rate, std::int64_t step, std::int64_t warmup,
                      std::int64_t total) {
  const std::vector<std::string> names{"linear", "constant", "constant_with_warmup", "cosine"};
  if (std::ranges::find(names, schedule) == names.end())
    throw base::Error{base::Fault::kUsage, "`lr_scheduler_type`", fmt::format("'{}' is not known", schedule),
                      base::suggest_fix(std::string{schedule}, names)};
  if (schedule == "constant") return rate;
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup), t = static_cast<double>(total);
  if (step < warmup) return rate * s / std::max(1.0, w);
  if (schedule == "constant_with_warmup") return rate;
  const double left = std::max(0.0, t - s) / std::max(1.0, t - w);
  return schedule == "linear" ? rate * left : rate * 0.5 * (1 + std::cos(std::numbers::pi * (1 - left)));
}

}  // namespace workloads
