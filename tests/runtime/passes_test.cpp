// Passes change where data goes and when, not what is computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/autodiff.h"
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kAdd;
using runtime::kMatmul;

constexpr std::int64_t kSeq = 130, kTileRows = 2 * kSeq, kHidden = 192, kMiddle = 600, kLabels = 6;

/// A transformer layer with dropout and a classifier, forward and backward.
class Layer {
 public:
  explicit Layer(std::string_view numerics) : graph_{runtime::numerics(numerics)} {
    const ValueId x = weight("x", kTileRows, kHidden);
    graph_.enter({.name = "layer", .phase = isa::Phase::kForward, .rng = 3});
    const ValueId q = linear("q", x, kHidden, kHidden), k = linear("k", x, kHidden, kHidden);
    const ValueId v = linear("v", x, kHidden, kHidden);
    const AttentionAttrs heads{
        .scale = 0.125, .batch = 2, .seq = kSeq, .heads = 3, .kv_heads = 3, .p = 0.1, .stream = 1};
    ValueId y = linear("o", graph_.add(runtime::kAttention, "heads", {q, k, v}, heads)[0], kHidden, kHidden);
    y = graph_.add1(runtime::kDropout, "drop", {y}, DropoutAttrs{.p = 0.1, .stream = 2});
    y = norm("norm1", graph_.add1(kAdd, "residual1", {y, x}));
    ValueId h = graph_.add1(runtime::kActivate, "gelu", {linear("up", y, kHidden, kMiddle)},
                            ActivationAttrs{.fn = isa::Fn::kGelu});
    h = graph_.add1(kAdd, "residual2", {linear("down", h, kMiddle, kHidden), y});
    const ValueId logits = linear("logits", norm("norm2", h), kHidden, kLabels);
    const ValueId labels = graph_.tensor("labels", kTileRows, 1, Dtype::kInt32, Kind::kInput);
    const ValueId shares = graph_.tensor("shares", kTileRows, 1, Dtype::kFp32, Kind::kInput);
    const auto loss = graph_.add(runtime::kCrossEntropy, "loss", {logits, labels, shares});
    graph_.output(loss[0], "loss");
    runtime::differentiate(graph_, loss[0]);
  }

  /// All gradients and the losses after one run.
  std::map<std::string, Tensor> run(const runtime::Passes& passes) const {
    Running running{graph_, {.name = "layer", .passes = passes}};
    notes = running.compiled().notes;
    std::uint32_t seed = 0;
    for (const auto& [name, shape] : weights_) {
      const double scale = name == "x" ? 1 : 1 / std::sqrt(static_cast<double>(shape.first));
      running.write(name, random_normal(shape.first, shape.second, ++seed, scale));
    }
    running.write("labels", random_ids(kTileRows, kLabels, 77));
    running.write("shares", runtime::generate(kTileRows, 1, [](auto, auto) { return 1.0 / kTileRows; }));
    running.run();
    std::map<std::string, Tensor> out{{"loss", running.read("loss")}};
    for (const auto& [name, shape] : weights_) out[name] = running.read("grad." + name);
    return out;
  }
  mutable std::vector<runtime::PassNote> notes;  // of the last run
  std::size_t note(std::string_view pass) const {
    for (const auto& n : notes)
      if (n.pass == pass) return n.count;
    return 0;
  }

 private:
  ValueId weight(const std::string& name, std::int64_t rows, std::int64_t cols) {
    weights_[name] = {rows, cols};
    return graph_.tensor(name, rows, cols, graph_.numerics().weight, Kind::kWeight);
  }
  ValueId linear(const std::string& name, ValueId x, std::int64_t rows, std::int64_t cols) {
    const ValueId y = graph_.add1(kMatmul, name, {x, weight(name, rows, cols)});
    return graph_.add1(kAdd, name + ".bias", {y, weight(name + ".bias", 1, cols)});
  }
  ValueId norm(const std::string& name, ValueId x) {
    return graph_.add(runtime::kLayerNorm, name,
                      {x, weight(name + ".gamma", 1, kHidden), weight(name + ".beta", 1, kHidden)},
                      NormAttrs{.eps = 1e-12})[0];
  }

  Graph graph_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> weights_;
};

std::map<std::string, Tensor> run(const Layer& layer, const char* passes) {
  return layer.run(runtime::parse_passes(passes));
}

double norm(const Tensor& t) {
  double sum = 0;
  for (const float x : t.data) sum += static_cast<double>(x) * x;
  return std::sqrt(sum);
}

/// ||a - b|| <= limit ||b|| for each tensor. The keys' bias has no gradient but rounding, and is held against the
/// queries' one.
void expect_near(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b, double limit) {
  for (const auto& [name, t] : b) {
    Tensor difference = a.at(name);
    for (std::size_t i = 0; i < t.data.size(); ++i) difference.data[i] -= t.data[i];
    const double size = name == "k.bias" ? norm(b.at("q.bias")) : norm(t);
    ASSERT_GT(size, 0) << name;
    EXPECT_LE(norm(difference), limit * size) << name;
  }
}

TEST(Passes, DataMovementPassesKeepEveryBit) {
  for (const char* numerics : {"fp32", "bf16"}) {
    const Layer layer{numerics};
    const auto all = run(layer, "");
    for (const char* passes : {"-double_buffering", "-reorder", "-double_buffering,-reorder"}) {
      const auto other = run(layer, passes);
      for (const auto& [name, t] : all)
        EXPECT_TRUE(same(other.at(name), t)) << numerics << " " << passes << " " << name;
    }
  }
}

// In fp32 nothing is rounded on the way through HBM, and sums run over the same tiles in the same order: 1e-5 covers
// the different rounding of another engine.
TEST(Passes, ChangeNoNumbersInFp32) {
  const Layer layer{"fp32"};
  const auto all = run(layer, "");
  EXPECT_GT(layer.note("fusion"), 10u);
  EXPECT_GT(layer.note("bias_gradient"), 4u);
  for (const char* passes : {"-fusion", "-bias_gradient", "-cse", "-fusion,-bias_gradient,-cse"})
    expect_near(run(layer, passes), all, 1e-5);
  EXPECT_EQ(layer.note("fusion"), 0u);
  EXPECT_EQ(layer.note("bias_gradient"), 0u);
}

// In bf16 each way through HBM rounds to 8 bits: the tensors differ by a few 2^-9.
TEST(Passes, ChangeRoundingOnlyInBf16) {
  const Layer layer{"bf16"};
  expect_near(run(layer, "-fusion"), run(layer, ""), 0.03);
}

/// x up + bias, GELU, down; 2500 columns in between, of which only chunks are kept unless a node reads whole rows.
Graph wide_mlp(std::int64_t k) {
  Graph g{runtime::numerics("fp32")};
  const ValueId x = g.tensor("x", 300, k, Dtype::kFp32, Kind::kInput);
  const ValueId up = g.tensor("up", k, 2500, Dtype::kFp32, Kind::kInput);
  const ValueId bias = g.tensor("bias", 1, 2500, Dtype::kFp32, Kind::kInput);
  const ValueId down = g.tensor("down", 2500, 130, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "mlp"});
  const ValueId h = g.add1(kAdd, "bias", {g.add1(kMatmul, "up", {x, up}), bias});
  const ValueId y = g.add1(runtime::kActivate, "gelu", {h}, ActivationAttrs{.fn = isa::Fn::kGelu});
  g.output(h, "h");
  g.output(g.add1(kMatmul, "down", {y, down}), "y");
  return g;
}

// With resident weights all is one group; with streamed ones (10 x 10 KB of each partition) the second matmul is not.
TEST(Passes, FuseBehindResidentAndStreamedWeights) {
  for (const std::int64_t k : {256, 1250}) {
    const auto results = [&](const char* passes) {
      Running running{wide_mlp(k), {.name = "mlp", .passes = runtime::parse_passes(passes)}};
      running.write("x", random_normal(300, k, 1));
      running.write("up", random_normal(k, 2500, 2, 1 / std::sqrt(static_cast<double>(k))));
      running.write("bias", random_normal(1, 2500, 3));
      running.write("down", random_normal(2500, 130, 4, 1.0 / 50));
      running.run();
      return std::map<std::string, Tensor>{{"h", running.read("h")}, {"y", running.read("y")}};
    };
    const auto fused = results(""), unfused = results("-fusion");
    EXPECT_TRUE(close(fused.at("h"), unfused.at("h"), {.ulps = 1, .floor = 1})) << k;
    EXPECT_TRUE(close(fused.at("y"), unfused.at("y"), {.ulps = 64, .floor = 1})) << k;
    EXPECT_GT(fused.at("y").data[0], -100);  // no NaN in both
  }
}

// The weights of an MLP that are too many for one group: of few rows the next group finds what it reads in SBUF, where
// it takes 32 KiB of a partition at most.
TEST(Passes, KeepWideRowsForTheNextGroupWhenTheyAreFew) {
  const auto written = [](std::int64_t rows) {
    Graph g{runtime::numerics("bf16")};
    const ValueId x = g.tensor("x", rows, 1024, Dtype::kBf16, Kind::kInput);
    const ValueId up = g.tensor("up", 1024, 6144, Dtype::kBf16, Kind::kWeight);
    const ValueId down = g.tensor("down", 6144, 1024, Dtype::kBf16, Kind::kWeight);
    g.enter({.name = "mlp"});
    const ValueId h = g.add1(kMatmul, "up", {x, up}, MatmulAttrs{.dtype = Dtype::kFp32});
    const ValueId active =
        g.add1(runtime::kActivate, "gelu", {h}, ActivationAttrs{.fn = isa::Fn::kGelu, .dtype = Dtype::kBf16});
    g.output(g.add1(kMatmul, "down", {active, down}), "y");
    const isa::Program program = runtime::compile(std::move(g), trn1_target(), {.name = "mlp"}).program;
    std::int64_t stores = 0;
    for (const isa::Instr& i : program.blocks.at(0).instrs)
      if (i.op == isa::Opcode::kDmaCopy && i.dst.space == isa::Space::kHbm) stores += i.dst.elements();
    return stores;
  };
  EXPECT_EQ(written(256), 256 * 1024);               // the result alone
  EXPECT_EQ(written(512), 512 * 1024 + 512 * 6144);  // four row tiles of 12 KiB are too much
}

/// y = (x - a) * b + c with columns a, b; the last sum is with a matrix.
class Chain {
 public:
  explicit Chain(bool read_between) {
    const auto input = [&](std::string name, std::int64_t cols) {
      return graph_.tensor(std::move(name), kRows, cols, Dtype::kFp32, Kind::kInput);
    };
    const ValueId x = input("x", kCols), a = input("a", 1), b = input("b", 1), c = input("c", kCols);
    graph_.enter({.name = "chain"});
    const auto pair = [&](isa::Alu alu, ValueId p, ValueId q) {
      return graph_.add1(runtime::kElement, "pair", {p, q}, runtime::ElementAttrs{.alu = alu});
    };
    const ValueId less = pair(isa::Alu::kSub, x, a), scaled = pair(isa::Alu::kMul, less, b);
    graph_.output(pair(isa::Alu::kAdd, scaled, c), "y");
    if (read_between) graph_.output(less, "less");
  }
  Tensor run(bool dual) {
    runtime::Passes passes;
    passes.dual_operations = dual;
    Running running{graph_, {.name = "chain", .passes = passes}};
    for (const auto& note : running.compiled().notes)
      if (note.pass == "dual_operations") joined = note.count;
    running.write("x", random_normal(kRows, kCols, 1));
    running.write("a", random_normal(kRows, 1, 2));
    running.write("b", random_normal(kRows, 1, 3));
    running.write("c", random_normal(kRows, kCols, 4));
    running.run();
    return running.read("y");
  }
  std::size_t joined = 0;

 private:
  static constexpr std::int64_t kRows = 140, kCols = 70;
  Graph graph_{runtime::numerics("fp32")};
};

TEST(Passes, TwoOperationsOfVectorEBecomeOneWithTheSameBits) {
  Chain chain{false};
  const Tensor apart = chain.run(false), together = chain.run(true);
  EXPECT_EQ(chain.joined, 1U);
  EXPECT_TRUE(same(apart, together));
}

TEST(Passes, OperationsWhoseResultIsReadElsewhereStayApart) {
  Chain chain{true};
  const Tensor apart = chain.run(false), together = chain.run(true);
  EXPECT_EQ(chain.joined, 1U);  // the product and the last sum
  EXPECT_TRUE(same(apart, together));
}

TEST(Cse, ComputesEqualThingsOnce) {
  Graph g{runtime::numerics("fp32")};
  const ValueId x = g.tensor("x", 4, 3, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "test"});
  const ValueId a = g.add1(runtime::kAffine, "a", {x}, AffineAttrs{.alpha = 2}),
                b = g.add1(runtime::kAffine, "b", {x}, AffineAttrs{.alpha = 2});
  const ValueId c = g.add1(runtime::kAffine, "c", {x}, AffineAttrs{.alpha = 3});
  g.output(g.add1(runtime::kMul, "y", {g.add1(kAdd, "sum", {a, b}), c}), "y");
  EXPECT_EQ(runtime::eliminate_common_subexpressions(g), 1u);
  Running running{g};
  const Tensor t = random_normal(4, 3, 1);
  running.write("x", t);
  running.run();
  EXPECT_TRUE(close(running.read("y"),
                    runtime::generate(4, 3, [&](auto r, auto c2) { return 12.0 * t.at(r, c2) * t.at(r, c2); }),
                    {.ulps = 2}));
}

// A view of a result that is computed twice.
TEST(Cse, ViewsFollowTheValueThatStays) {
  Graph g{runtime::numerics("fp32")};
  const ValueId x = g.tensor("x", 1, 16, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "test"});
  g.output(g.add1(runtime::kAffine, "a", {x}, AffineAttrs{.alpha = 2}), "a");
  const ValueId kept = g.add1(runtime::kAffine, "b", {x}, AffineAttrs{.alpha = 3}),
                again = g.add1(runtime::kAffine, "c", {x}, AffineAttrs{.alpha = 3});
  const ValueId column = g.add1(runtime::kView, "view", {again}, runtime::ViewAttrs{.rows = 16, .cols = 1});
  g.output(g.add1(runtime::kAffine, "y", {kept}, AffineAttrs{.alpha = 1}), "y");
  g.output(g.add1(runtime::kAffine, "z", {column}, AffineAttrs{.alpha = 1}), "z");
  EXPECT_EQ(runtime::eliminate_common_subexpressions(g), 1u);
  Running running{g};
  const Tensor t = random_normal(1, 16, 1);
  running.write("x", t);
  running.run();
  EXPECT_TRUE(
      close(running.read("z"), runtime::generate(16, 1, [&](auto r, auto) { return 3.0 * t.at(0, r); }), {.ulps = 2}));
}

// The first product's result has the rows of the second's, and is its second operand: all of it has to be there.
TEST(Passes, FuseNoProductWithItsWholeOperand) {
  Graph g{runtime::numerics("fp32")};
  const ValueId a = g.tensor("a", 3, 3, Dtype::kFp32, Kind::kInput),
                b = g.tensor("b", 3, 3, Dtype::kFp32, Kind::kInput);
  g.enter({.name = "test"});
  g.output(g.add1(kMatmul, "y", {a, g.add1(kMatmul, "b b", {b, b})}), "y");
  Running running{g};
  const Tensor ones = runtime::generate(3, 3, [](auto, auto) { return 1.0; });
  running.write("a", ones), running.write("b", ones);
  running.run();
  EXPECT_TRUE(close(running.read("y"), runtime::generate(3, 3, [](auto, auto) { return 9.0; }), {.ulps = 4}));
}

TEST(Passes, AreNamed) {
  const runtime::Passes passes = runtime::parse_passes("-fusion,+reorder,-cse");
  EXPECT_FALSE(passes.fusion);
  EXPECT_TRUE(passes.reorder);
  EXPECT_FALSE(passes.cse);
  EXPECT_TRUE(passes.double_buffering);
  EXPECT_TRUE(
      fails(base::Fault::kUsage, [] { runtime::parse_passes("-fusoin"); }, {"`passes`", "'-fusoin'", "fusion"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { runtime::parse_passes("fusion"); }, {"`passes`", "'fusion'"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { runtime::parse_passes("-fusion,,+cse"); },
                    {"`passes`", "is not the name of a pass"}));
}

}  // namespace
