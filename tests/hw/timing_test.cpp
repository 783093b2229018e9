// Each mechanism of the machine alone, to the femtosecond or to the cycle.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "hw/timed_block.h"
#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;
using hw::Hold;
using hw::seconds;
using hw::SimResult;

constexpr double kTensorHz = 2.8e9, kVectorHz = 1.12e9, kScalarHz = 1.4e9;
constexpr double kSemaphore = 38e-9;  // from a visible result to the waiting engine

hw::Fs busy(const SimResult& result, Engine engine) { return result.engines[static_cast<int>(engine)].busy; }
hw::Fs held(const SimResult& result, Engine engine, Hold hold) {
  return result.engines[static_cast<int>(engine)].waiting[static_cast<int>(hold)];
}
double cycles(hw::Fs time, double clock) { return seconds(time) * clock; }

TEST(Accounting, EveryEngineAddsUpToTheWholeTime) {
  std::vector<Instr> instrs{dma(sbuf(128, 512), hbm(128, 512), 0)};
  instrs.push_back(signal(after(copy(Engine::kVector, sbuf(128, 512, 2048), sbuf(128, 512)), dma_sem(0), 1)));
  instrs.push_back(signal(after(activate(sbuf(128, 512, 4096), sbuf(128, 512, 2048)), sem(Engine::kVector), 1)));
  instrs.push_back(after(dma(hbm(128, 512, 1 << 20), sbuf(128, 512, 4096), 1), sem(Engine::kScalar), 1));
  for (const int calls : {1, 7}) {
    const SimResult result = run(program(instrs, calls));
    hw::EngineTimes sum{};
    for (const auto& call : result.calls) {
      for (int e = 0; e < isa::kEngineCount; ++e) sum[e] += call.engines[e];
    }
    for (int e = 0; e < isa::kEngineCount; ++e) {
      EXPECT_EQ(result.engines[e].total(), result.total) << e;
      EXPECT_EQ(sum[e].total() + result.lead_in, result.total) << e;
    }
    EXPECT_EQ(result.calls.size(), static_cast<std::size_t>(calls));
    EXPECT_GT(held(result, Engine::kVector, Hold::kDma), 0u);
    EXPECT_GT(held(result, Engine::kScalar, Hold::kOtherEngine), 0u);
    EXPECT_EQ(result.dma.read_bytes, 128u * 2048 * calls);
    EXPECT_EQ(result.dma.written_bytes, 128u * 2048 * calls);
    std::uint64_t count = 0;
    hw::Fs by_op = 0;
    for (const auto& op : result.ops) {
      count += op.count;
      if (op.engine == Engine::kVector) by_op += op.busy;
    }
    EXPECT_EQ(count, 4u * calls);
    EXPECT_EQ(by_op, busy(result, Engine::kVector));
  }
}

TEST(Engine, IndependentInstructionsIssueAtTheirInterval) {
  const std::vector<Instr> instrs(10, copy(Engine::kVector, sbuf(128, 512), sbuf(128, 512, 2048)));
  // Ten times N cycles, then 66 until the last result is there.
  EXPECT_NEAR(body(run(program(instrs))) * kVectorHz, 5120 + 66, 0.01);
}

TEST(Engine, SmallInstructionsIssueEvery64Cycles) {
  const std::vector<Instr> instrs(10, copy(Engine::kVector, sbuf(128, 1), sbuf(128, 1, 2048)));
  // The last one's only element is visible 66 cycles later: the interval delays the next instruction, no result.
  EXPECT_NEAR(body(run(program(instrs))) * kVectorHz, 9 * 64 + 1 + 66, 0.01);
}

TEST(Engine, ScalarEIsHeldBeforeItsFirstElement) {
  const std::vector<Instr> instrs(10, activate(sbuf(128, 1), sbuf(128, 1, 2048)));
  EXPECT_NEAR(body(run(program(instrs))) * kScalarHz, 10 * (123 + 1) + 87, 0.01);
}

TEST(Engine, AnotherActivationTableIsLoadedUnlessTheEngineHasIt) {
  const auto ns = [](const std::vector<Fn>& functions) {
    std::vector<Instr> instrs;
    for (const Fn fn : functions) instrs.push_back(activate(sbuf(128, 1), sbuf(128, 1, 2048), fn));
    return body(run(program(instrs))) * 1e9;
  };
  const double plain = ns({Fn::kCopy, Fn::kCopy, Fn::kSquare, Fn::kCopy});
  EXPECT_NEAR(ns({Fn::kExp, Fn::kCopy, Fn::kExp, Fn::kExp}), plain + 368, 0.01);
  EXPECT_NEAR(ns({Fn::kExp, Fn::kGelu, Fn::kCopy, Fn::kExp}), plain + 3 * 368, 0.01);
}

TEST(Engine, ATableIsLoadedWhileOperandsAreAwaited) {
  Instr late = after(activate(sbuf(128, 8), sbuf(128, 8, 2048), Fn::kExp), sem(Engine::kVector), 1);
  const Instr first = signal(copy(Engine::kVector, sbuf(128, 8192, 2048), sbuf(128, 8192, 40000)));
  const double with_table = body(run(program({first, late})));
  late.fn = Fn::kCopy;
  EXPECT_EQ(with_table, body(run(program({first, late}))));
}

TEST(Engine, DependenceCostsTheLatencyAndNothingElse) {
  const Instr first = signal(copy(Engine::kVector, sbuf(128, 512), sbuf(128, 512, 2048)));
  const Instr second = after(copy(Engine::kVector, sbuf(128, 512, 4096), sbuf(128, 512)), sem(Engine::kVector), 1);
  const SimResult result = run(program({first, second}));
  const double wait = 66 + kSemaphore * kVectorHz;
  EXPECT_NEAR(body(result) * kVectorHz, 2 * 512 + wait + 66, 0.01);
  EXPECT_NEAR(cycles(held(result, Engine::kVector, Hold::kOwnEngine), kVectorHz), wait, 0.01);
}

TEST(Engine, LongStridesTakeTwiceAsLong) {
  Tile strided = sbuf(128, 256);
  strided.free[0].step = 4;  // 16 bytes
  const SimResult fast = run(program({copy(Engine::kVector, sbuf(128, 256, 8192), sbuf(128, 256))}));
  const SimResult slow = run(program({copy(Engine::kVector, sbuf(128, 256, 8192), strided)}));
  EXPECT_NEAR(cycles(busy(slow, Engine::kVector), kVectorHz), 2 * cycles(busy(fast, Engine::kVector), kVectorHz), 1e-5);
}

Tile weights(int i) { return sbuf(128, 128, i * 256, Dtype::kBf16); }
Tile moving(std::uint32_t n) { return sbuf(128, n, 65536, Dtype::kBf16); }

TEST(TensorEngine, HidesTheLoadBehindTheRunningMatmul) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 8; ++i) instrs.push_back(matmul(psum(128, 512), weights(i), moving(512)));
  // Only the first load (128 columns, 4 per cycle) shows, and 14 cycles from each tile to the next.
  const SimResult result = run(program(instrs));
  EXPECT_NEAR(body(result) * kTensorHz, 32 + 8 * (14 + 512) + 430, 0.01);
  EXPECT_NEAR(cycles(held(result, Engine::kTensor, Hold::kStationary), kTensorHz), 32 + 8 * 14, 0.01);
  EXPECT_DOUBLE_EQ(result.matmul_flops, 8 * 2.0 * 128 * 128 * 512);
}

/// A matmul of 64 x 64 in a quarter of the array.
Instr quarter(int i, bool tiled = true) {
  Instr mm = matmul(psum(64, 512), sbuf(64, 64, i * 128, Dtype::kBf16), sbuf(64, 512, 65536, Dtype::kBf16));
  if (tiled) mm.pe = {static_cast<std::uint8_t>(i / 2 % 2 * 64), static_cast<std::uint8_t>(i % 2 * 64), 64, 64};
  return mm;
}

TEST(TensorEngine, PartsOfTheArrayWorkAtTheSameTime) {
  std::vector<Instr> tiled, whole;
  for (int i = 0; i < 8; ++i) tiled.push_back(quarter(i)), whole.push_back(quarter(i, false));
  // The first load (64 columns, 4 per cycle); matmuls 64 cycles apart, and 14 to the next stationary tile; the fifth
  // waits for the first one's quarter.
  const SimResult parts = run(program(tiled));
  EXPECT_NEAR(body(parts) * kTensorHz, 16 + 512 + 3 * 64 + 512 + 430 + 4 * 14, 0.01);
  EXPECT_NEAR(body(run(program(whole))) * kTensorHz, 16 + 8 * (512 + 14) + 430, 0.01);
  EXPECT_DOUBLE_EQ(parts.matmul_flops, 8 * 2.0 * 64 * 64 * 512);
  for (int e = 0; e < isa::kEngineCount; ++e) EXPECT_EQ(parts.engines[e].total(), parts.total) << e;
  EXPECT_LE(cycles(busy(parts, Engine::kTensor), kTensorHz), 512 + 3 * 64 + 512);
}

TEST(TensorEngine, TheWholeArrayWaitsForItsParts) {
  std::vector<Instr> instrs{quarter(0), quarter(1)};
  instrs.push_back(matmul(psum(128, 512), weights(9), moving(512)));
  EXPECT_NEAR(body(run(program(instrs))) * kTensorHz, 16 + 64 + 512 + 512 + 430 + 2 * 14, 0.01);
  instrs = {quarter(0), quarter(0)};  // the same quarter twice
  EXPECT_NEAR(body(run(program(instrs))) * kTensorHz, 16 + 2 * 512 + 430 + 14, 0.01);
}

TEST(TensorEngine, StallsForALoadThatIsLongerThanTheMatmul) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 8; ++i) instrs.push_back(matmul(psum(128, 1), weights(i), moving(1)));
  // Without fast load 128 cycles each; a one-column matmul holds the array for 64.
  const SimResult result = run(program(instrs), trn1({"tensor.fast_load=1"}));
  EXPECT_NEAR(body(result) * kTensorHz, 8 * (128 + 14) + 64 + 430, 0.01);
}

TEST(TensorEngine, KeepsAStationaryTileUntilItIsOverwritten) {
  const auto load_cycles = [](const std::vector<Instr>& instrs) {
    return cycles(held(run(program(instrs), trn1({"tensor.fast_load=1"})), Engine::kTensor, Hold::kStationary),
                  kTensorHz);
  };
  const Instr one = matmul(psum(128, 1), weights(0), moving(1));
  EXPECT_NEAR(load_cycles({one, one, one}), 128 + 14, 0.01);
  const Instr elsewhere = fill(Engine::kVector, sbuf(128, 64, 256), 0);
  EXPECT_NEAR(load_cycles({one, elsewhere, one, one}), 128 + 14, 0.01);
  const Instr inside = fill(Engine::kVector, sbuf(128, 1, 252), 0);
  EXPECT_NEAR(load_cycles({one, inside, one, one}), 128 + 14 + 64 + 14, 0.01);
}

TEST(TensorEngine, Fp32TakesFourPasses) {
  const Instr fp32 = matmul(psum(128, 512), sbuf(128, 128), sbuf(128, 512, 65536));
  EXPECT_NEAR(cycles(busy(run(program({fp32})), Engine::kTensor), kTensorHz), 2048, 0.01);
}

TEST(Ports, VectorAndGpSimdExcludeEachOtherOnSbuf) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 10; ++i) {
    instrs.push_back(copy(Engine::kVector, sbuf(128, 512), sbuf(128, 512, 2048)));
    instrs.push_back(copy(Engine::kGpSimd, sbuf(128, 512, 4096), sbuf(128, 512, 8192)));
  }
  const SimResult result = run(program(instrs));
  const double sum = seconds(busy(result, Engine::kVector) + busy(result, Engine::kGpSimd));
  EXPECT_GE(body(result), sum);
  EXPECT_LT(body(result), sum + 0.2e-6);
  EXPECT_GT(held(result, Engine::kVector, Hold::kPort), 0u);
  EXPECT_GT(held(result, Engine::kGpSimd, Hold::kPort), 0u);
}

TEST(Ports, VectorAndScalarExcludeEachOtherOnPsumAlone) {
  const auto pair_time = [](const Tile& vector, const Tile& scalar) {
    std::vector<Instr> instrs;
    for (int i = 0; i < 10; ++i) {
      instrs.push_back(copy(Engine::kVector, sbuf(128, 512), vector));
      instrs.push_back(activate(sbuf(128, 512, 4096), scalar));
    }
    return body(run(program(instrs)));
  };
  const double vector = 5120 / kVectorHz, scalar = (5120 + 10 * 123) / kScalarHz;
  EXPECT_NEAR(pair_time(psum(128, 512), psum(128, 512, 4096)), vector + scalar, 0.3e-6);
  EXPECT_NEAR(pair_time(psum(128, 512), sbuf(128, 512, 8192)), vector, 0.2e-6);
  EXPECT_NEAR(pair_time(sbuf(128, 512, 8192), psum(128, 512)), vector, 0.2e-6);
}

TEST(Power, ThrottlesSustainedLoadAndLeavesBurstsAlone) {
  const auto utilisation = [](int matmuls) {
    std::vector<Instr> instrs;
    for (int i = 0; i < matmuls; ++i) instrs.push_back(matmul(psum(128, 512), weights(i % 8), moving(512)));
    const SimResult result = run(program(instrs));
    return seconds(busy(result, Engine::kTensor)) / body(result);
  };
  EXPECT_GT(utilisation(400), 0.97);             // 75 us at full speed: 512 of 526 cycles
  EXPECT_NEAR(utilisation(40000), 0.86, 0.005);  // 7 ms
}

TEST(Power, ChargesForThePartOfTheArrayInUse) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 40000; ++i)
    instrs.push_back(matmul(psum(128, 512), weights(i % 8), sbuf(64, 512, 65536, Dtype::kBf16)));
  for (Instr& instr : instrs) instr.a.partitions = 64;
  const SimResult result = run(program(instrs));
  EXPECT_EQ(held(result, Engine::kTensor, Hold::kPower), 0u);
}

TEST(Semaphores, ADeadlockNamesWaitersAndSemaphores) {
  const std::vector<Instr> instrs{signal(copy(Engine::kVector, sbuf(128, 8), sbuf(128, 8, 64))),
                                  after(activate(sbuf(128, 8), sbuf(128, 8, 64)), sem(Engine::kVector), 2),
                                  after(copy(Engine::kGpSimd, sbuf(128, 8), sbuf(128, 8, 64)), dma_sem(3), 1)};
  try {
    run(program(instrs));
    FAIL() << "no deadlock";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kProgram);
    using testing::HasSubstr;
    EXPECT_THAT(error.what(),
                HasSubstr("scalar waits for semaphore vector to be raised 2 times (it was 1) at #1 of tiny"));
    EXPECT_THAT(error.what(),
                HasSubstr("gpsimd waits for semaphore dma3 to be raised 1 time (it was 0) at #2 of tiny"));
    EXPECT_THAT(error.what(), HasSubstr("activation"));
  }
}

TEST(Calls, CountsOfSemaphoresBeginAgainAndCallsDoNotOverlap) {
  const std::vector<Instr> instrs{signal(copy(Engine::kVector, sbuf(128, 512), sbuf(128, 512, 2048))),
                                  after(activate(sbuf(128, 512, 4096), sbuf(128, 512)), sem(Engine::kVector), 1)};
  const SimResult result = run(program(instrs, 3), trn1(), exact());
  ASSERT_EQ(result.calls.size(), 3u);
  for (int c = 1; c < 3; ++c) {
    EXPECT_EQ(result.calls[c].end - result.calls[c].begin, result.calls[0].end - result.calls[0].begin);
    // A semaphore there and back through the Sync sequencer, which clears all of them and raises one in 64 cycles.
    EXPECT_NEAR(seconds(result.calls[c].begin - result.calls[c - 1].end), 2 * kSemaphore + 213e-9 + 64 / kScalarHz,
                1e-13);
  }
}

TEST(Trace, RecordsTheRequestedWindowAndCountsDroppedEvents) {
  std::vector<Instr> instrs(10, copy(Engine::kVector, sbuf(128, 512), sbuf(128, 512, 2048)));
  instrs.push_back(dma(sbuf(128, 512, 4096), hbm(128, 512), 5));
  hw::SimOptions options;
  options.trace_until = 1;
  options.trace_limit = 8;
  EXPECT_EQ(run(program(instrs), trn1(), options).dropped_events, 4u);  // the doorbell is an event of Sync as well
  options.trace_limit = 100;
  const SimResult result = run(program(instrs), trn1(), options);
  ASSERT_EQ(result.events.size(), 12u);
  const auto& last = result.events.back();
  EXPECT_EQ(last.track, hw::TraceEvent::Track::kDmaRing);
  EXPECT_EQ(last.lane, 5);
  EXPECT_EQ(last.instr, 10u);
  EXPECT_GE(last.begin, result.lead_in);
  options.trace_from = 0.5;  // after the end
  EXPECT_TRUE(run(program(instrs), trn1(), options).events.empty());
}

}  // namespace
