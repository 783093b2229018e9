// Blocks that programs share are those that each would build.
#include <gtest/gtest.h>

#include <algorithm>

#include "isa/asm.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/compile.h"
#include "runtime/graph/autodiff.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;

/// Layers of one width, forward and backward.
runtime::Graph layers(int count, std::int64_t width) {
  runtime::Graph graph{runtime::numerics("bf16")};
  ValueId x = graph.tensor("x", 256, width, Dtype::kBf16, Kind::kInput);
  for (int i = 0; i < count; ++i) {
    graph.enter({.name = "layer", .instance = i, .phase = isa::Phase::kForward});
    const ValueId w = graph.tensor("w" + std::to_string(i), width, width, Dtype::kBf16, Kind::kWeight);
    x = graph.add1(runtime::kActivate, "gelu", {graph.add1(runtime::kMatmul, "up", {x, w})},
                   ActivationAttrs{.fn = isa::Fn::kGelu});
  }
  graph.enter({.name = "loss", .phase = isa::Phase::kForward});
  const ValueId labels = graph.tensor("labels", 256, 1, Dtype::kInt32, Kind::kInput);
  const ValueId shares = graph.tensor("shares", 256, 1, Dtype::kFp32, Kind::kInput);
  const ValueId loss = graph.add(runtime::kCrossEntropy, "loss", {x, labels, shares})[0];
  graph.output(loss, "loss");
  runtime::differentiate(graph, loss);
  return graph;
}

isa::Program program(runtime::Graph graph, runtime::BlockCache* blocks) {
  return runtime::compile(std::move(graph), trn1_target(), {.blocks = blocks}).program;
}

std::string compiled(runtime::Graph graph, runtime::BlockCache* blocks) {
  return isa::print(program(std::move(graph), blocks));
}

std::size_t packed(const isa::Program& program) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.blocks, [](const isa::Block& b) { return b.instrs.is_packed(); }));
}

std::size_t instructions(const isa::Program& program) {
  std::size_t out = 0;
  for (const isa::Block& block : program.blocks) out += block.instrs.size();
  return out;
}

TEST(BlockCache, ProgramsAreTheSameWithIt) {
  runtime::BlockCache blocks{1'000'000};
  for (const std::int64_t width : {256, 640})
    for (const int count : {2, 3, 4}) {
      const std::size_t before = blocks.found();
      EXPECT_EQ(compiled(layers(count, width), &blocks), compiled(layers(count, width), nullptr)) << count;
      EXPECT_EQ(blocks.found() > before, count > 2);
    }
}

TEST(BlockCache, ForgetsTheLeastRecentlyUsed) {
  runtime::BlockCache blocks{1};  // a block alone may have more
  EXPECT_EQ(compiled(layers(3, 256), &blocks), compiled(layers(3, 256), nullptr));
  EXPECT_EQ(compiled(layers(3, 256), &blocks), compiled(layers(3, 256), nullptr));
  EXPECT_EQ(blocks.found(), 0u);
}

TEST(BlockCache, PacksBlocksWithoutAProgramBeyondTheLimit) {
  runtime::BlockCache blocks{1'000'000, instructions(program(layers(2, 256), nullptr))};
  EXPECT_EQ(packed(program(layers(2, 256), &blocks)), 0u);
  EXPECT_EQ(packed(program(layers(2, 256), &blocks)), 0u);
  program(layers(2, 640), &blocks);
  const isa::Program again = program(layers(2, 256), &blocks);
  EXPECT_GT(packed(again), 0u);
  EXPECT_EQ(isa::print(again), compiled(layers(2, 256), nullptr));
}

TEST(BlockCache, LeavesTheBlocksOfAProgramAsTheyAre) {
  const isa::Program alone = program(layers(2, 256), nullptr);
  runtime::BlockCache blocks{1'000'000, instructions(alone)};
  const isa::Program held = program(layers(2, 256), &blocks);
  const isa::Instr* const first = held.blocks[0].instrs.begin();
  const isa::Program other = program(layers(2, 640), &blocks);
  EXPECT_EQ(packed(held), 0u);
  EXPECT_EQ(held.blocks[0].instrs.begin(), first);
  EXPECT_EQ(packed(other), other.blocks.size());  // there was no room for them
}

TEST(BlockCache, PacksAllThatNoProgramHasOnRequest) {
  runtime::BlockCache blocks{1'000'000};
  const isa::Program held = program(layers(2, 640), &blocks);
  program(layers(2, 256), &blocks);
  blocks.pack_idle();
  EXPECT_EQ(packed(held), 0u);
  const isa::Program again = program(layers(2, 256), &blocks);
  EXPECT_EQ(packed(again), again.blocks.size());
}

}  // namespace
