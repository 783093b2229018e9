// The memory and the time of a generation: what project() does for such a job.
#pragma once

#include <string>

#include "trnsim/projection.h"
#include "workloads/models/decoder/generation_graph.h"

namespace trnsim {

/// The programs that the job is made of, for one of its ranks.
workloads::GenerationSpec generation_spec(const Job& job);

/// The least memory of any compiler, per core: weights with the embeddings, and caches.
Memory least_generation_memory(const Job& job);
/// More cores, if weights and caches would fit on them.
std::string generation_fix(const Job& job);

/// Errors: Fault::kUsage for a plan that the model refuses, or more cores than the machine has.
void require_legal_generation(const Job& job);

/// Compiles and simulates; a job that does not fit has a memory alone. Each bucket's token program gives the time of
/// all tokens in it: data does not change it. For a mixture the programs read as many experts as their tokens are
/// expected to choose. Errors: as require_legal_generation().
Projection project_generation(const Job& job, const ProjectOptions& options);
/// The times of the whole job from those of its programs on the device.
void time_generation(const Job& job, Projection& projection);

}  // namespace trnsim
