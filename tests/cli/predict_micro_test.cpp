// `trnsim validate` on rows of matmuls, memory, kernels, instructions: the published ones of validation/tables, others.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"
#include "tests/validation/converted.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;

Json validate(const std::filesystem::path& table, const std::string& arguments) {
  const Ran ran = run("validate " + table.string() + " --format json " + arguments);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out);
}

void expect_within(const std::string& ids, double percent, std::size_t count) {
  const Json rows = validate(std::filesystem::path{TRNSIM_SOURCE_DIR} / "validation/tables/micro.csv", "--only " + ids);
  EXPECT_EQ(rows.size(), count);
  for (const Json& row : rows) {
    ASSERT_TRUE(row["predicted"].is_number()) << row["id"] << row["skip_reason"];
    EXPECT_LT(std::abs(row["error_percent"].get<double>()), percent) << row["id"];
    double shares = 0;
    for (const Json& part : row["time"]) shares += part["share"].get<double>();
    EXPECT_NEAR(shares, 1, 1e-6) << row["id"];
  }
}

/// A table of unpublished rows.
class Table {
 public:
  explicit Table(const std::string& rows)
      : path_{std::filesystem::path{testing::TempDir()} / ("micro_" + std::to_string(::getpid()) + ".csv")} {
    std::ofstream{path_} << tests::converted(tests::kMicroHeader + rows);
  }
  ~Table() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(PredictMicro, GemmsAreWithinTenPerCent) { expect_within("gemm_8192,gemm_4096_cc,gemm_fp32", 10, 3); }
TEST(PredictMicro, MemoryIsWithinTenPerCent) { expect_within("hbm_read_1,hbm_read_2,hbm_read_1k", 10, 3); }
TEST(PredictMicro, KernelsAreWithinTwentyPerCent) {
  expect_within("silu,adamw,swiglu,mamba_v2_512,vadd_1tile,blocks4_fwd", 20, 6);
}
TEST(PredictMicro, ProfiledInstructionsAreWithinFivePerCentOnAverage) {
  const Json rows = validate(std::filesystem::path{TRNSIM_SOURCE_DIR} / "validation/tables/instructions.csv", "");
  double sum = 0;
  for (const Json& row : rows) {
    ASSERT_TRUE(row["predicted"].is_number()) << row["id"] << row["skip_reason"];
    EXPECT_LT(std::abs(row["error_percent"].get<double>()), 12) << row["id"];
    sum += std::abs(row["error_percent"].get<double>());
  }
  EXPECT_LT(sum / static_cast<double>(rows.size()), 5);
}

TEST(PredictMicro, ProfilesOfOtherSizesFollowTheSameCosts) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  int rows = 0;
  const auto row = [&rows](const std::string& what, const std::string& shape, const std::string& value) {
    return "x" + std::to_string(++rows) + ",instruction,\"" + what + "\"," + shape + ",fp16,1,inf2.xlarge," + value +
           ",ns,arithmetic,\n";
  };
  const Table table{row("ACTIVATE duration, N=64", "\"[128,64]\"", "133.571") +                 // (123 + 64) / 1.4
                    row("MATMUL start to start, N=256 moving", "128x128x256", "96.429") +       // (256 + 14) / 2.8
                    row("MATMUL duration, N=256 moving", "128x128x256", "245") +                // (256 + 430) / 2.8
                    row("DMA descriptor duration, chip otherwise idle", "768 B", "74.071") +    // 17.6 + 2 * 768 / 27.2
                    row("DMA descriptor duration, chip otherwise idle", "3072 B", "130.541")};  // 17.6 + 3072 / 27.2
  for (const Json& r : validate(table.path(), ""))
    EXPECT_LT(std::abs(r["error_percent"].get<double>()), 0.01) << r.dump();
}

TEST(PredictMicro, ADependentActivationCostsAsDocumented) { expect_within("chain_1elem", 1, 1); }

TEST(PredictMicro, DocumentedCostsAreExact) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  // nki.isa 2.26.1: ns of N cycles each, once the engine is at work.
  const Table table{
      "mm,instruction,independent bf16 matmul,128x512,bf16,1,trn1,182.857,ns,nki.isa,\n"
      "mm4,instruction,independent fp32 matmul,128x512,fp32,1,trn1,731.429,ns,nki.isa,\n"
      "act,instruction,independent ACTIVATE,128x512,fp32,1,trn1,453.571,ns,nki.isa and profiles,\n"
      "tt,instruction,independent tensor_tensor,128x512,fp32,1,trn1,914.286,ns,nki.isa,\n"
      "rec,instruction,independent reciprocal,128x128,fp32,1,trn1,914.286,ns,nki.isa,\n"
      "iota,instruction,independent iota,128x512,fp32,1,trn1,472.857,ns,nki.isa,\n"};
  for (const Json& row : validate(table.path(), "--set power.utilisation=1"))
    EXPECT_LT(std::abs(row["error_percent"].get<double>()), 0.01) << row.dump();
}

TEST(PredictMicro, ReadsOtherRowsOfTheSameKinds) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const Table table{
      "g1,gemm,NKI dense GEMM,M1024 K2048 N1024,bf16,1,trn1.2xlarge,60,TFLOPS,-,\n"
      "g2,gemm,framework matmul,1024x1024x1024,fp32,1,trn1.2xlarge,10,TFLOPS,-,\n"
      "w,memory,HBM write,64 MiB,bf16,1,trn1.2xlarge,300,GB/s,-,\n"
      "c,memory,HBM copy in 512 B rows,64 MiB,bf16,1,trn1.2xlarge,100,GB/s,-,\n"
      "v,kernel,\"vector add, 100 tiles of 1x256\",25600,fp32,1,trn1,500,us,-,\n"
      "m,kernel,Mamba scan kernel v3,seq1024 channels128 state4,fp32,1,trn1,1,ms,-,\n"
      "k1,kernel,RMSNorm + matmul,M512 K256 N384,fp32,1,trn1,1,ms,-,\n"
      "k2,kernel,\"matmul, then add and RMSNorm\",M512 K256 N384,fp32,1,trn1,1,ms,-,\n"
      "k3,kernel,batched matmul + softmax,B2 M256 K64 N256,fp32,1,trn1,1,ms,-,\n"
      "k4,kernel,LoRA,M256 K128 N128 R16,fp32,1,trn1,1,ms,-,\n"
      "k5,kernel,RoPE,B1 H4 S256 D64,fp32,1,trn1,1,ms,-,\n"
      "k6,kernel,flash attention forward (causal),H4 KV2 S256 D64,bf16,1,trn1,1,ms,-,\n"
      "k7,kernel,LayerNorm,256x512,fp32,1,trn1,1,ms,-,\n"
      "k8,kernel,transpose,256x512,fp32,1,trn1,1,ms,-,\n"
      "k10,kernel,fused add_rms_norm_matmul kernel,M256 K128 N128,fp32,1,trn1,1,ms,-,\n"
      "k11,kernel,Mamba block,M2048 C128 S4,fp32,1,trn1,1,ms,-,\n"
      "k9,kernel,\"vector add, 512 elements per tile\",25600,fp32,1,trn1,50,us,-,\n"
      "i,instruction,independent ACTIVATE,512 elements,fp32,1,trn1,512,cycles,-,\n"};
  for (const Json& row : validate(table.path(), "")) EXPECT_TRUE(row["predicted"].is_number()) << row.dump();
}

TEST(PredictMicro, AChainCostsMoreThanItsMatmul) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const Table table{
      "mm,kernel,matmul,M1024 K512 N512,fp32,1,trn1,1,ms,-,\n"
      "norm,kernel,rmsnorm_matmul,M1024 K512 N512,fp32,1,trn1,1,ms,-,\n"
      "both,gemm,framework matmul,1024x512x512,fp32,2,trn1.2xlarge,1,TFLOPS,-,\n"
      "one,gemm,framework matmul,1024x512x512,fp32,1,trn1.2xlarge,1,TFLOPS,-,\n"};
  const Json rows = validate(table.path(), "");
  const auto predicted = [&](std::size_t i) { return rows[i]["predicted"].get<double>(); };
  EXPECT_GT(predicted(1), predicted(0));
  EXPECT_LT(predicted(1), 1.5 * predicted(0));
  EXPECT_GT(predicted(2), 1.7 * predicted(3));  // two cores share HBM and power alone
  EXPECT_LE(predicted(2), 2 * predicted(3));
}

TEST(PredictMicro, SkipsUnknownRows) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const Table table{
      "a,gemm,framework matmul,large,bf16,1,trn1.2xlarge,60,TFLOPS,-,\n"
      "b,memory,SBUF read,1 MiB,bf16,1,trn1.2xlarge,60,GB/s,-,\n"
      "c,kernel,ray tracing,12x12,bf16,1,trn1.2xlarge,60,us,-,\n"
      "d,instruction,a custom op,12x12,bf16,1,trn1.2xlarge,60,ns,-,\n"
      "e,gemm,framework matmul,64x64x64,bf16,1,trn1.2xlarge,60,furlongs,-,\n"
      "f,kernel,matmul + ray tracing,64x64x64,bf16,1,trn1.2xlarge,60,us,-,\n"
      "g,kernel,RMSNorm,large,fp32,1,trn1.2xlarge,60,us,-,\n"
      "h,kernel,softmax,64x64,fp32,1,trn1.2xlarge,60,samples/s,-,\n"
      "j,kernel,Mamba scan kernel v2,seq65536 channels128 state4,fp32,1,trn1.2xlarge,60,us,-,\n"
      "i,memory,HBM read,8 GiB,bf16,1,trn9.2xlarge,60,GB/s,-,\n"};
  for (const Json& row : validate(table.path(), "")) {
    EXPECT_TRUE(row["predicted"].is_null()) << row.dump();
    EXPECT_FALSE(row["skip_reason"].get<std::string>().empty()) << row.dump();
  }
}

}  // namespace
