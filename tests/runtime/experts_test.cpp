// Routers, slots and exchanges of a mixture of experts, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::BalanceAttrs;
using runtime::BlocksAttrs;
using runtime::RouteAttrs;
using runtime::SlotAttrs;

constexpr Tolerance kBits{};
// exp and a reciprocal by the engine's functions, sums of up to 300 terms.
constexpr Tolerance kRouted{.ulps = 64, .floor = 0.01};

/// Logits of which some rows have equal ones.
Tensor router_logits(std::int64_t tokens, std::int64_t experts) {
  Tensor x = random_normal(tokens, experts, 3);
  for (std::int64_t t = 0; t < tokens; t += 5)
    for (std::int64_t e = 1; e < experts; ++e) x.at(t, e) = x.at(t, e % 2);
  return x;
}

TEST(Route, GivesSlotsInTheOrderOfTheTokens) {
  for (const auto& [tokens, experts, top_k, capacity] :
       {std::tuple{7, 4, 2, 7}, {129, 8, 2, 20}, {300, 16, 4, 300}, {257, 128, 8, 17}, {64, 2, 1, 64}})
    for (const bool normalised : {true, false})
      expect_reference(runtime::kRoute, {router_logits(tokens, experts)},
                       RouteAttrs{.top_k = top_k, .capacity = capacity, .normalised = normalised},
                       {kBits, kRouted, kBits, kRouted, kRouted, kBits, kBits, {.ulps = 256, .floor = 1}});
}

TEST(Route, RefusesImpossibleCapacities) {
  const auto route = [](RouteAttrs attrs) {
    return [attrs] { run_on_device(runtime::kRoute, {random_normal(8, 4, 1)}, attrs); };
  };
  EXPECT_TRUE(fails(base::Fault::kProgram, route({.top_k = 5, .capacity = 8}), {"route", "top_k"}));
  EXPECT_TRUE(fails(base::Fault::kProgram, route({.top_k = 2, .capacity = 9}), {"route", "capacity"}));
}

/// The outputs of a router of these sizes.
Tensors routed(std::int64_t tokens, std::int64_t experts, std::int64_t top_k, std::int64_t capacity) {
  return runtime::kRoute.forward(RouteAttrs{.top_k = top_k, .capacity = capacity},
                                 std::vector<Tensor>{router_logits(tokens, experts)});
}

TEST(Route, GradientOfTheLogits) {
  for (const bool normalised : {true, false})
    for (const bool with_mass : {true, false}) {
      const Tensors r = routed(130, 8, 2, 30);
      Inputs in{r[4], r[5], r[1], random_normal(130, 2, 5)};
      if (with_mass) in.emplace_back(random_normal(1, 8, 6));
      expect_reference(runtime::kRouteGrad, in, RouteAttrs{.top_k = 2, .capacity = 30, .normalised = normalised},
                       {{.ulps = 64, .floor = 1}});
    }
}

// LAMB would take a gradient of rounding alone for one of any size.
TEST(Route, AnOnlyChoiceHasAGateOfOneAndTheLogitsNoGradient) {
  const RouteAttrs attrs{.top_k = 1, .capacity = 130};
  const Tensors r = run_on_device(runtime::kRoute, {router_logits(130, 7)}, attrs);
  EXPECT_TRUE(std::ranges::all_of(r[1].data, [](float gate) { return gate == 1; }));
  const Tensor dx = run_on_device(runtime::kRouteGrad, {r[4], r[5], r[1], random_normal(130, 1, 5)}, attrs)[0];
  EXPECT_TRUE(std::ranges::all_of(dx.data, [](float x) { return x == 0; }));
}

TEST(Slots, RowsGoToTheirSlotsAndBack) {
  const Tensors r = routed(130, 8, 2, 25);
  const Input place{r[0], Dtype::kInt32}, source{r[2], Dtype::kInt32};
  for (const bool weighted : {true, false}) {
    const SlotAttrs attrs{.weighted = weighted};
    expect_reference(runtime::kToSlots, {random_normal(130, 200, 1), source, r[3], place, r[1]}, attrs,
                     {{.ulps = 1, .floor = 0}});
    expect_reference(runtime::kFromSlots, {random_normal(200, 600, 1), place, r[1], source, r[3]}, attrs,
                     {{.ulps = 3, .floor = 1}});
  }
  const SlotAttrs cleared{.cleared = true};
  const Inputs in{random_normal(130, 200, 1), source, r[3], place, r[1]};
  expect_reference(runtime::kToSlots, in, cleared, {kBits});
  const Tensor slots = runtime::kToSlots.forward(cleared, values(in))[0];
  for (std::int64_t s = 0; s < slots.rows; ++s) {
    const float want = r[3].at(s, 0) > 0 ? in[0].value.at(static_cast<std::int64_t>(r[2].at(s, 0)), 7) : 0;
    EXPECT_EQ(slots.at(s, 7), want) << s;
  }
  expect_reference(runtime::kToSlots, {{random_normal(130, 200, 1), Dtype::kBf16}, source, r[3], place, r[1]},
                   SlotAttrs{}, {kBits});
  expect_reference(runtime::kGateGrad, {random_normal(130, 200, 1), random_normal(200, 200, 2), place}, {},
                   {{.ulps = 64, .floor = 8}});
}

TEST(Gates, AreThoseOfTheRouter) {
  for (const auto& [tokens, experts, top_k] : {std::tuple{1, 8, 2}, {7, 4, 1}, {129, 128, 8}})
    for (const bool normalised : {true, false}) {
      const RouteAttrs attrs{.top_k = top_k, .capacity = tokens, .normalised = normalised};
      const Inputs logits{router_logits(tokens, experts)};
      expect_reference(runtime::kGates, logits, attrs, {kRouted});
      // The same gates that slots have, each in the column of its expert.
      const Tensor gates = runtime::kGates.forward(attrs, std::vector<Tensor>{router_logits(tokens, experts)})[0];
      const Tensors r = runtime::kRoute.forward(attrs, std::vector<Tensor>{router_logits(tokens, experts)});
      for (std::int64_t t = 0; t < tokens; ++t) {
        int chosen = 0;
        for (std::int64_t e = 0; e < experts; ++e) chosen += gates.at(t, e) > 0;
        EXPECT_EQ(chosen, top_k);
        for (std::int64_t j = 0; j < top_k; ++j)
          EXPECT_FLOAT_EQ(gates.at(t, static_cast<std::int64_t>(r[5].at(t, j))), r[1].at(t, j));
      }
    }
  const auto too_many = [] {
    run_on_device(runtime::kGates, {random_normal(8, 4, 1)}, RouteAttrs{.top_k = 5, .capacity = 8});
  };
  EXPECT_TRUE(fails(base::Fault::kProgram, too_many, {"gates", "top_k"}));
}

// Sigmoids, a bias of the choice alone, and groups: DeepSeek-V2's by their best expert, V3's by their best two.
TEST(Route, ChoosesByScoresWithinGroups) {
  for (const RouteAttrs& attrs :
       {RouteAttrs{.top_k = 3, .capacity = 40, .groups = 4, .top_groups = 2},
        RouteAttrs{.top_k = 3, .capacity = 40, .normalised = true, .sigmoid = true, .groups = 4, .top_groups = 2},
        RouteAttrs{.top_k = 3, .capacity = 40, .normalised = false, .sigmoid = true}}) {
    Tensor bias = random_normal(1, 16, 9);
    Inputs in{random_normal(130, 16, 3)};
    if (attrs.sigmoid) in.emplace_back(bias);
    expect_reference(runtime::kRoute, in, attrs,
                     {kBits, kRouted, kBits, kRouted, kRouted, kBits, kBits, {.ulps = 256, .floor = 1}});
    expect_reference(runtime::kGates, in, attrs, {kRouted});
    const Tensors r = runtime::kRoute.forward(attrs, values(in));
    const Tensor gates = runtime::kGates.forward(attrs, values(in))[0];
    for (std::int64_t t = 0; t < 130; ++t)
      for (std::int64_t j = 0; j < 3; ++j)
        if (r[1].at(t, j) > 0) {
          EXPECT_FLOAT_EQ(gates.at(t, static_cast<std::int64_t>(r[5].at(t, j))), r[1].at(t, j));
        }
    Inputs back{r[4], r[5], r[1], random_normal(130, 3, 5)};
    expect_reference(runtime::kRouteGrad, back, attrs, {{.ulps = 64, .floor = 1}});
  }
  // Group 1 has the best expert, group 0 the best two: a softmax goes by the first, sigmoids by the second.
  Tensor x(1, 4);
  x.at(0, 0) = 1.0F, x.at(0, 1) = 0.9F, x.at(0, 2) = 1.2F, x.at(0, 3) = -4.0F;
  RouteAttrs one{.top_k = 1, .capacity = 1, .groups = 2, .top_groups = 1};
  EXPECT_EQ(runtime::kRoute.forward(one, std::vector<Tensor>{x})[5].at(0, 0), 2.0F);
  one.sigmoid = true;
  EXPECT_EQ(runtime::kRoute.forward(one, std::vector<Tensor>{x})[5].at(0, 0), 0.0F);
}

// Eight numbers at a time, or less; equal ones in the order of the experts.
TEST(Gates, AreOfTheFirstAmongEquals) {
  const Tensor bias = random_normal(1, 160, 9);
  for (const std::int64_t top_k : {6, 11, 16})
    expect_reference(runtime::kGates, {random_normal(130, 160, 3), bias},
                     RouteAttrs{.top_k = top_k, .normalised = true, .sigmoid = true, .groups = 10, .top_groups = 9},
                     {kRouted});
  Tensor equal(1, 20);
  for (const std::int64_t e : {3, 4, 9, 19}) equal.at(0, e) = 1;
  expect_reference(runtime::kGates, {equal}, RouteAttrs{.top_k = 10, .normalised = true}, {kRouted});
}

// Blocks that are short, whole and more than the experts; widths that are no multiple of 128.
TEST(ExpertBlocks, AddUpOverTheBlocksOfATokensExperts) {
  struct Case {
    std::int64_t tokens, cols, inner, block, blocks;
    runtime::GateAttrs gate{};
    bool biased = false, scales_inputs = false;
  };
  for (const auto& [tokens, cols, inner, block, blocks, gate, biased, scales_inputs] :
       {Case{130, 200, 150, 70, 5},
        {130, 200, 150, 70, 5, {}, false, true},
        {40, 256, 24, 40, 2},
        {130, 200, 150, 70, 5, {.limit = 0.7, .slope = 1.702, .shift = 1}, true}}) {
    Tensor names(blocks * block, 1);
    for (std::int64_t r = 0; r < names.rows; ++r)  // each once in a block
      names.at(r, 0) = static_cast<float>((r % block * 7 + r / block) % tokens);
    Inputs in{random_normal(tokens, cols, 1), {names, Dtype::kInt32}, random_normal(tokens, 3, 2)};
    for (std::uint32_t e = 0; e < 3; ++e) {
      in.emplace_back(random_normal(cols, inner, 3 + e, 0.1)), in.emplace_back(random_normal(cols, inner, 6 + e, 0.1));
      in.emplace_back(random_normal(inner, cols, 9 + e, 0.1));
      if (!biased) continue;
      for (const std::int64_t size : {inner, inner, cols}) in.emplace_back(random_normal(1, size, 12 + e));
    }
    const runtime::ExpertBlocksAttrs attrs{
        .block = block, .gate = gate, .biased = biased, .scales_inputs = scales_inputs};
    // Products of 200 terms in another order, through a function and a product: 64 ulps of a tenth of the largest.
    const double floor = largest(runtime::kExpertBlocks.forward(attrs, values(in))[0]) / 10;
    expect_reference(runtime::kExpertBlocks, in, attrs, {{.ulps = 64, .floor = floor}});
  }
  Inputs odd{random_normal(4, 8, 1), {Tensor(6, 1), Dtype::kInt32}, random_normal(4, 1, 2)};
  for (int i = 0; i < 3; ++i) odd.emplace_back(random_normal(8, 8, 3));
  const auto run = [&odd] { run_on_device(runtime::kExpertBlocks, odd, runtime::ExpertBlocksAttrs{.block = 4}); };
  EXPECT_TRUE(fails(base::Fault::kProgram, run, {"not whole"}));
}

TEST(Gates, WeighTheOutputOfAnExpert) {
  for (const std::int64_t tokens : {1, 129}) {
    const Inputs in{random_normal(tokens, 700, 1), random_normal(tokens, 9, 2), random_normal(tokens, 700, 3)};
    expect_reference(runtime::kGatedSum, in, runtime::ColumnAttrs{.column = 8}, {{.ulps = 2, .floor = 1}});
    expect_reference(runtime::kGatedSum, {in[0], in[1]}, runtime::ColumnAttrs{.column = 0}, {{.ulps = 2, .floor = 0}});
  }
}

TEST(Blocks, AreSplitAndJoined) {
  const BlocksAttrs attrs{.blocks = 3, .parts = 4};
  expect_reference(runtime::kSplitBlocks, {random_normal(60, 130, 1)}, attrs, {kBits, kBits, kBits, kBits});
  expect_reference(
      runtime::kJoinBlocks,
      {random_normal(15, 130, 1), random_normal(15, 130, 2), random_normal(15, 130, 3), random_normal(15, 130, 4)},
      attrs, {kBits});
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [&] { run_on_device(runtime::kSplitBlocks, {random_normal(50, 3, 1)}, attrs); }, {"split_blocks"}));
}

TEST(Balance, IsTheLoadTimesTheMass) {
  expect_reference(runtime::kBalance, {random_normal(1, 16, 1), random_normal(1, 16, 2)},
                   BalanceAttrs{.alpha = 0.5, .scale = 8}, {{.ulps = 16, .floor = 1}, {.ulps = 2, .floor = 0}});
}

}  // namespace
