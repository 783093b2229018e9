#include <gtest/gtest.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "isa/table.h"
#include "tests/isa/make_instr.h"

namespace {

using isa::Alu;
using isa::Dtype;
using isa::Engine;
using isa::Instr;
using isa::Opcode;

/// The documented constants (NKI 2.26.1) with result latencies that differ per engine.
isa::Timing timing() {
  isa::Timing t;
  t.min_interval = 64;
  t.fixed = {64, 100, 101, 102, 0};
  t.fp32_passes = 4;
  t.fp32_transpose_passes = 4;
  t.load_stationary_speedup = 4;
  t.scalar_start = 123;
  t.activation_read = 64;
  t.gpsimd_start = 150;
  t.dynamic_min = 600;
  return t;
}

double occupy(const Instr& instr) { return isa::cost_of(instr, timing()).occupy; }

Instr unary(Opcode op, Engine engine, std::uint32_t cols, Dtype dtype = Dtype::kFp32, std::uint32_t out = 0) {
  return make(op, engine, sbuf(128, out == 0 ? cols : out, dtype), sbuf(128, cols, dtype));
}

/// Evaluates the cost column's text: numbers, names, + * /, "2N", max, min, ceil.
class Formula {
 public:
  Formula(std::string_view text, const std::map<std::string, double, std::less<>>& names)
      : text_{text}, names_{names} {}
  double value() {
    const double result = sum();
    EXPECT_EQ(pos_, text_.size()) << "not understood: " << text_.substr(pos_);
    return result;
  }

 private:
  bool accept(char c) {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  double sum() {
    double left = product();
    while (accept('+')) left += product();
    return left;
  }
  double product() {
    double left = factor();
    for (;;) {
      if (accept('*'))
        left *= factor();
      else if (accept('/'))
        left /= factor();
      else
        return left;
    }
  }
  double factor() {
    if (accept('(')) {
      const double inner = sum();
      EXPECT_TRUE(accept(')'));
      return inner;
    }
    double number = 1;
    const auto [end, error] = std::from_chars(text_.data() + pos_, text_.data() + text_.size(), number);
    if (error == std::errc{}) pos_ = static_cast<std::size_t>(end - text_.data());
    return pos_ < text_.size() && std::isalpha(text_[pos_]) ? number * name() : number;
  }
  double name() {
    const std::size_t begin = pos_;
    while (pos_ < text_.size() && (std::isalpha(text_[pos_]) || text_[pos_] == '_')) ++pos_;
    const std::string_view word = text_.substr(begin, pos_ - begin);
    if (!accept('(')) {
      const auto found = names_.find(word);
      EXPECT_TRUE(found != names_.end()) << word;
      return found == names_.end() ? NAN : found->second;
    }
    double value = sum();
    while (accept(',')) value = word == "max" ? std::max(value, sum()) : std::min(value, sum());
    EXPECT_TRUE(accept(')'));
    return word == "ceil" ? std::ceil(value) : value;
  }

  std::string_view text_;
  const std::map<std::string, double, std::less<>>& names_;
  std::size_t pos_ = 0;
};

/// Clause `index` of a formula "x when ...; else y; gpsimd: z, pow w", without its condition.
std::string clause(std::string_view formula, int index) {
  std::string text{formula};
  for (int i = 0; i < index; ++i) {
    const auto semicolon = text.find("; ");
    EXPECT_NE(semicolon, std::string::npos) << formula;
    text.erase(0, semicolon + 2);
  }
  text = text.substr(0, text.find("; "));
  text = text.substr(0, text.find(" when "));
  for (const std::string_view lead : {"else ", "scalar: ", "gpsimd: ", "gpsimd pow: "})
    if (text.starts_with(lead)) text.erase(0, lead.size());
  return text;
}

/// Expects that clause `index` of the row's text gives what the row's function gives.
void expect_text_matches(const Instr& instr, int index, double streams = 0) {
  const isa::Row& row = isa::row(instr.op);
  const bool input = static_cast<bool>(instr.a);
  std::map<std::string, double, std::less<>> names{
      {"MIN_II", 64}, {"START", 150}, {"ACT_START", 123}, {"streams", streams}, {"P", instr.a.partitions}};
  names["e"] = std::max(1.0f, instr.imm0);
  names["size"] = isa::size_of(instr.a.dtype);
  names["passes"] = instr.a.dtype == Dtype::kFp32 ? 4 : 1;
  names["M"] = names["F"] = static_cast<double>(instr.a.cols());
  names["N"] = static_cast<double>(instr.op == Opcode::kMatMul ? instr.b.cols() : (input ? instr.a : instr.dst).cols());
  if (instr.op == Opcode::kLocalGather) names["N"] = static_cast<double>(instr.dst.cols());
  EXPECT_DOUBLE_EQ(occupy(instr), Formula(clause(row.formula, index), names).value())
      << row.name << ": " << row.formula;
}

TEST(Cost, WorkedExamples) {  // hardware facts: the documented formulas at the shapes that kernels use
  const Instr fp32_matmul = matmul(128, 128, 512, Dtype::kFp32);
  EXPECT_EQ(occupy(matmul(128, 128, 512)), 512);
  EXPECT_EQ(occupy(fp32_matmul), 2048);
  EXPECT_EQ(occupy(add(sbuf(128, 512), sbuf(128, 512), sbuf(128, 512))), 1024);
  EXPECT_EQ(occupy(add(sbuf(128, 512), psum(128, 512), sbuf(128, 512))), 512);
  EXPECT_EQ(occupy(unary(Opcode::kActivation, Engine::kScalar, 512)), 123 + 512);
  EXPECT_EQ(occupy(unary(Opcode::kActivationReduce, Engine::kScalar, 512)), 123 + 576);
  EXPECT_EQ(occupy(unary(Opcode::kReciprocal, Engine::kVector, 128)), 1024);
  EXPECT_EQ(occupy(unary(Opcode::kActivation, Engine::kScalar, 128)), 123 + 128);
  EXPECT_EQ(occupy(unary(Opcode::kBnStats, Engine::kVector, 512, Dtype::kFp32, 6)) +
                occupy(unary(Opcode::kBnAggr, Engine::kVector, 6, Dtype::kFp32, 2)),
            576);
  EXPECT_EQ(occupy(make(Opcode::kIota, Engine::kGpSimd, sbuf(128, 512))), 662);
}

TEST(Cost, WorkedExamplesInNanoseconds) {  // at 2.8, 1.12, 1.4, 1.4 GHz, rounded as published
  EXPECT_NEAR(occupy(matmul(128, 128, 512)) / 2.8, 182.9, 0.05);
  EXPECT_NEAR(occupy(matmul(128, 128, 512, Dtype::kFp32)) / 2.8, 731.4, 0.05);
  EXPECT_NEAR(occupy(add(sbuf(128, 512), sbuf(128, 512), sbuf(128, 512))) / 1.12, 914, 0.5);
  EXPECT_NEAR(occupy(unary(Opcode::kActivation, Engine::kScalar, 512)) / 1.4, 450, 5);  // v2_nm286
  EXPECT_NEAR(occupy(make(Opcode::kIota, Engine::kGpSimd, sbuf(128, 512))) / 1.4, 473, 0.5);
}

TEST(Cost, MatmulIntervalIsTheLargerOfBothOperands) {
  EXPECT_EQ(occupy(matmul(128, 128, 1)), 64);
  EXPECT_EQ(occupy(matmul(128, 16, 1)), 16);
  EXPECT_EQ(occupy(matmul(128, 1, 128)), 128);
  EXPECT_EQ(occupy(matmul(8, 16, 1, Dtype::kFp32)), 64);
}

TEST(Cost, MatmulTypesOfFourBytesAndFewer) {
  for (const Dtype dtype : {Dtype::kTf32, Dtype::kFp16, Dtype::kFp8E4m3, Dtype::kFp8E5m2, Dtype::kFp8E3m4})
    EXPECT_EQ(occupy(matmul(128, 128, 512, dtype)), 512);
}

TEST(Cost, StationaryLoadsFourColumnsPerCycle) {
  EXPECT_EQ(isa::stationary_load_cycles(matmul(128, 128, 512), timing()), 32);
  EXPECT_EQ(isa::stationary_load_cycles(matmul(128, 128, 512, Dtype::kFp32), timing()), 128);
  EXPECT_EQ(isa::stationary_load_cycles(unary(Opcode::kPeTranspose, Engine::kTensor, 64, Dtype::kBf16), timing()), 16);
  EXPECT_EQ(isa::stationary_load_cycles(unary(Opcode::kTensorCopy, Engine::kVector, 64), timing()), 0);
}

TEST(Cost, TensorTensorIsFastOnlyWhenAllIsContiguousBf16AndLinear) {
  const auto bf16 = sbuf(128, 512, Dtype::kBf16);
  Instr instr = add(bf16, bf16, bf16);
  EXPECT_EQ(occupy(instr), 512);
  instr.alu0 = Alu::kSub;
  EXPECT_EQ(occupy(instr), 512);
  instr.alu0 = Alu::kMul;
  EXPECT_EQ(occupy(instr), 512);
  instr.alu0 = Alu::kMax;
  EXPECT_EQ(occupy(instr), 1024);
  instr = add(sbuf(128, 512), bf16, bf16);
  EXPECT_EQ(occupy(instr), 1024);
  instr = add(bf16, bf16, bf16);
  instr.b.free[0].step = 2;
  EXPECT_EQ(occupy(instr), 1024);
  instr.b = bf16;
  instr.b.rank = 2;
  instr.b.free = {{{16, 32}, {1, 16}}};  // 32 rows of 16 that follow each other
  EXPECT_EQ(occupy(instr), 512);
  instr.b.free[0].step = 20;
  EXPECT_EQ(occupy(instr), 1024);
}

TEST(Cost, ScalarTensorTensorIsFastForEvenBf16SubMul) {
  const auto bf16 = sbuf(128, 512, Dtype::kBf16);
  Instr instr = make(Opcode::kScalarTensorTensor, Engine::kVector, bf16, bf16, {}, bf16);
  instr.alu0 = Alu::kSub;
  instr.alu1 = Alu::kMul;
  EXPECT_EQ(occupy(instr), 512);
  instr.a.free[0].size = instr.c.free[0].size = 511;
  EXPECT_EQ(occupy(instr), 1022);
  instr.a.free[0].size = instr.c.free[0].size = 512;
  instr.c.dtype = Dtype::kFp32;
  EXPECT_EQ(occupy(instr), 1024);
  instr.c.dtype = Dtype::kBf16;
  instr.alu1 = Alu::kAdd;
  EXPECT_EQ(occupy(instr), 1024);
}

TEST(Cost, TensorReduceAndMemsetHalveFor16Bits) {
  Instr reduce = unary(Opcode::kTensorReduce, Engine::kVector, 512, Dtype::kBf16, 1);
  for (const Alu alu : {Alu::kAdd, Alu::kMax}) {
    reduce.alu0 = alu;
    EXPECT_EQ(occupy(reduce), 256);
  }
  reduce.alu0 = Alu::kMin;
  EXPECT_EQ(occupy(reduce), 512);
  reduce.alu0 = Alu::kAdd;
  reduce.dst.dtype = Dtype::kFp32;
  EXPECT_EQ(occupy(reduce), 512);

  Instr memset = make(Opcode::kMemset, Engine::kVector, sbuf(128, 512, Dtype::kFp16));
  EXPECT_EQ(occupy(memset), 256);
  memset.imm0 = 1;
  EXPECT_EQ(occupy(memset), 512);
  memset.imm0 = 0;
  memset.dst.dtype = Dtype::kFp32;
  EXPECT_EQ(occupy(memset), 512);
}

TEST(Cost, PredicatedCopyAndSelectCountTheReadsOfOneMemory) {
  const auto mask = sbuf(128, 512, Dtype::kUint8);
  EXPECT_EQ(occupy(make(Opcode::kCopyPredicated, Engine::kVector, sbuf(128, 512), sbuf(128, 512), mask)), 1024);
  EXPECT_EQ(occupy(make(Opcode::kCopyPredicated, Engine::kVector, sbuf(128, 512), psum(128, 512), mask)), 512);
  EXPECT_EQ(occupy(make(Opcode::kSelect, Engine::kVector, sbuf(128, 512), psum(128, 512), mask)), 512);
  Instr choose = make(Opcode::kSelectReduce, Engine::kVector, sbuf(128, 512), sbuf(128, 512), mask, sbuf(128, 1));
  EXPECT_EQ(occupy(choose), 1024);
  choose.dst2 = sbuf(128, 1);
  EXPECT_EQ(occupy(choose), 1024 + 64) << "and the read of the accumulator";
}

TEST(Cost, NoEngineIssuesFasterThanItsMinimum) {
  for (const isa::Row& row : isa::kTable) {
    if (row.engines.contains(Engine::kTensor) && !row.engines.contains(Engine::kVector)) continue;  // own formula
    const auto engine = row.engines.contains(Engine::kScalar) ? Engine::kScalar : Engine::kVector;
    EXPECT_GE(occupy(make(row.op, engine, sbuf(1, 1), sbuf(1, 1), sbuf(1, 1), sbuf(1, 1))), 64) << row.name;
  }
}

TEST(Cost, ModesForNarrowTypesOfV3) {
  isa::Timing v3 = timing();
  v3.vector.narrow_copy = 4, v3.vector.narrow_copy_part = 2, v3.vector.narrow_pair = 2, v3.fp32_transpose_passes = 2;
  const auto cycles = [&v3](const Instr& instr) { return isa::cost_of(instr, v3).occupy; };
  const auto copy = [](isa::Tile dst, isa::Tile a) { return make(Opcode::kTensorCopy, Engine::kVector, dst, a); };
  const isa::Tile bf16 = sbuf(128, 1024, Dtype::kBf16), fp32 = sbuf(128, 1024), bank = psum(128, 1024, Dtype::kBf16);
  isa::Tile gaps = bf16;
  gaps.free[0].step = 2;
  EXPECT_EQ(cycles(copy(bf16, bf16)), 256);
  EXPECT_EQ(cycles(copy(bf16, gaps)), 512);
  EXPECT_EQ(cycles(copy(bf16, bank)), 512);
  EXPECT_EQ(cycles(copy(gaps, bank)), 1024);
  EXPECT_EQ(cycles(copy(fp32, bf16)), 1024);
  EXPECT_EQ(cycles(unary(Opcode::kTensorScalar, Engine::kVector, 1024, Dtype::kFp16)), 256);
  EXPECT_EQ(cycles(unary(Opcode::kTensorCopy, Engine::kScalar, 1024, Dtype::kBf16)), 1147);  // VectorE's mode
  EXPECT_EQ(cycles(copy(sbuf(128, 8, Dtype::kBf16), sbuf(128, 8, Dtype::kBf16))), 64);       // MIN_II stays
  const auto pair = [](isa::Tile a, isa::Tile b, Alu alu) {
    Instr i = make(Opcode::kTensorTensor, Engine::kVector, a, a, b);
    i.alu0 = alu;
    return i;
  };
  EXPECT_EQ(cycles(pair(bf16, bf16, Alu::kAdd)), 512);
  EXPECT_EQ(cycles(pair(bf16, bf16, Alu::kMax)), 1024);
  EXPECT_EQ(cycles(pair(fp32, fp32, Alu::kAdd)), 2048);
  EXPECT_EQ(cycles(make(Opcode::kPeTranspose, Engine::kTensor, psum(128, 128), sbuf(128, 128))), 256);
  EXPECT_EQ(cycles(matmul(128, 128, 512, Dtype::kFp32)), 2048);
}

TEST(Cost, ATransposeByDmaIsByElementUntilV3) {
  const isa::DmaTiming v2{
      .start = 0, .engines = 16, .engine_rate = 2e9, .rate = 1e9, .descriptor_overhead = 500, .packet = 4096};
  isa::DmaTiming v3 = v2;
  v3.transpose = 0.5;
  const Instr turn = make(Opcode::kDmaTranspose, Engine::kSync, sbuf(64, 32), sbuf(32, 64));
  EXPECT_EQ(isa::dma_cost(turn, v2).descriptors, 32 * 64);
  EXPECT_EQ(isa::dma_cost(turn, v3).descriptors, 32);
  const Instr copy = make(Opcode::kDmaCopy, Engine::kSync, sbuf(32, 64), sbuf(32, 64));
  EXPECT_DOUBLE_EQ(isa::dma_cost(turn, v3).seconds, 2 * isa::dma_cost(copy, v3).seconds);
}

TEST(Cost, LatencyAddsTheEnginesFixedPart) {
  EXPECT_EQ(isa::cost_of(matmul(128, 128, 512), timing()).latency, 512 + 64);
  EXPECT_EQ(isa::cost_of(unary(Opcode::kTensorCopy, Engine::kVector, 512), timing()).latency, 512 + 100);
  EXPECT_EQ(isa::cost_of(unary(Opcode::kTensorCopy, Engine::kScalar, 512), timing()).latency, 123 + 512 + 101);
  EXPECT_EQ(isa::cost_of(unary(Opcode::kTensorCopy, Engine::kGpSimd, 512), timing()).latency, 512 + 102);
  EXPECT_EQ(isa::cost_of(make(Opcode::kDmaCopy, Engine::kVector, sbuf(1, 9000), hbm(1, 9000)), timing()).latency, 64);
}

TEST(CostText, UnconditionalFormulasEqualTheFunctions) {
  for (const std::uint32_t n : {1u, 8u, 63u, 64u, 65u, 129u, 512u, 3000u}) {
    for (const isa::Row& row : isa::kTable) {
      if (row.formula.find(';') != std::string_view::npos || row.formula.find(',') == std::string_view::npos) continue;
      if (row.formula.find("then") != std::string_view::npos) continue;
      for (const Dtype dtype : {Dtype::kFp32, Dtype::kBf16}) {
        if (row.op == Opcode::kSelect || row.op == Opcode::kSelectReduce) continue;
        const bool scalar = row.engines.contains(Engine::kScalar) && !row.engines.contains(Engine::kVector);
        const Engine engine = scalar ? Engine::kScalar : Engine::kVector;
        Instr instr = make(row.op, engine, sbuf(128, n, dtype), sbuf(128, n, dtype), sbuf(128, 2 * n, dtype));
        expect_text_matches(instr, 0);
      }
    }
  }
}

TEST(CostText, GpSimdFormulasEqualTheFunctions) {
  for (const std::uint32_t n : {16u, 512u, 4096u})
    for (const int partitions : {1, 16, 40, 128})
      for (const Opcode op : {Opcode::kIota, Opcode::kAffineSelect, Opcode::kLocalGather, Opcode::kPartitionReduce,
                              Opcode::kSequenceBounds, Opcode::kNGather})
        expect_text_matches(make(op, Engine::kGpSimd, sbuf(partitions, n), sbuf(partitions, n)), 0);
  for (const float elements : {2.0f, 4.0f, 32.0f})
    for (const Dtype dtype : {Dtype::kFp32, Dtype::kBf16, Dtype::kUint8}) {
      Instr gather = make(Opcode::kLocalGather, Engine::kGpSimd, sbuf(128, 512, dtype), sbuf(128, 64, dtype));
      gather.imm0 = elements;
      expect_text_matches(gather, 0);
    }
}

TEST(Cost, OnesAndZerosHalveThePassesOfFp32) {
  Instr product = matmul(128, 128, 512, Dtype::kFp32);
  product.onezero = true;
  EXPECT_EQ(occupy(product), 1024);
  Instr narrow = matmul(128, 128, 512);
  narrow.onezero = true;
  EXPECT_EQ(occupy(narrow), 512);
}

TEST(CostText, ACopyCostsAsItsEngineDoes) {
  for (const std::uint32_t n : {2u, 64u, 600u}) {
    expect_text_matches(make(Opcode::kTensorCopy, Engine::kVector, sbuf(128, n), sbuf(128, n)), 0);
    expect_text_matches(make(Opcode::kTensorCopy, Engine::kScalar, sbuf(128, n), sbuf(128, n)), 1);
  }
}

TEST(CostText, ConditionalClausesEqualTheFunctions) {
  for (const std::uint32_t n : {2u, 64u, 600u}) {
    const auto fp32 = sbuf(128, n), in_psum = psum(128, n), bf16 = sbuf(128, n, Dtype::kBf16);
    expect_text_matches(add(fp32, in_psum, fp32), 0);
    expect_text_matches(add(bf16, bf16, bf16), 0);
    expect_text_matches(add(fp32, fp32, fp32), 1);
    Instr integer = add(fp32, fp32, fp32);
    integer.engine = Engine::kGpSimd;
    expect_text_matches(integer, 2);
    integer.alu0 = Alu::kPow;
    expect_text_matches(integer, 3);

    Instr scalar = make(Opcode::kTensorScalar, Engine::kVector, fp32, fp32);
    expect_text_matches(scalar, 0);
    scalar.engine = Engine::kGpSimd;
    scalar.alu0 = Alu::kPow;
    expect_text_matches(scalar, 1);

    Instr stt = make(Opcode::kScalarTensorTensor, Engine::kVector, bf16, bf16, {}, bf16);
    stt.alu0 = Alu::kSub;
    stt.alu1 = Alu::kMul;
    expect_text_matches(stt, 0);
    stt.alu0 = Alu::kAdd;
    expect_text_matches(stt, 1);

    Instr reduce = make(Opcode::kTensorReduce, Engine::kVector, bf16, bf16);
    reduce.alu0 = Alu::kAdd;
    expect_text_matches(reduce, 0);
    reduce.alu0 = Alu::kMul;
    expect_text_matches(reduce, 1);
    expect_text_matches(make(Opcode::kMemset, Engine::kVector, bf16), 0);
    expect_text_matches(make(Opcode::kMemset, Engine::kVector, fp32), 1);
  }
}

TEST(CostText, ClausesOfMaskedInstructionsEqualTheFunctions) {
  for (const std::uint32_t n : {2u, 64u, 600u}) {
    const auto fp32 = sbuf(128, n), in_psum = psum(128, n), mask = sbuf(128, n, Dtype::kUint8);
    expect_text_matches(make(Opcode::kCopyPredicated, Engine::kVector, fp32, in_psum, mask), 0);
    expect_text_matches(make(Opcode::kCopyPredicated, Engine::kVector, fp32, fp32, mask), 1);
    expect_text_matches(make(Opcode::kSelect, Engine::kVector, fp32, fp32, mask), 0, 2);
    Instr choose = make(Opcode::kSelectReduce, Engine::kVector, fp32, in_psum, mask);
    expect_text_matches(choose, 1, 1);
    choose.dst2 = sbuf(128, 1);
    expect_text_matches(choose, 0, 1);
  }
}

}  // namespace
