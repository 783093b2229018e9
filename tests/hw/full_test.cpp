// The full mode: the memory of the numeric device, the clock of the timed mode, races found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "isa/device.h"
#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;
using hw::SimResult;

constexpr std::int64_t kWeights = 0, kInput = 1 << 16, kOutput = 1 << 18, kSum = 1 << 19;

/// Loads weights and input, multiplies, applies GELU, rounds to bf16 stochastically, stores, sums over the ranks.
isa::Program job(std::uint32_t ranks) {
  const Tile w = sbuf(128, 128, 0, Dtype::kBf16), x = sbuf(128, 512, 1024, Dtype::kBf16),
             y = sbuf(128, 512, 4096, Dtype::kBf16);
  std::vector<Instr> instrs;
  instrs.push_back(dma(w, hbm(128, 128, kWeights, Dtype::kBf16), 0));
  instrs.push_back(dma(x, hbm(128, 512, kInput, Dtype::kBf16), 1));
  instrs.push_back(after(after(matmul(psum(128, 512), w, x), dma_sem(0), 1), dma_sem(1), 1));
  instrs.push_back(signal(matmul(psum(128, 512), w, x, true)));
  instrs.push_back(signal(after(activate(y, psum(128, 512), Fn::kGelu), sem(Engine::kTensor), 1)));
  instrs.push_back(after(dma(hbm(128, 512, kOutput, Dtype::kBf16), y, 2), sem(Engine::kScalar), 1));
  instrs.push_back(
      after(all_reduce(hbm(1, 65536, kSum, Dtype::kBf16), hbm(1, 65536, kOutput, Dtype::kBf16)), dma_sem(2), 1));
  instrs.push_back(after(dma(sbuf(128, 512, 8192, Dtype::kBf16), hbm(128, 512, kSum, Dtype::kBf16), 3), cc_sem(0), 1));
  instrs.push_back(
      after(dma(hbm(128, 512, kInput, Dtype::kBf16), sbuf(128, 512, 8192, Dtype::kBf16), 4), dma_sem(3), 1));
  isa::Program program = tiny::program(std::move(instrs), 3, ranks);
  program.rounding = isa::Rounding::kStochastic;
  program.hbm_bytes = 1 << 20;
  for (std::uint32_t c = 0; c < 3; ++c) program.calls[c].rng = c;
  return program;
}

void fill_inputs(isa::Device& device, std::uint32_t ranks) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    auto* values = reinterpret_cast<std::uint16_t*>(device.memory(r).hbm());
    std::uint32_t state = 12345 + r;
    for (int i = 0; i < (kOutput / 2); ++i) {
      state = state * 1664525 + 1013904223;
      values[i] = static_cast<std::uint16_t>(
          isa::encode(Dtype::kBf16, static_cast<float>(static_cast<int>(state >> 16) - 32768) / 400000));
    }
  }
}

hw::SimOptions full() {
  hw::SimOptions options;
  options.execute = true;
  options.check_races = true;
  return options;
}

TEST(Full, MemoryOfTheNumericDeviceAndClockOfTheTimedMode) {
  const isa::Program program = job(2);
  const isa::RunOptions run{.seed = 7, .step = 3, .host_threads = 1};
  const auto device = hw::make_sim_device(trn1(), full());
  const auto numeric = isa::make_numeric_device();
  for (isa::Device* one : {static_cast<isa::Device*>(device.get()), numeric.get()}) {
    one->load(program);
    fill_inputs(*one, 2);
    one->run(run);
  }
  for (std::uint32_t r = 0; r < 2; ++r)
    EXPECT_EQ(std::memcmp(device->memory(r).hbm(), numeric->memory(r).hbm(), program.hbm_bytes), 0) << r;
  const auto* sum = reinterpret_cast<const std::uint16_t*>(device->memory(0).hbm() + kSum);
  EXPECT_TRUE(std::any_of(sum, sum + 65536, [](auto bits) { return bits != 0; }));

  hw::SimOptions timed;
  timed.exact = true;
  EXPECT_TRUE(tiny::run(program, trn1(), timed) == device->result());
  // A second step on the memory of the first, on the same machine.
  for (isa::Device* one : {static_cast<isa::Device*>(device.get()), numeric.get()}) one->run(run);
  EXPECT_EQ(std::memcmp(device->memory(1).hbm(), numeric->memory(1).hbm(), program.hbm_bytes), 0);
}

std::string outcome(const isa::Program& program) {
  try {
    hw::simulate(program, trn1(), full());
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no race";
}

/// Without the waits of instruction `index`.
isa::Program without_waits(std::size_t index) {
  isa::Program program = job(2);
  program.blocks[0].instrs.own()[index].wait_count = 0;
  return program;
}

using testing::HasSubstr;

TEST(Race, TheIntactProgramHasNone) { EXPECT_EQ(outcome(job(2)), "no race"); }
TEST(Race, AMatmulThatDoesNotWaitForItsLoad) {
  EXPECT_THAT(outcome(without_waits(2)),
              AllOf(HasSubstr("call 0, tiny #2: tensor matmul"), HasSubstr("not written yet")));
}
TEST(Race, AnEvictionThatDoesNotWaitForTheMatmul) {
  EXPECT_THAT(outcome(without_waits(4)), HasSubstr("tiny #4: scalar activation"));
}
TEST(Race, AStoreThatDoesNotWaitForTheEviction) {
  EXPECT_THAT(outcome(without_waits(5)), HasSubstr("tiny #5: sync dma_copy"));
}
TEST(Race, AnAllReduceOfBytesThatAreStillBeingStored) {
  EXPECT_THAT(outcome(without_waits(6)), HasSubstr("tiny #6: sync all_reduce"));
}
TEST(Race, ALoadThatDoesNotWaitForTheAllReduce) {
  EXPECT_THAT(outcome(without_waits(7)), HasSubstr("tiny #7: sync dma_copy"));
}

TEST(Race, AnOverwrittenOperand) {
  const Instr slow = signal(copy(Engine::kGpSimd, sbuf(128, 4096, 65536), sbuf(128, 4096)));
  const Instr early = fill(Engine::kVector, sbuf(128, 8, 8192), 1);
  std::vector<Instr> instrs{signal(fill(Engine::kVector, sbuf(128, 4096), 0)), after(slow, sem(Engine::kVector), 1),
                            after(early, dma_sem(0), 1), dma(sbuf(1, 1, 100000), hbm(1, 1), 0)};
  EXPECT_THAT(outcome(program(instrs)), HasSubstr("race on rank 0, call 0"));
  instrs[2] = after(instrs[2], sem(Engine::kGpSimd), 1);
  EXPECT_EQ(outcome(program(instrs)), "no race");
}

TEST(Machine, AnotherOneMayFollowAndAnErrorEndsOnlyItsRun) {
  const hw::SimResult first = hw::simulate(job(1), trn1());
  EXPECT_NE(outcome(without_waits(2)), "no race");
  EXPECT_GT(hw::simulate(job(1), trn1({"vector.clock=0.5x", "dma.start=3 us"})).total, first.total);
  EXPECT_TRUE(hw::simulate(job(1), trn1()) == first);
}

TEST(Race, ReadsOfUnwrittenBytes) {
  EXPECT_THAT(outcome(program({copy(Engine::kVector, sbuf(128, 8, 64), sbuf(128, 8))})),
              HasSubstr("nothing has written"));
}

}  // namespace
