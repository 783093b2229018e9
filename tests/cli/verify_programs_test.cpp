// `trnsim verify FILE.mlir...`: verdicts, exit codes, the codes of neuronx-cc.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;

std::string program(const std::string& body) { return "func.func @main() {\n" + body + "  return\n}\n"; }

const std::string kGpt = TRNSIM_TEST_DIR "/golden/gpt_tiny";

class VerifyPrograms : public cli_test::Runs {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    base::write_file(folder_ / name, text);
    return at(name);
  }

  const std::string right_ = program(
      "  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n  %b = stablehlo.add %a, %a : tensor<2xf32>\n"
      "  check.expect_eq_const %b, dense<[2.0, 4.0]> : tensor<2xf32>\n");
  const std::string wrong_ =
      program("  %a = stablehlo.constant dense<1> : tensor<i32>\n  check.expect_eq_const %a, dense<2> : tensor<i32>\n");
  const std::string refused_ = program(
      "  %a = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>\n"
      "  check.expect_eq_const %a, dense<(1.0, 2.0)> : tensor<complex<f32>>\n");
};

TEST_F(VerifyPrograms, ExitCodesSayTheVerdict) {
  const Ran right = run("verify " + file("right.mlir", right_));
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("1 program in 1 file: 1 right, 0 wrong, 0 refused"));
  const Ran wrong = run("verify " + file("wrong.mlir", wrong_));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.mlir:3: check.expect_eq_const: element 0 is 1, expected 2"));
  const Ran refused = run("verify " + file("refused.mlir", refused_));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("EVRF004: complex numbers are not supported"));
  EXPECT_EQ(run("verify --reference " + file("refused.mlir", refused_)).code, 0);
}

TEST_F(VerifyPrograms, SeveralProgramsOfAFile) {
  const std::string path = file("three.mlir", right_ + "// -----\n" + refused_ + "// -----\n" + wrong_);
  const Ran ran = run("verify --format json " + path);
  EXPECT_EQ(ran.code, 1);
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json.at("right"), 1);
  EXPECT_EQ(json.at("refused"), 1);
  ASSERT_EQ(json.at("programs").size(), 3U);
  EXPECT_EQ(json["programs"][0]["checks"], 1);
  EXPECT_EQ(json["programs"][1]["code"], "EVRF004");
  EXPECT_EQ(json["programs"][2]["verdict"], "wrong");
}

TEST_F(VerifyPrograms, PassesOfATrajectoryChangeNoNumber) {
  EXPECT_EQ(run("verify " + kGpt + " --passes=-fusion,-cse,+flash_attention").code, 0);
  EXPECT_THAT(run("verify " + kGpt + " --passes=-fusoin").err, HasSubstr("is not the name of a pass"));
  EXPECT_THAT(run("verify " + kGpt + " --passes=-norms").err, HasSubstr("switches rewrites of graphs"));
}

TEST_F(VerifyPrograms, WrongCalls) {
  EXPECT_EQ(run("verify no/such/file.mlir").code, 2);
  const Ran mixed = run("verify a.mlir folder");
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("names several folders, or folders and programs"));
  const std::string right = file("right.mlir", right_);
  for (const char* flag : {"--tensor_parallel_size 2", "--numerics bf16", "--passes=-cse", "--tolerance_loss 1"}) {
    const Ran unread = run("verify " + right + " " + flag);
    EXPECT_EQ(unread.code, 2) << flag;
    EXPECT_THAT(unread.err, HasSubstr("has no effect on programs that check themselves"));
  }
  EXPECT_THAT(run("verify " + kGpt + " --cores").err, HasSubstr("--cores: has no effect on a trajectory"));
  EXPECT_EQ(run("list machines --frontend").code, 2);
  EXPECT_THAT(run("list ops --frontend --format csv").out, HasSubstr("\ndot_general,dot,product,"));
}

}  // namespace
