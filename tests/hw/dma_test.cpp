// The DMA engines and HBM: descriptors, rates, rings, the rest beside collectives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "hw/memory/hbm.h"
#include "hw/timed_block.h"
#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;
using hw::seconds;
using hw::SimResult;

TEST(Transfer, CutsContiguousPiecesIntoPackets) {
  const auto machine = trn1();
  // 128 rows of 8 KiB: two packets each, eight rows for each engine.
  const auto rows = hw::plan_transfer(dma(sbuf(128, 2048), hbm(128, 2048), 0), machine.timing().dma);
  EXPECT_EQ(rows.descriptors, 256u);
  EXPECT_DOUBLE_EQ(rows.width, 16);
  EXPECT_EQ(rows.read_bytes, 1u << 20);
  EXPECT_EQ(rows.written_bytes, 0u);
  // An engine alone, and the shared path: (bytes + 472 per descriptor).
  EXPECT_NEAR(rows.work, ((1 << 20) / 27.2e9 + 256 * 17.6e-9) * 1e15, 1e3);
  EXPECT_NEAR(rows.shared, ((1 << 20) + 256 * 472) / (16 * 19.03e9) * 1e15, 1e3);

  // HBM to HBM has no rows: 1 MiB in packets of 4 KiB.
  EXPECT_EQ(hw::plan_transfer(dma(hbm(1, 1 << 18, 1 << 20), hbm(1, 1 << 18), 0), machine.timing().dma).descriptors,
            256u);
  EXPECT_EQ(hw::plan_transfer(dma(hbm(128, 2048, 1 << 20), hbm(128, 2048), 0), machine.timing().dma).descriptors, 256u);

  Instr transpose = dma(sbuf(64, 32), hbm(32, 64), 0);
  transpose.op = Opcode::kDmaTranspose;
  EXPECT_EQ(hw::plan_transfer(transpose, machine.timing().dma).descriptors, 32u * 64);
}

TEST(Transfer, FewDescriptorsCannotUseAllEngines) {
  const auto machine = trn1();
  EXPECT_DOUBLE_EQ(hw::plan_transfer(dma(sbuf(1, 1024), hbm(1, 1024), 0), machine.timing().dma).width, 1);
  EXPECT_DOUBLE_EQ(hw::plan_transfer(dma(sbuf(17, 1024), hbm(17, 1024), 0), machine.timing().dma).width, 8.5);
}

TEST(Transfer, StridesBreakTheContiguousPiece) {
  Tile strided = hbm(128, 64);
  strided.free[0] = {.step = 2, .size = 64};
  EXPECT_EQ(isa::contiguous_run(strided), 1);
  Tile folded = sbuf(128, 0);
  folded.rank = 3;
  folded.free = {isa::Dim{.step = 512, .size = 4}, isa::Dim{.step = 16, .size = 8}, isa::Dim{.step = 1, .size = 16}};
  EXPECT_EQ(isa::contiguous_run(folded), 128);
  EXPECT_EQ(isa::contiguous_run(hbm(128, 64)), 128 * 64);
}

TEST(Transfer, AccumulationMovesTheDestinationTwice) {
  const auto machine = trn1();
  Instr add = dma(hbm(128, 1024, 1 << 20), sbuf(128, 1024), 0);
  const auto plain = hw::plan_transfer(add, machine.timing().dma);
  add.accumulate = true;
  const auto both = hw::plan_transfer(add, machine.timing().dma);
  EXPECT_EQ(both.read_bytes, plain.written_bytes);
  EXPECT_DOUBLE_EQ(both.work, 2 * plain.work);
  EXPECT_DOUBLE_EQ(both.shared, 2 * plain.shared);
}

TEST(Dma, ADescriptorAloneIsFasterThanInCompany) {  // profiles of an idle chip
  const auto ns = [](std::uint32_t bytes) {
    return seconds(
               run(program({dma(sbuf(1, bytes, 0, Dtype::kUint8), hbm(1, bytes, 0, Dtype::kUint8), 0)})).dma.active) *
           1e9;
  };
  constexpr double kSetup = 17.6, kCompletion = 7;
  EXPECT_NEAR(ns(512), kSetup + 2 * 512 / 27.2 + kCompletion, 0.01);  // read, then written
  EXPECT_NEAR(ns(1024), kSetup + 2 * 1024 / 27.2 + kCompletion, 0.01);
  EXPECT_NEAR(ns(2048), kSetup + 2048 / 27.2 + kCompletion, 0.01);  // written while it is read
  EXPECT_NEAR(ns(4096), kSetup + 4096 / 27.2 + kCompletion, 0.01);
}

TEST(Dma, AWaiterWakesLaterThanItsSemaphore) {
  const Instr load = dma(sbuf(128, 2048), hbm(128, 2048), 0);
  const Instr first = signal(copy(Engine::kVector, sbuf(128, 64, 16384), sbuf(128, 64, 32768)));
  const double issue = (64 + 66) / 1.12e9 + 593e-9;  // the copy, its result, the wake
  EXPECT_NEAR(body(run(program({first, after(load, sem(Engine::kVector), 1)}))), body(run(program({load}))) + issue,
              1e-12);
}

TEST(Dma, StartsAfterItsLatencyAndThenRunsAtItsRate) {
  const auto result = run(program({dma(sbuf(128, 2048), hbm(128, 2048), 0)}));
  const double data = ((1 << 20) + 256 * 472) / (16 * 19.03e9);
  EXPECT_NEAR(body(result), 0.24e-6 + data, 1e-12);
  EXPECT_NEAR(seconds(result.dma.active), data, 1e-12);
}

TEST(Dma, EfficiencyFallsWithTheLengthOfAPiece) {
  const auto rate = [](std::uint32_t bytes) {
    std::vector<Instr> instrs;
    for (int i = 0; i < 64; ++i) {
      instrs.push_back(dma(sbuf(128, bytes / 4), hbm(128, bytes / 4, 0, Dtype::kFp32, bytes + 64), i % 4));
    }
    const auto result = run(program(instrs));
    return static_cast<double>(result.dma.read_bytes) / seconds(result.dma.active) * 1e-9;
  };
  EXPECT_NEAR(rate(4096), 273, 1);
  EXPECT_NEAR(rate(32768), 273, 1);  // saturated at a packet
  EXPECT_NEAR(rate(2048), 247, 1);   // "near peak"
  EXPECT_NEAR(rate(1024), 208.4, 1);
  EXPECT_NEAR(rate(256), 107, 1);  // "heavy loss"
}

TEST(Dma, ARingIsInOrderAndRingsShareTheEngines) {
  const Instr big = dma(sbuf(128, 2048), hbm(128, 2048), 0);
  Instr small = dma(sbuf(16, 16, 16384), hbm(16, 16, 1 << 21), 0);
  const Instr probe = after(copy(Engine::kVector, sbuf(16, 16), sbuf(16, 16, 16384)), dma_sem(0), 2);
  const double same = body(run(program({big, small, probe})));
  small.queue = 1;
  Instr other = probe;
  other.waits[0] = {.sem = static_cast<std::uint16_t>(dma_sem(1)), .count = 1};
  const SimResult result = run(program({big, small, other}));
  // On its own ring the small one does not wait for the big one.
  EXPECT_GT(same, body(result));
  const auto& vector = result.engines[static_cast<int>(Engine::kVector)];
  EXPECT_LT(seconds(vector.waiting[static_cast<int>(hw::Hold::kDma)]), 1.5e-6);
}

TEST(Dma, AFullHbmSlowsTheEngines) {
  const Instr load = dma(sbuf(128, 8192), hbm(128, 8192), 0);
  const auto slow = run(program({load}), trn1({"hbm.bandwidth=200 GB/s"}));
  EXPECT_NEAR(seconds(slow.dma.active), 128 * 32768 / 100e9, 1e-9);  // half of it is this core's stack
}

// Each core's half of the stack limits these: 50 GB/s, which a bus that turns takes 1.2 times as long for.
TEST(Dma, ReadingWhileWritingTurnsTheBus) {
  const Instr load = dma(sbuf(128, 8192), hbm(128, 8192), 0);
  const Instr store = dma(hbm(128, 8192, 1 << 22), sbuf(128, 8192, 1 << 15), 1);
  const auto active = [](std::vector<Instr> instrs, const char* turnaround) {
    return seconds(run(program(std::move(instrs)), trn1({"hbm.bandwidth=100 GB/s", turnaround})).dma.active);
  };
  const double one = active({load}, "hbm.turnaround=0"), both = active({load, store}, "hbm.turnaround=0");
  EXPECT_NEAR(both, 2 * one, 1e-8);
  EXPECT_NEAR(active({load}, "hbm.turnaround=0.2"), one, 1e-9);
  EXPECT_NEAR(active({load, store}, "hbm.turnaround=0.2"), 1.2 * both, 1e-7);
}

TEST(Dma, ManySequencersMayFeedARing) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 20; ++i) {
    instrs.push_back(dma(sbuf(128, 64), hbm(128, 64), 2, Engine::kSync));
    instrs.push_back(dma(sbuf(128, 64, 4096), hbm(128, 64), 2, Engine::kScalar));
    instrs.push_back(dma(sbuf(128, 64, 8192), hbm(128, 64), 2, Engine::kGpSimd));
  }
  const auto result = run(program(instrs));
  EXPECT_EQ(result.dma.transfers, 60u);
}

TEST(Hbm, BookingsAddUpAndEnd) {
  hw::HbmStack stack{410e9};
  stack.book(100, 200, 100e9);
  stack.book(150, 300, 50e9);
  EXPECT_DOUBLE_EQ(stack.available(99), 410e9);
  EXPECT_EQ(stack.next_change(99), 100u);
  EXPECT_DOUBLE_EQ(stack.available(160), 260e9);
  EXPECT_EQ(stack.next_change(160), 200u);
  EXPECT_DOUBLE_EQ(stack.available(200), 360e9);
  EXPECT_DOUBLE_EQ(stack.available(300), 410e9);
  EXPECT_EQ(stack.next_change(300), hw::Bookings::kNever);
}

TEST(Program, RefusesFeaturesThatTheMachineLacks) {
  const auto refusal = [](const Instr& instr) -> std::string {
    try {
      run(program({instr}));
    } catch (const base::Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal(dma(sbuf(1, 1), hbm(1, 1), 16)), testing::HasSubstr("names DMA ring 16"));
  EXPECT_THAT(refusal(on(Engine::kScalar, Opcode::kBnStats)), testing::HasSubstr("does not run on the scalar engine"));
  EXPECT_THAT(refusal(after(fill(Engine::kVector, sbuf(1, 1), 0), 23, 1)), testing::HasSubstr("semaphore 23"));
  isa::Program large = program({fill(Engine::kVector, sbuf(1, 1), 0)});
  large.hbm_bytes = 17ull << 30;
  try {
    run(large);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kCapacity);
  }
}

}  // namespace
