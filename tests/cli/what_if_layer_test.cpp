// Sanity of what-ifs on a training step of a BERT-base layer: the machine responds to its parameters as physics would.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/params.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "workloads/models/bert/bert_graph.h"

namespace {

using base::Dimension;

/// On both cores of a chip, with the all-reduce of its gradients.
const isa::Program& layer_step() {
  static const isa::Program program = [] {
    workloads::BertConfig config = workloads_test::bert_preset("bert-base-uncased");
    config.num_hidden_layers = 1;
    config.vocab_size = 1024;
    const workloads::Step spec{.plan = {.data = 2, .micro_batch = 2, .numerics = runtime::numerics("bf16")},
                               .kind = {.length = 128}};
    return runtime::compile(workloads::bert_graph(config, spec).graph, trn1_target(), {.name = "layer", .ranks = 2})
        .program;
  }();
  return program;
}

hw::SimResult layer_on(const std::vector<std::string>& overrides) {
  return hw::simulate_in_child(layer_step(), hw::load_machine("trn1.2xlarge", overrides), {});
}

double device_seconds(const std::vector<std::string>& overrides) {
  const hw::SimResult result = layer_on(overrides);
  return hw::seconds(result.total - result.lead_in);
}

bool speeds(const hw::MachineParams::Field& field) {
  return field.dimension == Dimension::kFrequency || field.dimension == Dimension::kBandwidth;
}

std::string times(const hw::MachineParams::Field& field, const char* factor) {
  return std::string{field.key} + "=" + factor;
}

TEST(WhatIfLayer, MoreOfAnyResourceNeverSlowsItByMoreThanAPerCent) {
  const double base = device_seconds({});
  int faster = 0;
  for (const auto& field : hw::MachineParams::fields()) {
    const char* factor = speeds(field) ? "2x" : field.dimension == Dimension::kTime ? "0.5x" : nullptr;
    if (factor == nullptr) continue;
    const double now = device_seconds({times(field, factor)});
    EXPECT_LE(now, base * 1.01) << field.key;
    faster += now < base * 0.999;
  }
  EXPECT_GE(faster, 3);  // something binds
}

TEST(WhatIfLayer, TwiceTheSpeedOfEverythingHalvesTheTime) {
  std::vector<std::string> all;
  for (const auto& field : hw::MachineParams::fields()) {
    if (speeds(field)) all.push_back(times(field, "2x"));
    if (field.dimension == Dimension::kTime) all.push_back(times(field, "0.5x"));
  }
  const double half = device_seconds({}) / 2;
  EXPECT_NEAR(device_seconds(all), half, 0.02 * half);
}

TEST(WhatIfLayer, CollectivesThatCostNothingBoundTheGain) {
  const hw::SimResult base = layer_on({});
  EXPECT_GT(base.collective_active, 0u);
  const double now = device_seconds({});
  const double free = device_seconds({"collective.floor=0 s", "collective.peer=0 s", "collective.barrier=0 s",
                                      "collective.bandwidth=1000x", "link.bandwidth=1000x"});
  EXPECT_LE(free, now);
  // At most what the engines waited for collectives can be gained, and whatever they took from the others' memory.
  EXPECT_GE(free, now - hw::seconds(base.collective_active));
  for (const char* plan : {"collective.bandwidth=2x", "collective.bandwidth=10x", "collective.floor=0.5x"})
    EXPECT_GE(device_seconds({plan}), free * 0.99) << plan;
}

}  // namespace
