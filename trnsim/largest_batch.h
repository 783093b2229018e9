// How many samples a core's memory holds.
#pragma once

#include <cstdint>

#include "trnsim/compiled_step.h"

namespace trnsim {

/// The largest batch of one core that its HBM holds; 0 when not even one sample fits. Found by compiling; of programs
/// that take long to put in order 1 % of the memory is kept free instead.
std::int64_t largest_batch(const StepTarget& target, const runtime::Passes& passes);

}  // namespace trnsim
