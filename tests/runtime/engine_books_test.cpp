// Which of several engines takes an instruction: the same books for graphs and for NKI, each with its own policy.
#include <gtest/gtest.h>

#include <string>

#include "isa/target.h"
#include "runtime/compiler/engine_books.h"
#include "tests/target.h"

namespace runtime {
namespace {

using isa::Alu;
using isa::Dtype;
using isa::Engine;
using isa::Instr;
using isa::Opcode;
using isa::Space;
using isa::Tile;

Tile tile_in(Space space, Dtype dtype = Dtype::kFp32, std::uint8_t start = 0) {
  Tile out{.space = space, .dtype = dtype, .start = start, .partitions = 64};
  out.free[0] = {.step = 1, .size = 96};
  return out;
}

Instr copy_of(Space from, Dtype dtype = Dtype::kFp32) {
  return {.op = Opcode::kTensorCopy, .dst = tile_in(Space::kSbuf, dtype), .a = tile_in(from, dtype)};
}

Instr scaled(Alu op, float number, std::uint8_t start = 0) {
  return {.op = Opcode::kTensorScalar,
          .alu0 = op,
          .imm0 = number,
          .dst = tile_in(Space::kSbuf),
          .a = tile_in(Space::kSbuf, Dtype::kFp32, start)};
}

/// The engines of one such instruction after the other, by their first letters.
std::string engines_of(EngineBooks& books, const Instr& instr, int count) {
  constexpr std::string_view kLetters = "TVSGD";
  std::string out;
  for (int i = 0; i < count; ++i) {
    const Instr chosen = books.choose(instr);
    books.add(chosen);
    out += kLetters[static_cast<std::size_t>(chosen.engine)];
  }
  return out;
}

TEST(EngineBooks, TheEngineThatIsDoneFirstTakesACopy) {
  EngineBooks books{trn1_target(), kGraphPolicy};
  const std::string engines = engines_of(books, copy_of(Space::kPsum), 20);
  EXPECT_EQ(engines[0], 'V');  // of two that are done at once VectorE, or it is the faster one
  EXPECT_NE(engines.find('S'), std::string::npos);
  EXPECT_EQ(engines.find_first_not_of("VS"), std::string::npos);
}

TEST(EngineBooks, NkiCopiesFromPsumAndScalesOnScalarE) {
  EngineBooks books{trn1_target(), kNkiPolicy};
  EXPECT_EQ(engines_of(books, copy_of(Space::kPsum), 4), "SSSS");
  EXPECT_EQ(engines_of(books, scaled(Alu::kMul, 2), 4), "SSSS");
  EXPECT_EQ(engines_of(books, copy_of(Space::kSbuf), 1), "V");  // ScalarE has much to do by now
}

TEST(EngineBooks, GpSimdFillsSbufForGraphsAndInTurnsForNki) {
  const Instr sbuf{.op = Opcode::kMemset, .dst = tile_in(Space::kSbuf)},
      psum{.op = Opcode::kMemset, .dst = tile_in(Space::kPsum)};
  EngineBooks graph{trn1_target(), kGraphPolicy}, nki{trn1_target(), kNkiPolicy};
  EXPECT_EQ(engines_of(graph, sbuf, 3), "GGG");
  EXPECT_EQ(engines_of(graph, psum, 3), "VVV");
  EXPECT_EQ(engines_of(nki, psum, 2), "VV");
  EXPECT_EQ(engines_of(nki, sbuf, 1), "G");  // VectorE has two already
}

TEST(EngineBooks, WideIntegersStayOnVectorEWhichKeepsTheirBits) {
  EngineBooks books{trn1_target(), kNkiPolicy};
  EXPECT_EQ(engines_of(books, copy_of(Space::kPsum, Dtype::kInt32), 3), "VVV");
  EXPECT_EQ(engines_of(books, copy_of(Space::kPsum, Dtype::kUint8), 1), "S");
}

TEST(EngineBooks, ABiasOnScalarEIsATileOfTheOperandsPartitions) {
  EngineBooks books{trn1_target(), kNkiPolicy};
  int asked = 0;
  const auto number = [&](float value, const Tile& like) {
    ++asked;
    EXPECT_EQ(value, -3);
    EXPECT_EQ(like.start, 64);
    return tile_in(Space::kSbuf, Dtype::kFp32, like.start);
  };
  const Instr added = books.choose(scaled(Alu::kSub, 3, 64), number);
  EXPECT_EQ(added.op, Opcode::kActivation);
  EXPECT_EQ(added.imm0, 1);
  EXPECT_EQ(added.c.start, 64);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(books.choose(scaled(Alu::kSub, 3)).engine, Engine::kVector);  // no tile can be made
  EXPECT_EQ(books.choose(scaled(Alu::kMax, 3), number).engine, Engine::kVector);
}

TEST(EngineBooks, LoadsAndStoresGoRoundTheirOwnHalfOfTheRings) {
  EngineBooks books{trn1_target(), kGraphPolicy};
  const auto rings = static_cast<int>(trn1_target().geometry.dma_rings);
  for (int i = 0; i < 2 * rings; ++i) {
    const Instr load = books.load({.op = Opcode::kDmaCopy}), store = books.store({.op = Opcode::kDmaCopy});
    EXPECT_EQ(load.queue, i % (rings / 2));
    EXPECT_EQ(store.queue, rings / 2 + i % (rings - rings / 2));
    EXPECT_EQ(load.engine, Engine::kSync);
    EXPECT_EQ(store.engine, Engine::kGpSimd);
  }
}

TEST(EngineBooks, DmaIsNoWorkOfTheEngineThatIssuesIt) {
  EngineBooks books{trn1_target(), kGraphPolicy};
  Instr dma{.op = Opcode::kDmaCopy, .dst = tile_in(Space::kSbuf), .a = tile_in(Space::kHbm)};
  dma.engine = Engine::kVector;
  for (int i = 0; i < 100; ++i) books.add(dma);
  EXPECT_EQ(engines_of(books, copy_of(Space::kSbuf), 1), "V");
}

TEST(Constants, AreMadeOnceForEachTypeAndSize) {
  Constants<int> constants;
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(constants.get(ConstantKind::kOnes, Dtype::kFp32, 8, make), 1);
  EXPECT_EQ(constants.get(ConstantKind::kOnes, Dtype::kFp32, 8, make), 1);
  EXPECT_EQ(constants.get(ConstantKind::kOnes, Dtype::kBf16, 8, make), 2);
  EXPECT_EQ(constants.get(ConstantKind::kZeros, Dtype::kFp32, 8, make), 3);
  EXPECT_EQ(constants.number(8, make), 4);
  EXPECT_EQ(constants.number(8, make), 4);
  EXPECT_EQ(constants.number(-8, make), 5);
}

}  // namespace
}  // namespace runtime
