// The programs of published micro-benchmarks: they compute what they say, with the work that the mathematics needs.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "isa/check.h"
#include "runtime/compiler/compile.h"
#include "runtime/ops/optimizer_inputs.h"
#include "tests/target.h"
#include "tests/validation/micro_support.h"
#include "tests/workloads/support.h"
#include "validation/kernels/block_graph.h"
#include "validation/kernels/micro.h"

namespace {

using isa::Dtype;
using validation::Gemm;
using namespace micro_test;

TEST(MicroGemm, TunedComputesTheProduct) {
  // More than one block in each direction, and none of them whole.
  const Gemm gemm{.m = 1050, .k = 1100, .n = 1030, .batch = 1, .dtype = Dtype::kFp32};
  Running run{validation::tuned_gemm(gemm, trn1_target())};
  const Matrix lhs = random_matrix(gemm.k * gemm.m, 1), rhs = random_matrix(gemm.k * gemm.n, 2);
  run.write("lhs_t", lhs);
  run.write("rhs", rhs);
  run.run();
  EXPECT_LT(distance(run.read("out"), product(lhs, rhs, gemm.m, gemm.k, gemm.n, true)), kFp32);
  EXPECT_EQ(executed_flops(run.program()), validation::flops(gemm));
}

TEST(MicroGemm, CompiledComputesTheProduct) {
  // 17 pieces of 1500 fp32 from each partition do not stay in SBUF: the compiler streams them.
  const Gemm gemm{.m = 150, .k = 2100, .n = 1500, .batch = 1, .dtype = Dtype::kFp32};
  Running run{validation::compiled_gemm(gemm, trn1_target())};
  const Matrix lhs = random_matrix(gemm.k * gemm.m, 1), rhs = random_matrix(gemm.k * gemm.n, 2);
  run.write("x", lhs);
  run.write("0.matmul", rhs);
  run.run();
  EXPECT_LT(distance(run.read("out"), product(lhs, rhs, gemm.m, gemm.k, gemm.n, false)), kFp32);
  EXPECT_EQ(executed_flops(run.program()), validation::flops(gemm));
}

TEST(MicroGemm, LargeOnesHaveTheirFlops) {
  for (const Gemm& gemm : {Gemm{.m = 2048, .k = 4096, .n = 2048}, Gemm{.m = 512, .k = 512, .n = 512, .batch = 3}}) {
    const isa::Program program = validation::compiled_gemm(gemm, trn1_target());
    isa::check(program, trn1_target());
    EXPECT_EQ(executed_flops(program), validation::flops(gemm));
  }
  EXPECT_EQ(executed_flops(validation::tuned_gemm({.m = 2048, .k = 2048, .n = 2048}, trn1_target())),
            2.0 * 2048 * 2048 * 2048);
}

/// One update of w; returns what m is afterwards.
Matrix adamw(bool moments_stay, const Matrix& m) {
  constexpr std::int64_t kRows = 96, kCols = 80, kAll = kRows * kCols;
  Running run{validation::adamw_kernel(kRows, kCols, Dtype::kFp32, trn1_target(), moments_stay)};
  const Matrix w = random_matrix(kAll, 1), g = random_matrix(kAll, 2);
  Matrix v = random_matrix(kAll, 4);
  for (float& x : v) x *= x;
  Matrix hyper(runtime::kOptimizerInputs, 0.0F);
  hyper[runtime::kRate] = 1e-3F, hyper[runtime::kRootScale] = 2.0F, hyper[runtime::kDecay] = 0.99F;
  for (const auto& [name, values] : Named{{"w", &w}, {"g", &g}, {"m", &m}, {"v", &v}, {"hyper", &hyper}})
    run.write(name, *values);
  run.write("clip", {0.5F});
  run.run();
  Matrix want = w;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double gradient = 0.5 * g[i], first = 0.9 * m[i] + 0.1 * gradient;
    const double second = 0.999 * v[i] + 0.001 * gradient * gradient;
    want[i] = static_cast<float>(0.99 * w[i] - 1e-3 * first / (2 * std::sqrt(second) + 1e-8));
  }
  EXPECT_LT(distance(run.read("w"), want), 1e-5);
  return run.read("m");
}

TEST(MicroKernel, AdamW) {
  const Matrix m = random_matrix(96 * 80, 3);
  EXPECT_NE(adamw(true, m), m);
  EXPECT_EQ(adamw(false, m), m);  // a mere input
}

TEST(MicroKernel, SwiGlu) {
  constexpr std::int64_t kM = 150, kN = 200, kK = 96;
  Running run{validation::swiglu_kernel(kM, kN, kK, Dtype::kFp32, trn1_target())};
  const Matrix x = random_matrix(kM * kK, 1), gate = random_matrix(kK * kN, 2, 0.1);
  const Matrix up = random_matrix(kK * kN, 3, 0.1), down = random_matrix(kN * kK, 4, 0.1);
  run.write("x", x);
  run.write("gate", gate);
  run.write("up", up);
  run.write("down", down);
  run.run();
  Matrix h = product(x, gate, kM, kK, kN, false);
  const Matrix u = product(x, up, kM, kK, kN, false);
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = static_cast<float>(silu(h[i]) * u[i]);
  EXPECT_LT(distance(run.read("out"), product(h, down, kM, kN, kK, false)), kFp32);
  EXPECT_EQ(executed_flops(run.program()), 3 * 2.0 * kM * kN * kK);
}

TEST(MicroKernel, VectorAdd) {
  Running run{validation::vector_add_kernel(25600, 64, 200, Dtype::kFp32, trn1_target())};
  const Matrix a = random_matrix(25600, 1), b = random_matrix(25600, 2);
  Matrix want = a;
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += b[i];
  run.write("a", a);
  run.write("b", b);
  run.run();
  EXPECT_EQ(run.read("out"), want);
}

TEST(MicroKernel, MambaVersionsAgreeWithTheRecurrence) {
  constexpr std::int64_t kSeq = 1030, kChannels = 128, kStates = 3;
  Matrix delta = random_matrix(kChannels * kSeq, 1, 0.3), a = random_matrix(kChannels * kStates, 2);
  for (float& x : delta) x = std::abs(x);
  for (float& x : a) x = -std::abs(x);
  const Matrix u = random_matrix(kChannels * kSeq, 3), b = random_matrix(kStates * kSeq, 4);
  const Matrix c = random_matrix(kStates * kSeq, 5);
  Matrix want(static_cast<std::size_t>(kChannels * kSeq));
  for (std::int64_t row = 0; row < kChannels; ++row)
    for (std::int64_t state = 0; state < kStates; ++state) {
      double h = 0;
      for (std::int64_t t = 0; t < kSeq; ++t) {
        const auto at = static_cast<std::size_t>(row * kSeq + t), side = static_cast<std::size_t>(state * kSeq + t);
        h = std::exp(static_cast<double>(delta[at]) * a[static_cast<std::size_t>(row * kStates + state)]) * h +
            static_cast<double>(delta[at]) * u[at] * b[side];
        want[at] += static_cast<float>(h * c[side]);
      }
    }
  for (const int version : {1, 2, 3}) {
    Running run{validation::mamba_scan({.seq = kSeq, .channels = kChannels, .states = kStates, .version = version},
                                       trn1_target())};
    for (const auto& [name, values] : Named{{"delta", &delta}, {"u", &u}, {"a", &a}, {"b", &b}, {"c", &c}})
      run.write(name, *values);
    run.run();
    EXPECT_LT(distance(run.read("out"), want), 1e-5) << "version " << version;
  }
}

TEST(MicroMemory, MovesEveryByteOnce) {
  using validation::Traffic;
  for (const Traffic traffic : {Traffic::kRead, Traffic::kWrite, Traffic::kCopy}) {
    const isa::Program program =
        validation::memory_test({.traffic = traffic, .bytes = 3'000'000'000, .row_bytes = 2000}, trn1_target());
    isa::check(program, trn1_target());
    double read = 0, written = 0;
    for (const isa::Call& call : program.calls)
      for (const isa::Instr& i : program.blocks[call.block].instrs) {
        constexpr auto kHbm = static_cast<std::size_t>(isa::Space::kHbm);
        read += static_cast<double>(isa::bytes_read(i)[kHbm]);
        written += static_cast<double>(isa::bytes_written(i)[kHbm]);
      }
    EXPECT_EQ(read, traffic == Traffic::kWrite ? 0 : 3e9);
    EXPECT_EQ(written, traffic == Traffic::kRead ? 0 : 3e9);
  }
  EXPECT_TRUE(workloads_test::fails(base::Fault::kUsage, [] { validation::memory_test({.bytes = 10}, trn1_target()); },
                                    {"rows"}));
}

TEST(MicroStream, EveryKindPassesTheChecker) {
  std::string names = validation::stream_names() + ", ";
  for (std::size_t end = names.find(", "); end != std::string::npos; end = names.find(", ")) {
    isa::check(validation::instruction_stream({.name = names.substr(0, end), .parts = 128, .cols = 256}, trn1_target()),
               trn1_target());
    names.erase(0, end + 2);
  }
  EXPECT_TRUE(workloads_test::fails(base::Fault::kUsage,
                                    [] { validation::instruction_stream({.name = "activatoin"}, trn1_target()); },
                                    {"activation"}));
}

validation::BlockSpec small_blocks(bool training) {
  return {.layers = 2,
          .hidden = 64,
          .heads = 2,
          .ffn = 256,
          .batch = 2,
          .seq = 40,
          .training = training,
          .numerics = runtime::numerics("fp32")};
}

/// A block program with random weights and inputs, ready to run.
std::unique_ptr<Running> running_blocks(const validation::BlockSpec& spec, float rate) {
  runtime::CompileOptions options;
  auto run = std::make_unique<Running>(runtime::compile(validation::block_graph(spec), trn1_target(), options).program);
  std::uint32_t seed = 1;
  for (const isa::Region& region : run->program().regions) {
    if (region.kind != "weights" && region.kind != "inputs") continue;
    run->write(region.name, random_matrix(region.shape.at(0) * region.shape.at(1), seed++, 0.2));
  }
  if (spec.training) {
    Matrix hyper(runtime::kOptimizerInputs, 0.0F);
    hyper[runtime::kRate] = rate;
    run->write("hyper", hyper);
  }
  return run;
}

TEST(Blocks, FlopsAreAnalytic) {
  for (const bool training : {false, true}) {
    const validation::BlockSpec spec = small_blocks(training);
    const auto run = running_blocks(spec, 0);
    const double model = validation::block_flops(spec), executed = executed_flops(run->program());
    EXPECT_EQ(run->program().model_flops, model);
    // The sums of bias and gain gradients, which TensorE computes too.
    EXPECT_GE(executed, model);
    EXPECT_LE(executed, training ? 1.03 * model : model);
  }
}

TEST(Blocks, AStepLowersTheLossAsItsGradientSays) {
  constexpr float kRate = 1e-4F;
  const auto run = running_blocks(small_blocks(true), kRate);
  const Matrix dy = run->read("dy");
  const auto loss = [&](const Matrix& y) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(y[i]) * dy[i];
    return sum;
  };
  std::map<std::string, Matrix> before;
  for (const isa::Region& region : run->program().regions)
    if (region.kind == "weights") before[region.name] = run->read(region.name);
  run->run();
  const double first = loss(run->read("y"));
  double squares = 0;  // of all gradients, from how far the weights went
  for (const auto& [name, old] : before) {
    const Matrix now = run->read(name);
    for (std::size_t i = 0; i < old.size(); ++i) {
      const double gradient = (static_cast<double>(old[i]) - now[i]) / kRate;
      squares += gradient * gradient;
    }
  }
  run->run();
  // To first order a step of -rate * g lowers the loss by rate * |g|^2; the second order is small at this rate.
  EXPECT_NEAR((first - loss(run->read("y"))) / (kRate * squares), 1, 0.05);
}

}  // namespace
