// The algorithms of collectives: bytes that each rank sends, reads and writes, one stage after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hw/network/link_loads.h"
#include "hw/params.h"
#include "hw/replica_groups.h"
#include "isa/instr.h"

namespace hw {

/// A part of a collective that ends before the next begins. Bytes are of one rank.
struct Stage {
  double sent = 0, read = 0, written = 0;    // read and written: in its own HBM, by whomever
  std::array<double, kPatternCount> flow{};  // units of each pattern that a set puts on the links
  double latency = 0;                        // s, before or between the data
  double messages = 0;                       // s that its messages take at the least, one after the other
};

/// The placement of a table's sets on the machine.
struct Placement {
  GroupShape shape;
  std::uint32_t chips = 1;  // that a set takes of an instance, at least
  int ring_hops = 0;        // of the longest step of a ring
  int mesh_hops = 0;        // between the members of an instance that are farthest apart
  int halving_hops = 0;     // of all steps of a halving, one after the other
  bool crosses = false;     // a set takes several instances
};

/// The algorithm for `instr` with `bytes` in its larger operand: "mesh", "halving" or "ring"; "mesh + network" or "ring
/// + network" over several instances.
std::string_view algorithm_of(const isa::Instr& instr, const Placement& placement, const MachineParams& machine);

/// Its stages; none when nothing moves. Within an instance: a mesh (every member exchanges with every other at once)
/// below `collective.mesh_below`; below `collective.halving_below`, among a power of two of ranks in one instance,
/// recursive halving and doubling; else a ring both ways round. An all-reduce with fewer elements than ranks is a mesh
/// of one step in which every rank reduces. Over instances: reduce-scatter inside, exchange between the same cores of
/// all instances (by halves where their number is a power of two, else in a ring), all-gather inside. Source: AWS
/// Neuron docs, collectives: ring, mesh, recursive and hierarchical algorithms.
std::vector<Stage> stages_of(const isa::Instr& instr, const Placement& placement, const MachineParams& machine);

/// Seconds until a barrier has reached every rank, beyond `collective.barrier`.
double barrier_latency(const Placement& placement, const MachineParams& machine);

/// Bytes of the larger operand, per rank.
double collective_bytes(const isa::Instr& instr);

/// Bytes that a rank must send on average, with any algorithm, in a collective of `ranks` ranks whose larger
/// operand has `bytes`: 2 (r - 1) / r of them in an all-reduce. A transfer counts for its sender alone.
double least_sent(isa::Opcode op, std::uint32_t ranks, double bytes);

}  // namespace hw
