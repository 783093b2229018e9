// Kernels of steps in a chain, and of attention: their results, beside the mathematics in double precision.
#include <gtest/gtest.h>

#include "tests/target.h"
#include "tests/validation/micro_support.h"
#include "tests/workloads/support.h"
#include "validation/kernels/micro.h"

namespace {

using micro_test::distance;
using micro_test::executed_flops;
using micro_test::kFp32;
using micro_test::Matrix;
using micro_test::product;
using micro_test::random_matrix;
using micro_test::Running;
using validation::Chain;

constexpr std::int64_t kM = 150, kK = 96, kN = 200;

/// y of row r: each row of x scaled by 1 / its root mean square, times gamma.
Matrix rms_of(Matrix x, const Matrix& gamma) {
  const std::size_t cols = gamma.size();
  for (std::size_t r = 0; r < x.size() / cols; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < cols; ++c) sum += static_cast<double>(x[r * cols + c]) * x[r * cols + c];
    const double scale = 1 / std::sqrt(sum / static_cast<double>(cols) + 1e-5);
    for (std::size_t c = 0; c < cols; ++c) x[r * cols + c] = static_cast<float>(x[r * cols + c] * scale * gamma[c]);
  }
  return x;
}

Matrix softmax_of(Matrix x, std::size_t cols) {
  for (std::size_t r = 0; r < x.size() / cols; ++r) {
    const auto row = std::span{x}.subspan(r * cols, cols);
    const double most = *std::ranges::max_element(row);
    double sum = 0;
    for (const float v : row) sum += std::exp(v - most);
    for (float& v : row) v = static_cast<float>(std::exp(v - most) / sum);
  }
  return x;
}

Matrix sum_of(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i % b.size()];
  return a;
}

TEST(MicroChain, AddNormMatmul) {
  const Chain chain{.steps = {"add", "rmsnorm", "matmul"}, .rows = kM, .cols = kK, .n = kN};
  Running run{validation::chain_kernel(chain, trn1_target())};
  const Matrix x = random_matrix(kM * kK, 1), z = random_matrix(kM * kK, 2), w = random_matrix(kK * kN, 4);
  const Matrix gamma = random_matrix(kK, 3);
  run.write("x", x);
  run.write("0.add", z);
  run.write("1.rmsnorm", gamma);
  run.write("2.matmul", w);
  run.run();
  EXPECT_LT(distance(run.read("out"), product(rms_of(sum_of(x, z), gamma), w, kM, kK, kN, false)), kFp32);
  EXPECT_EQ(executed_flops(run.program()), validation::flops(chain));
}

TEST(MicroChain, MatmulAddNorm) {
  const Chain chain{.steps = {"matmul", "add", "rmsnorm"}, .rows = kM, .cols = kK, .n = kN};
  Running run{validation::chain_kernel(chain, trn1_target())};
  const Matrix x = random_matrix(kM * kK, 1), w = random_matrix(kK * kN, 2), z = random_matrix(kM * kN, 3);
  const Matrix gamma = random_matrix(kN, 4);
  run.write("x", x);
  run.write("0.matmul", w);
  run.write("1.add", z);
  run.write("2.rmsnorm", gamma);
  run.run();
  EXPECT_LT(distance(run.read("out"), rms_of(sum_of(product(x, w, kM, kK, kN, false), z), gamma)), kFp32);
}

TEST(MicroChain, ABatchOfMatmulsWithSoftmax) {
  const Chain chain{.steps = {"matmul", "softmax"}, .rows = kM, .cols = 40, .n = kN, .batch = 2};
  Running run{validation::chain_kernel(chain, trn1_target())};
  for (const std::string b : {".0", ".1"}) {
    run.write("x" + b, random_matrix(kM * 40, b == ".0" ? 1 : 2));
    run.write("0.matmul" + b, random_matrix(40 * kN, b == ".0" ? 3 : 4));
  }
  run.run();
  for (const std::string b : {".0", ".1"}) {
    const Matrix x = random_matrix(kM * 40, b == ".0" ? 1 : 2), w = random_matrix(40 * kN, b == ".0" ? 3 : 4);
    EXPECT_LT(distance(run.read("out" + b), softmax_of(product(x, w, kM, 40, kN, false), kN)), 1e-4) << b;
  }
  EXPECT_EQ(executed_flops(run.program()), validation::flops(chain));
}

TEST(MicroChain, EveryStepRunsAlone) {
  for (const std::string& step : validation::chain_steps()) {
    const isa::Program program =
        validation::chain_kernel({.steps = {step}, .rows = 130, .cols = 70, .n = 90}, trn1_target());
    isa::check(program, trn1_target());
    EXPECT_EQ(executed_flops(program), step == "matmul" ? 2.0 * 130 * 70 * 90 : 0) << step;
  }
}

TEST(MicroChain, Silu) {
  Running run{validation::chain_kernel({.steps = {"silu"}, .rows = 200, .cols = 300}, trn1_target())};
  const Matrix x = random_matrix(200 * 300, 3, 2);
  Matrix want = x;
  for (float& v : want) v = static_cast<float>(micro_test::silu(v));
  run.write("x", x);
  run.run();
  EXPECT_LT(distance(run.read("out"), want), 1e-6);
}

TEST(MicroChain, RefusesAStepThatItDoesNotKnow) {
  EXPECT_TRUE(workloads_test::fails(
      base::Fault::kUsage, [] { validation::chain_kernel({.steps = {"softmx"}, .rows = 4, .cols = 4}, trn1_target()); },
      {"softmx"}));
}

TEST(MicroKernel, Lora) {
  const validation::LoraProduct lora{.m = kM, .k = kK, .n = kN, .rank = 8};
  Running run{validation::lora_kernel(lora, trn1_target())};
  const Matrix x = random_matrix(kM * kK, 1), w = random_matrix(kK * kN, 2);
  const Matrix a = random_matrix(kK * 8, 3), b = random_matrix(8 * kN, 4);
  run.write("x", x);
  run.write("w", w);
  run.write("a", a);
  run.write("b", b);
  run.run();
  const Matrix low = product(product(x, a, kM, kK, 8, false), b, kM, 8, kN, false);
  EXPECT_LT(distance(run.read("out"), sum_of(product(x, w, kM, kK, kN, false), low)), kFp32);
  EXPECT_EQ(executed_flops(run.program()), validation::flops(lora));
}

TEST(MicroKernel, TransposesAnyShape) {
  for (const auto& [rows, cols] : {std::pair{130, 70}, std::pair{700, 300}}) {
    Running run{validation::transpose_kernel(rows, cols, isa::Dtype::kFp32, trn1_target())};
    const Matrix x = random_matrix(static_cast<std::int64_t>(rows) * cols, 1);
    run.write("x", x);
    run.run();
    const Matrix out = run.read("out");
    for (int r = 0; r < rows; r += 13)
      for (int c = 0; c < cols; ++c)
        ASSERT_EQ(out[static_cast<std::size_t>(c * rows + r)], x[static_cast<std::size_t>(r * cols + c)]);
  }
}

TEST(MicroKernel, AttentionOfGroupedQueries) {
  const validation::HeadsShape shape{.batch = 1, .seq = 140, .heads = 4, .kv_heads = 2, .size = 16};
  Matrix q = random_matrix(140 * 64, 1), k = random_matrix(140 * 32, 2), v = random_matrix(140 * 32, 3);
  const auto head = [](const Matrix& all, std::size_t cols, std::size_t h) {
    Matrix one;
    for (std::size_t r = 0; r < all.size() / cols; ++r)
      for (std::size_t c = 0; c < 16; ++c) one.push_back(all[r * cols + h * 16 + c]);
    return one;
  };
  Running run{validation::attention_kernel(shape, false, false, trn1_target())};
  run.write("q", q);
  run.write("k", k);
  run.write("v", v);
  run.run();
  const Matrix out = run.read("out");
  for (std::size_t h = 0; h < 4; ++h) {
    Matrix keys(16 * 140);
    const Matrix rows = head(k, 32, h / 2);
    for (std::size_t i = 0; i < rows.size(); ++i) keys[i % 16 * 140 + i / 16] = rows[i];
    Matrix scores = product(head(q, 64, h), keys, 140, 16, 140, false);
    for (float& s : scores) s /= 4;
    EXPECT_LT(distance(head(out, 64, h), product(softmax_of(scores, 140), head(v, 32, h / 2), 140, 140, 16, false)),
              1e-4);
  }
  EXPECT_EQ(executed_flops(run.program()), validation::attention_flops(shape));
}

TEST(MicroKernel, RotaryPositionsTurnPairs) {
  const validation::HeadsShape shape{.batch = 2, .seq = 70, .heads = 3, .size = 8};
  const Matrix x = random_matrix(140 * 24, 1), cos = random_matrix(70 * 4, 2), sin = random_matrix(70 * 4, 3);
  Running run{validation::rope_kernel(shape, trn1_target())};
  run.write("x", x);
  run.write("cos", cos);
  run.write("sin", sin);
  run.run();
  Matrix want = x;
  for (std::size_t r = 0; r < 140; ++r)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t at = r * 24 + h * 8 + j, angle = r % 70 * 4 + j;
        want[at] = x[at] * cos[angle] - x[at + 4] * sin[angle];
        want[at + 4] = x[at + 4] * cos[angle] + x[at] * sin[angle];
      }
  EXPECT_LT(distance(run.read("out"), want), 1e-6);
}

}  // namespace
