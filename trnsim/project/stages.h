// The programs of a job's step, one for each stage of its pipeline, and the time that they take together.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/params.h"
#include "hw/sim_device.h"
#include "hw/timed_block.h"
#include "isa/check.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/compile.h"
#include "trnsim/project/memory.h"

namespace trnsim {

/// Blocks that programs for one machine have in common, each compiled, checked and timed once. They save time and do
/// not change programs or figures.
struct SharedBlocks {
  /// The number of instructions that are kept: a 7B Llama's layers have 2 million, with two sequences of 2048 and no
  /// tensor parallelism.
  static constexpr std::size_t kKept = 4'000'000;

  /// About `open` of those kept stay unpacked (runtime::BlockCache).
  explicit SharedBlocks(const isa::Target& target, std::size_t kept = kKept,
                        std::size_t open = runtime::BlockCache::kOpen)
      : compiled{kept, open}, checker{target} {}

  runtime::BlockCache compiled;
  isa::Checker checker;
  hw::BlockTimes times;
};

struct CompiledStages {
  std::vector<Stage> stages;       // in their order
  Memory memory;                   // of the stage that needs most, with its inbox
  std::int64_t micro_batches = 0;  // of the step that are in the programs
};

struct CompileStages {
  /// Micro-batches of the step that are compiled when there are more, or as many as show the time of the others; 0:
  /// all.
  std::int64_t micro_batches = 0;
  std::uint64_t give_up_at = 0;  // bytes: when a stage is seen to need more, it and those behind it are left out
};

/// Errors: Fault::kUsage, Fault::kProgram for a plan that model or machine do not allow.
CompiledStages compile_stages(const Job& job, SharedBlocks& shared, const CompileStages& options = {});
/// The memory of the fullest stage with all micro-batches in its program: in a pipeline they overlap, and the gaps
/// between their activations may need more of them to show than their time does. Compiles the stages that may be the
/// fullest one. Errors: as compile_stages().
Memory memory_of_all_micro_batches(const Job& job, SharedBlocks& shared);
/// The graph of one stage, with all micro-batches of the step, and its program.
runtime::Graph stage_graph(const Job& job, std::int64_t stage);
runtime::Compiled compile_stage(const Job& job, std::int64_t stage);
/// The program of an evaluation batch for each stage: forward only, one batch for each so that all are at work.
std::vector<runtime::Compiled> compile_evaluation(const Job& job, runtime::BlockCache* blocks = nullptr);

/// A simulated step, with one core of every stage.
struct StepTime {
  double seconds = 0;         // of the whole step, without the program's lead-in
  double micro_seconds = 0;   // from micro-batch to micro-batch when all stages are at work
  double bubble_seconds = 0;  // waits of the slowest stage for the others in a step
  std::size_t slowest = 0;    // stage
};

struct SimulateStages {
  bool exact = false, any_memory = false;
  bool in_child =
      true;  // SystemC's memory is freed with a child process, and other threads can simulate at the same time
  TraceWindow trace{};
};

/// Fills the stages' records. Micro-batches that were not compiled take micro_seconds each. Errors: Fault::kProgram
/// when the machine cannot form the groups; as hw::simulate().
StepTime simulate_stages(const Job& job, CompiledStages& compiled, SharedBlocks& shared,
                         const SimulateStages& options = {});
/// Seconds of an evaluation batch on all stages; of the options, `exact` and `in_child` count.
double simulate_evaluation(const Job& job, SharedBlocks& shared, const SimulateStages& options = {});

/// Errors: Fault::kUsage for a machine that is for inference alone.
void require_trains(const hw::MachineParams& machine);

/// Errors: as require_trains(), for a training; Fault::kUsage, naming legal ones, when the machine cannot form the
/// plan's replica groups.
void require_groups(const Job& job);

}  // namespace trnsim
