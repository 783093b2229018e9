// Patterns that rewrites find in graphs, in several spellings each, and near misses that they leave alone.
#include "frontend/rewrite/rewrite.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "runtime/graph/op.h"
#include "tests/frontend/norms_and_functions.h"

namespace trnsim::frontend {
namespace {

Module module_spelled(const std::string& lines) {
  return hlo::graph_of(
      hlo::read_text("HloModule m\n" + std::string{kSumRegion} + "ENTRY main {\n" + lines + "\n}\n", "m"), "m");
}

/// The operations that the rewrites made, in their order.
std::vector<std::string> made(const std::string& lines, const Rewrites& which = {}) {
  std::vector<std::string> out;
  const Module module = rewritten(module_spelled(lines), which);
  for (const Node& node : module.entry_function().nodes)
    if (node.op->name == "custom_call") out.push_back(node.attributes.text("call_target_name"));
  return out;
}

TEST(Rewrite, FunctionsInEverySpelling) {
  for (const auto& [spelling, target] : kFunctionSpellings)
    EXPECT_EQ(made(spelling), std::vector<std::string>{target}) << spelling;
}

TEST(Rewrite, NormsInEverySpelling) {
  for (const auto& [spelling, target] : kNormSpellings)
    EXPECT_EQ(made(spelling), std::vector<std::string>{target}) << spelling;
}

TEST(Rewrite, NearMissesStay) {
  for (const std::string& spelling : kNearMisses) EXPECT_EQ(made(spelling), std::vector<std::string>{}) << spelling;
}

TEST(Rewrite, EachHasASwitch) {
  for (const Rewrite& rewrite : rewrites()) {
    Rewrites off;
    off.*rewrite.flag = false;
    const auto& spellings = rewrite.name == "norms" ? kNormSpellings : kFunctionSpellings;
    std::vector<RewriteNote> notes;
    const Module module = module_spelled(spellings.front().first);
    EXPECT_EQ(rewritten(module, off, &notes).node_count(), module.node_count()) << rewrite.name;
    EXPECT_TRUE(std::ranges::all_of(notes, [](const RewriteNote& note) { return note.count == 0; }));
    EXPECT_LT(rewritten(module, {}).node_count(), module.node_count()) << rewrite.name;
  }
}

TEST(Rewrite, AModuleSwitchesThem) {
  Module module = module_spelled(kNormSpellings.front().first);
  module.extras["trnsim.rewrites"] = "-norms,+functions";
  EXPECT_FALSE(switched(module, {}).norms);
  EXPECT_TRUE(switched(module, {.functions = false}).functions);
  module.extras["trnsim.rewrites"] = "-norm";
  EXPECT_THROW(switched(module, {}), base::Error);
}

TEST(Rewrite, ThePageHasEachRow) {
  const std::string page = base::read_file(std::filesystem::path{TRNSIM_TEST_DIR}.parent_path() / "docs/frontend.md");
  for (const Rewrite& rewrite : rewrites())
    EXPECT_NE(page.find("| `" + std::string{rewrite.name} + "` | " + std::string{rewrite.finds} + " | " +
                        std::string{rewrite.becomes} + " |"),
              std::string::npos)
        << rewrite.name;
}

TEST(Rewrite, WhatOthersReadIsStillMade) {
  const std::string silu =
      "x = f32[40,50] parameter(0)\ns = f32[40,50] logistic(x)\ny = f32[40,50] multiply(x, s)\n"
      "ROOT t = (f32[40,50], f32[40,50]) tuple(s, y)";
  const Module module = rewritten(module_spelled(silu), {});
  const auto has = [&](std::string_view op) {
    return std::ranges::any_of(module.entry_function().nodes, [&](const Node& node) { return node.op->name == op; });
  };
  EXPECT_TRUE(has("logistic"));
  EXPECT_TRUE(has("custom_call"));
  EXPECT_FALSE(has("multiply"));
}

/// The names of the operations that the compiler is given.
std::multiset<std::string> ops(const Module& module, const Rewrites& which) {
  const LoweredGraph lowered = lower(module, {.rewrites = which});
  std::multiset<std::string> out;
  for (std::size_t n = 0; n < lowered.graph.node_count(); ++n) out.emplace(lowered.graph.node(n).op->name);
  return out;
}

TEST(Rewrite, TheLoweringTakesWhatTheFamiliesHave) {
  const Module norm = module_spelled(kNormSpellings.front().first);
  EXPECT_EQ(ops(norm, {}).count("layernorm"), 1U);
  EXPECT_EQ(ops(norm, {}).count("row_reduce"), 0U);
  EXPECT_EQ(ops(norm, {.norms = false}).count("layernorm"), 0U);
  const Module gelu = module_spelled(kFunctionSpellings.front().first);
  EXPECT_LT(ops(gelu, {}).size(), ops(gelu, {.functions = false}).size());
}

/// Rewrites put values that they make in front of older ones: the order of nodes is not the order of their values.
TEST(Rewrite, AOneHotProductIsFoundWhateverTheOrderOfNodes) {
  std::string both = kNormSpellings.front().first;
  both.replace(both.find("ROOT "), 5, "");
  both +=
      "ids = s32[6] parameter(3)\ntable = f32[150,8] parameter(4)\n"
      "wide = s32[6,150] broadcast(ids), dimensions={0}\nplace = s32[6,150] iota(), iota_dimension=1\n"
      "same = pred[6,150] compare(wide, place), direction=EQ\nhot = f32[6,150] convert(same)\n"
      "taken = f32[6,8] dot(hot, table), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "ROOT out = (f32[4,10,64], f32[6,8]) tuple(y, taken)";
  EXPECT_EQ(ops(module_spelled(both), Rewrites{}).count("embedding"), 1U);
  Module turned = module_spelled(both);
  std::vector<Node>& nodes = turned.functions.at(turned.entry).nodes;
  const auto iota = std::ranges::find_if(nodes, [](const Node& node) { return node.op->name == "iota"; });
  std::rotate(nodes.begin(), iota - 1, iota + 4);  // the product and what it reads, before the norm
  EXPECT_EQ(ops(turned, {.norms = false}).count("embedding"), 1U);
}

}  // namespace
}  // namespace trnsim::frontend
