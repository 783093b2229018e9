// Rows by id, by place and every n-th, and their gradients, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;

constexpr Tolerance kExact{};

Input ids(std::int64_t rows, std::int64_t below) { return {random_ids(rows, below, 7), Dtype::kInt32}; }

TEST(Embedding, TakesRowsOfTheTable) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kBf16})
    for (const auto& [rows, table, cols] : {std::tuple{5, 3, 6}, {130, 700, 192}, {257, 40000, 30}, {140, 200000, 5}}) {
      const Input values{random_normal(table, cols, 1), type};
      expect_reference(runtime::kEmbedding, {values, ids(rows, table)}, {}, {kExact});
      expect_reference(runtime::kEmbedding, {values, ids(rows, table)}, ResultAttrs{.dtype = Dtype::kFp32}, {kExact});
    }
}

// Up to 128 rows: TensorE sums in fp32. More: the DMA adds in HBM, in order. Either way an element is a sum of about
// rows / table terms.
TEST(EmbeddingGrad, SumsRowsById) {
  for (const auto& [rows, table, cols] : {std::tuple{130, 2, 192},
                                          {257, 128, 600},
                                          {130, 129, 6},
                                          {300, 5000, 192},
                                          {257, 100, 2100},
                                          {140, 150000, 5}}) {
    const double n = 2 + static_cast<double>(rows) / table;
    const Inputs in{ids(rows, table), random_normal(rows, cols, 2)};
    const Tolerance within{.ulps = 2 * std::sqrt(n) + 1, .floor = std::sqrt(n)};
    expect_reference(runtime::kEmbeddingGrad, in, EmbeddingGradAttrs{.rows = table}, {within});
  }
}

TEST(EmbeddingGrad, InBf16) {
  const Inputs in{ids(257, 90), {random_normal(257, 320, 2), Dtype::kBf16}};
  const EmbeddingGradAttrs attrs{.rows = 90, .operand = Dtype::kBf16};
  expect_reference(runtime::kEmbeddingGrad, in, attrs, {{.ulps = 0.51, .floor = 0.1, .dtype = Dtype::kBf16}}, "bf16");
  // In HBM each addition rounds: about three per row of the table here.
  const Inputs large{ids(500, 200), {random_normal(500, 320, 2), Dtype::kBf16}};
  expect_reference(runtime::kEmbeddingGrad, large, EmbeddingGradAttrs{.rows = 200, .operand = Dtype::kBf16},
                   {{.ulps = 4, .floor = 2, .dtype = Dtype::kBf16}}, "bf16");
}

// Places of runs are counted in int32: tables with more of them than 16 bits count are one transfer's too.
TEST(Runs, AreTakenAndPutAtAnyPlace) {
  for (const auto& [rows, cols, run, unit] : {std::tuple{300, 1000, 7, 1}, {40, 50, 10, 5}, {70000, 3, 3, 3}}) {
    const std::int64_t places = (std::int64_t{rows} * cols - run) / unit + 1;
    const Input table{random_normal(rows, cols, 1)};
    expect_reference(runtime::kTakeRuns, {table, ids(150, places)}, RunsAttrs{.run = run, .unit = unit}, {kExact});
    Tensor apart(3, 1);  // no two runs meet
    apart.data = {0, static_cast<float>(places / 2), static_cast<float>(places - 1)};
    for (const isa::Alu alu : {isa::Alu::kNone, isa::Alu::kAdd, isa::Alu::kMax})
      expect_reference(runtime::kPutRuns, {table, {apart, Dtype::kInt32}, random_normal(3, run, 2)},
                       RunsAttrs{.run = run, .unit = unit, .alu = alu}, {kExact});
  }
}

TEST(Positions, RepeatForEachSequence) {
  for (const auto& [batch, seq, table] : {std::tuple{3, 48, 64}, {2, 130, 130}, {5, 7, 512}, {1, 300, 512}}) {
    const Input values{random_normal(table, 192, 1)};
    expect_reference(runtime::kPositions, {values}, PositionsAttrs{.batch = batch, .seq = seq}, {kExact});
  }
  EXPECT_TRUE(
      fails(base::Fault::kProgram,
            [] { run_on_device(runtime::kPositions, {random_normal(8, 6, 1)}, PositionsAttrs{.batch = 1, .seq = 9}); },
            {"positions", "longer than the table"}));
}

TEST(PositionsGrad, SumsOverTheBatch) {
  for (const auto& [batch, seq, table, cols] : {std::tuple{3, 48, 64, 600}, {2, 130, 130, 6}, {5, 7, 512, 192}}) {
    const Inputs in{random_normal(batch * seq, cols, 1)};
    expect_reference(runtime::kPositionsGrad, in, PositionsGradAttrs{.seq = seq, .rows = table},
                     {{.ulps = 3, .floor = std::sqrt(batch)}});
  }
}

TEST(TakeRows, AndPutRows) {
  for (const auto& [rows, stride, cols] : {std::tuple{5, 7, 6}, {130, 3, 192}, {257, 2, 600}}) {
    expect_reference(runtime::kTakeRows, {random_normal(rows * stride, cols, 1)}, StrideAttrs{.stride = stride},
                     {kExact});
    expect_reference(runtime::kPutRows, {random_normal(rows, cols, 1)}, StrideAttrs{.stride = stride}, {kExact});
    const Input half{random_normal(rows, cols, 1), Dtype::kBf16};
    expect_reference(runtime::kPutRows, {half}, StrideAttrs{.stride = stride}, {kExact}, "bf16");
  }
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [] { run_on_device(runtime::kTakeRows, {random_normal(8, 6, 1)}, StrideAttrs{.stride = 3}); },
                    {"take_rows", "does not divide"}));
}

}  // namespace
