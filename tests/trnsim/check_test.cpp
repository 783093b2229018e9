// Verdicts on programs and jobs whose outcome on the real machine is known. The programs are tests/trnsim/checked; what
// is expected is their second line; sources: docs/checked_cases.md.
#include "trnsim/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "trnsim/check/codes.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

Settings on(const std::string& machine) {
  Settings out;
  out.machine.instance_type = machine;
  return out;
}

/// "EVRF004", "refused" without a code, "wait" for collectives that wait for ever, or "fine".
std::string outcome_of(const CheckResult& result) {
  for (const Finding& one : result.findings)
    if (one.concern == Concern::kFails)
      return one.topic == "collectives" ? "wait" : one.code.empty() ? "refused" : one.code;
  return "fine";
}

std::string second_line(const std::string& text) {
  const std::size_t begin = text.find("// expected: ") + 13;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Check, ProgramsWithKnownOutcomes) {
  std::size_t count = 0;
  const std::string page = base::read_file(fs::path{TRNSIM_SOURCE_DIR} / "docs/checked_cases.md");
  for (const auto& entry : fs::directory_iterator{fs::path{TRNSIM_SOURCE_DIR} / "tests/trnsim/checked"}) {
    const CheckResult result = check_file(entry.path(), on("trn1.2xlarge"));
    EXPECT_EQ(outcome_of(result), second_line(base::read_file(entry.path()))) << entry.path();
    EXPECT_NE(page.find("| " + entry.path().stem().string() + " |"), std::string::npos) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 35U);
}

CheckResult check_of_loop(const std::string& condition, const std::string& next) {
  const fs::path file = fs::path{testing::TempDir()} / ("loop_" + std::to_string(getpid()) + ".mlir");
  base::write_file(file,
                   "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                   "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
                   "  %o = stablehlo.constant dense<1> : tensor<i32>\n"
                   "  %n = stablehlo.constant dense<10> : tensor<i32>\n"
                   "  %r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<8xf32>\n    cond {\n" +
                       condition +
                       "      stablehlo.return %c : tensor<i1>\n    } do {\n"
                       "      %j = stablehlo.add %i, %o : tensor<i32>\n"
                       "      %k = stablehlo.multiply %i, %n : tensor<i32>\n"
                       "      %w = stablehlo.negate %v : tensor<8xf32>\n      stablehlo.return " +
                       next + ", %w : tensor<i32>, tensor<8xf32>\n    }\n  return %r#1 : tensor<8xf32>\n}\n");
  CheckResult out = check_file(file, on("trn1.2xlarge"));
  fs::remove(file);
  return out;
}

TEST(Check, ALoopThatNeverEndsFails) {
  const std::string less = "      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
                    always = "      %c = stablehlo.constant dense<true> : tensor<i1>\n";
  EXPECT_NE(check_of_loop(less, "%j").worst(), Concern::kFails);
  for (const CheckResult& one : {check_of_loop(less, "%i"), check_of_loop(less, "%k"), check_of_loop(always, "%i")}) {
    ASSERT_EQ(one.worst(), Concern::kFails);
    EXPECT_THAT(one.findings.back().text, testing::HasSubstr("never ends"));
  }
}

TEST(Check, ALoopOfMillionsIsRefusedForItsInstructions) {
  const auto below = [](const char* number) {
    return std::string{"      %l = stablehlo.constant dense<"} + number +
           "> : tensor<i32>\n      %c = stablehlo.compare LT, %i, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>\n";
  };
  const CheckResult result = check_of_loop(below("50000000"), "%j");
  ASSERT_EQ(result.worst(), Concern::kFails);
  EXPECT_EQ(result.findings.back().code, "EVRF007");
  EXPECT_THAT(result.findings.back().text, testing::HasSubstr("runs at least 50000000 times"));
  EXPECT_NE(check_of_loop(below("5000"), "%j").worst(), Concern::kFails);
}

TEST(Check, EveryFindingThatFailsSaysWhatHelps) {
  for (const auto& entry : fs::directory_iterator{fs::path{TRNSIM_SOURCE_DIR} / "tests/trnsim/checked"})
    for (const Finding& one : check_file(entry.path(), on("trn1.2xlarge")).findings) {
      EXPECT_FALSE(one.text.empty()) << entry.path();
      EXPECT_FALSE(one.concern == Concern::kFails && one.fix.empty()) << entry.path() << ": " << one.text;
    }
}

struct JobCase {
  const char* workload;
  std::vector<std::pair<std::string, std::string>> settings;
  const char* outcome;
};

CheckResult of_job(const JobCase& job) {
  workloads::Workload workload = workloads::load_workload(job.workload);
  for (const auto& [name, value] : job.settings) workload.options[name] = value;
  return check_workload(workload, {});
}

TEST(Check, JobsWithKnownOutcomes) {
  const std::vector<JobCase> cases = {
      {"bert_emotion", {}, "fine"},
      {"bert_imdb", {}, "fine"},
      {"llama2_7b_dolly", {}, "fine"},
      {"llama3_8b_lora", {}, "fine"},
      {"vit_mnist", {}, "fine"},
      {"bert_emotion", {{"per_device_train_batch_size", "4096"}}, "EOOM001"},
      {"llama2_7b_dolly", {{"tensor_parallel_size", "1"}, {"nproc_per_node", "2"}}, "EOOM001"},
  };
  for (const JobCase& job : cases) {
    const CheckResult result = of_job(job);
    std::string all;
    for (const Finding& one : result.findings) all += one.topic + ": " + one.text + "\n";
    EXPECT_EQ(outcome_of(result), job.outcome) << job.workload << "\n" << all;
  }
}

// The published modules run on their machines: no code may refuse one that has no foreign custom call.
TEST(Check, NoFalseAlarmOnPublishedModules) {
  const fs::path folder = fs::path{TRNSIM_SOURCE_DIR} / "../shared/frontend/hlo";
  if (!fs::exists(folder)) GTEST_SKIP() << "no published modules beside the sources";
  for (const char* name :
       {"dlrm_keras_jax_f32_train_step.hlo", "gemma3_1b_flax_call.hlo", "layer_norm_1x4096x768_bf16.hlo",
        "depthwise_conv_3x3_1x256x56x56_bf16.hlo", "mha_block_1x12x128x64_bf16.hlo", "sum_axis_1x4096x1024_bf16.hlo",
        "xnn.parallel_dots.optimized.hlo"})
    EXPECT_EQ(outcome_of(check_file(folder / name, on("trn1.32xlarge"))), "fine") << name;
}

TEST(Check, RangesOfNumbers) {
  const fs::path file = fs::path{testing::TempDir()} / "ranges.mlir";
  base::write_file(file, R"(func.func @main(%x: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %e = stablehlo.exponential %x : tensor<8x4096xf16>
  %q = stablehlo.multiply %e, %e : tensor<8x4096xf16>
  %i = stablehlo.iota dim = 1 : tensor<8x4096xf16>
  %c = stablehlo.constant dense<1.0e-12> : tensor<f32>
  %d = stablehlo.convert %c : (tensor<f32>) -> tensor<f16>
  %b = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f16>) -> tensor<8x4096xf16>
  %s = stablehlo.add %q, %i : tensor<8x4096xf16>
  %r = stablehlo.add %s, %b : tensor<8x4096xf16>
  return %r : tensor<8x4096xf16>
}
)");
  std::vector<std::string> risks;
  for (const Finding& one : check_file(file, on("trn1.2xlarge")).findings)
    if (one.concern == Concern::kRisk) risks.push_back(one.text);
  ASSERT_EQ(risks.size(), 4U);
  EXPECT_THAT(risks[0], testing::HasSubstr("above 11.09 the result is infinite"));
  EXPECT_THAT(risks[1], testing::HasSubstr("numbers above 256 become infinite"));
  EXPECT_THAT(risks[2], testing::HasSubstr("counts to 4095"));
  EXPECT_THAT(risks[3], testing::HasSubstr("1e-12 becomes 0"));
}

TEST(Explain, KnowsCodesWithAndWithoutTheirPrefix) {
  EXPECT_EQ(compiler_code("NCC_EVRF004").code, "EVRF004");
  EXPECT_EQ(compiler_code("eoom001").code, "EOOM001");
  EXPECT_THAT(std::string{compiler_code("NCC_EVRF029").what}, testing::HasSubstr("sort"));
  EXPECT_THROW(compiler_code("EVRF999"), base::Error);
  std::set<std::string_view> names;
  for (const CodeText& one : compiler_codes()) {
    EXPECT_TRUE(names.insert(one.code).second) << one.code;
    EXPECT_FALSE(one.fix.empty()) << one.code;
  }
}

}  // namespace
}  // namespace trnsim
