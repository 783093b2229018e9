// Targets: the machines that differ for the compiler, those that it refuses, the numbers that the checker reads.
#include "isa/target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "isa/check.h"
#include "tests/isa/make_instr.h"
#include "tests/target.h"

namespace {

isa::Target target_with(const std::string& assignment) {
  return hw::load_machine("trn1.2xlarge", std::vector<std::string>{assignment}).target();
}

constexpr const char* kDecideAProgram[] = {"sbuf.partition=160 KiB",
                                           "psum.partition=8 KiB",
                                           "psum.bank=4 KiB",
                                           "dma.rings=8",
                                           "dma.engines=8",
                                           "dma.start=2x",
                                           "dma.wake=2x",
                                           "dma.engine_rate=2x",
                                           "dma.setup=2x",
                                           "dma.overlap=2x",
                                           "dma.completion=2x",
                                           "engine.semaphore=2x",
                                           "scalar.start=2x",
                                           "dma.rate=2x",
                                           "dma.descriptor_overhead=2x",
                                           "dma.packet=2x",
                                           "tensor.clock=2x",
                                           "vector.clock=2x",
                                           "scalar.clock=2x",
                                           "gpsimd.clock=2x",
                                           "sync.clock=2x",
                                           "engine.min_interval=2x",
                                           "tensor.latency=2x",
                                           "vector.latency=2x",
                                           "scalar.latency=2x",
                                           "gpsimd.latency=2x",
                                           "sync.latency=8 cycles",
                                           "tensor.fp32_passes=2",
                                           "tensor.fast_load=2",
                                           "scalar.accumulator_read=2x",
                                           "gpsimd.start=2x",
                                           "engine.dynamic_address=2x",
                                           "tensor.fp32_transpose_passes=2",
                                           "vector.narrow_copy=4",
                                           "vector.narrow_copy_part=2",
                                           "vector.narrow_pair=2",
                                           "dma.transpose=0.9"};

TEST(Target, EveryNumberThatDecidesAProgramIsInItsText) {
  for (const char* assignment : kDecideAProgram) {
    const isa::Target other = target_with(assignment);
    EXPECT_FALSE(other == trn1_target()) << assignment;
    EXPECT_NE(isa::text_of(other), isa::text_of(trn1_target())) << assignment;
  }
}

TEST(Target, ParametersThatDecideNoProgramLeaveItUnchanged) {
  for (const char* assignment : {"hbm.bandwidth=2x", "collective.floor=2x", "price.on_demand=2x", "program.lead_in=2x",
                                 "power.utilisation=0.7", "dma.rings=16"}) {
    const isa::Target same = target_with(assignment);
    EXPECT_TRUE(same == trn1_target()) << assignment;
    EXPECT_EQ(isa::text_of(same), isa::text_of(trn1_target())) << assignment;
  }
}

TEST(Target, LimitsOfTheInstructionFormatAreChecked) {
  for (const auto& [assignment, why] : {std::pair{"sbuf.partitions=64", "64 partitions"},
                                        {"tensor.rows=256", "256 x 128"},
                                        {"tensor.moving=256", "256 moving columns"},
                                        {"sbuf.partition=1 MiB", "the simulated memory"},
                                        {"psum.bank=1 KiB", "banks of 1024 bytes"},
                                        {"psum.partition=15 KiB", "banks of 2048 bytes"},
                                        {"dma.rings=1", "1 DMA rings"},
                                        {"dma.rings=17", "17 DMA rings"},
                                        {"collective.queues=3", "3 collective"},
                                        {"core.generation=99", "core.generation is 99"}}) {
    const std::string message = message_of([&] { target_with(assignment); }, base::Fault::kUsage);
    EXPECT_NE(message.find(why), std::string::npos) << assignment << ": " << message;
  }
  EXPECT_TRUE(isa::problem_of(isa::Target{}));
  EXPECT_FALSE(isa::problem_of(trn1_target()));
}

TEST(Target, TheCheckerReadsItsSizes) {
  const isa::Instr fill = make(isa::Opcode::kMemset, isa::Engine::kVector,
                               sbuf(128, 1024, isa::Dtype::kFp32, 180 * 1024));  // up to byte 184 Ki
  EXPECT_EQ(message_of([&] { isa::check(fill, trn1_target()); }), "");
  EXPECT_NE(message_of([&] { isa::check(fill, target_with("sbuf.partition=182 KiB")); }).find("has 186368"),
            std::string::npos);
  isa::Instr load = make(isa::Opcode::kDmaCopy, isa::Engine::kSync, sbuf(128, 16), sbuf(128, 16));
  load.queue = 7;
  EXPECT_EQ(message_of([&] { isa::check(load, target_with("dma.rings=8")); }), "");
  EXPECT_NE(message_of([&] { isa::check(load, target_with("dma.rings=7")); }).find("queue 7 does not exist"),
            std::string::npos);
}

TEST(Target, RangeSelectIsThereFromV3On) {
  isa::Instr select =
      make(isa::Opcode::kRangeSelect, isa::Engine::kVector, sbuf(2, 8), sbuf(2, 8, isa::Dtype::kFp32, 64),
           sbuf(2, 1, isa::Dtype::kFp32, 128), sbuf(2, 1, isa::Dtype::kFp32, 132));
  select.c = sbuf(2, 1, isa::Dtype::kFp32, 136);
  select.dst2 = sbuf(2, 1, isa::Dtype::kFp32, 132);
  select.alu0 = isa::Alu::kGe, select.alu1 = isa::Alu::kLt;
  const isa::Target v3 = hw::load_machine("trn2.3xlarge").target();
  EXPECT_EQ(message_of([&] { isa::check(select, v3); }), "");
  EXPECT_NE(message_of([&] { isa::check(select, trn1_target()); }).find("cannot run on NeuronCore-v2"),
            std::string::npos);
  EXPECT_EQ(isa::cost_of(select, v3).occupy, 148 + 8);  // VectorE is held before its elements
}

TEST(Target, ASumOfTensorEStaysInABankOfTheTarget) {
  const isa::Instr transpose =
      make(isa::Opcode::kPeTranspose, isa::Engine::kTensor, psum(64, 64, isa::Dtype::kFp32, 2048 - 128), sbuf(64, 64));
  EXPECT_NE(message_of([&] { isa::check(transpose, trn1_target()); }).find("PSUM banks 0 to 1"), std::string::npos);
  EXPECT_EQ(message_of([&] { isa::check(transpose, target_with("psum.bank=4 KiB")); }), "");
}

}  // namespace
