// The roofline of a program small enough to draw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile/roofline.h"

namespace {

using hw::TraceEvent;
using isa::Engine;
using isa::Opcode;

constexpr hw::Fs kMicro = 1'000'000'000;

isa::Tile tile(isa::Space space, int partitions, std::uint32_t cols) {
  isa::Tile t;
  t.space = space;
  t.dtype = isa::Dtype::kBf16;
  t.partitions = static_cast<std::uint16_t>(partitions);
  t.free[0].size = cols;
  return t;
}

isa::Instr instr(Opcode op, Engine engine, std::uint32_t label, std::vector<isa::Wait> waits = {}) {
  isa::Instr i;
  i.op = op;
  i.engine = engine;
  i.label = label;
  i.signal = true;
  i.wait_count = static_cast<std::uint8_t>(waits.size());
  std::ranges::copy(waits, i.waits.begin());
  return i;
}

/// load (dma0) -> matmul (tensor) -> gelu (scalar); a memset on VectorE that nothing waits for.
isa::Program two_loads() {
  isa::Block block{.name = "mlp", .instrs = {}, .registers = 0, .labels = {"load", "matmul", "gelu", "clear"}};
  block.instrs = {instr(Opcode::kDmaCopy, Engine::kSync, 0),
                  instr(Opcode::kMatMul, Engine::kTensor, 1, {{.sem = isa::kFirstDmaSemaphore, .pad = 0, .count = 1}}),
                  instr(Opcode::kActivation, Engine::kScalar, 2, {{.sem = 0, .pad = 0, .count = 1}}),
                  instr(Opcode::kMemset, Engine::kVector, 3)};
  block.instrs.own()[0].a = tile(isa::Space::kHbm, 128, 512);
  block.instrs.own()[0].dst = tile(isa::Space::kSbuf, 128, 512);
  block.instrs.own()[1].a = tile(isa::Space::kSbuf, 128, 128);
  block.instrs.own()[1].b = tile(isa::Space::kSbuf, 128, 512);
  isa::Program p;
  p.blocks = {block};
  p.calls = {{.block = 0, .bases = {}}};
  return p;
}

hw::SimResult times_of_it() {
  const auto event = [](std::uint32_t i, TraceEvent::Track track, std::uint8_t lane, hw::Fs begin, hw::Fs end) {
    return TraceEvent{.begin = begin, .end = end, .call = 0, .instr = i, .track = track, .lane = lane, .rank = 0};
  };
  hw::SimResult r;
  r.total = 20 * kMicro;
  r.calls.push_back({.block = 0, .begin = 0, .end = 20 * kMicro, .dma = {}});
  r.events = {event(0, TraceEvent::Track::kEngine, 4, 0, kMicro),                // issue of the load
              event(3, TraceEvent::Track::kEngine, 1, 0, 8 * kMicro),            // memset
              event(0, TraceEvent::Track::kDmaRing, 0, 2 * kMicro, 9 * kMicro),  // the load itself
              event(1, TraceEvent::Track::kEngine, 0, 9 * kMicro, 15 * kMicro),
              event(2, TraceEvent::Track::kEngine, 2, 16 * kMicro, 19 * kMicro)};
  r.ops = {{0, 1, Opcode::kMatMul, Engine::kTensor, 1, 6 * kMicro, 9 * kMicro},
           {0, 2, Opcode::kActivation, Engine::kScalar, 1, 3 * kMicro, 0},
           {0, 3, Opcode::kMemset, Engine::kVector, 1, 8 * kMicro, 0}};
  r.peaks = {.matmul_flops = 91.75e12, .hbm_bandwidth = 410e9, .link_bandwidth = 0, .dma_bandwidth = 0, .clock = {}};
  return r;
}

TEST(Roofline, MatmulIsHeldAgainstPeakAndBytes) {
  const auto points = analysis::roofline(times_of_it(), two_loads());
  const auto find = [&](std::string_view op) { return *std::ranges::find(points, op, &analysis::RoofPoint::op); };
  const auto matmul = find("matmul");
  EXPECT_DOUBLE_EQ(matmul.matmul_flops, 2.0 * 128 * 128 * 512);
  EXPECT_EQ(matmul.engine, "tensor");
  EXPECT_DOUBLE_EQ(matmul.achieved, 2.0 * 128 * 128 * 512 / 6e-6);
  EXPECT_DOUBLE_EQ(matmul.roof, 91.75e12);  // it moves no HBM byte itself
  EXPECT_NEAR(matmul.share_of_roof, matmul.achieved / 91.75e12 * 100, 1e-9);
  EXPECT_DOUBLE_EQ(find("load").hbm_bytes, 128.0 * 512 * 2);
  EXPECT_DOUBLE_EQ(find("clear").roof, 0);
  EXPECT_EQ(points.front().op, "clear");  // 8 us of VectorE
}

TEST(Roofline, BytesOfTheSameOperationLowerItsRoof) {
  auto p = two_loads();
  p.blocks[0].instrs.own()[0].label = 1;  // the load belongs to the matmul
  const auto points = analysis::roofline(times_of_it(), p);
  const auto matmul = *std::ranges::find(points, "matmul", &analysis::RoofPoint::op);
  EXPECT_DOUBLE_EQ(matmul.intensity, 2.0 * 128 * 128 * 512 / (128 * 512 * 2));
  EXPECT_DOUBLE_EQ(matmul.roof, 128 * 410e9);
}

// 6 us of TensorE, 41 us of HBM: the operation is as fast as its bytes at most.
TEST(Roofline, NoOperationIsAboveItsRoof) {
  auto p = two_loads();
  p.blocks[0].instrs.own()[0].label = 1;
  auto times = times_of_it();
  times.peaks.hbm_bandwidth = 3.2e9;
  const auto points = analysis::roofline(times, p);
  const auto matmul = *std::ranges::find(points, "matmul", &analysis::RoofPoint::op);
  EXPECT_DOUBLE_EQ(matmul.seconds, 6e-6);
  EXPECT_NEAR(matmul.share_of_roof, 100, 1e-9);
}

}  // namespace
