#include "hw/network/link_loads.h"

#include <algorithm>

#include "base/error.h"

namespace hw {

LinkLoads::LinkLoads(const Topology& topology, const MachineParams& machine)
    : topology_{topology},
      machine_{machine},
      cores_{static_cast<std::uint32_t>(machine.cores.value)},
      bytes_(static_cast<std::size_t>(machine.instances.value) * topology.links()) {}

void LinkLoads::add(const Ranks& set, Pattern pattern, double units) {
  if (pattern == Pattern::kForward) return pair(set[0], set[1], units);
  if (pattern == Pattern::kBackward) return pair(set[1], set[0], units);
  const auto parts = by_instance(set, machine_);
  for (const LocalRanks& part : parts) {
    if (pattern == Pattern::kRing) ring(part, units);
    if (pattern == Pattern::kMesh) mesh(part, units);
    if (pattern == Pattern::kHalving) halving(part, units);
    if (pattern == Pattern::kNetwork && parts.size() > 1) {
      at(part.instance, topology_.network_out()) += units;
      at(part.instance, topology_.network_in()) += units;
    }
  }
}

void LinkLoads::ring(const LocalRanks& part, double units) {
  const Ranks order = ring_order(part, topology_, machine_);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t core = order[i], next = order[(i + 1) % order.size()];
    flow(part.instance, core, next, units / 2);
    flow(part.instance, next, core, units / 2);
  }
}

void LinkLoads::mesh(const LocalRanks& part, double units) {
  for (const std::uint32_t from : part.cores) {
    for (const std::uint32_t to : part.cores) flow(part.instance, from, to, units);
  }
}

void LinkLoads::halving(const LocalRanks& part, double units) {
  for (std::size_t apart = 1; apart < part.cores.size(); apart *= 2) {
    units /= 2;
    for (std::size_t i = 0; i < part.cores.size(); ++i)
      flow(part.instance, part.cores[i], part.cores[i ^ apart], units);
  }
}

void LinkLoads::pair(std::uint32_t from, std::uint32_t to, double units) {
  const auto per_instance = static_cast<std::uint32_t>(machine_.ranks_per_instance());
  if (from / per_instance == to / per_instance)
    return flow(from / per_instance, from % per_instance, to % per_instance, units);
  at(from / per_instance, topology_.network_out()) += units;
  at(to / per_instance, topology_.network_in()) += units;
}

void LinkLoads::flow(std::uint32_t instance, std::uint32_t from, std::uint32_t to, double bytes) {
  for (const Hop& hop : topology_.route(from / cores_, to / cores_)) at(instance, hop.link) += bytes * hop.share;
}

double LinkLoads::slowest() const {
  double slowest = 0;
  for (const LinkLoad& load : loads()) {
    const double bandwidth = topology_.bandwidth(load.link);
    base::ensure(bandwidth > 0, topology_.name(load.link), "data takes a link that is not there");
    slowest = std::max(slowest, load.bytes / bandwidth);
  }
  return slowest;
}

std::vector<LinkLoad> LinkLoads::loads() const {
  std::vector<LinkLoad> loads;
  for (std::uint32_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] > 0) loads.push_back({i / topology_.links(), i % topology_.links(), bytes_[i]});
  }
  return loads;
}

Ranks ring_order(const LocalRanks& part, const Topology& topology, const MachineParams& machine) {
  const auto cores = static_cast<std::uint32_t>(machine.cores.value);
  Ranks order = part.cores;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t core) { return topology.place(core / cores); });
  return order;
}

}  // namespace hw
