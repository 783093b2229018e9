// The gradients that autodiff builds, run on a device, against central differences of the reference.
#include <gtest/gtest.h>

#include "runtime/graph/autodiff.h"
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using isa::Fn;

/// Values of a graph by name.
using Named = std::map<std::string, Tensor>;

/// All of the graph by the references of its operations. Returns the sum of the losses.
double reference_loss(const Graph& graph, const Named& given, const std::vector<ValueId>& losses) {
  std::vector<Tensor> at(graph.value_count());
  for (ValueId v = 0; v < graph.value_count(); ++v)
    if (graph.value(v).producer == runtime::kNoNode) at[v] = given.at(graph.value(v).name);
  for (runtime::NodeId n = 0; n < graph.node_count(); ++n) {
    const runtime::Node& node = graph.node(n);
    Tensors in;
    for (const ValueId v : node.in) in.push_back(at[v]);
    const Tensors out = node.op->forward(node.attrs, in);
    for (std::size_t o = 0; o < out.size(); ++o) at[node.out[o]] = out[o];
  }
  double sum = 0;
  for (const ValueId loss : losses)
    for (const float x : at[loss].data) sum += x;
  return sum;
}

/// A model in the making: weights and inputs with values.
class Model {
 public:
  Graph graph{runtime::numerics("fp32")};
  Named given;
  std::vector<ValueId> losses;

  Model() { graph.enter({.name = "test"}); }
  ValueId weight(const std::string& name, Tensor t) { return add(name, std::move(t), Dtype::kFp32, Kind::kWeight); }
  ValueId input(const std::string& name, Tensor t, Dtype type = Dtype::kFp32) {
    return add(name, std::move(t), type, Kind::kInput);
  }
  /// The cross-entropy of y's rows, each weighing 1.
  void loss(ValueId y) {
    const runtime::Value value = graph.value(y);
    const std::string n = std::to_string(losses.size());
    const ValueId labels = input("labels" + n, random_ids(value.rows, value.cols, 99), Dtype::kInt32);
    const ValueId ones = input("ones" + n, runtime::generate(value.rows, 1, [](auto, auto) { return 1.0; }));
    losses.push_back(graph.add(runtime::kCrossEntropy, "loss", {y, labels, ones})[0]);
  }

  /// Every gradient on the device within 3e-3 of the largest difference quotient: the quotient errs by about 1e-3 (of
  /// the third derivative, and of fp32 references over a step of 1/64).
  void check(const runtime::Passes& passes = {}) {
    const Graph forward = graph;
    const auto gradients = runtime::differentiate(graph, losses);
    Running running{graph, {.name = "test", .passes = passes}};
    for (const auto& [name, t] : given) running.write(name, t);
    running.run();
    std::size_t weights = 0;
    for (auto& [name, t] : given) {
      if (forward.value(forward.find(name)).kind != Kind::kWeight) continue;
      ++weights;
      const Tensor got = running.read("grad." + name);
      const Tensor want = quotients(forward, t);
      double most = 0;
      for (const float x : want.data) most = std::max<double>(most, std::abs(x));
      ASSERT_GT(most, 1e-3) << name << " has no gradient to speak of";
      for (std::size_t i = 0; i < got.data.size(); ++i)
        EXPECT_NEAR(got.data[i], want.data[i], 3e-3 * most) << name << " element " << i;
    }
    EXPECT_EQ(gradients.size(), weights);
  }

 private:
  ValueId add(const std::string& name, Tensor t, Dtype type, Kind kind) {
    const ValueId v = graph.tensor(name, t.rows, t.cols, type, kind);
    given[name] = std::move(t);
    return v;
  }
  /// `t` is one of the given tensors: it is moved and put back.
  Tensor quotients(const Graph& forward, Tensor& t) {
    constexpr float kStep = 1.0F / 64;
    Tensor out(t.rows, t.cols);
    for (std::size_t i = 0; i < t.data.size(); ++i) {
      const float x = t.data[i];
      t.data[i] = x + kStep;
      const double above = reference_loss(forward, given, losses);
      t.data[i] = x - kStep;
      out.data[i] = static_cast<float>((above - reference_loss(forward, given, losses)) / (2 * kStep));
      t.data[i] = x;
    }
    return out;
  }
};

TEST(Gradient, Matmul) {
  for (const bool trans_b : {false, true}) {
    Model m;
    const ValueId x = m.weight("x", random_normal(5, 3, 1)),
                  w = m.weight("w", trans_b ? random_normal(4, 3, 2) : random_normal(3, 4, 2));
    m.loss(m.graph.add1(runtime::kMatmul, "product", {x, w}, MatmulAttrs{.alpha = 0.7, .trans_b = trans_b}));
    m.check();
  }
}

TEST(Gradient, AddAndMulWithBroadcastRows) {
  Model m;
  const ValueId x = m.weight("x", random_normal(5, 3, 1)), z = m.weight("z", random_normal(5, 3, 2));
  const ValueId bias = m.weight("bias", random_normal(1, 3, 3)), gain = m.weight("gain", random_normal(1, 3, 4));
  ValueId y = m.graph.add1(runtime::kMul, "mul", {x, z});
  y = m.graph.add1(runtime::kMul, "gain", {y, gain});
  y = m.graph.add1(runtime::kAdd, "bias", {y, bias});
  y = m.graph.add1(runtime::kAdd, "residual", {y, m.graph.add1(runtime::kExpRest, "rest", {x})});
  m.loss(m.graph.add1(runtime::kAffine, "affine", {y}, AffineAttrs{.alpha = -0.6, .beta = 0.3}));
  m.check();
}

TEST(Gradient, Activations) {
  for (const Fn fn : {Fn::kGelu, Fn::kGeluTanh, Fn::kGeluSigmoid, Fn::kTanh, Fn::kSilu, Fn::kSoftplus}) {
    Model m;
    m.loss(m.graph.add1(runtime::kActivate, "fn", {m.weight("x", random_normal(5, 4, 1))}, ActivationAttrs{.fn = fn}));
    m.check();
  }
}

TEST(Gradient, LayerNorm) {
  Model m;
  const ValueId x = m.weight("x", random_normal(4, 6, 1)), gamma = m.weight("gamma", random_normal(1, 6, 2));
  const ValueId beta = m.weight("beta", random_normal(1, 6, 3));
  m.loss(m.graph.add(runtime::kLayerNorm, "norm", {x, gamma, beta}, NormAttrs{.eps = 1e-5})[0]);
  m.check();
}

TEST(Gradient, LayerNormOfFewerVectors) {
  for (const std::size_t vectors : {0, 1}) {
    Model m;
    std::vector<ValueId> in{m.weight("x", random_normal(4, 6, 1))};
    if (vectors > 0) in.push_back(m.weight("gamma", random_normal(1, 6, 2)));
    m.loss(m.graph.add(runtime::kLayerNorm, "norm", in, NormAttrs{.eps = 1e-5, .vectors = vectors})[0]);
    m.check();
  }
}

TEST(Gradient, LayerNormOfHeads) {
  Model m;
  const ValueId x = m.weight("x", random_normal(4, 12, 1)), gamma = m.weight("gamma", random_normal(1, 4, 2));
  const ValueId beta = m.weight("beta", random_normal(1, 4, 3));
  m.loss(m.graph.add(runtime::kLayerNorm, "norm", {x, gamma, beta}, NormAttrs{.eps = 1e-5})[0]);
  m.check();
}

// No element is as near to the limit as a difference reaches.
TEST(Gradient, NumbersWithinALimit) {
  Model m;
  runtime::Tensor x = random_normal(5, 4, 1);
  for (float& value : x.data) value = std::abs(std::abs(value) - 0.8F) < 0.05F ? 0.3F : value;
  m.loss(m.graph.add1(runtime::kClamp, "clamp", {m.weight("x", x)}, runtime::ClampAttrs{.limit = 0.8}));
  m.loss(m.graph.add1(runtime::kClamp, "below", {m.weight("y", x)},
                      runtime::ClampAttrs{.limit = 0.8, .above_only = true}));
  m.check();
}

// A part that all heads share, in front of each head's own, and a part of each head taken out again.
TEST(Gradient, ColumnsThatAreSpreadJoinedAndTaken) {
  Model m;
  const ValueId one = m.weight("one", random_normal(5, 2, 1)), each = m.weight("each", random_normal(5, 9, 2));
  const ValueId spread =
      m.graph.add1(runtime::kTakeColumns, "spread", {one}, runtime::ColumnsAttrs{.sizes = {3, 2}, .strides = {0, 1}});
  const ValueId all = m.graph.add1(runtime::kJoinColumns, "join", {spread, each}, runtime::JoinAttrs{.blocks = 3});
  const ValueId some = m.graph.add1(runtime::kTakeColumns, "take", {all},
                                    runtime::ColumnsAttrs{.sizes = {3, 3}, .strides = {5, 1}, .first = 1});
  m.loss(m.graph.add1(runtime::kMul, "product", {some, some}));
  m.check();
}

TEST(Gradient, EmbeddingsAndPositions) {
  for (const std::int64_t table : {4, 130}) {  // by TensorE, by the DMA
    Model m;
    const ValueId words = m.weight("words", random_normal(table, 3, 1)),
                  places = m.weight("places", random_normal(5, 3, 2));
    const ValueId ids = m.input("ids", random_ids(8, std::min<std::int64_t>(table, 9), 3), Dtype::kInt32);
    const ValueId x = m.graph.add1(runtime::kEmbedding, "words", {words, ids});
    const ValueId y = m.graph.add1(runtime::kPositions, "places", {places}, PositionsAttrs{.batch = 2, .seq = 4});
    m.loss(m.graph.add1(runtime::kAdd, "add", {x, y}));
    m.check();
  }
}

TEST(Gradient, TakeRows) {
  Model m;
  m.loss(m.graph.add1(runtime::kTakeRows, "first", {m.weight("x", random_normal(6, 3, 1))}, StrideAttrs{.stride = 2}));
  m.check();
}

TEST(Gradient, Attention) {
  for (const auto& [kv, causal, cap] : {std::tuple{2, false, 0.0}, {1, true, 0.0}, {1, true, 0.7}}) {
    Model m;
    const ValueId q = m.weight("q", random_normal(8, 6, 1)), k = m.weight("k", random_normal(8, 3 * kv, 2));
    const ValueId v = m.weight("v", random_normal(8, 3 * kv, 3));
    std::vector<ValueId> in{q, k, v};
    if (!causal) {
      Tensor mask(2, 4);
      mask.at(1, 3) = -1e9F;
      in.push_back(m.input("mask", mask));
    }
    m.loss(m.graph.add(
        runtime::kAttention, "heads", in,
        AttentionAttrs{
            .scale = 0.8, .batch = 2, .seq = 4, .heads = 2, .kv_heads = kv, .causal = causal, .soft_cap = cap})[0]);
    m.check();
  }
}

/// Keys of another text, a bias that the sequences share, and that bias made of one number for each distance.
TEST(Gradient, AttentionWithABias) {
  Model m;
  const ValueId q = m.weight("q", random_normal(8, 6, 1)), k = m.weight("k", random_normal(10, 6, 2));
  const ValueId v = m.weight("v", random_normal(10, 6, 3)), distances = m.weight("distances", random_normal(2, 8, 4));
  const ValueId bias = m.graph.add1(runtime::kDiagonals, "bias", {distances}, runtime::DiagonalsAttrs{.rows = 4});
  Tensor mask(2, 5);
  mask.at(1, 4) = -1e9F;
  m.loss(m.graph.add(
      runtime::kAttention, "heads", {q, k, v, m.input("mask", mask), bias},
      AttentionAttrs{.scale = 0.8, .batch = 2, .seq = 4, .heads = 2, .kv_heads = 2, .term = ScoreTerm::kBias})[0]);
  m.check();
}

/// Scores of each sequence by the distance of query and key, or of key and query: products at strides, shifted rows.
TEST(Gradient, ScoresByDistance) {
  for (const bool turned : {false, true}) {
    Model m;
    const ValueId q = m.weight("q", random_normal(8, 6, 1)), k = m.weight("k", random_normal(8, 6, 2));
    const ValueId v = m.weight("v", random_normal(8, 6, 3)), places = m.weight("places", random_normal(7, 6, 4));
    const ValueId products = m.graph.add1(
        runtime::kBatchMatmul, "products", {turned ? k : q, places},
        runtime::BatchMatmulAttrs{.batch = {2, 2}, .m = 4, .k = 3, .n = 7, .x = {24, 3, 6, 1}, .w = {0, 3, 1, 6}});
    const ValueId bias = m.graph.add1(
        runtime::kMove, "shift", {products},
        runtime::MoveAttrs{
            .sizes = {4, 4, 4}, .strides = {28, turned ? 1 : 6, turned ? 6 : 1}, .first = 3, .rows = 16, .cols = 4});
    m.loss(m.graph.add(
        runtime::kAttention, "heads", {q, k, v, bias},
        AttentionAttrs{.scale = 0.8, .batch = 2, .seq = 4, .heads = 2, .kv_heads = 2, .term = ScoreTerm::kBias})[0]);
    m.check();
  }
}

/// A part of a weight's rows and columns, and a product with columns of it, have the gradient 0 elsewhere.
TEST(Gradient, OperandsReadInPart) {
  Model m;
  const ValueId x = m.weight("x", random_normal(6, 5, 1)), w = m.weight("w", random_normal(4, 6, 2));
  const ValueId part =
      m.graph.add1(runtime::kMove, "part", {x},
                   runtime::MoveAttrs{.sizes = {3, 2}, .strides = {10, 2}, .first = 1, .rows = 3, .cols = 2});
  m.loss(m.graph.add1(runtime::kBatchMatmul, "product", {part, w},
                      runtime::BatchMatmulAttrs{.m = 3, .k = 2, .n = 4, .x = {2, 1}, .w = {6, 1}, .w_first = 7}));
  m.check();
}

TEST(Gradient, AnElementReadTwiceHasNone) {
  Model m;
  const ValueId x = m.weight("x", random_normal(2, 6, 1));
  m.loss(m.graph.add1(runtime::kMove, "windows", {x},
                      runtime::MoveAttrs{.sizes = {4, 3}, .strides = {2, 1}, .rows = 4, .cols = 3}));
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { m.check(); }, {"windows", "more than once"}));
}

TEST(Gradient, AttentionWithSlopesOrSinks) {
  for (const ScoreTerm term : {ScoreTerm::kSlopes, ScoreTerm::kSinks}) {
    Model m;
    const ValueId q = m.weight("q", random_normal(8, 6, 1)), k = m.weight("k", random_normal(8, 6, 2));
    const Tensor heads = random_normal(1, 2, 4);  // slopes have no gradient
    const ValueId v = m.weight("v", random_normal(8, 6, 3)),
                  h = term == ScoreTerm::kSinks ? m.weight("heads", heads) : m.input("heads", heads);
    const AttentionAttrs attrs{.batch = 2, .seq = 4, .heads = 2, .kv_heads = 2, .causal = true, .term = term};
    m.loss(m.graph.add(runtime::kAttention, "heads", {q, k, v, h}, attrs)[0]);
    m.check();
  }
}

/// Two layers with biases and a residual: chains, sums of gradients, all passes.
void two_layers(Model& m, std::int64_t micro_batches) {
  const ValueId w1 = m.weight("w1", random_normal(3, 5, 1)), b1 = m.weight("b1", random_normal(1, 5, 2));
  const ValueId w2 = m.weight("w2", random_normal(5, 3, 3)), b2 = m.weight("b2", random_normal(1, 3, 4));
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    m.graph.enter({.name = "test", .instance = static_cast<std::int32_t>(i)});
    const ValueId x = m.input(fmt::format("x{}", i), random_normal(4, 3, 10 + static_cast<std::uint32_t>(i)));
    ValueId y = m.graph.add1(runtime::kAdd, "bias1", {m.graph.add1(runtime::kMatmul, "first", {x, w1}), b1});
    y = m.graph.add1(runtime::kActivate, "gelu", {y}, ActivationAttrs{.fn = Fn::kGelu});
    y = m.graph.add1(runtime::kAdd, "bias2", {m.graph.add1(runtime::kMatmul, "second", {y, w2}), b2});
    m.loss(m.graph.add1(runtime::kAdd, "residual", {y, x}));
  }
}

TEST(Gradient, TwoLayersWithAnyPasses) {
  for (const char* passes : {"", "-fusion", "-bias_gradient", "-cse,-double_buffering,-reorder"}) {
    SCOPED_TRACE(passes);
    Model m;
    two_layers(m, 1);
    m.check(runtime::parse_passes(passes));
  }
}

// Gradients of micro-batches add up, with and without their biases' sums joined to the weights'.
TEST(Gradient, SeveralLosses) {
  for (const char* passes : {"", "-fusion", "-bias_gradient"}) {
    SCOPED_TRACE(passes);
    Model m;
    two_layers(m, 3);
    m.check(runtime::parse_passes(passes));
  }
}

// Two losses that share a trunk: the shared part is differentiated once.
TEST(Gradient, TwoHeadsOnOneTrunk) {
  Model m;
  const ValueId x = m.weight("x", random_normal(4, 3, 1)), w = m.weight("w", random_normal(3, 3, 2));
  const ValueId trunk = m.graph.add1(runtime::kMatmul, "trunk", {x, w});
  m.loss(m.graph.add1(runtime::kActivate, "head1", {trunk}, ActivationAttrs{.fn = Fn::kTanh}));
  m.loss(m.graph.add1(runtime::kActivate, "head2", {trunk}, ActivationAttrs{.fn = Fn::kGelu}));
  m.check();
}

TEST(Gradient, RefusesAnOperationWithoutOne) {
  Model m;
  const ValueId y =
      m.graph.add1(runtime::kPutRows, "spread", {m.weight("x", random_normal(2, 3, 1))}, StrideAttrs{.stride = 2});
  m.loss(y);
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { runtime::differentiate(m.graph, m.losses); },
                    {"put_rows spread", "has no gradient", "parameter"}));
}

/// Two layers in scopes of their own. Returns the loss.
ValueId two_layers(Graph& graph) {
  graph.enter({.name = "layer", .instance = 0});
  ValueId x = graph.tensor("x", 4, 6, Dtype::kFp32, Kind::kInput);
  for (const int layer : {0, 1}) {
    graph.enter({.name = "act", .instance = layer});
    const ValueId active = graph.add1(runtime::kActivate, "act", {x}, ActivationAttrs{.fn = Fn::kTanh});
    graph.enter({.name = "layer", .instance = layer + 1});
    const ValueId w = graph.tensor("w" + std::to_string(layer), 6, 6, Dtype::kFp32, Kind::kWeight);
    x = graph.add1(runtime::kMatmul, "product", {active, w});
  }
  const ValueId labels = graph.tensor("labels", 4, 1, Dtype::kInt32, Kind::kInput);
  const ValueId ones = graph.tensor("ones", 4, 1, Dtype::kFp32, Kind::kInput);
  return graph.add(runtime::kCrossEntropy, "loss", {x, labels, ones})[0];
}

TEST(Gradient, RecomputationIsRequestedOneReaderAhead) {
  Graph graph{runtime::numerics("fp32")};
  const ValueId loss = two_layers(graph);
  runtime::Backward backward{graph};
  backward.repeat_ahead(
      [](const runtime::Node& node) { return node.op == &runtime::kActivate ? &runtime::kActivate : nullptr; });
  const std::size_t forward = graph.node_count();
  backward.run({loss});
  backward.finish();
  // Both activations come again before anything else of the backward: the second layer's is read at once, the first
  // layer's asked for meanwhile. Weight gradients read recomputed values.
  std::vector<std::string> scopes;
  for (auto n = static_cast<runtime::NodeId>(forward); n < graph.node_count(); ++n) {
    const runtime::Scope& scope = graph.scope_of(graph.node(n));
    const std::string name = scope.name + std::to_string(scope.instance);
    if (scopes.empty() || scopes.back() != name) scopes.push_back(name);
    if (graph.node(n).op != &runtime::kMatmulTn) continue;
    for (const ValueId v : graph.node(n).in)
      EXPECT_TRUE(graph.value(v).producer >= forward || graph.node(graph.value(v).producer).op != &runtime::kActivate);
  }
  const std::vector<std::string> want{"act.again1", "act.again0", "layer.bwd2", "act.bwd1", "layer.bwd1"};
  EXPECT_EQ(scopes, want);
}

TEST(Gradient, RecomputationGivesTheSameGradients) {
  std::vector<std::vector<float>> gradients;
  for (const bool again : {false, true}) {
    Graph graph{runtime::numerics("fp32")};
    const ValueId loss = two_layers(graph);
    runtime::Backward backward{graph};
    if (again)
      backward.repeat_ahead(
          [](const runtime::Node& node) { return node.op == &runtime::kActivate ? &runtime::kActivate : nullptr; });
    backward.run({loss});
    backward.finish();
    Running running{graph, {.name = "test", .passes = {.cse = false}}};
    running.write("x", random_normal(4, 6, 1));
    running.write("w0", random_normal(6, 6, 2));
    running.write("w1", random_normal(6, 6, 3));
    running.write("labels", random_ids(4, 6, 4));
    running.write("ones", runtime::generate(4, 1, [](auto, auto) { return 1.0; }));
    running.run();
    for (const char* name : {"grad.w0", "grad.w1"}) gradients.push_back(running.read(name).data);
  }
  EXPECT_EQ(gradients[0], gradients[2]);
  EXPECT_EQ(gradients[1], gradients[3]);
}

}  // namespace
