// The address and lifetime of each tensor in a core's HBM.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/program.h"
#include "runtime/graph/graph.h"

namespace runtime {

/// Temporary tensors of one name that are held at once.
struct HeldTensors {
  std::string name;  // of the operation that writes them
  std::uint64_t bytes = 0, count = 0;
};

struct MemoryPlan {
  std::unordered_map<ValueId, std::uint64_t> address;  // of tensors that others live in, by root
  std::vector<isa::Region> regions;                    // persistent ones, and one for all temporary tensors
  std::map<std::string, std::uint64_t> bytes_by_kind;
  std::uint64_t persistent_end = 0;
  std::uint64_t total = 0;
  std::uint64_t activations_without_reuse = 0;  // liveness saves the difference to "activations"
  std::vector<HeldTensors> fullest;             // where temporary tensors take most: the largest, by name
};

/// Errors: Fault::kCapacity at `where` with the memory by kind when it does not fit into `capacity` bytes per core;
/// `least`: it is a lower bound.
void require_fit(std::string_view where, const std::map<std::string, std::uint64_t>& by_kind, std::uint64_t total,
                 std::uint64_t capacity, std::string_view fix, bool least = false);

/// `calls`: nodes of each call in order; `in_hbm`: per value, whether it is a tensor (a root) that a block touches
/// in HBM; others never leave SBUF. Weights, moments, gradients, inputs and outputs stay; activations live from the
/// call that writes them to the last that reads them, those that become a gradient in that gradient's memory. Operands
/// of one all_reduce are adjacent. Weights and caches that `shared` has by name keep its addresses; everything else is
/// placed behind its persistent tensors.
MemoryPlan plan_memory(const Graph& graph, const std::vector<std::vector<NodeId>>& calls,
                       const std::vector<bool>& in_hbm, const std::vector<isa::Region>* shared = nullptr);

/// The memory that calls need with any blocks: everything persistent, and activations that one call leaves to
/// another, as if they had no gaps between them. Its activations have no addresses. Never more than plan_memory()
/// takes.
MemoryPlan least_memory(const Graph& graph, const std::vector<std::vector<NodeId>>& calls,
                        const std::vector<isa::Region>* shared = nullptr);

}  // namespace runtime
