// The memory and the time of a generation: project() for such a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/compiler/compile.h"
#include "runtime/graph/graph.h"
#include "trnsim/projection.h"
#include "workloads/models/decoder/generation_graph.h"

namespace trnsim {

/// Whether the job adds tokens to its prompts; a training and requests that are only read do not.
bool writes_text(const Job& job);

/// The sizes of the job's programs, for one of its ranks.
workloads::GenerationSpec generation_spec(const Job& job);
/// To compile them: the sizes, and the attention that the job's library has for them. Reads the stack's file.
workloads::GenerationSpec program_spec(const Job& job);
/// GenerationSpec's, of the job's library on its machine.
std::int64_t expert_block(const Job& job);

/// Generations side by side that fill the job's instance, each of which pays its share of it. Requests that are only
/// read fill it by themselves: their copies are the plan's.
double copies_of(const Job& job);
/// The job's dollars in so many seconds; none without a price.
std::optional<double> generation_dollars(const Job& job, double seconds);

/// The job with the padding that ranks compute where they do not divide the model's sizes: see Model::padded_for().
/// transformers-neuronx pads heads (layers/gqa.py) and feed-forward sizes (utils.py, maybe_pad_tensor) with zeros.
Job padded(const Job& job);
/// The least memory of any compiler, per core: weights with the embeddings, and caches.
Memory least_generation_memory(const Job& job);
/// The fix for a job that does not fit: more cores, if weights and caches would fit on them.
std::string generation_fix(const Job& job);

/// Errors: Fault::kUsage for a plan that the model refuses, or more cores than the machine has.
void require_legal_generation(const Job& job);

/// A program of a generation: the prompt's, or that of its last tokens, which read most of the caches.
enum class GenerationProgram : std::uint8_t { kPrompt, kToken };
/// As project_generation() times it. Errors: as require_legal_generation().
runtime::Graph generation_graph(const Job& job, GenerationProgram program);
runtime::Compiled compile_generation(const Job& job, GenerationProgram program);

/// Compiles and simulates; for a job that does not fit, only the memory is set. Each bucket's token program gives the
/// time of all tokens in it: data does not change it. For a mixture the programs read as many experts as their tokens
/// are expected to choose. Errors: as require_legal_generation().
Projection project_generation(const Job& job, const ProjectOptions& options);
/// The times of the whole job from those of its programs on the device.
void time_generation(const Job& job, Projection& projection);

}  // namespace trnsim
