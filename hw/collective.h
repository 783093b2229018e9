// The time of a collective, its links, and its share of HBM and the DMA engines.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "hw/network/collective_stages.h"
#include "hw/network/link_loads.h"
#include "hw/network/topology.h"
#include "hw/params.h"
#include "hw/replica_groups.h"
#include "isa/instr.h"

namespace hw {

/// A collective of one table, all of its sets at the same time. First the floor (doorbells, ranks meeting, steps from
/// chip to chip), then data for `moving`; links that several sets take are shared.
struct CollectivePlan {
  std::string_view algorithm;  // see algorithm_of()
  Fs floor = 0;
  Fs moving = 0;
  std::uint64_t bytes = 0;       // of the larger operand, per rank
  std::uint64_t link_bytes = 0;  // that one rank sends
  double hbm_bandwidth = 0;      // B/s of each core's HBM while data moves
  double dma_width = 0;          // DMA engines of each core in use while data moves
  std::vector<LinkLoad> links;   // what the set asked for puts on them
  /// The extra time when a benchmark launches this collective alone, again and again: not part of `floor`.
  Fs standalone = 0;
};

/// Plans the collectives of a program.
class CollectivePlanner {
 public:
  explicit CollectivePlanner(const MachineParams& machine) : machine_{machine}, topology_{machine} {}

  /// A program begins; its tables must stay until the next.
  void reset(const std::vector<ReplicaGroups>& groups);
  /// `instr` as set `set` of its table runs it. The plan stays until reset().
  /// Errors: Fault::kProgram when the machine cannot form the groups of the table; Fault::kInternal when the plan beats
  /// what links, network or HBM need at the least.
  const CollectivePlan& plan(const isa::Instr& instr, std::uint32_t set);

  const Topology& topology() const { return topology_; }

 private:
  struct Table {
    const ReplicaGroups* groups = nullptr;
    std::optional<Placement> placed, placed_pairs;                  // as collectives and as send and receive see it
    std::array<std::optional<double>, kPatternCount> unit_seconds;  // of the busiest link
  };
  using Key = std::tuple<std::uint8_t, std::uint32_t, isa::Opcode, std::uint16_t, std::int64_t, std::int64_t>;

  const Placement& placement(const isa::Instr& instr, Table& table) const;
  double link_seconds(const Stage& stage, Table& table) const;
  CollectivePlan make(const isa::Instr& instr, Table& table, const Ranks& set) const;
  void add_data(const std::vector<Stage>& stages, Table& table, CollectivePlan& plan) const;

  const MachineParams& machine_;
  const Topology topology_;
  std::vector<Table> tables_;
  std::map<Key, CollectivePlan> plans_;
};

/// Lower bounds for any algorithm: each rank, chip and instance has to send its part, and HBM to read and write it.
/// Every plan is checked against them. Errors: Fault::kInternal when `plan` of `instr` beats one of these bounds.
void check_bounds(const isa::Instr& instr, const Placement& placement, const CollectivePlan& plan,
                  const MachineParams& machine);

/// One plan, for callers without a program: `instr` as the first set of `table` runs it.
CollectivePlan plan_collective(const isa::Instr& instr, const ReplicaGroups& table, const MachineParams& machine);
/// The same over ranks 0 to `ranks` - 1.
CollectivePlan plan_collective(const isa::Instr& instr, std::uint32_t ranks, const MachineParams& machine);

}  // namespace hw
