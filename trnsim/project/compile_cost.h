// The cost of compiling a job on the real machine, and whether the compiler is known to refuse it.
#pragma once

#include <string>

#include "trnsim/projection.h"

namespace trnsim {

struct CompileCost {
  double cold_seconds = 0;   // all graphs of the job, with an empty cache, once
  double first_seconds = 0;  // of it, until the first step is done
  double warm_seconds = 0;   // with a full cache: graphs are traced, found and loaded
  double instructions = 0;   // of the largest module: neuronx-cc cuts a transformer at its layers
  double limit = 0;          // instructions of a module from which on it refuses
  double host_bytes = 0;     // of an instance's memory at least: each process reads the checkpoint
  double host_capacity = 0;  // bytes of the instance

  /// Why the real machine will refuse, in a sentence; empty when nothing is known against it.
  std::string refusal() const;
};

CompileCost compile_cost(const Job& job, const Projection& projection);

}  // namespace trnsim
