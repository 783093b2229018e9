#include "analysis/profile/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace {

using analysis::By;
using hw::Hold;
using isa::Engine;
using testing::ElementsAre;

constexpr hw::Fs kUs = 1'000'000'000;  // femtoseconds in a microsecond

int index(Engine engine) { return static_cast<int>(engine); }

isa::Program program() {
  isa::Program p;
  isa::Block layer{
      .name = "layer_forward", .instrs = {}, .registers = 0, .labels = {"layer.attention.softmax", "layer.mlp.matmul"}};
  isa::Instr transpose;
  transpose.op = isa::Opcode::kPeTranspose;
  transpose.engine = Engine::kTensor;
  transpose.a.space = isa::Space::kSbuf;
  transpose.a.dtype = isa::Dtype::kBf16;
  transpose.a.partitions = 128;
  transpose.a.free[0].size = 64;
  layer.instrs = {transpose};
  isa::Block update{.name = "optimizer", .instrs = {}, .registers = 0, .labels = {"adamw"}};
  p.blocks = {layer, update};
  p.calls = {{.block = 0, .bases = {}, .layer = 0}, {.block = 0, .bases = {}, .layer = 1}, {.block = 1, .bases = {}}};
  p.model_flops = 4e6;
  return p;
}

/// 100 us: TensorE busy 40, VectorE 70; 41e6 bytes moved at a nominal 410 GB/s fill all of it.
hw::SimResult result() {
  hw::SimResult r;
  r.total = 100 * kUs;
  r.lead_in = 17 * kUs;
  r.matmul_flops = 5e6;
  r.peaks = {.matmul_flops = 1e12,
             .advertised_flops = 95.5e12,
             .hbm_bandwidth = 410e9,
             .link_bandwidth = 1,
             .dma_bandwidth = 435e9,
             .dma_engines = 16,
             .clock = {}};
  r.peaks.clock[index(Engine::kTensor)] = 2.8e9;
  for (auto& engine : r.engines) engine.idle = r.total;
  auto& tensor = r.engines[index(Engine::kTensor)];
  tensor = {.busy = 40 * kUs, .waiting = {}, .idle = 30 * kUs, .instructions = 12};
  tensor.waiting[static_cast<int>(Hold::kOtherEngine)] = 20 * kUs;
  tensor.waiting[static_cast<int>(Hold::kDma)] = 10 * kUs;
  r.engines[index(Engine::kVector)] = {.busy = 70 * kUs, .waiting = {}, .idle = 30 * kUs, .instructions = 5};
  r.dma = {.transfers = 10,
           .descriptors = 160,
           .read_bytes = 4'000'000,
           .written_bytes = 100'000,
           .active = 50 * kUs,
           .engine_busy = 16 * 25.0 * kUs};
  r.collective_exposed = 5 * kUs;
  const auto call = [](std::uint32_t block, std::int32_t layer, isa::Phase phase, hw::Fs begin, hw::Fs end) {
    return hw::CallTime{.block = block, .layer = layer, .phase = phase, .begin = begin, .end = end, .dma = {}};
  };
  r.calls = {call(0, 10, isa::Phase::kForward, 17 * kUs, 40 * kUs),
             call(0, 2, isa::Phase::kForward, 40 * kUs, 60 * kUs),
             call(1, -1, isa::Phase::kOptimizer, 60 * kUs, 100 * kUs)};
  r.ops = {{0, 0, isa::Opcode::kTensorTensor, Engine::kVector, 4, 30 * kUs, 3 * kUs},
           {0, 0, isa::Opcode::kActivation, Engine::kScalar, 2, 10 * kUs, 0},
           {0, 1, isa::Opcode::kMatMul, Engine::kTensor, 8, 40 * kUs, 30 * kUs},
           {1, 0, isa::Opcode::kTensorTensor, Engine::kVector, 1, 20 * kUs, 0}};
  return r;
}

std::vector<std::string> keys(const std::vector<analysis::Group>& groups) {
  std::vector<std::string> list;
  for (const auto& group : groups) list.push_back(group.key);
  return list;
}

TEST(Stats, BusyWaitingAndIdleAreAHundredPerCent) {
  const auto shares = analysis::engine_shares(result());
  ASSERT_EQ(shares.size(), 5u);
  for (const auto& share : shares) EXPECT_NEAR(share.busy + share.waited() + share.idle, 100, 1e-9) << share.engine;
  EXPECT_DOUBLE_EQ(shares[0].busy, 40);
  EXPECT_DOUBLE_EQ(shares[0].waiting[static_cast<int>(Hold::kDma)], 10);
}

TEST(Stats, TimeThatIsNotBookedIsAnError) {
  auto r = result();
  r.engines[1].idle -= 1;
  EXPECT_THROW(analysis::engine_shares(r), base::Error);
}

TEST(Stats, UtilisationFollowsItsDefinitions) {
  const auto u = analysis::utilisation(result(), program());
  EXPECT_DOUBLE_EQ(u.mfu, 4.0);  // 4e6 of 1e12 * 100 us = 1e8
  EXPECT_NEAR(u.mfu_advertised, 4e6 / (95.5e12 * 100e-6) * 100, 1e-9);
  // Two calls of a [128, 64] transpose by identity matmul: 2 * 128 * 128 * 64 each.
  EXPECT_DOUBLE_EQ(u.transpose_flops, 2 * 2.0 * 128 * 128 * 64);
  EXPECT_NEAR(u.hfu, (5e6 + u.transpose_flops) / 1e8 * 100, 1e-9);
  EXPECT_NEAR(u.mbu, 10.0, 1e-9);  // 4.1 MB in 100 us = 41 GB/s of 410
  EXPECT_NEAR(u.intensity, 5e6 / 4.1e6, 1e-12);
  EXPECT_NEAR(u.mfu_achievable, u.intensity / (1e12 / 410e9) * 100, 1e-9);
}

TEST(Stats, TheBusiestResourceBinds) {
  const auto list = analysis::resources(result());
  EXPECT_EQ(list[0].name, "vector");
  EXPECT_DOUBLE_EQ(list[0].busy, 70);
  EXPECT_EQ(list[1].name, "tensor");
  EXPECT_DOUBLE_EQ(list[1].waiting, 30);
  EXPECT_EQ(list[2].name, "dma engines");
  EXPECT_DOUBLE_EQ(list[2].busy, 25);
}

TEST(Stats, TimeIsGroupedByKindOfInstruction) {
  const auto ops = time_by(By::kOp, result(), program());
  EXPECT_THAT(keys(ops), ElementsAre("layer.attention.softmax", "layer.mlp.matmul", "adamw"));
  EXPECT_DOUBLE_EQ(ops[0].busy, 40e-6);
  EXPECT_DOUBLE_EQ(ops[0].share, 40);
  EXPECT_EQ(ops[0].count, 6u);
  EXPECT_THAT(keys(time_by(By::kPart, result(), program())), ElementsAre("matmul", "softmax", "adamw"));
  const auto engines = time_by(By::kEngine, result(), program());
  EXPECT_THAT(keys(engines), ElementsAre("vector", "tensor", "scalar"));
  EXPECT_DOUBLE_EQ(engines[1].waiting, 30e-6);
  EXPECT_THAT(keys(time_by(By::kOpcode, result(), program())), ElementsAre("tensor_tensor", "matmul", "activation"));
}

TEST(Stats, TimeIsGroupedByItsPlaceInTheUsersProgram) {
  isa::Program graph = program();
  graph.blocks[0].labels = {"softmax at a model.py:12", "dot_general at a model.py:12"};
  EXPECT_THAT(keys(time_by(By::kSource, result(), graph)), ElementsAre("a model.py:12", "(no source)"));
  EXPECT_THAT(keys(time_by(By::kOp, result(), graph)), ElementsAre("dot_general", "softmax", "adamw"));
  EXPECT_THAT(keys(time_by(By::kPart, result(), graph)), ElementsAre("dot_general", "softmax", "adamw"));
  EXPECT_THAT(keys(time_by(By::kSource, result(), program())), ElementsAre("(no source)"));
}

TEST(Stats, TimeIsGroupedByWhereTheCallsAre) {
  const auto layers = time_by(By::kLayer, result(), program());
  EXPECT_THAT(keys(layers), ElementsAre("2", "10", "(exposed collectives)", "(launch and gaps)", "(outside layers)"));
  EXPECT_DOUBLE_EQ(layers[1].busy, 23e-6);
  double step = 0;
  for (const analysis::Group& group : layers) step += group.busy;
  EXPECT_NEAR(step, hw::seconds(result().total), 1e-15) << "parts add up to the whole";
  EXPECT_THAT(keys(time_by(By::kPhase, result(), program())),
              ElementsAre("forward", "optimizer", "(launch and gaps)", "(exposed collectives)"));
  EXPECT_THAT(keys(time_by(By::kBlock, result(), program())),
              ElementsAre("layer_forward", "optimizer", "(launch and gaps)", "(exposed collectives)"));
}

TEST(Stats, AMisspeltGroupingGetsASuggestion) {
  EXPECT_EQ(analysis::parse_by("layer"), By::kLayer);
  try {
    analysis::parse_by("layr");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("layer"));
  }
}

TEST(Stats, TheSummaryNamesEachFigureOnce) {
  const auto stats = analysis::summary_stats(result(), program());
  std::set<std::string> names;
  for (const auto& stat : stats) EXPECT_TRUE(names.insert(stat.name).second) << stat.name;
  const auto value = [&](std::string_view name) {
    return std::ranges::find(stats, name, &analysis::Stat::name)->value;
  };
  EXPECT_DOUBLE_EQ(value("total_time"), 100e-6);
  EXPECT_DOUBLE_EQ(value("neuroncore_cycle_count"), 280'000);
  EXPECT_DOUBLE_EQ(value("dma_transfer_average_bytes"), 410'000);
  EXPECT_DOUBLE_EQ(value("tensor_engine_wait_other_engine_percent"), 20);
  EXPECT_NEAR(value("vector_engine_active_time"), 70e-6, 1e-15);
}

}  // namespace
