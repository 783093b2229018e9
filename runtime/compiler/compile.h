// From a graph to a program: passes, groups, instructions, addresses, semaphores, blocks and calls.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "isa/program.h"
#include "isa/target.h"
#include "runtime/compiler/memory_plan.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"

namespace runtime {

class BlockCache;
class ProgramCache;

struct CompileOptions {
  std::string name = "program";
  std::uint32_t ranks = 1;
  std::uint32_t first_rank = 0, own_ranks = 0;  // that run this program, when others run another (isa::Program)
  double long_group = 100'000;  // instructions of fused nodes from which on they are cut into calls of one block
  bool in_order = false;        // calls stay as the graph has them; otherwise backward passes run as early as they can
  Passes passes{};
  std::uint64_t hbm_bytes = 0;  // per core; 0: no limit
  /// Called with the least memory that the graph needs, before its blocks are built. True: stop compiling.
  std::function<bool(const MemoryPlan& least)> give_up{};
  BlockCache* blocks = nullptr;  // of programs that were compiled before; the program is the same without
  const std::vector<isa::Region>* shared =
      nullptr;                    // of another program on the same device: weights stay where they are
  ProgramCache* cache = nullptr;  // where programs are looked up and kept; no effect on compilations that give up
};

struct Compiled {
  isa::Program program;
  MemoryPlan memory;
  std::vector<PassNote> notes;
  std::uint64_t largest_module = 0;  // instructions of the largest call, in however many parts it runs
  bool given_up = false;             // there is nothing but the memory that is needed at least
};

/// A program for one core of `target`. Errors: Fault::kCapacity (with the memory by kind) when it does not fit into
/// hbm_bytes; Fault::kProgram for a graph that breaks a contract; Fault::kInternal when TensorE's work differs from the
/// mathematics.
Compiled compile(Graph graph, const isa::Target& target, const CompileOptions& options);

}  // namespace runtime
