// What the numbers of a training lost without an error, as result.json and people read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "isa/memory.h"

namespace analysis {

/// The counts, by their members' names.
nlohmann::ordered_json to_json(const isa::NumericEvents& events);
/// "none", or "3 casts overflowed, 120 subnormal operands of TensorE taken for zero". `json`: as to_json() writes it;
/// what is missing or no number counts as 0.
std::string numeric_events_text(const nlohmann::ordered_json& json);

}  // namespace analysis
