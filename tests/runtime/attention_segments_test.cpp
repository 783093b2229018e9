// Attention over sequences of several segments: pairs of them add up to the whole, and are calls of few blocks.
#include <gtest/gtest.h>

#include "runtime/graph/op.h"
#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kAttention;
using runtime::kAttentionGrad;

/// Three segments of up to 512 rows, the last one short.
constexpr std::int64_t kLongSeq = 2 * 512 + 90, kLongHeads = 24, kLongSize = 4;

struct SegmentCase {
  std::int64_t batch = 1, kv_heads = 2, window = 0;
  double cap = 0;

  AttentionAttrs attrs() const {
    return {.scale = 0.5,
            .batch = batch,
            .seq = kLongSeq,
            .heads = kLongHeads,
            .kv_heads = kv_heads,
            .causal = true,
            .window = window,
            .flash = true,
            .soft_cap = cap,
            .tile_keys = 512};
  }
};

struct InSegments {
  Tensors results;
  std::size_t calls = 0, blocks = 0, instructions = 0;
};

/// With the results that a pass appends where rows are long.
InSegments in_segments(const Op& op, const Inputs& inputs, const Attrs& attrs, std::size_t results, double long_group) {
  Graph graph{runtime::numerics("fp32")};
  std::vector<ValueId> in;
  for (const Input& i : inputs)
    in.push_back(graph.tensor(fmt::format("in{}", in.size()), i.value.rows, i.value.cols, i.dtype, Kind::kInput));
  graph.enter({.name = "test"});
  const std::vector<ValueId> out = graph.add(op, std::string{op.name}, in, attrs);
  for (std::size_t o = 0; o < results; ++o) graph.output(out[o], fmt::format("out{}", o));
  if (&op == &kAttention)
    graph.append_result(0, {inputs[0].value.rows, kLongHeads * (kLongSize + 2), Dtype::kFp32});
  else
    for (std::size_t i = 1; i < 3; ++i)
      graph.append_result(0, {inputs[i].value.rows, inputs[i].value.cols, Dtype::kFp32});
  Running running{std::move(graph), {.name = "test", .long_group = long_group}};
  for (std::size_t i = 0; i < inputs.size(); ++i) running.write(fmt::format("in{}", i), inputs[i].value);
  running.run();
  InSegments made;
  for (std::size_t o = 0; o < results; ++o) made.results.push_back(running.read(fmt::format("out{}", o)));
  made.calls = running.compiled().program.calls.size();
  made.blocks = running.compiled().program.blocks.size();
  for (const isa::Block& block : running.compiled().program.blocks) made.instructions += block.instrs.size();
  return made;
}

void expect_segments_add_up(const Op& op, const Inputs& inputs, const Attrs& attrs, std::size_t results) {
  const InSegments whole = in_segments(op, inputs, attrs, results, 1e9),
                   calls = in_segments(op, inputs, attrs, results, 60);
  const Tensors want = op.forward(attrs, values(inputs));
  EXPECT_EQ(whole.calls, 1U) << op.name;
  // Pairs: a segment with itself, one with an earlier one, both again with the short last one; and two ends.
  EXPECT_LE(calls.blocks, 6U) << op.name;
  EXPECT_LT(calls.instructions, whole.instructions) << op.name;
  for (std::size_t o = 0; o < results; ++o) {
    // As for blocks of keys: a row has as many products as keys.
    const Tolerance near{.ulps = 64 + 2 * std::sqrt(kLongSeq), .floor = std::max(1e-3, largest(want[o]) / 4)};
    EXPECT_TRUE(close(whole.results[o], want[o], near)) << op.name << ", result " << o;
    EXPECT_TRUE(same(calls.results[o], whole.results[o])) << op.name << ", result " << o;
  }
}

void expect_attention_adds_up(const SegmentCase& c) {
  const std::int64_t rows = c.batch * kLongSeq, kv = c.kv_heads * kLongSize;
  Inputs in = in_type(Dtype::kFp32, {random_normal(rows, kLongHeads * kLongSize, 1), random_normal(rows, kv, 2),
                                     random_normal(rows, kv, 3)});
  expect_segments_add_up(kAttention, in, c.attrs(), 2);
  const Tensors forward = kAttention.forward(c.attrs(), values(in));
  in.emplace_back(forward[1]);
  in.emplace_back(random_normal(rows, kLongHeads * kLongSize, 5));
  in.emplace_back(forward[0]);
  expect_segments_add_up(kAttentionGrad, in, c.attrs(), 3);
}

TEST(AttentionSegments, AddUpToTheWhole) { expect_attention_adds_up({}); }

/// Windows hide all keys of a pair, or those of some queries.
TEST(AttentionSegments, WithAWindow) { expect_attention_adds_up({.kv_heads = 24, .window = 800, .cap = 2}); }

TEST(AttentionSegments, OfEachSequenceOfABatchWithAShortWindow) {
  expect_attention_adds_up({.batch = 2, .kv_heads = 1, .window = 200});
}

/// The instructions of a program do not grow with its text, only their calls do.
TEST(AttentionSegments, LongerTextsHaveMoreCallsOfTheSameBlocks) {
  constexpr std::int64_t kSegment = 4096, kWide = 4 * 128;
  const auto compiled = [](std::int64_t segments) {
    const std::int64_t rows = segments * kSegment;
    Graph graph{runtime::numerics("bf16")};
    std::vector<ValueId> in;
    for (const char* name : {"q", "k", "v"}) in.push_back(graph.tensor(name, rows, kWide, Dtype::kBf16, Kind::kInput));
    graph.enter({.name = "test"});
    graph.output(
        graph.add(kAttention, "heads", in,
                  AttentionAttrs{.batch = 1, .seq = rows, .heads = 4, .kv_heads = 4, .causal = true, .flash = true})[0],
        "out");
    return runtime::compile(std::move(graph), trn1_target(), {.name = "test"}).program;
  };
  const isa::Program four = compiled(4), twelve = compiled(12);
  ASSERT_EQ(four.blocks.size(), 3U);  // a segment with itself, with an earlier one, and its end
  ASSERT_EQ(twelve.blocks.size(), 3U);
  for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(twelve.blocks[b].instrs.size(), four.blocks[b].instrs.size());
  EXPECT_EQ(four.calls.size(), 4 * 5 / 2 + 4U);
  EXPECT_EQ(twelve.calls.size(), 12 * 13 / 2 + 12U);
}

}  // namespace
