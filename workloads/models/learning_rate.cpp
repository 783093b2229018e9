// How the learning rate moves from step to step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/suggest.h"
#include "workloads/optimizer_step.h"

namespace workloads {

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
