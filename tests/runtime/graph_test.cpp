// Errors of graphs and the compiler, with their texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/compiler/emitter.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;
using base::Fault;

Graph fp32() { return Graph{runtime::numerics("fp32")}; }

TEST(Graph, RefusesTensorsWithoutSizeOrWithATakenName) {
  Graph g = fp32();
  g.tensor("x", 1, 1, Dtype::kFp32, Kind::kInput);
  EXPECT_TRUE(fails(Fault::kProgram, [&] { g.tensor("y", 0, 4, Dtype::kFp32, Kind::kInput); }, {"tensor y", "[0, 4]"}));
  EXPECT_TRUE(fails(Fault::kProgram, [&] { g.tensor("x", 2, 2, Dtype::kFp32, Kind::kInput); }, {"tensor x", "exists"}));
}

TEST(Graph, NamesTheNodeWhoseOperandDoesNotFit) {
  Graph g = fp32();
  const ValueId x = g.tensor("x", 4, 6, Dtype::kFp32, Kind::kInput),
                w = g.tensor("w", 5, 7, Dtype::kFp32, Kind::kInput);
  EXPECT_TRUE(fails(Fault::kProgram,
                    [&] {
                      g.add1(runtime::kMatmul, "layer.query", {x, w});
                    },
                    {"matmul layer.query: w", "is [5, 7] but must be [6, 7]"}));
  EXPECT_TRUE(fails(Fault::kProgram,
                    [&] {
                      g.add1(runtime::kAdd, "residual", {x, w});
                    },
                    {"add residual", "is [5, 7] but must be [4, 6]"}));
  EXPECT_TRUE(fails(Fault::kProgram,
                    [&] {
                      g.add(runtime::kLayerNorm, "norm", {x, x, x});
                    },
                    {"layernorm norm: gamma", "is [4, 6] but must be [1, 6]"}));
}

TEST(Graph, EveryOperationHasAnotherNameAndOneLowering) {
  std::set<std::string_view> names;
  for (const Op* op : runtime::all_ops()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_FALSE(op->text.empty()) << op->name;
    EXPECT_EQ((op->lower_columns != nullptr) + (op->lower_rows != nullptr) + (op->lower_whole != nullptr) +
                  (op->row_product ? 1 : 0),
              1)
        << op->name;
    EXPECT_EQ(bool{op->row_product}, op->row_product.shared_bytes && op->row_product.staged_bytes) << op->name;
  }
  EXPECT_GE(names.size(), 25u);
}

/// x -> double -> add, in scopes named by the caller.
Graph in_scopes(const char* first, const char* second, const char* third) {
  Graph g = fp32();
  const ValueId x = g.tensor("x", 4, 6, Dtype::kFp32, Kind::kInput);
  g.enter({.name = first});
  const ValueId a = g.add1(runtime::kAffine, "a", {x}, AffineAttrs{.alpha = 2});
  g.enter({.name = second});
  const ValueId b = g.add1(runtime::kAffine, "b", {a}, AffineAttrs{.alpha = 3});
  g.enter({.name = third});
  g.output(g.add1(runtime::kAdd, "c", {a, b}), "c");
  return g;
}

TEST(Compile, RefusesAScopeThatRunsBeforeItsOperands) {
  EXPECT_TRUE(fails(Fault::kInternal,
                    [] { runtime::compile(in_scopes("one", "two", "one"), trn1_target(), {.name = "test"}); },
                    {"c", "its scope runs before the scope of an operand"}));
  EXPECT_EQ(runtime::compile(in_scopes("one", "two", "three"), trn1_target(), {.name = "test"}).program.calls.size(),
            3u);
}

TEST(Compile, SharesTheBlocksOfEqualLayers) {
  Graph g = fp32();
  ValueId x = g.tensor("x", 130, 192, Dtype::kFp32, Kind::kInput);
  for (int l = 0; l < 5; ++l) {
    const ValueId w = g.tensor(fmt::format("w{}", l), 192, 192, Dtype::kFp32, Kind::kWeight);
    g.enter({.name = "layer", .instance = 7 + l, .rng = static_cast<std::uint32_t>(l), .layer = l});
    x = g.add1(runtime::kMatmul, "product", {x, w}, MatmulAttrs{.alpha = 1.0 / 14});
  }
  g.output(x, "y");
  Running running{std::move(g)};
  const isa::Program& program = running.compiled().program;
  ASSERT_EQ(program.calls.size(), 5u);
  EXPECT_EQ(program.blocks.size(), 3u);  // the first reads an input, the last writes an output
  for (int l = 0; l < 5; ++l) EXPECT_EQ(program.calls[static_cast<std::size_t>(l)].layer, l);
  EXPECT_EQ(program.model_flops, 5 * 2.0 * 130 * 192 * 192);

  Tensor want = random_normal(130, 192, 1);
  running.write("x", want);
  for (std::uint32_t l = 0; l < 5; ++l) {
    const Tensor w = random_normal(192, 192, 10 + l);
    running.write(fmt::format("w{}", l), w);
    want = runtime::kMatmul.forward(MatmulAttrs{.alpha = 1.0 / 14}, Tensors{want, w})[0];
  }
  running.run();
  EXPECT_TRUE(close(running.read("y"), want, {.ulps = 64, .floor = 1}));
}

TEST(Compile, PrintsTheMemoryWhenItDoesNotFit) {
  const auto build = [] {
    Graph g = fp32();
    const ValueId x = g.tensor("x", 256, 192, Dtype::kFp32, Kind::kInput),
                  w = g.tensor("w", 192, 320, Dtype::kFp32, Kind::kWeight);
    g.enter({.name = "one"});
    const ValueId y = g.add1(runtime::kMatmul, "product", {x, w});
    g.enter({.name = "two"});
    g.output(g.add1(runtime::kColSum, "sum", {y}), "y");
    return g;
  };
  const runtime::MemoryPlan plan = runtime::compile(build(), trn1_target(), {.name = "test"}).memory;
  EXPECT_EQ(plan.bytes_by_kind.at("weights"), 192u * 320 * 4);
  EXPECT_EQ(plan.bytes_by_kind.at("activations"), 256u * 320 * 4);
  EXPECT_EQ(plan.bytes_by_kind.at("inputs"), 256u * 192 * 4);
  EXPECT_NO_THROW(runtime::compile(build(), trn1_target(), {.name = "test", .hbm_bytes = plan.total}));
  EXPECT_TRUE(fails(Fault::kCapacity,
                    [&] { runtime::compile(build(), trn1_target(), {.name = "job", .hbm_bytes = plan.total - 1}); },
                    {"job", "of HBM but has", "weights", "activations", "inputs", "outputs", "batch_size"}));
}

// The tensors' memory is known before any instruction is made, and is never more than the whole plan's.
TEST(Compile, GivesUpEarlyWhenNothingFits) {
  const auto build = [](std::int64_t width) {
    Graph g = fp32();
    ValueId x = g.tensor("x", 256, width, Dtype::kFp32, Kind::kInput);
    for (int i = 0; i < 6; ++i) {
      g.enter({.name = "layer", .instance = i});
      const ValueId w = g.tensor(fmt::format("w{}", i), width, width, Dtype::kFp32, Kind::kWeight);
      const ValueId hidden = g.add1(runtime::kActivate, "gelu", {g.add1(runtime::kMatmul, "up", {x, w})},
                                    ActivationAttrs{.fn = isa::Fn::kGelu});  // stays in SBUF
      x = g.add1(runtime::kMatmul, "down", {hidden, w}, MatmulAttrs{.trans_b = true});
    }
    g.output(x, "y");
    return g;
  };
  for (const std::int64_t width : {128, 320}) {
    const runtime::MemoryPlan plan = runtime::compile(build(width), trn1_target(), {.name = "test"}).memory;
    const auto compile_below = [&](std::uint64_t most) {
      return runtime::compile(build(width), trn1_target(),
                              {.name = "test", .give_up = [=](const auto& memory) { return memory.total > most; }});
    };
    const runtime::Compiled given_up = compile_below(1);
    const std::uint64_t least = given_up.memory.total;
    EXPECT_TRUE(given_up.given_up);
    EXPECT_TRUE(given_up.program.blocks.empty());
    EXPECT_LE(least, plan.total) << width;
    EXPECT_GE(least, plan.bytes_by_kind.at("weights") + 2 * 256u * static_cast<std::uint64_t>(width) * 4) << width;
    EXPECT_TRUE(compile_below(least - 1).given_up);
    const runtime::Compiled whole = compile_below(least);
    EXPECT_FALSE(whole.given_up);
    EXPECT_EQ(whole.memory.total, plan.total);
  }
}

// Activations live until their last reader: a chain of eight needs two places.
TEST(Compile, ReusesTheMemoryOfActivations) {
  Graph g = fp32();
  ValueId x = g.tensor("x", 128, 128, Dtype::kFp32, Kind::kInput);
  for (int l = 0; l < 8; ++l) {
    g.enter({.name = "layer", .instance = l});
    x = g.add1(runtime::kAffine, "twice", {x}, AffineAttrs{.alpha = 2});
  }
  g.output(x, "y");
  Running running{std::move(g)};
  EXPECT_EQ(running.compiled().memory.bytes_by_kind.at("activations"), 2u * 128 * 128 * 4);
  EXPECT_EQ(running.compiled().memory.activations_without_reuse, 7u * 128 * 128 * 4);
  const Tensor t = random_normal(128, 128, 1);
  running.write("x", t);
  running.run();
  EXPECT_TRUE(same(running.read("y"), runtime::generate(128, 128, [&](auto r, auto c) { return 256 * t.at(r, c); })));
}

/// Two layers with a weight of their own each, or with one that they share, and a loss behind them.
Graph two_layers(bool shared) {
  constexpr std::int64_t kWide = 128;
  Graph g = fp32();
  ValueId x = g.tensor("x", kWide, kWide, Dtype::kFp32, Kind::kInput);
  const ValueId first = g.tensor("w0", kWide, kWide, Dtype::kFp32, Kind::kWeight);
  const ValueId second = shared ? first : g.tensor("w1", kWide, kWide, Dtype::kFp32, Kind::kWeight);
  for (int l = 0; l < 2; ++l) {
    g.enter({.name = "layer", .instance = l, .phase = isa::Phase::kForward, .layer = l});
    x = g.add1(runtime::kMatmul, "product", {x, l == 0 ? first : second});
  }
  const ValueId labels = g.tensor("labels", kWide, 1, Dtype::kInt32, Kind::kInput);
  const ValueId shares = g.tensor("shares", kWide, 1, Dtype::kFp32, Kind::kInput);
  const auto loss = g.add(runtime::kCrossEntropy, "loss", {x, labels, shares});
  g.output(loss[0], "loss");
  runtime::differentiate(g, loss[0]);
  return g;
}

// The gradient of a weight that two layers share is a sum, whose first part waits where the sum will be.
TEST(Compile, PartsOfAGradientTakeNoMemoryOfTheirOwn) {
  const auto run = [](bool shared) {
    Running running{two_layers(shared)};
    const Tensor w = random_normal(128, 128, 2, 0.1);
    running.write("x", random_normal(128, 128, 1));
    running.write("w0", w);
    if (!shared) running.write("w1", w);
    running.write("labels", random_ids(128, 128, 3));
    running.write("shares", runtime::generate(128, 1, [](auto, auto) { return 1.0 / 128; }));
    running.run();
    std::vector<Tensor> gradients{running.read("grad.w0")};
    if (!shared) gradients.push_back(running.read("grad.w1"));
    return std::pair{gradients, running.compiled().memory.bytes_by_kind.at("activations")};
  };
  const auto [sum, together] = run(true);
  const auto [parts, apart] = run(false);
  EXPECT_EQ(together, apart);
  EXPECT_TRUE(close(sum[0],
                    runtime::generate(128, 128, [&](auto r, auto c) { return parts[0].at(r, c) + parts[1].at(r, c); }),
                    {.ulps = 2, .floor = 1e-3}));
}

TEST(Session, RefusesUnknownNamesAndOtherSizes) {
  Graph g = fp32();
  const ValueId x = g.tensor("x", 4, 6, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "test"});
  g.output(g.add1(runtime::kAffine, "y", {x}, AffineAttrs{.alpha = 2}), "y");
  Running running{std::move(g)};
  EXPECT_TRUE(fails(Fault::kInternal, [&] { running.read("z"); }, {"'z'"}));
  EXPECT_TRUE(fails(Fault::kInternal, [&] { running.write("x", Tensor(4, 5)); }, {"x", "24 elements, given 20"}));
  runtime::Session session{running.device(), running.compiled().program};
  EXPECT_TRUE(session.has("x"));
  EXPECT_FALSE(session.has("z"));
  EXPECT_EQ(session.bytes(0, "x").size(), 96u);
}

TEST(Numerics, AreNamed) {
  for (const std::string& name : runtime::numerics_names()) EXPECT_EQ(runtime::numerics(name).name, name);
  EXPECT_EQ(runtime::numerics("bf16+sr").rounding, isa::Rounding::kStochastic);
  EXPECT_EQ(runtime::numerics("fp32+bf16-matmul").operand, Dtype::kBf16);
  EXPECT_TRUE(fails(Fault::kUsage, [] { runtime::numerics("bf61"); }, {"`numerics`", "'bf61'", "bf16"}));
}

}  // namespace
