#include "analysis/figures/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace analysis {
namespace {

struct NumericEvent {
  std::uint64_t isa::NumericEvents::*count;
  const char* text;
};
constexpr std::array kNumericEvents = {
    NumericEvent{&isa::NumericEvents::overflowed, "casts overflowed"},
    NumericEvent{&isa::NumericEvents::out_of_range, "inputs outside of ScalarE's documented ranges"},
    NumericEvent{&isa::NumericEvents::transposed, "Inf or NaN that TensorE spreads"},
    NumericEvent{&isa::NumericEvents::flushed, "subnormal operands of TensorE taken for zero"}};

}  // namespace

double EngineFigures::waited() const {
  double sum = 0;
  for (const auto& [cause, share] : waiting) sum += share;
  return sum;
}

Maybe MemoryFigures::kind(std::string_view name) const { return find_named(kinds, name); }
Maybe EvaluationFigures::score(std::string_view name) const { return find_named(scores, name); }
Maybe TrainingFigures::score(std::string_view name) const { return find_named(scores, name); }

Binding binding_of(double step, double host, double device, const std::vector<Resource>& resources) {
  if (!(step > 0)) return {};
  Binding most{.name = "host", .share = std::max(0.0, (step - device) / step)};
  for (const Resource& resource : resources) {
    const double shorter = std::min(resource.busy / 100 * device, step - host);
    if (shorter > most.share * step) most = {.name = resource.name, .share = shorter / step};
  }
  return most;
}

std::optional<Binding> binding_of(const Figures& f) {
  if (!f.time.step_seconds || !f.time.device_step_seconds) return {};
  return binding_of(*f.time.step_seconds, f.time.host_step_seconds.value_or(0), *f.time.device_step_seconds,
                    f.resources);
}

CoreFigures core_figures(const Utilisation& u) {
  return {.mfu_estimated_percent = u.mfu,
          .mfu_advertised_percent = u.mfu_advertised,
          .mfu_max_achievable_estimated_percent = u.mfu_achievable,
          .hfu_estimated_percent = u.hfu,
          .mbu_estimated_percent = u.mbu,
          .mm_arithmetic_intensity = u.intensity,
          .core_model_flops = u.model_flops,
          .core_matmul_flops = u.matmul_flops,
          .core_transpose_flops = u.transpose_flops};
}

std::string numeric_events_text(const isa::NumericEvents& events) {
  std::string text;
  for (const NumericEvent& e : kNumericEvents)
    if (events.*e.count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", events.*e.count, e.text);
  return text.empty() ? "none" : text;
}

}  // namespace analysis
