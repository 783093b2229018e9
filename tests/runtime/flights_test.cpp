// Which calls wait for collectives that run alongside them.
#include "runtime/compiler/flights.h"

#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::Flights;
using runtime::NodeId;

/// A sum over two ranks, and what the rest of the graph does meanwhile.
struct Meanwhile {
  Graph graph{runtime::numerics("fp32")};
  ValueId x = graph.tensor("x", 128, 64, Dtype::kFp32, Kind::kInput);
  ValueId w = graph.tensor("w", 128, 64, Dtype::kFp32, Kind::kWeight);

  ValueId add(const runtime::Op& op, std::vector<ValueId> in) {
    return graph.add1(op, std::string{op.name} + std::to_string(graph.node_count()), std::move(in));
  }
  ValueId sum(const runtime::Op& op, ValueId v) {
    return graph.add1(op, "sum", {v}, runtime::CollectiveAttrs{.ranks = 2});
  }
  /// How many collectives each node's call waits for.
  std::vector<std::uint32_t> waits() const {
    Flights flights{graph};
    std::vector<std::uint32_t> out;
    for (NodeId n = 0; n < graph.node_count(); ++n) {
      out.push_back(flights.awaited_by({n}));
      flights.begin({n});
    }
    return out;
  }
};

TEST(Flights, OnlyReadersOfTheResultWait) {
  Meanwhile m;
  const ValueId s = m.sum(runtime::kSumAhead, m.x), other = m.add(runtime::kMul, {m.x, m.w});
  m.add(runtime::kAdd, {s, other});
  m.add(runtime::kMul, {m.w, m.w});
  EXPECT_EQ(m.waits(), (std::vector<std::uint32_t>{0, 0, 1, 1}));  // a wait is never taken back
}

TEST(Flights, EveryoneWaitsForACollectiveInStep) {
  Meanwhile m;
  m.sum(runtime::kSumAhead, m.x);
  m.sum(runtime::kRankSum, m.w);
  m.add(runtime::kMul, {m.x, m.w});
  EXPECT_EQ(m.waits(), (std::vector<std::uint32_t>{0, 0, 2}));
}

TEST(Flights, WhoeverWritesItsOperandWaits) {
  Meanwhile m;
  m.sum(runtime::kSumAhead, m.w);
  m.add(runtime::kMul, {m.x, m.x});
  m.add(runtime::kAssign, {m.x, m.w});
  EXPECT_EQ(m.waits(), (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(Flights, BothTensorsAreUsedUntilACallHasWaited) {
  Meanwhile m;
  const ValueId s = m.sum(runtime::kSumAhead, m.x);
  m.add(runtime::kMul, {m.x, m.w});
  m.add(runtime::kMul, {s, m.w});
  Flights flights{m.graph};
  flights.begin({0});
  flights.awaited_by({1});
  EXPECT_TRUE(flights.landed().empty());
  flights.awaited_by({2});
  EXPECT_EQ(flights.landed(), (std::vector<ValueId>{m.x, s}));
  EXPECT_TRUE(flights.landed(true).empty());
}

}  // namespace
