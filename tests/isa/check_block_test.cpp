#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/asm.h"
#include "isa/check.h"
#include "tests/isa/make_instr.h"
#include "tests/target.h"

namespace {

using isa::Block;
using isa::Engine;
using isa::Instr;
using isa::Opcode;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kTensor = 0, kVector = 1, kScalar = 2;

Instr on(Engine engine) { return make(Opcode::kTensorCopy, engine, sbuf(1, 1), sbuf(1, 1)); }

Instr signalling(Instr instr) {
  instr.signal = true;
  return instr;
}

Instr waiting(Instr instr, int semaphore, std::uint32_t count) {
  instr.waits[instr.wait_count++] = {static_cast<std::uint16_t>(semaphore), 0, count};
  return instr;
}

Instr load(int ring, std::uint32_t reg = 0) {
  Instr instr = make(Opcode::kDmaCopy, Engine::kSync, sbuf(1, 1), hbm(1, 1, isa::Dtype::kFp32, reg));
  instr.queue = static_cast<std::uint8_t>(ring);
  return instr;
}

Block block(std::vector<Instr> instrs) {
  Block b;
  b.name = "layer";
  b.instrs = std::move(instrs);
  b.registers = 1;
  return b;
}

std::string error_of(const Block& b) {
  return message_of([&] { isa::check(b, trn1_target()); });
}

TEST(CheckBlock, NamesBlockIndexAndInstruction) {
  Block b = block({on(Engine::kVector), add(sbuf(1, 1), psum(1, 1), psum(1, 1))});
  b.labels = {"embedding", "attention.softmax"};
  b.instrs.own()[1].label = 1;
  EXPECT_THAT(error_of(b), AllOf(HasSubstr("block \"layer\" #1: vector tensor_tensor add"),
                                 HasSubstr("; attention.softmax"), HasSubstr("both in PSUM"), HasSubstr("\n  fix: ")));
  b.instrs.own()[1] = on(Engine::kVector);
  EXPECT_EQ(error_of(b), "");
}

TEST(CheckBlock, RegistersMustExist) {
  EXPECT_EQ(error_of(block({load(0, 0)})), "");
  EXPECT_THAT(error_of(block({load(0, 1)})), HasSubstr("HBM register r1, but the block has 1"));
}

TEST(CheckBlock, LabelsMustExist) {
  Block b = block({on(Engine::kVector)});
  b.instrs.own()[0].label = 1;
  EXPECT_THAT(error_of(b), HasSubstr("label is number 1, but the block has 0"));
  b.labels = {"x", "y"};
  EXPECT_EQ(error_of(b), "");
}

TEST(CheckBlock, FootprintMustFit) {
  Block b = block({});
  b.sbuf_bytes = trn1_target().geometry.sbuf_partition_bytes;
  b.psum_bytes = trn1_target().geometry.psum_partition_bytes;
  EXPECT_EQ(error_of(b), "");
  b.psum_bytes += 1;
  EXPECT_THAT(error_of(b), HasSubstr("16385 bytes of PSUM per partition, but there are only 16384"));
}

TEST(CheckWaits, FulfilledByEarlierInstructions) {
  EXPECT_EQ(error_of(block({signalling(on(Engine::kScalar)), waiting(on(Engine::kVector), kScalar, 1), load(3), load(3),
                            waiting(on(Engine::kScalar), isa::kFirstDmaSemaphore + 3, 2)})),
            "");
}

TEST(CheckWaits, NeverReached) {
  const std::string error =
      error_of(block({signalling(on(Engine::kScalar)), on(Engine::kScalar), waiting(on(Engine::kVector), kScalar, 2)}));
  EXPECT_THAT(error, AllOf(HasSubstr("#2: vector tensor_copy"), HasSubstr("waits for scalar>=2"),
                           HasSubstr("raises scalar only 1 time")));
  EXPECT_THAT(error_of(block({load(2), waiting(on(Engine::kVector), isa::kFirstDmaSemaphore + 3, 1)})),
              HasSubstr("raises dma3 only 0 times"));
}

TEST(CheckWaits, DeadlockNamesWaitersAndSemaphores) {
  const std::string error =
      error_of(block({waiting(signalling(on(Engine::kScalar)), kVector, 1), load(0),
                      waiting(signalling(on(Engine::kVector)), kScalar, 1), on(Engine::kGpSimd)}));
  EXPECT_THAT(error, AllOf(HasSubstr("the engines wait for each other"),
                           HasSubstr("scalar waits at #0 for vector>=1 (it is 0)"),
                           HasSubstr("vector waits at #2 for scalar>=1 (it is 0)"), Not(HasSubstr("gpsimd waits"))));
}

TEST(CheckWaits, AnEngineCannotWaitForItsOwnFuture) {
  EXPECT_THAT(error_of(block({waiting(on(Engine::kVector), kVector, 1), signalling(on(Engine::kVector))})),
              HasSubstr("vector waits at #0 for vector>=1"));
}

TEST(CheckWaits, ProgramOrderMustBeSequential) {
  EXPECT_THAT(error_of(block({waiting(on(Engine::kVector), kScalar, 1), signalling(on(Engine::kScalar))})),
              AllOf(HasSubstr("is only reached later in program order"), Not(HasSubstr("wait for each other"))));
}

TEST(CheckWaits, CollectivesRaiseTheirQueue) {
  Instr reduce = make(Opcode::kAllReduce, Engine::kSync, hbm(1, 8), hbm(1, 8));
  reduce.alu0 = isa::Alu::kAdd;
  reduce.queue = 1;
  EXPECT_EQ(error_of(block({reduce, waiting(on(Engine::kVector), isa::kFirstCcSemaphore + 1, 1)})), "");
  EXPECT_THAT(error_of(block({reduce, waiting(on(Engine::kVector), isa::kFirstCcSemaphore, 1)})),
              HasSubstr("raises cc0 only 0 times"));
}

TEST(CheckBlock, AHundredThousandInstructionsInOrderAreFine) {
  std::vector<Instr> instrs;
  for (std::uint32_t n = 0; n < 25000; ++n) {
    instrs.push_back(load(static_cast<int>(n % 16)));
    instrs.push_back(
        signalling(waiting(matmul(128, 128, 512), isa::kFirstDmaSemaphore + static_cast<int>(n % 16), n / 16 + 1)));
    instrs.push_back(signalling(waiting(add(sbuf(128, 512), psum(128, 512), sbuf(128, 512)), kTensor, n + 1)));
    instrs.push_back(
        waiting(make(Opcode::kActivation, Engine::kScalar, sbuf(128, 512), sbuf(128, 512)), kVector, n + 1));
  }
  const Block b = block(std::move(instrs));
  EXPECT_EQ(error_of(b), "");
}

}  // namespace
