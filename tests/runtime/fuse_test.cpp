// Groups of a block's nodes: operations that run on the same tiles of rows pass none of them through HBM.
#include "runtime/compiler/fuse.h"

#include <numeric>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::FusedGroup;
using runtime::NodeId;

std::vector<FusedGroup> groups_of(const Graph& graph) {
  std::vector<NodeId> all(graph.node_count());
  std::iota(all.begin(), all.end(), NodeId{0});
  return fuse_nodes(graph, all, trn1_target().geometry, true);
}

/// The place of the group in which a value is made.
std::size_t group_of(const std::vector<FusedGroup>& groups, const Graph& graph, ValueId v) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (std::ranges::find(groups[g].nodes, graph.value(v).producer) != groups[g].nodes.end()) return g;
  return groups.size();
}

struct Made {
  Graph graph{runtime::numerics("fp32")};
  ValueId tensor(const char* name, std::int64_t rows, std::int64_t cols, Kind kind = Kind::kInput) {
    return graph.tensor(name, rows, cols, Dtype::kFp32, kind);
  }
  ValueId gelu(ValueId x) { return graph.add1(runtime::kActivate, "gelu", {x}, ActivationAttrs{.fn = isa::Fn::kGelu}); }
};

TEST(Fuse, AFactorThatWaitsForNothingJoinsTheProductBesideIt) {
  for (const bool factor_first : {true, false}) {
    Made t;
    const ValueId x = t.tensor("x", 256, 128), z = t.tensor("z", 256, 256), w = t.tensor("w", 128, 256, Kind::kWeight);
    ValueId g = factor_first ? t.gelu(z) : ValueId{};
    const ValueId y = t.graph.add1(runtime::kMatmul, "up", {x, w});
    if (!factor_first) g = t.gelu(z);
    const ValueId out = t.graph.add1(runtime::kMul, "mul", {y, g});
    t.graph.output(out, "out");
    EXPECT_EQ(groups_of(t.graph).size(), 1u) << factor_first;
  }
}

TEST(Fuse, AFactorThatWaitsForAnotherGroupDoesNotMove) {
  Made t;
  const ValueId x = t.tensor("x", 256, 128), w = t.tensor("w", 128, 256, Kind::kWeight);
  const ValueId y = t.graph.add1(runtime::kMatmul, "up", {x, w});
  const ValueId sum = t.graph.add1(runtime::kMatmulTn, "whole", {y, y});  // [256, 256], of all rows of y
  const ValueId out = t.graph.add1(runtime::kMul, "mul", {y, t.gelu(sum)});
  t.graph.output(out, "out");
  const auto groups = groups_of(t.graph);
  EXPECT_LT(group_of(groups, t.graph, y), group_of(groups, t.graph, sum));
  EXPECT_LT(group_of(groups, t.graph, sum), group_of(groups, t.graph, out));
}

TEST(Fuse, AFactorDoesNotMoveAheadOfMemoryThatItsReaderSeesInAnotherForm) {
  Made t;
  const ValueId first = t.gelu(t.tensor("x", 256, 256)), other = t.tensor("y", 128, 512);
  const ValueId sum = t.graph.add1(runtime::kMatmulTn, "whole", {t.tensor("z", 64, 128), t.tensor("w", 64, 512)});
  const ValueId turned = t.graph.add1(runtime::kAdd, "turned", {sum, other});  // [128, 512], by rows
  const ValueId seen = t.graph.add1(runtime::kView, "seen", {turned}, runtime::ViewAttrs{.rows = 256, .cols = 256});
  const ValueId last = t.gelu(t.tensor("v", 256, 256));
  const ValueId out = t.graph.add1(runtime::kElement, "select", {seen, first, last},
                                   runtime::ElementAttrs{.form = runtime::ElementForm::kSelect});
  t.graph.output(out, "out");
  const auto groups = groups_of(t.graph);
  EXPECT_LT(group_of(groups, t.graph, turned), group_of(groups, t.graph, out));
}

TEST(Fuse, NoGroupOverwritesRowsThatItHasYetToRead) {
  for (const bool gathers : {true, false}) {
    Made t;
    const ValueId table = t.tensor("table", 256, 64, Kind::kWeight);
    const ValueId ids = t.graph.tensor("ids", 256, 1, Dtype::kInt32, Kind::kInput);
    const ValueId rows = gathers ? t.graph.add1(runtime::kEmbedding, "rows", {table, ids}) : t.gelu(table);
    const ValueId out = t.graph.add1(runtime::kAssign, "write", {rows, table});
    const auto groups = groups_of(t.graph);
    EXPECT_EQ(group_of(groups, t.graph, rows) < group_of(groups, t.graph, out), gathers);
  }
}

TEST(Fuse, AFactorWithLoopsOfItsOwnIsNoRowOfTheProductBesideIt) {
  Made t;
  const ValueId x = t.tensor("x", 256, 128), w = t.tensor("w", 128, 256, Kind::kWeight);
  const ValueId sum = t.graph.add1(runtime::kMatmulTn, "whole", {x, t.tensor("z", 256, 256)});  // [128, 256]
  const ValueId y = t.graph.add1(runtime::kMatmul, "up", {t.tensor("v", 128, 128), w});
  t.graph.output(t.graph.add1(runtime::kMul, "mul", {y, sum}), "out");
  for (const FusedGroup& group : groups_of(t.graph))
    for (const NodeId n : group.nodes) EXPECT_EQ(group.by_rows, t.graph.node(n).op->lower_whole == nullptr);
}

/// A chain up to a wide product, which a group has room for, but not for the factor behind it as well.
struct WideChain : Made {
  explicit WideChain(std::int64_t rows) {
    ValueId v = tensor("x", rows, 768);
    for (int i = 0; i < 10; ++i) v = gelu(v);
    narrow = v;
    wide = graph.add1(runtime::kMatmul, "wide", {narrow, tensor("w", 768, 3072, Kind::kWeight)});
    factor = gelu(tensor("z", rows, 3072));
    out = graph.add1(runtime::kMul, "mul", {wide, factor});
    graph.output(graph.add1(runtime::kMatmulTn, "whole", {narrow, narrow}), "whole");
    graph.output(out, "out");
  }
  ValueId narrow, wide, factor, out;
};

TEST(Fuse, AGroupWithoutRoomIsCutWhereTheFewestBytesPass) {
  const WideChain t{1576};
  const auto groups = groups_of(t.graph);
  EXPECT_EQ(group_of(groups, t.graph, t.wide), group_of(groups, t.graph, t.out));
  EXPECT_EQ(group_of(groups, t.graph, t.factor), group_of(groups, t.graph, t.out));
  EXPECT_LT(group_of(groups, t.graph, t.narrow), group_of(groups, t.graph, t.wide));
}

TEST(Fuse, NothingMovesBehindAWriteIntoItsMemory) {
  Graph graph{runtime::numerics("fp32")};
  ValueId v = graph.tensor("x", 1576, 768, Dtype::kFp32, Kind::kInput);
  const ValueId w = graph.tensor("w", 768, 3072, Dtype::kFp32, Kind::kWeight);
  for (int i = 0; i < 10; ++i) v = graph.add1(runtime::kActivate, "gelu", {v}, ActivationAttrs{.fn = isa::Fn::kGelu});
  const ValueId wide = graph.add1(runtime::kMatmul, "wide", {v, w});
  const ValueId next = graph.add1(runtime::kActivate, "next", {w}, ActivationAttrs{.fn = isa::Fn::kTanh});
  graph.live_in(next, w);
  const ValueId factor =
      graph.add1(runtime::kActivate, "factor", {graph.tensor("z", 1576, 3072, Dtype::kFp32, Kind::kInput)},
                 ActivationAttrs{.fn = isa::Fn::kGelu});
  const ValueId out = graph.add1(runtime::kMul, "mul", {wide, factor});
  graph.output(graph.add1(runtime::kMatmulTn, "whole", {v, v}), "whole");
  graph.output(out, "out");
  const auto groups = groups_of(graph);
  EXPECT_LT(group_of(groups, graph, wide), group_of(groups, graph, next));
}

}  // namespace
