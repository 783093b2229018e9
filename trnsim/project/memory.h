// Device memory of a job, on its fullest core.
#pragma once

#include <cstdint>
#include <string>

#include "trnsim/projection.h"

namespace runtime {
struct MemoryPlan;  // runtime/compiler/memory_plan.h
}

namespace trnsim {

class KnownFacts;  // trnsim/project/known_facts.h

Memory memory_of(const runtime::MemoryPlan& plan, const hw::MachineParams& machine);

/// The least memory of any compiler: weights, gradients, optimizer state, and the inputs of each layer's backward pass.
/// Takes no time: most plans of a large model are refused by it. Errors: as workloads::check() for a plan that does not
/// divide the model.
Memory least_memory(const Job& job);
/// The same where many jobs are asked about.
Memory least_memory(const Job& job, KnownFacts& known);

/// Bytes of the messages that can be in a stage's inbox at once: senders do not wait for receivers, so the
/// turns of both decide how far ahead it can get. 0 without stages. Source: workloads/step/pipeline.h, the turns.
std::uint64_t inbox_bytes(const Job& job, std::int64_t stage, std::int64_t micro_batches);

/// Errors: Fault::kCapacity with the memory by kind, unless it fits; `fix`: instead of the general one.
void require_fit(const Job& job, const Memory& memory, const std::string& fix = "");

}  // namespace trnsim
