// How much of a core's HBM is in use during each call, by kind.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/record/record.h"

namespace analysis {

struct MemoryUse {
  std::vector<std::string> kinds;          // largest peak first
  std::vector<std::vector<double>> bytes;  // [kind][call]
  std::vector<double> total;               // [call]
  double peak = 0;
  std::size_t peak_call = 0;
};

/// Activations are held from the first to the last call that touches them. All else is reserved for the whole program:
/// weights, gradients, the optimizer's state, inputs and outputs, code and rings of the software.
MemoryUse memory_use(const Record& record);

}  // namespace analysis
