#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/asm.h"
#include "isa/check.h"
#include "tests/isa/make_instr.h"
#include "tests/target.h"

namespace {

using isa::Engine;
using isa::Instr;
using isa::Opcode;
using isa::Program;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const Program& program) {
  return message_of([&] { isa::check(program, trn1_target()); });
}

Instr collective(Opcode op, std::uint32_t out, std::uint32_t in) {
  Instr instr = make(op, Engine::kSync, hbm(1, out, isa::Dtype::kFp32, 0), hbm(1, in, isa::Dtype::kFp32, 1));
  if (op == Opcode::kAllReduce || op == Opcode::kReduceScatter) instr.alu0 = isa::Alu::kAdd;
  return instr;
}

/// Two ranks, 4 KiB of HBM, one block with `instrs` behind registers r0 = 0 and r1 = 2048, called once.
Program program(std::vector<Instr> instrs) {
  Program p;
  p.name = "step";
  p.ranks = 2;
  p.hbm_bytes = 4096;
  p.groups = {{{0, 1}}};
  isa::Block& block = p.blocks.emplace_back();
  block.name = "layer";
  block.registers = 2;
  block.instrs = std::move(instrs);
  p.calls.emplace_back().bases = {0, 2048};
  return p;
}

TEST(CheckProgram, GoodOnesPass) {
  EXPECT_EQ(error_of(program({collective(Opcode::kAllReduce, 8, 8), collective(Opcode::kAllGather, 16, 8),
                              collective(Opcode::kReduceScatter, 8, 16), collective(Opcode::kAllToAll, 8, 8),
                              collective(Opcode::kBroadcast, 8, 8)})),
            "");
}

TEST(CheckProgram, ReplicaGroups) {
  Program p = program({});
  p.groups = {{{0, 2}}};
  EXPECT_THAT(error_of(p), AllOf(HasSubstr("program \"step\" replica group 0"), HasSubstr("rank 2 does not exist")));
  p.groups = {{{0, 0}}};
  EXPECT_THAT(error_of(p), HasSubstr("rank 0 is in it twice"));
  p.groups = {{{0}}};
  EXPECT_THAT(error_of(p), HasSubstr("rank 1 is in no list"));
  p.groups = {{}};
  EXPECT_THAT(error_of(p), HasSubstr("rank 0 is in no list"));
  p.ranks = 3;
  p.groups = {{{0, 1}, {2}}};
  EXPECT_THAT(error_of(p), HasSubstr("different lengths"));
  p.groups = {{{0}, {1}, {2}}};
  EXPECT_EQ(error_of(p), "");
  p.ranks = 0;
  EXPECT_THAT(error_of(p), HasSubstr("it has no rank"));
}

TEST(CheckProgram, CollectivesNameTheirGroup) {
  Instr reduce = collective(Opcode::kAllReduce, 8, 8);
  reduce.group = 1;
  EXPECT_THAT(error_of(program({reduce})), AllOf(HasSubstr("block \"layer\" #0: sync all_reduce add"),
                                                 HasSubstr("replica group 1 does not exist: there are 1")));
}

TEST(CheckProgram, ElementCountsFollowTheRanks) {
  EXPECT_THAT(error_of(program({collective(Opcode::kAllGather, 24, 8)})),
              HasSubstr("dst has 24 elements, 2 ranks give 16"));
  EXPECT_THAT(error_of(program({collective(Opcode::kReduceScatter, 8, 24)})),
              HasSubstr("a has 24 elements, 2 ranks take 16"));
  EXPECT_THAT(error_of(program({collective(Opcode::kAllToAll, 7, 7)})), HasSubstr("not a multiple of the 2 ranks"));
}

TEST(CheckProgram, PeersAndRoots) {
  Instr send = make(Opcode::kSend, Engine::kSync, {}, hbm(1, 8));
  send.peer = 1;
  EXPECT_EQ(error_of(program({send})), "");
  send.peer = 2;
  EXPECT_THAT(error_of(program({send})), HasSubstr("peer 2 is not in a group of 2"));
  Instr broadcast = collective(Opcode::kBroadcast, 8, 8);
  for (const float root : {2.0f, -1.0f, 0.5f}) {
    broadcast.imm0 = root;
    EXPECT_THAT(error_of(program({broadcast})), HasSubstr("is not a rank in a group of 2"));
  }
}

TEST(CheckProgram, CallsFitTheirBlocks) {
  Program p = program({});
  p.calls[0].block = 1;
  EXPECT_THAT(error_of(p), AllOf(HasSubstr("call 0"), HasSubstr("block 1 does not exist")));
  p.calls[0].block = 0;
  p.calls[0].bases = {0};
  EXPECT_THAT(error_of(p), HasSubstr("supplies 1 address, block \"layer\" has 2 registers"));
}

TEST(CheckProgram, CallsAwaitOnlyIssuedCalls) {
  Program p = program({collective(Opcode::kAllReduce, 8, 8)});
  p.calls.push_back(p.calls[0]);
  p.calls[1].await = {1, 0};
  EXPECT_EQ(error_of(p), "");
  p.calls[1].await = {2, 0};
  EXPECT_THAT(error_of(p),
              AllOf(HasSubstr("call 1"), HasSubstr("awaits 2 collectives of queue 0, but earlier calls issue 1")));
  p.calls[1].await = {0, 1};
  EXPECT_THAT(error_of(p), HasSubstr("queue 1, but earlier calls issue 0"));
}

TEST(CheckProgram, HbmOperandsStayInside) {
  const Instr load = make(Opcode::kDmaCopy, Engine::kSync, sbuf(4, 128), hbm(4, 128, isa::Dtype::kFp32, 1));
  Program p = program({load});
  EXPECT_EQ(error_of(p), "") << "4 rows of 512 bytes end at 4096";
  p.calls[0].bases[1] = 2052;
  EXPECT_THAT(error_of(p), AllOf(HasSubstr("block \"layer\" #0: sync dma_copy"), HasSubstr("in call 0, r1 = 0x804")));
  p.calls[0].bases[1] = 8192;
  EXPECT_THAT(error_of(p), HasSubstr("leaves the program's 4096 bytes"));
  p = program({load});
  p.blocks[0].instrs.own()[0].a.offset = -2052;
  EXPECT_THAT(error_of(p), HasSubstr("leaves the program's 4096 bytes"));
  p.blocks[0].instrs.own()[0].a.offset = -2048;
  EXPECT_EQ(error_of(p), "");
}

/// Known facts about a block save reading its instructions again, but not the rules of its program.
TEST(Checker, KnowsBlocksNotPrograms) {
  isa::Checker checker{trn1_target()};
  const Program good = program({collective(Opcode::kAllReduce, 64, 64)});
  checker.check(good);
  checker.check(good);
  Program outside = good, alone = good, other = good;
  outside.calls[0].bases[1] = 4000;
  EXPECT_THAT(message_of([&] { checker.check(outside); }), HasSubstr("it leaves the program's 4096 bytes of HBM"));
  alone.groups.clear();
  EXPECT_THAT(message_of([&] { checker.check(alone); }), HasSubstr("replica group 0 does not exist"));
  other.blocks[0].instrs.own()[0].a.reg = 2;  // a list of its own
  EXPECT_THAT(message_of([&] { checker.check(other); }), HasSubstr("HBM register r2"));
  checker.check(good);
}

TEST(CheckProgram, RegionsFit) {
  Program p = program({});
  p.regions.push_back({"w", "weights", isa::Dtype::kBf16, {32, 32}, 2048, 2048});
  EXPECT_EQ(error_of(p), "");
  p.regions[0].offset = 2050;
  EXPECT_THAT(error_of(p), AllOf(HasSubstr("region \"w\""), HasSubstr("ends at byte 4098")));
  p.regions[0].offset = 0;
  p.regions[0].bytes = 2047;
  EXPECT_THAT(error_of(p), HasSubstr("its shape needs 2048"));
}

}  // namespace
