// The links of an instance and the ways between its chips.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/params.h"

namespace hw {

/// The part of the flow between two chips that takes this link.
struct Hop {
  std::uint32_t link;
  double share;  // 0..1
};

/// One instance: chips in a torus, id = columns * row + column, and the network. Links are directed: link 4 * chip + d
/// leaves `chip` to the east, west, south or north; the last two carry the network's output and input. All instances
/// are alike. Source: AWS Neuron docs, Trn1 architecture and runtime performance tips (neighbours of a chip).
class Topology {
 public:
  explicit Topology(const MachineParams& machine);

  std::uint32_t links() const { return 4 * chips_ + 2; }
  std::uint32_t network_out() const { return 4 * chips_; }
  std::uint32_t network_in() const { return 4 * chips_ + 1; }
  /// B/s; 0 for a link that is not there.
  double bandwidth(std::uint32_t link) const { return link < 4 * chips_ ? port_ : network_; }
  std::string name(std::uint32_t link) const;

  /// Hops of the shortest way.
  int distance(std::uint32_t from, std::uint32_t to) const { return distance_[from * chips_ + to]; }
  /// A flow spreads evenly over all shortest ways; nothing from a chip to itself.
  std::span<const Hop> route(std::uint32_t from, std::uint32_t to) const { return routes_[from * chips_ + to]; }
  /// Place of a chip on a closed walk through neighbours, row by row and back: the order of a ring.
  std::uint32_t place(std::uint32_t chip) const;

 private:
  const std::uint32_t chips_, columns_;
  const double port_, network_;
  std::vector<int> distance_;             // from * chips + to
  std::vector<std::vector<Hop>> routes_;  // the same
};

}  // namespace hw
