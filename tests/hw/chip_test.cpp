// Two cores of a chip: collectives, both ways to simulate, the child process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "hw/collective.h"
#include "hw/run/replay.h"
#include "hw/run/serial.h"
#include "tests/hw/tiny_programs.h"

namespace {

using namespace tiny;
using hw::Hold;
using hw::seconds;
using hw::SimResult;

/// Loads, a matmul chain, an eviction and a store, four times; long enough to settle.
std::vector<Instr> layer() {
  std::vector<Instr> instrs;
  for (std::uint32_t i = 0; i < 4; ++i) {
    instrs.push_back(dma(sbuf(128, 2048, 0, Dtype::kBf16), hbm(128, 2048, 0, Dtype::kBf16), 0));
    for (int k = 0; k < 16; ++k) {
      Instr mm = matmul(psum(128, 512), sbuf(128, 128, 256 * (k % 8), Dtype::kBf16), sbuf(128, 512, 2048, Dtype::kBf16),
                        k > 0);
      if (k == 0) mm = after(mm, dma_sem(0), i + 1);
      instrs.push_back(k == 15 ? signal(mm) : mm);
    }
    instrs.push_back(signal(after(activate(sbuf(128, 512, 8192), psum(128, 512)), sem(Engine::kTensor), i + 1)));
    instrs.push_back(after(dma(hbm(128, 512, 1 << 22), sbuf(128, 512, 8192), 1), sem(Engine::kScalar), i + 1));
  }
  return instrs;
}

TEST(Collective, AnAllReduceRunsBesideTheCompute) {
  isa::Program both = program(layer(), 30, 2);
  const double alone = body(run(both));
  isa::Block reduce;
  reduce.name = "reduce";
  reduce.registers = 1;
  reduce.instrs = {all_reduce(hbm(1, 1 << 20, 1 << 26), hbm(1, 1 << 20, 1 << 27))};
  both.blocks.push_back(reduce);
  isa::Call call = both.calls[0];
  call.block = 1;
  both.calls.insert(both.calls.begin(), call);
  const SimResult beside = run(both);
  ASSERT_EQ(beside.collectives.size(), 1u);
  const double taken = seconds(beside.collectives[0].end - beside.collectives[0].begin);
  EXPECT_NEAR(taken, 15e-6 + (1 << 22) / 58e9, 1e-9);
  EXPECT_LT(body(beside), alone + 0.5 * taken);
  EXPECT_EQ(beside.collectives[0].link_bytes, 1u << 22);  // two ranks: half of it twice

  both.calls.back().await[0] = 1;  // the last layer needs the sum
  both.calls.resize(3);
  both.calls.back().await[0] = 1;
  const SimResult exposed = run(both);
  EXPECT_GT(seconds(exposed.collective_exposed), 0.5 * taken);
}

TEST(Collective, InstructionsMayWaitForOne) {
  const SimResult result = run(program(
      {all_reduce(hbm(1, 256, 0), hbm(1, 256, 4096)), after(dma(sbuf(1, 256), hbm(1, 256), 0), cc_sem(0), 1)}, 2, 2));
  EXPECT_EQ(result.collectives.size(), 2u);
  EXPECT_GT(body(result), 2 * 15e-6);
  const auto& sync = result.engines[static_cast<int>(Engine::kSync)];
  EXPECT_NEAR(seconds(sync.waiting[static_cast<int>(Hold::kCollective)]), 2 * (15e-6 + 2 * 0.45e-6), 1e-6);
}

TEST(Collective, TakesBandwidthFromTheCores) {
  const auto plan = hw::plan_collective(all_reduce(hbm(1, 1 << 20), hbm(1, 1 << 20)), 2, trn1());
  EXPECT_GT(plan.dma_width, 1);
  EXPECT_LT(plan.dma_width, 16);
  std::vector<Instr> instrs{all_reduce(hbm(1, 1 << 22), hbm(1, 1 << 22))};
  for (int i = 0; i < 400; ++i) instrs.push_back(dma(sbuf(128, 2048), hbm(128, 2048), i % 8));
  const SimResult with = run(program(instrs, 1, 2));
  instrs.erase(instrs.begin());
  const SimResult without = run(program(instrs, 1, 2));
  EXPECT_GT(with.dma.active, without.dma.active * 1.03);
}

TEST(Collective, PlansEachKindByItsTraffic) {
  const auto machine = trn1();
  const auto sent = [&](Opcode op, std::uint32_t dst, std::uint32_t src) {
    Instr instr = all_reduce(hbm(1, dst), hbm(1, src));
    instr.op = op;
    return hw::plan_collective(instr, 2, machine).link_bytes;
  };
  EXPECT_EQ(sent(Opcode::kAllReduce, 1024, 1024), 4096u);
  EXPECT_EQ(sent(Opcode::kReduceScatter, 512, 1024), 2048u);
  EXPECT_EQ(sent(Opcode::kAllGather, 1024, 512), 2048u);
  EXPECT_EQ(sent(Opcode::kBroadcast, 1024, 1024), 4096u);
  Instr barrier = on(Engine::kSync, Opcode::kBarrier);
  EXPECT_EQ(hw::plan_collective(barrier, 2, machine).floor, hw::Fs{40'000'000'000});
  EXPECT_EQ(hw::plan_collective(all_reduce(hbm(1, 64), hbm(1, 64)), 1, machine).moving, 0u);
  EXPECT_THROW(hw::plan_collective(barrier, 32, machine), base::Error);
}

TEST(Representative, AgreesWithEveryCoreAndCall) {
  isa::Program job = program(layer(), 40, 2);
  isa::Block reduce;
  reduce.name = "reduce";
  reduce.registers = 1;
  reduce.instrs = {all_reduce(hbm(1, 1 << 20, 1 << 26), hbm(1, 1 << 20, 1 << 27))};
  job.blocks.push_back(reduce);
  for (const std::size_t place : {10u, 25u}) {
    isa::Call call = job.calls[0];
    call.block = 1;
    job.calls.insert(job.calls.begin() + static_cast<std::ptrdiff_t>(place), call);
  }
  const SimResult all = run(job, trn1(), exact());
  const SimResult one = run(job);
  EXPECT_EQ(all.cores, 2u);
  EXPECT_EQ(one.cores, 1u);
  EXPECT_EQ(all.replayed_calls, 0u);
  EXPECT_GT(one.replayed_calls, 20u);
  EXPECT_EQ(all.rank_total.size(), 2u);
  EXPECT_NEAR(seconds(one.total), seconds(all.total), 0.01 * seconds(all.total));
  EXPECT_DOUBLE_EQ(one.matmul_flops, all.matmul_flops);
  EXPECT_EQ(one.dma.read_bytes, all.dma.read_bytes);
  ASSERT_EQ(one.ops.size(), all.ops.size());
  for (std::size_t i = 0; i < one.ops.size(); ++i) {
    EXPECT_EQ(one.ops[i].count, all.ops[i].count);
    EXPECT_EQ(one.ops[i].busy, all.ops[i].busy);
  }
  for (int e = 0; e < isa::kEngineCount; ++e) EXPECT_EQ(one.engines[e].total(), one.total);
}

TEST(Representative, RepeatsNothingWhileThePowerBudgetDrains) {
  std::vector<Instr> instrs;
  for (int i = 0; i < 64; ++i)
    instrs.push_back(
        matmul(psum(128, 512), sbuf(128, 128, 256 * (i % 8), Dtype::kBf16), sbuf(128, 512, 65536, Dtype::kBf16)));
  const SimResult all = run(program(instrs, 200), trn1(), exact());
  const SimResult one = run(program(instrs, 200));
  EXPECT_GT(one.replayed_calls, 20u);
  EXPECT_NEAR(seconds(one.total), seconds(all.total), 0.01 * seconds(all.total));
  EXPECT_GT(one.engines[0].waiting[static_cast<int>(Hold::kPower)], 0u);
}

TEST(Exact, ADeadlockAcrossRanksNamesTheMissingCollective) {
  isa::Program job = program(layer(), 2, 2);
  job.calls[1].await[1] = 3;
  try {
    run(job, trn1(), exact());
    FAIL() << "no deadlock";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 1: call 1 of tiny awaits 0 and 3 collectives"));
  }
}

TEST(Child, BringsBackTheWholeResult) {
  const isa::Program job = program(layer(), 5, 2);
  hw::SimOptions options = exact();
  options.trace_until = 1;
  const SimResult sent = run(job, trn1(), options);
  EXPECT_FALSE(sent.events.empty());
  const std::string bytes = hw::to_bytes({{sent, sent}, {}});
  EXPECT_TRUE((hw::from_bytes(bytes).results == std::vector{sent, sent}));
  EXPECT_THROW(hw::from_bytes(std::string_view{bytes}.substr(0, bytes.size() - 1)), base::Error);
  EXPECT_THROW(hw::from_bytes(bytes + "x"), base::Error);
  // Twice the same, and the same without a child.
  EXPECT_TRUE(run(job, trn1(), options) == sent);
  EXPECT_TRUE(hw::simulate(job, trn1(), options) == sent);
  EXPECT_TRUE(hw::simulate(job, trn1(), options) == sent);  // the same machine once more
}

TEST(Child, ErrorsArriveAsTheyWereThrown) {
  const isa::Program bad = program({on(Engine::kScalar, Opcode::kBnStats)});
  std::string here, there;
  try {
    hw::simulate(bad, trn1());
  } catch (const base::Error& error) {
    here = error.what();
  }
  try {
    hw::simulate_in_child(bad, trn1());
  } catch (const base::Error& error) {
    there = error.what();
    EXPECT_EQ(error.fault(), base::Fault::kProgram);
  }
  EXPECT_FALSE(here.empty());
  EXPECT_EQ(here, there);
}

/// Kills the first child of this process that it sees, unless `ended` comes first.
void kill_a_child(const std::string& children, const std::atomic<bool>& ended) {
  while (!ended) {
    pid_t child = 0;
    if (std::ifstream{children} >> child) {
      kill(child, SIGKILL);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

TEST(Child, OneThatDiesIsAnError) {
  const std::string children = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  if (!std::filesystem::exists(children)) GTEST_SKIP() << "this kernel does not list the children of a process";
  const isa::Program endless = program(layer(), 100'000);
  std::atomic<bool> ended = false;
  std::thread killer{[&] { kill_a_child(children, ended); }};
  try {
    hw::simulate_in_child(endless, trn1(), exact());
    ADD_FAILURE() << "the child lived";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kEnvironment);  // most often of memory
    EXPECT_THAT(error.what(), testing::HasSubstr("killed by signal 9"));
  }
  ended = true;
  killer.join();
}

TEST(Replay, RunsAtTheTwoPacesItHasSeen) {
  hw::Replay replay;
  replay.reset(1);
  hw::DataWindows windows;
  windows.add(1000, 2000);
  const auto call = [](hw::Fs begin, hw::Fs end) {
    hw::Replay::Record record;
    record.time.begin = begin;
    record.time.end = end;
    return record;
  };
  EXPECT_FALSE(replay.repeat(0, 0, windows));
  replay.learn(call(0, 100), windows, true);
  EXPECT_FALSE(replay.repeat(0, 200, windows));  // seen once
  replay.learn(call(100, 200), windows, true);
  EXPECT_EQ(replay.repeat(0, 200, windows)->time.end, 300u);
  EXPECT_FALSE(replay.repeat(0, 950, windows));  // half of it beside a collective, of which nothing is known
  replay.learn(call(1000, 1200), windows, true);
  replay.learn(call(1200, 1400), windows, true);
  EXPECT_EQ(replay.repeat(0, 950, windows)->time.end, 1100u);  // 50 at the one pace, 100 at the other
  EXPECT_EQ(replay.repeat(0, 1900, windows)->time.end, 2050u);
}

TEST(Replay, RepeatsACallThatHasDataBesideItInTheSamePart) {
  hw::Replay replay;
  replay.reset(1);
  hw::DataWindows windows;
  for (const hw::Fs begin : {0, 1'000'000, 2'000'000}) windows.add(begin + 100'000, begin + 300'000);
  windows.add(3'500'000, 3'600'000);
  const auto learn = [&](hw::Fs begin) {
    hw::Replay::Record record;
    record.time.begin = begin;
    record.time.end = begin + 800'000;
    replay.learn(record, windows, true);
  };
  learn(0);
  EXPECT_FALSE(replay.repeat(0, 1'000'000, windows));  // seen once
  learn(1'000'000);
  EXPECT_EQ(replay.repeat(0, 2'000'000, windows)->time.end, 2'800'000u);
  EXPECT_FALSE(replay.repeat(0, 3'000'000, windows));  // beside another part of it
  EXPECT_FALSE(replay.repeat(0, 4'000'000, windows));  // with nothing beside it: never seen
}

TEST(Chip, MachinesBeforeLeaveNoMemory) {
  const isa::Program job = program(layer(), 1);
  const auto simulate_some = [&](int first) {
    for (int i = first; i < first + 50; ++i)
      hw::simulate(job, trn1({"hbm.bandwidth=" + std::to_string(1 + 0.001 * i) + "x"}));
    return mallinfo2().uordblks;
  };
  const std::size_t before = simulate_some(1), after = simulate_some(51);
  EXPECT_LT(after, before + std::size_t{50} * 2000);  // a context of SystemC has 12 kB
}

}  // namespace
