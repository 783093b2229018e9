// A pipeline's stages: their layers, schedule and ranks.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/compile.h"
#include "workloads/step/step.h"

namespace workloads {

/// The forward or backward pass of one micro-batch through one of a stage's chunks of layers.
struct Turn {
  bool forward = true;
  std::int64_t chunk = 0, micro_batch = 0;
  bool operator==(const Turn&) const = default;
};

/// The turns of a stage in their order. One chunk per stage: 1F1B (Narayanan et al., arXiv:2006.09503, section 3.2),
/// with stages - stage micro-batches in flight at the most. Several: interleaved (Narayanan et al., arXiv:2104.04473,
/// section 2.2.2). One stage: each micro-batch's backward after its forward.
/// Errors: Fault::kUsage for several chunks and micro-batches that the stages do not divide.
std::vector<Turn> pipeline_turns(std::int64_t stages, std::int64_t stage, std::int64_t chunks,
                                 std::int64_t micro_batches);

/// Layers [begin, end) of a chunk of a stage, and the parts before and after them.
struct Chunk {
  std::int64_t begin = 0, end = 0;
  bool first = true, last = true;             // of the model
  std::uint8_t from_group = 0, to_group = 0;  // replica groups of the pairs with the stages before and after
};
Chunk chunk_of(const Step& step, std::int64_t chunk, std::int64_t layers);

/// The step of another stage.
Step of_stage(Step step, std::int64_t stage);

/// How a step's graph is compiled: its ranks and order. `cache`: where programs are kept; none: nowhere.
runtime::CompileOptions compile_options(const Step& step, std::string name, const runtime::Passes& passes,
                                        runtime::ProgramCache* cache = nullptr);

}  // namespace workloads
