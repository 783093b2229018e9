#include "isa/table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "isa/cost.h"
#include "isa/flops.h"
#include "isa/names.h"
#include "isa/reference.h"
#include "tests/isa/make_instr.h"

namespace {

using isa::Dtype;
using isa::Engine;
using isa::Instr;
using isa::Opcode;

TEST(Table, NamesAreDistinctAndFoundAgain) {
  std::set<std::string_view> names;
  for (const isa::Row& row : isa::kTable) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(isa::find_row(row.name), &row);
  }
  EXPECT_EQ(isa::find_row("matmull"), nullptr);
}

TEST(Table, EveryRowComputesCostsAndIsChecked) {
  for (const isa::Row& row : isa::kTable) {
    EXPECT_NE(row.exec, nullptr) << row.name;
    EXPECT_NE(row.cost, nullptr) << row.name;
    EXPECT_NE(row.rule, nullptr) << row.name;
  }
}

TEST(Table, OnlyRowsThatTheMachineLacksHaveNoEngine) {
  for (const isa::Row& row : isa::kTable) {
    const bool lacking = row.op == Opcode::kRangeSelect || row.op == Opcode::kRandSetState ||
                         row.op == Opcode::kRandGetState || row.op == Opcode::kCustomOp ||
                         row.op == Opcode::kCoreBarrier;
    EXPECT_EQ(row.engines.bits == 0, lacking) << row.name;
    EXPECT_EQ(row.exec == isa::exec::unsupported, row.op == Opcode::kCustomOp) << row.name;  // range_select: on v3
    EXPECT_TRUE(!lacking || !row.note.empty()) << row.name << " must say why";
  }
}

TEST(Table, EnginesAreTheDocumentedOnes) {
  const auto on = [](Opcode op, Engine engine) { return isa::row(op).engines.contains(engine); };
  for (const Engine engine : {Engine::kVector, Engine::kScalar, Engine::kGpSimd})
    EXPECT_TRUE(on(Opcode::kTensorCopy, engine));
  EXPECT_FALSE(on(Opcode::kTensorCopy, Engine::kTensor));
  EXPECT_TRUE(on(Opcode::kMemset, Engine::kGpSimd) && on(Opcode::kMemset, Engine::kVector));
  EXPECT_FALSE(on(Opcode::kMemset, Engine::kScalar));
  EXPECT_TRUE(on(Opcode::kActivation, Engine::kScalar));
  EXPECT_FALSE(on(Opcode::kActivation, Engine::kVector));
  for (int e = 0; e < isa::kEngineCount; ++e) {
    EXPECT_TRUE(on(Opcode::kDmaCopy, static_cast<Engine>(e)));
    EXPECT_TRUE(on(Opcode::kWait, static_cast<Engine>(e)));
  }
}

TEST(Table, ReferenceListsEveryRow) {
  EXPECT_EQ(isa::reference().rows(), isa::kOpcodeCount);
  const std::string text = isa::reference_markdown();
  for (const isa::Row& row : isa::kTable) EXPECT_NE(text.find(row.name), std::string::npos) << row.name;
  EXPECT_NE(text.find("max(min(64, M), N) * passes"), std::string::npos);
  EXPECT_NE(text.find("not on NeuronCore-v2"), std::string::npos);
}

TEST(Table, GeneratedDocumentIsCurrent) {
  const std::string path = TRNSIM_SOURCE_DIR "/docs/isa.md";
  if (std::getenv("TRNSIM_UPDATE_DOCS")) std::ofstream{path} << isa::reference_markdown();
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, isa::reference_markdown()) << "run this test with TRNSIM_UPDATE_DOCS=1 to write docs/isa.md anew";
}

TEST(Names, EveryNameReadsBack) {
  for (std::size_t i = 0; i < isa::kAluCount; ++i)
    EXPECT_EQ(isa::alu_from(isa::name_of(static_cast<isa::Alu>(i))), static_cast<isa::Alu>(i));
  for (std::size_t i = 0; i < isa::kFnCount; ++i) {
    EXPECT_EQ(isa::fn_from(isa::name_of(static_cast<isa::Fn>(i))), static_cast<isa::Fn>(i));
    EXPECT_FALSE(isa::alu_from(isa::name_of(static_cast<isa::Fn>(i)))) << "an ALU operation has the same name";
  }
  for (int s = 0; s < isa::kSemaphores; ++s) EXPECT_EQ(isa::semaphore_from(isa::semaphore_name(s)), s);
  for (const char* bad : {"dma16", "dma", "dma01", "cc2", "sem3", "", "tensors"})
    EXPECT_FALSE(isa::semaphore_from(bad)) << bad;
  EXPECT_EQ(isa::name_of(static_cast<isa::Fn>(200)), "?");
}

TEST(Flops, MatmulCountsTwicePerMultiplyAccumulate) {
  EXPECT_EQ(isa::matmul_macs(matmul(128, 64, 512)), 128.0 * 64 * 512);
  EXPECT_EQ(isa::matmul_flops(matmul(128, 64, 512)), 2.0 * 128 * 64 * 512);
  EXPECT_EQ(isa::transpose_flops(matmul(128, 64, 512)), 0);
  const Instr transpose =
      make(Opcode::kPeTranspose, Engine::kTensor, psum(64, 128, Dtype::kBf16), sbuf(128, 64, Dtype::kBf16));
  EXPECT_EQ(isa::matmul_flops(transpose), 0);
  EXPECT_EQ(isa::transpose_flops(transpose), 2.0 * 128 * 128 * 64);
}

TEST(Flops, ElementwiseCountsAluSteps) {
  Instr scalar = make(Opcode::kTensorScalar, Engine::kVector, sbuf(128, 10), sbuf(128, 10));
  scalar.alu0 = isa::Alu::kMul;
  EXPECT_EQ(isa::elementwise_flops(scalar), 1280);
  scalar.alu1 = isa::Alu::kAdd;
  EXPECT_EQ(isa::elementwise_flops(scalar), 2560);
  EXPECT_EQ(isa::elementwise_flops(make(Opcode::kActivation, Engine::kScalar, sbuf(2, 5), sbuf(2, 5))), 30);
  EXPECT_EQ(isa::elementwise_flops(make(Opcode::kTensorCopy, Engine::kVector, sbuf(2, 5), sbuf(2, 5))), 0);
}

TEST(Traffic, CountsBytesPerMemory) {
  const auto index = [](isa::Space space) { return static_cast<std::size_t>(space); };
  Instr product = matmul(128, 64, 512);
  EXPECT_EQ(isa::bytes_read(product)[index(isa::Space::kSbuf)], 2 * 128 * (64 + 512));
  EXPECT_EQ(isa::bytes_read(product)[index(isa::Space::kPsum)], 0);
  EXPECT_EQ(isa::bytes_written(product)[index(isa::Space::kPsum)], 4 * 64 * 512);
  product.accumulate = true;
  EXPECT_EQ(isa::bytes_read(product)[index(isa::Space::kPsum)], 4 * 64 * 512);

  const Instr gather = make(Opcode::kDmaGather, Engine::kSync, sbuf(16, 768), hbm(30000, 768), sbuf(16, 1));
  EXPECT_EQ(isa::bytes_read(gather)[index(isa::Space::kHbm)], 16 * 768 * 4) << "the rows, not the table";
  Instr scatter = make(Opcode::kDmaScatter, Engine::kSync, hbm(30000, 768), sbuf(16, 768), sbuf(16, 1));
  EXPECT_EQ(isa::bytes_written(scatter)[index(isa::Space::kHbm)], 16 * 768 * 4);
  EXPECT_EQ(isa::bytes_read(scatter)[index(isa::Space::kHbm)], 0);
  scatter.accumulate = true;
  EXPECT_EQ(isa::bytes_read(scatter)[index(isa::Space::kHbm)], 16 * 768 * 4);
}

TEST(DmaCost, ANumberThatMovesAllRowsIsAnAddressOfPlainDescriptors) {
  const isa::DmaTiming dma{.engines = 16, .engine_rate = 2e9, .setup = 1e-9, .indexed_setup = 5e-9, .packet = 4096};
  Instr gather = make(Opcode::kDmaGather, Engine::kSync, sbuf(32, 64), hbm(100, 64), sbuf(32, 1, Dtype::kInt32));
  const Instr copy = make(Opcode::kDmaCopy, Engine::kSync, sbuf(32, 64), hbm(32, 64));
  EXPECT_GT(isa::dma_cost(gather, dma).seconds, isa::dma_cost(copy, dma).seconds);
  gather.integers = true;
  EXPECT_DOUBLE_EQ(isa::dma_cost(gather, dma).seconds, isa::dma_cost(copy, dma).seconds);
  gather.a.rank = 2;
  gather.a.free = {{{128, 2}, {1, 32}}};
  EXPECT_EQ(isa::dma_cost(gather, dma).descriptors, 64) << "a row in two pieces";
}

TEST(Operands, ReadsIncludeKeptElements) {
  Instr product = matmul(128, 64, 512);
  EXPECT_EQ(isa::reads(product).size(), 2);
  product.accumulate = true;
  EXPECT_EQ(isa::reads(product).size(), 3);
  EXPECT_EQ(isa::writes(product).size(), 1);
  EXPECT_EQ(*isa::writes(product).begin(), &product.dst);
  const Instr predicated =
      make(Opcode::kCopyPredicated, Engine::kVector, sbuf(1, 1), sbuf(1, 1), sbuf(1, 1, Dtype::kUint8));
  EXPECT_EQ(isa::reads(predicated).size(), 3);
}

TEST(Operands, PortsOfSbufAndPsum) {
  EXPECT_TRUE(isa::uses_sbuf(matmul(1, 1, 1)) && isa::uses_psum(matmul(1, 1, 1)));
  EXPECT_FALSE(isa::uses_psum(add(sbuf(1, 1), sbuf(1, 1), sbuf(1, 1))));
  EXPECT_FALSE(isa::uses_sbuf(add(psum(1, 1), psum(1, 1), psum(1, 1))));
}

TEST(Operands, StridesOf16BytesHalveThePort) {
  Instr instr = add(sbuf(128, 64), sbuf(128, 64), sbuf(128, 64));
  EXPECT_EQ(isa::port_slowdown(instr), 1);
  instr.a.free[0].step = 3;
  EXPECT_EQ(isa::port_slowdown(instr), 1);
  instr.a.free[0].step = 4;
  EXPECT_EQ(isa::port_slowdown(instr), 2);
  instr.a.free[0].step = -4;
  EXPECT_EQ(isa::port_slowdown(instr), 2);
  instr.a.dtype = Dtype::kBf16;
  EXPECT_EQ(isa::port_slowdown(instr), 1);
  instr.a.dtype = Dtype::kFp32;
  instr.a.rank = 2;
  instr.a.free = {{{4, 64}, {1, 1}}};  // the innermost axis has one element: the next one strides
  EXPECT_EQ(isa::port_slowdown(instr), 2);
  EXPECT_EQ(isa::port_slowdown(make(Opcode::kDmaCopy, Engine::kSync, instr.a, hbm(128, 64))), 1);
}

}  // namespace
