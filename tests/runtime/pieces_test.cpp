// Long operations run as calls of one block, and compute the same bits.
#include "runtime/compiler/pieces.h"

#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::AttentionAttrs;
using runtime::BatchMatmulAttrs;

struct Outcome {
  Tensors results;
  std::size_t calls = 0, instructions = 0, largest_module = 0;
};

/// `long_group` as CompileOptions has it.
Outcome outcome(const Op& op, const Inputs& inputs, const Attrs& attrs, double long_group,
                std::string_view numerics = "bf16") {
  Graph graph{runtime::numerics(numerics)};
  std::vector<ValueId> in;
  for (const Input& i : inputs)
    in.push_back(graph.tensor(fmt::format("in{}", in.size()), i.value.rows, i.value.cols, i.dtype, Kind::kInput));
  graph.enter({.name = "test"});
  const std::vector<ValueId> out = graph.add(op, std::string{op.name}, in, attrs);
  for (std::size_t o = 0; o < out.size(); ++o) graph.output(out[o], fmt::format("out{}", o));
  Running running{std::move(graph), {.name = "test", .long_group = long_group}};
  for (std::size_t i = 0; i < inputs.size(); ++i) running.write(fmt::format("in{}", i), inputs[i].value);
  running.run();
  Outcome made{.results = {}, .largest_module = running.compiled().largest_module};
  for (std::size_t o = 0; o < out.size(); ++o) made.results.push_back(running.read(fmt::format("out{}", o)));
  made.calls = running.compiled().program.calls.size();
  for (const isa::Block& block : running.compiled().program.blocks) made.instructions += block.instrs.size();
  return made;
}

constexpr double kShort = 60, kNone = 1e9;

/// In calls of one block, whose bits are those of the whole.
void expect_same_in_pieces(const Op& op, const Inputs& inputs, const Attrs& attrs = {}) {
  const Outcome whole = outcome(op, inputs, attrs, kNone), pieces = outcome(op, inputs, attrs, kShort);
  EXPECT_EQ(whole.calls, 1U) << op.name;
  EXPECT_GE(pieces.calls, 3U) << op.name;
  EXPECT_LT(pieces.instructions, whole.instructions) << op.name;
  for (std::size_t o = 0; o < whole.results.size(); ++o)
    EXPECT_TRUE(same(pieces.results[o], whole.results[o])) << op.name << ", result " << o;
  // neuronx-cc is given the whole; constants that each part makes for itself count again.
  EXPECT_GE(pieces.largest_module, whole.largest_module) << op.name;
}

Inputs of(const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes) {
  Inputs out;
  for (const auto& [rows, cols] : shapes)
    out.emplace_back(random_normal(rows, cols, static_cast<std::uint64_t>(out.size() + 1)), Dtype::kBf16);
  return out;
}

TEST(Pieces, RowTilesOfElements) {
  expect_same_in_pieces(runtime::kActivate, of({{4096, 4096}}), runtime::ActivationAttrs{.fn = isa::Fn::kGelu});
}

TEST(Pieces, RowTilesOfAProductWithFewerRowsInTheLast) {
  expect_same_in_pieces(runtime::kMatmul, of({{2000, 512}, {512, 640}}));
}

TEST(Pieces, ColumnsOfAWeightGradient) { expect_same_in_pieces(runtime::kMatmulTn, of({{256, 700}, {256, 5000}})); }

TEST(Pieces, MatricesOfABatch) {
  expect_same_in_pieces(runtime::kBatchMatmul, of({{7 * 128, 256}, {7 * 256, 512}}),
                        BatchMatmulAttrs{.batch = {7},
                                         .m = 128,
                                         .k = 256,
                                         .n = 512,
                                         .x = {128 * 256, 256, 1},
                                         .w = {256 * 512, 512, 1},
                                         .dtype = Dtype::kBf16});
}

TEST(Pieces, HeadsOfAttention) {
  const AttentionAttrs attrs{
      .scale = 0.125, .batch = 3, .seq = 256, .heads = 4, .kv_heads = 2, .causal = true, .flash = true};
  expect_same_in_pieces(runtime::kAttention, of({{768, 256}, {768, 128}, {768, 128}}), attrs);
}

TEST(Pieces, SumsOverRowsStayWhole) {
  const Inputs inputs = of({{4096, 640}});
  const Outcome whole = outcome(runtime::kColSum, inputs, {}, kNone),
                cut = outcome(runtime::kColSum, inputs, {}, kShort);
  EXPECT_EQ(cut.calls, 1U);
  EXPECT_TRUE(same(cut.results[0], whole.results[0]));
}

/// A number between two of the type, in every element: calls of one block round others of them up.
TEST(Pieces, RoundingAtRandomDrawsAgainInEachPart) {
  const Tensor between = runtime::generate(4096, 4096, [](auto, auto) { return 1 + 1.0 / 256; });
  const Outcome made =
      outcome(runtime::kActivate, {{between}}, runtime::ActivationAttrs{.fn = isa::Fn::kCopy, .dtype = Dtype::kBf16},
              kShort, "bf16+sr");
  EXPECT_GE(made.calls, 3U);
  const Tensor& y = made.results[0];
  std::int64_t up = 0, equal = 0;
  for (std::int64_t r = 0; r < 2048; ++r)
    for (std::int64_t c = 0; c < 4096; ++c) up += y.at(r, c) > 1, equal += y.at(r, c) == y.at(r + 2048, c);
  const auto all = static_cast<double>(2048 * 4096), sigma = std::sqrt(all) / 2;
  EXPECT_NEAR(static_cast<double>(up), all / 2, 6 * sigma);
  EXPECT_NEAR(static_cast<double>(equal), all / 2, 6 * sigma);
}

TEST(Pieces, RandomNumbersDependOnThePlaceInTheWhole) {
  const Inputs inputs = of({{4096, 4096}});
  const runtime::DropoutAttrs attrs{.p = 0.25, .stream = 3};
  EXPECT_EQ(outcome(runtime::kDropout, inputs, attrs, kShort).calls, 1U);
}

}  // namespace
