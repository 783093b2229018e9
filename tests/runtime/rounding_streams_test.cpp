// Stochastic rounding draws the same numbers whatever a machine's times are, and however they order instructions.
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;

constexpr std::int64_t kHigh = 200, kWide = 300;

struct StreamRun {
  std::vector<isa::Opcode> order;  // of the instructions
  std::vector<float> result;
};

/// A product, its bias and GELU, and their sum with the operand.
StreamRun rounded_on(const isa::Target& target, const char* passes) {
  Graph g{runtime::numerics("bf16+sr")};
  const ValueId x = g.tensor("x", kHigh, kWide, Dtype::kBf16, Kind::kInput);
  const ValueId w = g.tensor("w", kWide, kWide, Dtype::kBf16, Kind::kInput);
  const ValueId b = g.tensor("b", 1, kWide, Dtype::kBf16, Kind::kInput);
  g.enter({.name = "layer"});
  const ValueId y = g.add1(runtime::kAdd, "bias", {g.add1(runtime::kMatmul, "product", {x, w}), b});
  const ValueId z = g.add1(runtime::kActivate, "gelu", {y}, ActivationAttrs{.fn = isa::Fn::kGelu});
  g.output(g.add1(runtime::kAdd, "sum", {x, z}), "out");
  const auto compiled =
      runtime::compile(std::move(g), target, {.name = "rounded", .passes = runtime::parse_passes(passes)});
  const auto device = isa::make_numeric_device();
  device->load(compiled.program);
  runtime::Session session{*device, compiled.program};
  session.write(0, "x", random_normal(kHigh, kWide, 1).data);
  session.write(0, "w", random_normal(kWide, kWide, 2).data);
  session.write(0, "b", random_normal(1, kWide, 3).data);
  device->run({.seed = 42, .step = 0, .host_threads = 2});
  StreamRun out{.order = {}, .result = session.read(0, "out")};
  for (const isa::Instr& i : compiled.program.blocks.at(0).instrs) out.order.push_back(i.op);
  return out;
}

TEST(RoundingStreams, AreThoseOfEveryOrderOfInstructions) {
  const StreamRun moved = rounded_on(trn1_target(), ""), written = rounded_on(trn1_target(), "-reorder");
  EXPECT_NE(moved.order, written.order) << "nothing moves: the test shows nothing";
  EXPECT_EQ(moved.result, written.result);
}

TEST(RoundingStreams, DoNotDependOnTimes) {
  isa::Target slow = trn1_target();
  slow.timing.semaphore *= 50;
  slow.timing.dma.start /= 50;
  slow.timing.fixed.fill(0);
  const StreamRun here = rounded_on(trn1_target(), ""), there = rounded_on(slow, "");
  EXPECT_NE(here.order, there.order) << "nothing moves: the test shows nothing";
  EXPECT_EQ(here.result, there.result);
}

}  // namespace
