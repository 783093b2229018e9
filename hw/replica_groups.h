// The placement of a replica group's ranks on the machine, and the groups that the machine can form.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hw/params.h"

namespace hw {

using Ranks = std::vector<std::uint32_t>;
/// One table of a program: sets of ranks that run a collective at the same time, each rank in one of them.
using ReplicaGroups = std::vector<Ranks>;

/// The members of a set in one instance.
struct LocalRanks {
  std::uint32_t instance;
  Ranks cores;  // 0 to instance_cores() - 1, rising
};
std::vector<LocalRanks> by_instance(const Ranks& set, const MachineParams& machine);

/// The sets of a legal table are congruent: `local` members in each of `instances` instances.
struct GroupShape {
  std::uint32_t local = 1;
  std::uint32_t instances = 1;
  std::uint32_t size() const { return local * instances; }
};

/// The shape of a table. Legal are sets of 1, 2, 4, 8, 16 or 32 cores of an instance (as many as it has), equally far
/// apart, and the same cores of any number of instances, equally far apart; with that, any pair. `where` names the
/// instruction. Errors: Fault::kProgram, naming the legal groups, for any other table.
/// Source: AWS Neuron docs, collectives: groups of 1, 2, 8, 32 cores, then multiples over instances; 4 and 16 as the
/// NxD Llama tutorials form them (tensor parallel 8, data parallel 4 on one trn1.32xlarge).
GroupShape shape_of(const ReplicaGroups& table, const MachineParams& machine, std::string_view where);

/// The same for messages between two ranks, wherever they are: a table whose pairs may differ.
/// Errors: Fault::kProgram for a set that is not a pair.
void require_pairs(const ReplicaGroups& table, const MachineParams& machine, std::string_view where);

}  // namespace hw
