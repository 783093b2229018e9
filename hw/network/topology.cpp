#include "hw/network/topology.h"

#include <fmt/format.h>

#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>

namespace hw {
namespace {

using Torus = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::uint32_t>>;
constexpr std::array kDirections = {"east", "west", "south", "north"};

Torus build(std::uint32_t rows, std::uint32_t columns) {
  Torus torus{rows * columns};
  for (std::uint32_t chip = 0; chip < rows * columns; ++chip) {
    const std::uint32_t row = chip / columns, column = chip % columns;
    const std::array neighbours = {row * columns + (column + 1) % columns,
                                   row * columns + (column + columns - 1) % columns,
                                   (row + 1) % rows * columns + column, (row + rows - 1) % rows * columns + column};
    for (std::uint32_t d = 0; d < 4; ++d) {
      if (neighbours[d] != chip) boost::add_edge(chip, neighbours[d], 4 * chip + d, torus);
    }
  }
  return torus;
}

/// Counts hops and shortest ways from where the search starts: a vertex is complete before its own edges are examined.
struct Count : boost::default_bfs_visitor {
  std::vector<int>& hops;
  std::vector<double>& ways;
  Count(std::vector<int>& h, std::vector<double>& w) : hops{h}, ways{w} {}

  void tree_edge(Torus::edge_descriptor edge, const Torus& torus) const {
    hops[target(edge, torus)] = hops[source(edge, torus)] + 1;
    examined(edge, torus);
  }
  void non_tree_edge(Torus::edge_descriptor edge, const Torus& torus) const { examined(edge, torus); }
  void examined(Torus::edge_descriptor edge, const Torus& torus) const {
    const auto from = source(edge, torus), to = target(edge, torus);
    if (hops[to] == hops[from] + 1) ways[to] += ways[from];
  }
};

}  // namespace

Topology::Topology(const MachineParams& machine)
    : chips_{static_cast<std::uint32_t>(machine.chips.value)},
      columns_{static_cast<std::uint32_t>(machine.torus_columns.value)},
      port_{machine.link_bandwidth.value / machine.link_ports.value / 2},
      network_{machine.efa_bandwidth.value},
      distance_(chips_ * chips_),
      routes_(chips_ * chips_) {
  const Torus torus = build(chips_ / columns_, columns_);
  std::vector<std::vector<int>> hops(chips_, std::vector<int>(chips_, 0));
  std::vector<std::vector<double>> ways(chips_, std::vector<double>(chips_, 0.0));
  for (std::uint32_t from = 0; from < chips_; ++from) {
    ways[from][from] = 1;
    boost::breadth_first_search(torus, from, boost::visitor(Count{hops[from], ways[from]}));
  }
  const auto index = boost::get(boost::edge_index, torus);
  for (std::uint32_t from = 0; from < chips_; ++from) {
    for (std::uint32_t to = 0; to < chips_; ++to) {
      distance_[from * chips_ + to] = hops[from][to];
      if (from == to) continue;
      for (const auto edge : boost::make_iterator_range(boost::edges(torus))) {
        const auto u = boost::source(edge, torus), v = boost::target(edge, torus);
        if (hops[from][u] + 1 + hops[v][to] != hops[from][to]) continue;
        routes_[from * chips_ + to].push_back({index[edge], ways[from][u] * ways[v][to] / ways[from][to]});
      }
    }
  }
}

std::string Topology::name(std::uint32_t link) const {
  if (link == network_out()) return "network_out";
  if (link == network_in()) return "network_in";
  return fmt::format("chip{}_{}", link / 4, kDirections[link % 4]);
}

std::uint32_t Topology::place(std::uint32_t chip) const {
  const std::uint32_t row = chip / columns_, column = chip % columns_;
  return row * columns_ + (row % 2 == 0 ? column : columns_ - 1 - column);
}

}  // namespace hw
