#include "hw/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "isa/names.h"

namespace hw {
namespace {

using isa::between_two;
using isa::Opcode;

/// Hops of all steps of a halving. 0 where members are no power of two.
int halving_hops(const LocalRanks& part, const Topology& topology, std::uint32_t cores) {
  if (!std::has_single_bit(part.cores.size())) return 0;
  int hops = 0;
  for (std::size_t apart = 1; apart < part.cores.size(); apart *= 2) {
    int farthest = 0;
    for (std::size_t i = 0; i < part.cores.size(); ++i)
      farthest = std::max(farthest, topology.distance(part.cores[i] / cores, part.cores[i ^ apart] / cores));
    hops += farthest;
  }
  return hops;
}

/// Hops and chips of one set.
void measure(const Ranks& set, const Topology& topology, const MachineParams& machine, Placement& at) {
  const auto cores = static_cast<std::uint32_t>(machine.cores.value);
  const auto parts = by_instance(set, machine);
  at.crosses |= parts.size() > 1;
  for (const LocalRanks& part : parts) {
    at.halving_hops = std::max(at.halving_hops, halving_hops(part, topology, cores));
    const Ranks order = ring_order(part, topology, machine);
    std::set<std::uint32_t> chips;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t chip = order[i] / cores;
      chips.insert(chip);
      at.ring_hops = std::max(at.ring_hops, topology.distance(chip, order[(i + 1) % order.size()] / cores));
      for (const std::uint32_t other : order)
        at.mesh_hops = std::max(at.mesh_hops, topology.distance(chip, other / cores));
    }
    at.chips = std::min(at.chips, static_cast<std::uint32_t>(chips.size()));
  }
}

/// How often its data crosses the network.
int crossings(const isa::Instr& instr, const Placement& at, const std::vector<Stage>& stages) {
  if (between_two(instr.op) || instr.op == Opcode::kBarrier) return at.crosses ? 1 : 0;
  constexpr auto kNetwork = static_cast<std::size_t>(Pattern::kNetwork);
  return static_cast<int>(std::ranges::count_if(stages, [](const Stage& s) { return s.flow[kNetwork] > 0; }));
}

}  // namespace

void CollectivePlanner::reset(const std::vector<ReplicaGroups>& groups) {
  plans_.clear();
  tables_.clear();
  for (const ReplicaGroups& table : groups)
    tables_.push_back({.groups = &table, .placed = {}, .placed_pairs = {}, .unit_seconds = {}});
}

const CollectivePlan& CollectivePlanner::plan(const isa::Instr& instr, std::uint32_t set) {
  const std::int64_t bytes = std::max(instr.a.bytes(), instr.dst.bytes());
  const Key key{instr.group, set, instr.op, instr.peer, bytes, instr.a.elements()};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  Table& table = tables_.at(instr.group);
  return plans_.emplace(key, make(instr, table, table.groups->at(set))).first->second;
}

const Placement& CollectivePlanner::placement(const isa::Instr& instr, Table& table) const {
  const auto where = isa::name_of(instr.op);
  auto& placed = between_two(instr.op) ? table.placed_pairs : table.placed;
  if (placed) return *placed;
  Placement at;
  if (between_two(instr.op)) {
    require_pairs(*table.groups, machine_, where);
  } else {
    at.shape = shape_of(*table.groups, machine_, where);
  }
  at.chips = static_cast<std::uint32_t>(machine_.chips.value);
  for (const Ranks& set : *table.groups) measure(set, topology_, machine_, at);
  return placed.emplace(at);
}

/// The time that the links need for a stage when all sets of the table send at once.
double CollectivePlanner::link_seconds(const Stage& stage, Table& table) const {
  double longest = 0;
  for (std::size_t p = 0; p < kPatternCount; ++p) {
    if (stage.flow[p] == 0) continue;
    if (!table.unit_seconds[p]) {
      LinkLoads all{topology_, machine_};
      for (const Ranks& set : *table.groups) all.add(set, static_cast<Pattern>(p), 1);
      table.unit_seconds[p] = all.slowest();
    }
    longest = std::max(longest, stage.flow[p] * *table.unit_seconds[p]);
  }
  return longest;
}

CollectivePlan CollectivePlanner::make(const isa::Instr& instr, Table& table, const Ranks& set) const {
  const Placement& at = placement(instr, table);
  const std::vector<Stage> stages = stages_of(instr, at, machine_);
  CollectivePlan plan;
  plan.algorithm = algorithm_of(instr, at, machine_);
  plan.bytes = static_cast<std::uint64_t>(collective_bytes(instr));
  const int crossed = crossings(instr, at, stages);
  plan.standalone = fs_of(crossed * machine_.cc_network_sync.value);
  if (instr.op == Opcode::kRecv) {  // it waits for the send; then its sequencer sees the semaphore
    plan.floor = fs_of(machine_.semaphore.value);
    return plan;
  }
  const bool barrier = instr.op == Opcode::kBarrier;
  double floor = barrier ? machine_.cc_barrier.value + barrier_latency(at, machine_) : machine_.cc_floor.value;
  for (const Stage& stage : stages) floor += stage.latency;
  plan.floor = fs_of(floor);
  if (stages.empty()) return plan;  // a barrier, or alone in its group: nothing moves
  add_data(stages, table, plan);
  LinkLoads own{topology_, machine_};
  for (const Stage& stage : stages) {
    for (std::size_t p = 0; p < kPatternCount; ++p) {
      if (stage.flow[p] > 0) own.add(set, static_cast<Pattern>(p), stage.flow[p]);
    }
  }
  plan.links = own.loads();
  check_bounds(instr, at, plan, machine_);
  return plan;
}

/// Adds up the stages, each as long as its slowest resource: its messages, the sending core, the links, the DMA engines
/// or HBM.
void CollectivePlanner::add_data(const std::vector<Stage>& stages, Table& table, CollectivePlan& plan) const {
  // Every byte read passes a DMA engine, in descriptors of a collective's packet.
  const double packet = machine_.cc_packet.value;
  const double engine = machine_.dma_rate.value * packet / (packet + machine_.dma_descriptor_overhead.value);
  const double hbm = machine_.hbm_bandwidth_per_core();
  double sent = 0, read = 0, moved = 0, time = 0;
  for (const Stage& stage : stages) {
    sent += stage.sent;
    read += stage.read;
    moved += stage.read + stage.written;
    time += std::max({stage.messages, stage.sent / machine_.cc_bandwidth.value, link_seconds(stage, table),
                      stage.read / engine / machine_.dma_engines.value, (stage.read + stage.written) / hbm});
  }
  plan.moving = fs_of(time);
  plan.link_bytes = static_cast<std::uint64_t>(std::llround(sent));
  if (time == 0) return;
  plan.hbm_bandwidth = moved / time;
  plan.dma_width = read / engine / time;
}

void check_bounds(const isa::Instr& instr, const Placement& at, const CollectivePlan& plan,
                  const MachineParams& machine) {
  const double moving = seconds(plan.moving), bytes = static_cast<double>(plan.bytes);
  const auto holds = [&](double least, double got, std::string_view what) {
    base::ensure(least <= got * (1 + 1e-9) + 1e-14, isa::name_of(instr.op),
                 fmt::format("{}: {:.9g} is less than {:.9g}", what, got, least));
  };
  const double sent = static_cast<double>(plan.link_bytes);
  const auto ranks = instr.op == Opcode::kSend ? 2 : at.shape.size();
  holds(least_sent(instr.op, ranks, bytes), sent + 0.5, "the bytes that a rank sends");
  holds((sent - 0.5) / machine.cc_bandwidth.value, moving, "the time of a rank's messages");
  holds(plan.hbm_bandwidth, machine.hbm_bandwidth_per_core(), "the bandwidth of HBM");
  holds(plan.dma_width, machine.dma_engines.value, "the number of DMA engines");
  if (instr.op == Opcode::kSend) return;
  if (at.chips > 1)
    holds(least_sent(instr.op, at.chips, bytes) / (machine.link_bandwidth.value / 2), moving, "the time on NeuronLink");
  if (at.shape.instances > 1)
    holds(least_sent(instr.op, at.shape.instances, bytes) / machine.efa_bandwidth.value, moving, "the time on EFA");
}

CollectivePlan plan_collective(const isa::Instr& instr, const ReplicaGroups& table, const MachineParams& machine) {
  CollectivePlanner planner{machine};
  const std::vector<ReplicaGroups> groups(instr.group + std::size_t{1}, table);
  planner.reset(groups);
  return planner.plan(instr, 0);
}

CollectivePlan plan_collective(const isa::Instr& instr, std::uint32_t ranks, const MachineParams& machine) {
  Ranks all(ranks);
  std::iota(all.begin(), all.end(), 0u);
  return plan_collective(instr, {all}, machine);
}

}  // namespace hw
