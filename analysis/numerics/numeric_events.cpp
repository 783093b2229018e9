#include "analysis/numerics/numeric_events.h"

#include <fmt/format.h>

#include <array>

namespace analysis {
namespace {

struct NumericEvent {
  const char* name;
  std::uint64_t isa::NumericEvents::*count;
  const char* text;
};
constexpr std::array kNumericEvents = {
    NumericEvent{"overflowed", &isa::NumericEvents::overflowed, "casts overflowed"},
    NumericEvent{"out_of_range", &isa::NumericEvents::out_of_range, "inputs outside of ScalarE's documented ranges"},
    NumericEvent{"transposed", &isa::NumericEvents::transposed, "Inf or NaN in transposes of TensorE"},
    NumericEvent{"flushed", &isa::NumericEvents::flushed, "subnormal operands of TensorE taken for zero"}};

}  // namespace

nlohmann::ordered_json to_json(const isa::NumericEvents& events) {
  nlohmann::ordered_json out;
  for (const NumericEvent& e : kNumericEvents) out[e.name] = events.*e.count;
  return out;
}

std::string numeric_events_text(const nlohmann::ordered_json& json) {
  std::string text;
  for (const NumericEvent& e : kNumericEvents) {
    const auto count = json.find(e.name);
    if (count == json.end() || !count->is_number_unsigned() || *count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count->get<std::uint64_t>(), e.text);
  }
  return text.empty() ? "none" : text;
}

}  // namespace analysis
