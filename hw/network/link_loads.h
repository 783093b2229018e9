// Maps the messages between members of a group to the load of each link.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/network/topology.h"
#include "hw/params.h"
#include "hw/replica_groups.h"

namespace hw {

/// The pairs that exchange one byte:
enum class Pattern : std::uint8_t {
  kRing,      // each member to the next of its instance, half of it the other way round
  kMesh,      // each member to every other of its instance
  kHalving,   // half of it between members whose number differs in the lowest bit, a quarter in the next, and so on
  kNetwork,   // each instance to the network, and the network to each instance
  kForward,   // the first of a pair to the second
  kBackward,  // the second to the first
};
inline constexpr int kPatternCount = 6;

/// Bytes on a directed link of an instance.
struct LinkLoad {
  std::uint32_t instance;
  std::uint32_t link;
  double bytes;
};

/// The links of all instances, with the load of a number of sets.
class LinkLoads {
 public:
  LinkLoads(const Topology& topology, const MachineParams& machine);

  /// `units` bytes of `pattern` among the members of `set`.
  void add(const Ranks& set, Pattern pattern, double units);
  /// Seconds that the busiest link needs at the least.
  double slowest() const;
  /// The links that carry anything.
  std::vector<LinkLoad> loads() const;

 private:
  void ring(const LocalRanks& part, double units);
  void mesh(const LocalRanks& part, double units);
  void halving(const LocalRanks& part, double units);
  void pair(std::uint32_t from, std::uint32_t to, double units);
  void flow(std::uint32_t instance, std::uint32_t from, std::uint32_t to, double bytes);
  double& at(std::uint32_t instance, std::uint32_t link) { return bytes_[instance * topology_.links() + link]; }

  const Topology& topology_;
  const MachineParams& machine_;
  const std::uint32_t cores_;  // per chip
  std::vector<double> bytes_;  // by instance and link
};

/// The members of an instance in the order of a ring: chips along the topology's closed walk.
Ranks ring_order(const LocalRanks& part, const Topology& topology, const MachineParams& machine);

}  // namespace hw
