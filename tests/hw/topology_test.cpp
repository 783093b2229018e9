// The torus, its ways, and what groups put on its links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "hw/network/topology.h"
#include "tests/hw/groups.h"

namespace {

using namespace tiny;
using hw::Pattern;

TEST(Topology, IsTheDocumentedTorus) {
  const hw::Topology torus{instances(1)};
  const auto neighbours = [&](std::uint32_t chip) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t other = 0; other < 16; ++other) {
      if (torus.distance(chip, other) == 1) found.push_back(other);
    }
    return found;
  };
  // Runtime performance tips print the neighbours of these chips.
  EXPECT_THAT(neighbours(0), testing::ElementsAre(1, 3, 4, 12));
  EXPECT_THAT(neighbours(1), testing::ElementsAre(0, 2, 5, 13));
  EXPECT_THAT(neighbours(5), testing::ElementsAre(1, 4, 6, 9));
  int farthest = 0;
  for (std::uint32_t chip = 0; chip < 16; ++chip) farthest = std::max(farthest, torus.distance(0, chip));
  EXPECT_EQ(farthest, 4);
  EXPECT_EQ(torus.links(), 66u);
  EXPECT_DOUBLE_EQ(torus.bandwidth(0), 48e9);
  EXPECT_DOUBLE_EQ(torus.bandwidth(torus.network_out()), 100e9);
}

TEST(Topology, AFlowTakesAllShortestWaysAndArrives) {
  const hw::Topology torus{instances(1)};
  for (std::uint32_t to = 0; to < 16; ++to) {
    double shares = 0;
    std::map<std::uint32_t, double> left;  // by the chip that a link leaves
    for (const hw::Hop& hop : torus.route(0, to)) {
      shares += hop.share;
      left[hop.link / 4] += hop.share;
    }
    EXPECT_NEAR(shares, torus.distance(0, to), 1e-12);  // every byte takes as many links
    EXPECT_NEAR(left[0], to > 0 ? 1 : 0, 1e-12);
  }
  EXPECT_EQ(torus.route(0, 10).size(), 32u);  // two rows and two columns away: half of all links
}

TEST(Topology, TheWalkGoesFromNeighbourToNeighbour) {
  const hw::Topology torus{instances(1)};
  std::vector<std::uint32_t> walk(16);
  for (std::uint32_t chip = 0; chip < 16; ++chip) walk[torus.place(chip)] = chip;
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(torus.distance(walk[i], walk[(i + 1) % 16]), 1) << i;
}

double busiest(const hw::ReplicaGroups& table, Pattern pattern, const hw::MachineParams& machine) {
  const hw::Topology torus{machine};
  hw::LinkLoads loads{torus, machine};
  for (const auto& set : table) loads.add(set, pattern, 1);
  return loads.slowest();
}

TEST(LinkLoads, SumTheFlowsOverThem) {
  const auto one = instances(1), two = instances(2);
  const double link = 1 / 48e9, network = 1 / 100e9;
  EXPECT_EQ(busiest(strided(2, 1, 32), Pattern::kRing, one), 0);  // on the chip
  EXPECT_DOUBLE_EQ(busiest(strided(8, 1, 32), Pattern::kRing, one), 0.5 * link);
  EXPECT_DOUBLE_EQ(busiest(strided(32, 1, 32), Pattern::kRing, one), 0.5 * link);
  EXPECT_DOUBLE_EQ(busiest(strided(4, 8, 32), Pattern::kRing, one), link);  // two rings share a column
  EXPECT_DOUBLE_EQ(busiest(strided(64, 1, 64), Pattern::kNetwork, two), network);
  EXPECT_DOUBLE_EQ(busiest(strided(8, 8, 64), Pattern::kNetwork, two), 8 * network);
  EXPECT_DOUBLE_EQ(busiest(strided(2, 32, 64), Pattern::kForward, two), 32 * network);
  // All pairs of 16 chips: 32 cores x 30 others x 32 / 15 hops on average, over 64 links.
  EXPECT_NEAR(busiest(strided(32, 1, 32), Pattern::kMesh, one), 32.0 * 30 * 32 / 15 / 64 * link, 1e-6 * link);
}

TEST(LinkLoads, DataCannotTakeALinkThatIsNotThere) {
  hw::MachineParams machine = instances(2);
  machine.efa_bandwidth.value = 0;
  const hw::Topology torus{machine};
  hw::LinkLoads loads{torus, machine};
  loads.add({0, 32}, Pattern::kForward, 1);
  EXPECT_EQ(loads.loads().size(), 2u);
  EXPECT_THROW(loads.slowest(), base::Error);
}

}  // namespace
