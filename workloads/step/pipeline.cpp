#include "workloads/step/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {
namespace {

/// Forward (or backward) passes of a stage in their order: of several chunks, each takes as many micro-batches in a row
/// as there are stages.
Turn turn_of(bool forward, std::int64_t number, std::int64_t stages, std::int64_t chunks) {
  if (chunks == 1) return {forward, 0, number};
  const std::int64_t round = stages * chunks, within = number % round, chunk = within / stages;
  return {forward, forward ? chunk : chunks - 1 - chunk, number / round * stages + within % stages};
}

}  // namespace

std::vector<Turn> pipeline_turns(std::int64_t stages, std::int64_t stage, std::int64_t chunks,
                                 std::int64_t micro_batches) {
  if (chunks > 1 && micro_batches % stages != 0)
    throw base::Error{base::Fault::kUsage, "`gradient_accumulation_steps`",
                      fmt::format("with several chunks of layers on a stage, {} are not a multiple of the {} stages",
                                  base::counted(micro_batches, "micro-batch"), stages),
                      fmt::format("use a multiple of {}", stages)};
  const std::int64_t all = micro_batches * chunks;
  // Passes before the first backward: needed by later stages.
  const std::int64_t ahead = chunks == 1 ? stages - 1 - stage : 2 * (stages - 1 - stage) + (chunks - 1) * stages;
  const std::int64_t warmup = std::min(all, ahead);
  std::vector<Turn> out;
  for (std::int64_t n = 0; n < warmup; ++n) out.push_back(turn_of(true, n, stages, chunks));
  for (std::int64_t n = warmup; n < all; ++n) {
    out.push_back(turn_of(true, n, stages, chunks));
    out.push_back(turn_of(false, n - warmup, stages, chunks));
  }
  for (std::int64_t n = all - warmup; n < all; ++n) out.push_back(turn_of(false, n, stages, chunks));
  return out;
}

Chunk chunk_of(const Step& step, std::int64_t chunk, std::int64_t layers) {
  const std::int64_t stages = step.plan.pipeline, all = stages * step.plan.chunks;
  const std::int64_t place = chunk * stages + step.stage, size = layers / all;
  return {.begin = place * size,
          .end = (place + 1) * size,
          .first = place == 0,
          .last = place == all - 1,
          .from_group = link_group(step.plan, (step.stage + stages - 1) % stages),
          .to_group = link_group(step.plan, step.stage)};
}

Step of_stage(Step step, std::int64_t stage) {
  step.stage = stage;
  return step;
}

runtime::CompileOptions compile_options(const Step& step, std::string name, const runtime::Passes& passes,
                                        runtime::ProgramCache* cache) {
  const bool stages = step.plan.pipeline > 1;
  const std::uint32_t own = step.plan.world() / static_cast<std::uint32_t>(step.plan.pipeline);
  return {.name = stages ? fmt::format("{}, stage {}", name, step.stage) : std::move(name),
          .ranks = step.plan.world(),
          .first_rank = own * static_cast<std::uint32_t>(step.stage),
          .own_ranks = stages ? own : 0,
          .in_order = stages,
          .passes = passes,
          .cache = cache};
}

}  // namespace workloads
