// The cost of compiling a job on the real machine, and whether the compiler is known to refuse it.
#pragma once

#include <string>

#include "trnsim/projection.h"
#include "workloads/models/decoder/generation_graph.h"

namespace analysis {
struct Stack;  // analysis/host/stack.h
}

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

/// The size of graphs as the compiler sees them.
struct CompilerWork {
  double operations = 0;
  double tiles = 0;  // matmuls of 128 x 128 weights with up to 512 rows, all unrolled
};
/// The size of a generation's graphs: one that takes prompts, and `token_graphs` that take a token of each sequence.
/// Experts that a prompt's tokens cannot fill are unrolled, otherwise they are one kernel. `model`: its own sizes.
CompilerWork generation_work(const workloads::ModelPtr& model, const workloads::GenerationSpec& spec,
                             double token_graphs);
double compile_seconds(const analysis::Stack& stack, const CompilerWork& work);

}  // namespace trnsim
