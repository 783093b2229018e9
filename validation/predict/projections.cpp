#include "validation/predict/projections.h"

#include <utility>

namespace validation {
namespace {

/// Times need a projection's records alone. Programs of a table's rows take a gigabyte, whose page tables each child
/// process that simulates would copy.
void forget_programs(trnsim::Projection& p) {
  for (trnsim::Stage& stage : p.stages) stage.program.reset();
  if (!p.generation) return;
  p.generation->prompt.stage.program.reset();
  for (trnsim::GenerationStep& step : p.generation->tokens) step.stage.program.reset();
}

}  // namespace

trnsim::Projection Projections::project(const trnsim::Job& job, const trnsim::ProjectOptions& options) {
  const std::uint64_t key = trnsim::device_hash(job);
  for (const auto* known : {&kept_, &last_})
    if (const auto found = known->find(key); found != known->end()) return trnsim::with_host_of(job, found->second);
  trnsim::Projection made = trnsim::project(job, options);
  forget_programs(made);
  if (!all_) last_.clear();
  (all_ ? kept_ : last_).emplace(key, made);
  return made;
}

trnsim::Projection projected(const trnsim::Job& job, const PredictContext& context, bool any_memory) {
  const trnsim::ProjectOptions options{.exact = context.exact, .any_memory = any_memory, .in_child = context.in_child};
  return context.projections ? context.projections->project(job, options) : trnsim::project(job, options);
}

}  // namespace validation
