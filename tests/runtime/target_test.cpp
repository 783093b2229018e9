// The compiler follows the target: its clocks decide an order, its memories what is kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "isa/asm.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/program_cache.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;

isa::Target target_of(const std::vector<std::string>& set) { return hw::load_machine("trn1.2xlarge", set).target(); }

/// An MLP with a norm, all engines at work: matmuls, transposes, copies, activations, additions.
runtime::Graph mlp() {
  runtime::Graph graph{runtime::numerics("bf16")};
  graph.enter({.name = "mlp"});
  const ValueId x = graph.tensor("x", 512, 512, Dtype::kBf16, Kind::kInput);
  const ValueId up = graph.tensor("up", 512, 1024, Dtype::kBf16, Kind::kWeight);
  const ValueId down = graph.tensor("down", 1024, 512, Dtype::kBf16, Kind::kWeight);
  const ValueId gamma = graph.tensor("gamma", 1, 512, Dtype::kBf16, Kind::kWeight);
  const ValueId norm = graph.add(runtime::kRmsNorm, "norm", {x, gamma}, NormAttrs{.eps = 1e-5})[0];
  const ValueId hidden = graph.add1(runtime::kActivate, "silu", {graph.add1(runtime::kMatmul, "up", {norm, up})},
                                    ActivationAttrs{.fn = isa::Fn::kSilu});
  graph.output(graph.add1(runtime::kAdd, "sum", {graph.add1(runtime::kMatmul, "down", {hidden, down}), x}), "out");
  return graph;
}

isa::Program compiled_for(const isa::Target& target, runtime::BlockCache* blocks = nullptr) {
  return runtime::compile(mlp(), target, {.name = "mlp", .blocks = blocks}).program;
}

/// The instructions without addresses and waits, which follow from their order.
std::vector<isa::Opcode> order_of(const isa::Program& program) {
  std::vector<isa::Opcode> out;
  for (const isa::Block& block : program.blocks)
    for (const isa::Instr& instr : block.instrs) out.push_back(instr.op);
  return out;
}

TEST(CompileTarget, AClockChangesTheOrderOfInstructions) {
  const auto plain = order_of(compiled_for(trn1_target()));
  for (const char* set : {"vector.clock=0.25x", "scalar.clock=4x", "tensor.clock=0.25x", "dma.rate=0.25x"})
    EXPECT_NE(order_of(compiled_for(target_of({set}))), plain) << set;
  EXPECT_EQ(order_of(compiled_for(target_of({"hbm.bandwidth=0.5x"}))), plain);
}

TEST(CompileTarget, CopiesGoToTheEngineThatIsDoneFirst) {
  const auto copies = [](const isa::Program& program, isa::Engine engine) {
    std::size_t count = 0;
    for (const isa::Block& block : program.blocks)
      count += static_cast<std::size_t>(std::ranges::count_if(
          block.instrs, [&](const isa::Instr& i) { return i.op == isa::Opcode::kTensorCopy && i.engine == engine; }));
    return count;
  };
  const isa::Program plain = compiled_for(trn1_target()), fast = compiled_for(target_of({"vector.clock=100x"}));
  EXPECT_GT(copies(plain, isa::Engine::kScalar), 0u);
  EXPECT_GT(copies(fast, isa::Engine::kVector), copies(plain, isa::Engine::kVector));
  EXPECT_EQ(copies(fast, isa::Engine::kScalar), 0u);  // VectorE would be done before ScalarE has begun
}

TEST(CompileTarget, CachesTellTargetsApart) {
  runtime::BlockCache blocks{1'000'000};
  const isa::Target slow = target_of({"vector.clock=0.25x"});
  compiled_for(trn1_target(), &blocks);
  EXPECT_EQ(isa::print(compiled_for(slow, &blocks)), isa::print(compiled_for(slow)));
  EXPECT_EQ(blocks.found(), 0u);
  compiled_for(slow, &blocks);
  EXPECT_EQ(blocks.found(), 1u);
  const runtime::Graph graph = mlp();
  EXPECT_NE(runtime::program_key(graph, trn1_target(), {}), runtime::program_key(graph, slow, {}));
}

TEST(CompileTarget, BlocksStayInTheMemoriesAndRingsThatThereAre) {
  for (const char* set : {"sbuf.partition=48 KiB", "psum.partition=8 KiB", "dma.rings=4", "sbuf.partition=224 KiB"}) {
    const isa::Target target = target_of({set});
    const isa::Program program = compiled_for(target);
    EXPECT_NO_THROW(isa::check(program, target)) << set;
    for (const isa::Block& block : program.blocks) {
      EXPECT_LE(block.sbuf_bytes, target.geometry.sbuf_partition_bytes) << set;
      EXPECT_LE(block.psum_bytes, target.geometry.psum_partition_bytes) << set;
      for (const isa::Instr& i : block.instrs)
        if (isa::is_dma(i.op)) {
          EXPECT_LT(i.queue, target.geometry.dma_rings) << set;
        }
    }
  }
}

TEST(CompileTarget, WithoutOneNothingIsCompiled) {
  EXPECT_TRUE(fails(base::Fault::kProgram, [] { runtime::compile(mlp(), isa::Target{}, {.name = "mlp"}); },
                    {"does not name the machine"}));
}

}  // namespace
