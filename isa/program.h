// A program: blocks stored once, called with other base addresses. The contract between runtime/ and hw/.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/instrs.h"

namespace isa {

/// A layer forward, a layer backward, an optimizer chunk. `instrs` is in program order, which is a correct sequential
/// order; each engine runs its own instructions of the block in that order, held by their waits only.
/// A call ends when all engines, DMA rings have finished it (collectives may continue); then the next call begins.
struct Block {
  std::string name;
  Instrs instrs;
  std::uint32_t registers = 0;      // HBM base registers that a call must supply
  std::vector<std::string> labels;  // where an instruction comes from: "attention.softmax", "add at train.py:57"
  std::int64_t sbuf_bytes = 0;      // peak per partition
  std::int64_t psum_bytes = 0;
  double matmul_flops = 0;  // 2 x MACs of its kMatMul instructions (transposes excluded), for one call
};

/// The phase that a call's time is booked under.
enum class Phase : std::uint8_t { kForward, kBackward, kOptimizer, kCommunication, kOther };

struct Call {
  std::uint32_t block = 0;
  std::vector<std::uint64_t> bases;  // HBM byte address of each register
  std::uint32_t rng = 0;             // folded into every random stream of the call
  std::int32_t layer = -1;           // of the model that it works for, -1 outside of layers
  Phase phase = Phase::kOther;
  /// Collectives issued by earlier calls that must be complete before this call begins, per queue (counted since the
  /// program began).
  std::array<std::uint32_t, kCcQueues> await{};
};

/// A named region of a core's HBM.
struct Region {
  std::string name;
  std::string kind;  // "weights", "gradients", "optimizer", "activations", "inputs", "outputs", "workspace"
  Dtype dtype = Dtype::kFp32;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Tables of replica groups: tables[group][i] are ranks that work together, in order; a table has each rank once.
using GroupTables = std::vector<std::vector<std::vector<std::uint32_t>>>;

/// One SPMD program: the ranks that run it differ in data only. Programs that run together, such as the stages of a
/// pipeline, have the same `ranks` and `groups`; each rank runs one of them.
struct Program {
  std::string name;
  std::vector<Block> blocks;
  std::vector<Call> calls;
  std::vector<Region> regions;
  std::uint64_t hbm_bytes = 0;                 // per core: span of the regions
  std::uint32_t ranks = 1;                     // of all programs that run together
  std::uint32_t first_rank = 0;                // that runs this one,
  std::uint32_t own_ranks = 0;                 // and how many from there on; 0: all of `ranks`
  GroupTables groups;                          // replica groups
  Rounding rounding = Rounding::kNearestEven;  // of every cast to fewer bits
  double model_flops = 0;                      // analytic matmul FLOPs per core of one run, without recomputation

  std::uint32_t end_rank() const { return own_ranks == 0 ? ranks : first_rank + own_ranks; }
  bool runs_on(std::uint32_t rank) const { return rank >= first_rank && rank < end_rank(); }
};

/// Programs that run together. Errors: see require_together().
using Programs = std::vector<const Program*>;

/// Errors: Fault::kProgram when two programs run on one rank or none runs on it, or their groups or rounding differ.
void require_together(const Programs& programs);

}  // namespace isa
