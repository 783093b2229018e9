#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/asm.h"
#include "tests/isa/make_instr.h"

namespace {

using testing::HasSubstr;

std::string instr_error(const std::string& text) {
  return message_of([&] { isa::parse_instr(text, "my.asm"); });
}

std::string program_error(const std::string& text) {
  return message_of([&] { isa::parse_program(text, "my.asm"); });
}

constexpr const char* kHeader = "program \"p\" ranks=1 hbm_bytes=0 rounding=nearest_even model_flops=0\n";

TEST(AsmErrors, PointAtLineAndColumn) {
  EXPECT_THAT(instr_error("vector memset sbuf[0:128, 0, 512]bf61"), HasSubstr("my.asm:1:34"));
  EXPECT_THAT(program_error(std::string{kHeader} + "\n# comment\nblok \"b\"\n"), HasSubstr("my.asm:4:1"));
}

TEST(AsmErrors, SuggestNearNames) {
  EXPECT_THAT(instr_error("vectr memset sbuf[0:1, 0, 1]fp32"), HasSubstr("vector"));
  EXPECT_THAT(instr_error("vector tensor_tenser add"), HasSubstr("tensor_tensor"));
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, 0, 1]fp23"), HasSubstr("fp32"));
  EXPECT_THAT(instr_error("vector memset sbuff[0:1, 0, 1]fp32"), HasSubstr("sbuf"));
  EXPECT_THAT(instr_error("scalar activation gleu sbuf[0:1, 0, 1]fp32"), HasSubstr("gelu"));
  EXPECT_THAT(instr_error("sync wait wait tensr>=1"), HasSubstr("tensor"));
  EXPECT_THAT(instr_error("sync wait siganl"), HasSubstr("signal"));
}

TEST(AsmErrors, NumbersOutOfRangeOrMissing) {
  EXPECT_THAT(instr_error("vector memset sbuf[300:301, 0, 1]fp32"), HasSubstr("out of range"));
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, 0, 99999999999999999999]fp32"), HasSubstr("out of range"));
  EXPECT_THAT(instr_error("vector memset sbuf[5:1, 0, 1]fp32"), HasSubstr("end before they begin"));
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, , 1]fp32"), HasSubstr("byte offset is missing"));
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, x4, 1]fp32"), HasSubstr("is not a register"));
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, 0, 1]fp32 imm0=one"), HasSubstr("\"one\" is not a number"));
  EXPECT_THAT(instr_error("sync wait wait tensor>=-1"), HasSubstr("count is missing"));
}

TEST(AsmErrors, TooMuch) {
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, 0, 1, 1, 1, 1, 1]fp32"), HasSubstr("at most four free axes"));
  EXPECT_THAT(instr_error("vector memset <- _, _, _, _"), HasSubstr("more than 3 operands"));
  EXPECT_THAT(instr_error("sync wait wait tensor>=1 vector>=1 scalar>=1 gpsimd>=1 sync>=1"), HasSubstr("four waits"));
  EXPECT_THAT(instr_error("vector tensor_scalar add mul sub"), HasSubstr("third ALU operation"));
  EXPECT_THAT(instr_error("sync wait\nsync wait"), HasSubstr("second line"));
}

TEST(AsmErrors, MissingParts) {
  EXPECT_THAT(instr_error(""), HasSubstr("an engine is missing"));
  EXPECT_THAT(instr_error("vector"), HasSubstr("an instruction is missing"));
  EXPECT_THAT(instr_error("vector memset sbuf[0:1, 0, 1"), HasSubstr("\"]\" is missing"));
  EXPECT_THAT(
      program_error(std::string{kHeader} + "block \"b\" registers=0 sbuf_bytes=0 psum_bytes=0 matmul_flops=0\n"),
      HasSubstr("does not end"));
  EXPECT_THAT(program_error("program \"p"), HasSubstr("does not end on its line"));
  EXPECT_THAT(program_error("program \"p\\q\""), HasSubstr("escape"));
  EXPECT_THAT(program_error("program \"p\" ranks=1"), HasSubstr("\"hbm_bytes\" is missing"));
  EXPECT_THAT(program_error(std::string{kHeader} + "call 0 [] rng=0 layer=0 phase=forward await=[0]"),
              HasSubstr("await has 1 counts"));
}

}  // namespace
