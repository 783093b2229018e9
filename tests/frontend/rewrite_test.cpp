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
#include "frontend/rewrite/patterns.h"
#include "runtime/graph/op.h"
#include "tests/frontend/attention.h"
#include "tests/frontend/losses.h"
#include "tests/frontend/norms_and_functions.h"
#include "tests/frontend/updates.h"

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

TEST(Rewrite, GradientsOfNorms) {
  for (const auto& [spelling, all] : kNormGradients) EXPECT_EQ(made(spelling), all) << spelling;
}

TEST(Rewrite, NearMissesStay) {
  for (const std::string& spelling : kNearMisses) EXPECT_EQ(made(spelling), std::vector<std::string>{}) << spelling;
}

TEST(Rewrite, EachHasASwitch) {
  for (const Rewrite& rewrite : rewrites()) {
    Rewrites off;
    off.*rewrite.flag = false;
    if (rewrite.name != "norms" && rewrite.name != "functions") continue;  // of their own tests
    const auto& spellings = rewrite.name == "norms" ? kNormSpellings : kFunctionSpellings;
    std::vector<RewriteNote> notes;
    const Module module = module_spelled(spellings.front().first);
    EXPECT_EQ(rewritten(module, off, &notes).node_count(), module.node_count()) << rewrite.name;
    EXPECT_TRUE(std::ranges::all_of(notes, [](const RewriteNote& note) { return note.count == 0; }));
    EXPECT_LT(rewritten(module, {}).node_count(), module.node_count()) << rewrite.name;
  }
}

Module loss_spelled(const std::string& lines) {
  return hlo::graph_of(
      hlo::read_text("HloModule m\n" + std::string{kLossRegions} + "ENTRY main {\n" + lines + "\n}\n", "m"), "m");
}

std::vector<std::string> targets(const Module& module) {
  std::vector<std::string> out;
  for (const Node& node : module.entry_function().nodes)
    if (node.op->name == "custom_call") out.push_back(node.attributes.text("call_target_name"));
  return out;
}

TEST(Rewrite, LossesInEverySpelling) {
  for (const std::string& spelling : kLossSpellings) {
    const Module made = rewritten(loss_spelled(spelling), {});
    EXPECT_EQ(targets(made), (std::vector<std::string>{"trnsim.row_max", "trnsim.loss_sums", "trnsim.split_loss"}))
        << spelling;
    EXPECT_TRUE(std::ranges::none_of(made.entry_function().nodes, [](const Node& node) {
      return node.op->name == "exponential";
    })) << spelling;
    EXPECT_EQ(targets(rewritten(loss_spelled(spelling), {.losses = false})), std::vector<std::string>{});
  }
}

TEST(Rewrite, EachOfTwoLossesHasItsOwnLabels) {
  const Module made = rewritten(loss_spelled(two_losses()), {});
  const Function& function = made.entry_function();
  const Producers producers{function};
  std::vector<std::pair<ValueId, ValueId>> read;  // parameters: logits and labels
  for (const Node& node : function.nodes)
    if (node.op->name == "custom_call" && node.attributes.text("call_target_name") == "trnsim.loss_sums") {
      ValueId labels = node.operands[1];
      while (const Node* maker = producers.of(labels)) labels = maker->operands[0];
      read.emplace_back(node.operands[0], labels);
    }
  EXPECT_EQ(read, (std::vector<std::pair<ValueId, ValueId>>{{1, 0}, {3, 2}}));
}

TEST(Rewrite, ANumberThatDividesTheGradientOfALossStays) {
  const Module made = rewritten(loss_spelled(kDividedLogits), {});
  EXPECT_EQ(targets(made), (std::vector<std::string>{"trnsim.row_max", "trnsim.loss_sums", "trnsim.split_loss"}));
  const Node* root = Producers{made.entry_function()}.of(made.entry_function().results[1]);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->op->name, "divide");
}

TEST(Rewrite, WhatIsNoLossStays) {
  for (const std::string& spelling : kNoLosses)
    EXPECT_EQ(targets(rewritten(loss_spelled(spelling), {})), std::vector<std::string>{}) << spelling;
}

Module attention_spelled(const std::string& lines) {
  return hlo::graph_of(
      hlo::read_text("HloModule m\n" + std::string{kAttentionRegions} + "ENTRY main {\n" + lines + "\n}\n", "m"), "m");
}

TEST(Rewrite, AttentionInEverySpelling) {
  for (const std::string& spelling : kAttentionSpellings) {
    const Module module = attention_spelled(spelling), made = rewritten(module, {});
    EXPECT_EQ(targets(made), std::vector<std::string>{"rewrite.attention"}) << spelling;
    EXPECT_TRUE(std::ranges::none_of(made.entry_function().nodes, [](const Node& node) {
      return node.op->name == "dot_general";
    })) << spelling;
    EXPECT_EQ(targets(rewritten(module, {.attention = false})), std::vector<std::string>{}) << spelling;
  }
  for (const std::string& spelling :
       {kAttentionWithGradient, kSharedWithGradient, kDividedWithGradient, chosen("-inf")})
    EXPECT_EQ(targets(rewritten(attention_spelled(spelling), {})),
              (std::vector<std::string>{"rewrite.attention", "rewrite.attention_grad"}));
}

/// A scale of data in front of the product is the operation's, unless its gradient is read without it too.
TEST(Rewrite, AScaleInFrontOfAttentionIsItsOperand) {
  const auto divided = [](const std::string& spelling) {
    const Module made = rewritten(attention_spelled(spelling), {});
    return std::ranges::count_if(made.entry_function().nodes, [&](const Node& node) {
      return node.op->name == "divide" && made.entry_function().type(node.result()).dims.size() > 2;
    });
  };
  EXPECT_EQ(divided(kDividedWithGradient), 0);
  EXPECT_EQ(divided(replaced(kDividedWithGradient, "tuple(c2, dq3,", "tuple(c2, dq,")), 1);
}

/// A row that sees nothing has equal probabilities, and its scores have no gradient: one number for each sequence says
/// so, and where queries differ it stays as the program has it.
TEST(Rewrite, HiddenScoresThatAreNumbersKeepTheirGradient) {
  EXPECT_EQ(targets(rewritten(attention_spelled(chosen("-1e9")), {})), std::vector<std::string>{});
  const Module module = rewritten(attention_spelled(chosen("-1e9", "2,9", "0,3")), {});
  EXPECT_EQ(targets(module), (std::vector<std::string>{"rewrite.attention", "rewrite.attention_grad"}));
  for (const Node& node : module.entry_function().nodes)
    if (node.op->name == "custom_call" && node.attributes.text("call_target_name") == "rewrite.attention_grad") {
      EXPECT_EQ(module.entry_function().type(node.operands.back()).dims, (Dims{2, 1}));
    }
}

TEST(Rewrite, UpdatesInEverySpelling) {
  for (const std::string& spelling : kUpdateSpellings) {
    EXPECT_EQ(made(spelling), std::vector<std::string>{"rewrite.update"}) << spelling;
    EXPECT_EQ(made(spelling, {.updates = false}), std::vector<std::string>{}) << spelling;
  }
  for (const std::string& spelling : kMomentumSpellings) {
    const Module module =
        hlo::graph_of(hlo::read_text(kMomentumHead + "ENTRY main {\n" + spelling + "\n}\n", "m"), "m");
    EXPECT_EQ(targets(rewritten(module, {})), std::vector<std::string>{"rewrite.update"}) << spelling;
    EXPECT_EQ(targets(rewritten(module, {.updates = false})), std::vector<std::string>{}) << spelling;
  }
}

/// A slice's gradient; `low` is the truth's padding in front of it.
std::vector<std::string> padded(int low, const std::string& otherwise, const Rewrites& which = {}) {
  const std::string text =
      "x = f32[4,6] parameter(0)\nzero = f32[] constant(0)\ny = f32[4,9] pad(x, zero), padding=0_0x1_2\n"
      "yes0 = pred[] constant(true)\nyes = pred[4,6] broadcast(yes0), dimensions={}\nno = pred[] constant(false)\n"
      "t = pred[4,9] pad(yes, no), padding=0_0x" +
      std::to_string(low) + "_" + std::to_string(3 - low) + "\nn0 = f32[] constant(" + otherwise +
      ")\nn = f32[4,9] broadcast(n0), dimensions={}\nROOT o = f32[4,9] select(t, y, n)";
  std::vector<std::string> out;
  const Module module = rewritten(module_spelled(text), which);
  for (const Node& node : module.entry_function().nodes)
    if (node.op->name != "constant") out.emplace_back(node.op->name);
  return out;
}

TEST(Rewrite, APaddedValueIsNotPickedAgain) {
  EXPECT_EQ(padded(1, "0"), std::vector<std::string>{"pad"});
  EXPECT_NE(padded(1, "0", {.paddings = false}), std::vector<std::string>{"pad"});
  EXPECT_NE(padded(2, "0"), std::vector<std::string>{"pad"});  // another place
  EXPECT_NE(padded(1, "1"), std::vector<std::string>{"pad"});  // another number
}

TEST(Rewrite, WhatIsNoUpdateStays) {
  for (const std::string& spelling : kNoUpdates) EXPECT_EQ(made(spelling), std::vector<std::string>{}) << spelling;
}

TEST(Rewrite, WhatIsNoAttentionStays) {
  for (const std::string& spelling : kNoAttention)
    EXPECT_EQ(targets(rewritten(attention_spelled(spelling), {})), std::vector<std::string>{}) << spelling;
}

/// A sum over eight ranks in two groups, of which each rank takes `slice`.
Module summed(const std::string& index, const std::string& slice, const std::string& function = "add",
              const std::string& also = "") {
  return hlo::graph_of(
      hlo::read_text("HloModule m, num_partitions=8\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                     " ROOT c = f32[] " +
                         function +
                         "(a, b)\n}\nENTRY main {\nx = f32[8,12] parameter(0)\n"
                         "zero = s32[] constant(0)\nid = u32[] partition-id()\n" +
                         index + "s = f32[8,12] all-reduce(x), replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=sum\n" +
                         also + slice + "\n}\n",
                     "m"),
      "m");
}

std::vector<std::string> ops_of(const Module& module, const Rewrites& which = {}) {
  std::vector<std::string> out;
  const Module made = rewritten(module, which);
  for (const Node& node : made.entry_function().nodes) out.emplace_back(node.op->name);
  return out;
}

const std::string kByTable =
    "t = s32[8] constant({0,2,4,6,0,2,4,6})\n"
    "e = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\ni = s32[] reshape(e)\n";
const std::string kRowsOfRank = "ROOT y = f32[2,12] dynamic-slice(s, i, zero), dynamic_slice_sizes={2,12}";

TEST(Rewrite, APartOfASumForEachRankIsAReduceScatter) {
  const std::vector<std::string> rows = ops_of(summed(kByTable, kRowsOfRank));
  EXPECT_EQ(std::ranges::count(rows, "reduce_scatter"), 1);
  EXPECT_EQ(std::ranges::count(rows, "all_reduce") + std::ranges::count(rows, "dynamic_slice") +
                std::ranges::count(rows, "partition_id"),
            0);
  // columns, whose place is a product; one group: the number of the place counts
  const std::string table =
      "t = s32[8] constant({0,3,6,9,0,3,6,9})\n"
      "e = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\ni = s32[] reshape(e)\n";
  const std::vector<std::string> columns =
      ops_of(summed(table, "ROOT y = f32[8,3] dynamic-slice(s, zero, i), dynamic_slice_sizes={8,3}"));
  EXPECT_EQ(std::ranges::count(columns, "reduce_scatter"), 1);
  EXPECT_EQ(std::ranges::count(ops_of(summed(kByTable, kRowsOfRank), {.scattered_sums = false}), "all_reduce"), 1);
}

TEST(Rewrite, OtherPartsOfASumStay) {
  const auto stays = [](const Module& module) { return std::ranges::count(ops_of(module), "all_reduce") == 1; };
  // not added; read once more; ranks that take another one's part; parts that overlap
  EXPECT_TRUE(stays(summed(kByTable, kRowsOfRank, "maximum")));
  EXPECT_TRUE(stays(summed(kByTable,
                           "y = f32[2,12] dynamic-slice(s, i, zero), dynamic_slice_sizes={2,12}\n"
                           "ROOT o = (f32[2,12], f32[8,12]) tuple(y, s)")));
  const std::string turned =
      "t = s32[8] constant({2,0,4,6,2,0,4,6})\n"
      "e = s32[1] dynamic-slice(t, id), dynamic_slice_sizes={1}\ni = s32[] reshape(e)\n";
  EXPECT_TRUE(stays(summed(turned, kRowsOfRank)));
  EXPECT_TRUE(stays(
      summed("i = s32[] convert(id)\n", "ROOT y = f32[2,12] dynamic-slice(s, i, zero), dynamic_slice_sizes={2,12}")));
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

/// A table's gradient: a product, and sums by index of two readers.
TEST(Rewrite, SumsByIndexAreAddedUpWhereTheyAreAdded) {
  const std::string scatter =
      ", update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
      "to_apply=sum\n";
  const std::string text =
      "d = f32[9,300] parameter(0)\nx = f32[9,64] parameter(1)\ni = s32[9,1] parameter(2)\nj = s32[9,1] parameter(3)\n"
      "zero = f32[] constant(0)\nz = f32[300,64] broadcast(zero), dimensions={}\n"
      "g = f32[300,64] dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      "s = f32[300,64] scatter(z, i, x)" +
      scatter + "t = f32[300,64] scatter(z, j, x)" + scatter + "a = f32[300,64] add(s, g)\n";
  const Module module = module_spelled(text + "ROOT b = f32[300,64] add(a, t)");
  const auto sums = [](const Module& m) {
    return ops(m, {.row_sums = false}).count("element") - ops(m, {}).count("element");
  };
  EXPECT_EQ(sums(module), 1U);  // two sums less; a result that takes over no memory is a copy of it
  EXPECT_EQ(ops(module, {}).count("put_runs"), 2U);
  EXPECT_EQ(ops(module, {}).count("move") + ops(module, {}).count("place"), 0U);  // in the product's memory
  // one that something else reads stays
  EXPECT_EQ(sums(module_spelled(text + "ROOT o = (f32[300,64], f32[300,64]) tuple(a, s)")), 0U);
}

/// Rows of 2 sequences of 9 tokens, with tokens outside.
const std::string kTurnedRows =
    "x = f32[2,9,24] parameter(0)\nxt = f32[9,2,24] transpose(x), dimensions={1,0,2}\nw = f32[24,48] parameter(1)\n"
    "b = f32[48] parameter(2)\nv = f32[48,24] parameter(3)\nn0 = f32[] parameter(4)\n";

TEST(Rewrite, TurnedRowsAreComputedAsMemoryHasThem) {
  const std::string bias = "bb = f32[9,2,48] broadcast(b), dimensions={2}\nz = f32[9,2,48] add(y, bb)\n";
  const std::string product = "y = f32[9,2,48] dot(xt, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n";
  const std::string back = "ROOT o = f32[2,9,48] transpose(z), dimensions={1,0,2}";
  const std::vector<std::string> spellings = {
      kTurnedRows + product + bias + back,
      // one row behind the other
      kTurnedRows +
          "xr = f32[18,24] reshape(xt)\nyr = f32[18,48] dot(xr, w), lhs_contracting_dims={1}, "
          "rhs_contracting_dims={0}\n"
          "y = f32[9,2,48] reshape(yr)\n" +
          bias + back,
      // and the bias, too
      kTurnedRows +
          "xr = f32[18,24] reshape(xt)\nyr = f32[18,48] dot(xr, w), lhs_contracting_dims={1}, "
          "rhs_contracting_dims={0}\n"
          "bb = f32[18,48] broadcast(b), dimensions={1}\nzr = f32[18,48] add(yr, bb)\n"
          "z = f32[9,2,48] reshape(zr)\n" +
          back,
      // columns, a number of data, and another product
      kTurnedRows + product +
          "s = f32[9,2,24] slice(y), slice={[0:9], [0:2], [24:48]}\nn = f32[9,2,24] broadcast(n0), dimensions={}\n"
          "m = f32[9,2,24] divide(s, n)\nz = f32[9,2,48] dot(m, v), lhs_contracting_dims={2}, "
          "rhs_contracting_dims={1}\n" +
          back};
  for (const std::string& spelling : spellings) {
    EXPECT_EQ(ops(module_spelled(spelling), {}).count("move"), 0U) << spelling;
    EXPECT_GT(ops(module_spelled(spelling), {.row_orders = false}).count("move"), 0U) << spelling;
  }
}

/// The result is wider than the rows that were turned, and is to have tokens outside: there is nothing to win.
TEST(Rewrite, TurnedRowsThatAreReadTurnedStay) {
  const std::string text = kTurnedRows +
                           "ROOT y = f32[9,2,48] dot(xt, w), lhs_contracting_dims={2}, "
                           "rhs_contracting_dims={0}";
  EXPECT_EQ(ops(module_spelled(text), {}), ops(module_spelled(text), {.row_orders = false}));
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
