// The host software that a training row ran on: its name, and which release of it.
#pragma once

#include <string>
#include <string_view>

#include "validation/rows/rows.h"

namespace validation {

/// The stack file that a table's column `stack` names: "torch-xla", "HF Trainer on torch-xla", ... Empty when none
/// models it.
std::string stack_for(std::string_view published_name);

/// The stack file that models the row's software: that of its release, or the one that its column `stack` names. Empty
/// for an unknown stack.
std::string stack_of(const TrainingRow& row);

}  // namespace validation
