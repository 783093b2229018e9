// Sanity of what-ifs: the simulated machine responds to its parameters as physics would.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/analysis/recorded.h"

namespace {

using base::Dimension;

double seconds(const std::vector<std::string>& overrides) {
  return hw::seconds(recorded::simulated(recorded::layers(4), false, tiny::trn1(overrides)).total);
}

/// Parameters that are a speed: doubling them is more of a resource.
bool is_speed(const hw::MachineParams::Field& field) {
  return field.dimension == Dimension::kFrequency || field.dimension == Dimension::kBandwidth;
}

std::string change(const hw::MachineParams::Field& field, const char* factor) {
  return std::string{field.key} + "=" + factor;
}

TEST(WhatIf, MoreOfAnyResourceSlowsNothingDown) {
  const double base = seconds({});
  for (const auto& field : hw::MachineParams::fields()) {
    if (is_speed(field)) {
      EXPECT_LE(seconds({change(field, "2x")}), base * 1.01) << field.key;
    }
    if (field.dimension == Dimension::kTime) {
      EXPECT_LE(seconds({change(field, "0.5x")}), base * 1.01) << field.key;
    }
  }
}

TEST(WhatIf, TwiceTheSpeedOfEverythingHalvesTheTime) {
  std::vector<std::string> all;
  for (const auto& field : hw::MachineParams::fields()) {
    if (is_speed(field)) all.push_back(change(field, "2x"));
    if (field.dimension == Dimension::kTime) all.push_back(change(field, "0.5x"));
  }
  const double base = seconds({});
  EXPECT_NEAR(seconds(all), base / 2, 0.02 * base / 2);
}

TEST(WhatIf, CollectivesThatCostNothingBoundTheGain) {
  const double base = seconds({});
  const double free = seconds({"collective.floor=0 s", "collective.peer=0 s", "collective.barrier=0 s",
                               "collective.bandwidth=1000x", "link.bandwidth=1000x"});
  EXPECT_LT(free, base);  // the program has an exposed all-reduce
  for (const char* plan : {"collective.bandwidth=2x", "collective.bandwidth=10x", "collective.floor=0.5x"})
    EXPECT_GE(seconds({plan}), free * 0.99) << plan;
}

}  // namespace
