#include "validation/predict/projections.h"

#include <utility>

namespace validation {

trnsim::Projection Projections::project(const trnsim::Job& job, const trnsim::ProjectOptions& options) {
  const std::uint64_t key = trnsim::device_hash(job);
  for (const auto* known : {&kept_, &last_})
    if (const auto found = known->find(key); found != known->end()) return trnsim::with_host_of(job, found->second);
  trnsim::Projection made = trnsim::project(job, options);
  if (!all_) last_.clear();
  (all_ ? kept_ : last_).emplace(key, made);
  return made;
}

trnsim::Projection projected(const trnsim::Job& job, const PredictContext& context, bool any_memory) {
  const trnsim::ProjectOptions options{.exact = context.exact, .any_memory = any_memory, .in_child = context.in_child};
  return context.projections ? context.projections->project(job, options) : trnsim::project(job, options);
}

}  // namespace validation
