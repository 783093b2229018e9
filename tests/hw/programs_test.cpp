// Programs that run together on the clock: arrival of messages, and waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fails.h"
#include "tests/hw/groups.h"

namespace {

using namespace tiny;
using hw::seconds;
using hw::SimResult;
using tests::fails;

constexpr std::uint32_t kBytes = 1 << 22;

Instr message(Opcode op, std::uint16_t peer) {
  Instr instr = collective(op, kBytes, kBytes, 0, 1);
  instr.alu0 = Alu::kNone;
  instr.peer = peer;
  return instr;
}

/// Half of 32 ranks; group 0 joins rank r with r + 16.
isa::Program half(bool first, std::vector<std::vector<Instr>> calls) {
  isa::Program out = program({}, 0, 32);
  out.name = first ? "front" : "back";
  out.first_rank = first ? 0 : 16;
  out.own_ranks = 16;
  out.groups = {strided(2, 16, 32)};
  std::uint32_t issued = 0;
  for (const auto& instrs : calls) {
    isa::Program one = program(instrs);
    out.blocks.push_back(one.blocks[0]);
    one.calls[0].block = static_cast<std::uint32_t>(out.blocks.size() - 1);
    one.calls[0].await[1] = issued;
    out.calls.push_back(one.calls[0]);
    for (const Instr& i : instrs) issued += isa::is_collective(i.op) ? 1 : 0;
  }
  return out;
}

std::vector<Instr> work(int times) {
  std::vector<Instr> out;
  for (int i = 0; i < times; ++i) out.push_back(copy(Engine::kVector, sbuf(128, 4096), sbuf(128, 4096, 32768)));
  return out;
}

TEST(Programs, AMessageTakesItsWayAndAReceiveWaitsForIt) {
  const isa::Program front = half(true, {{message(Opcode::kSend, 1)}}),
                     back = half(false, {{message(Opcode::kRecv, 0)}});
  for (const bool every : {false, true}) {
    const hw::MachineParams machine = instances(1);
    const SimResult r = hw::simulate_in_child({&front, &back}, machine, {.exact = every});
    // The other half begins eight chips on, two steps down the torus, where the chip between stores nothing: one hop.
    // Both cores of a chip share the 48 GB/s of a link.
    const double least = machine.cc_floor.value + machine.link_hop.value + 2.0 * kBytes / 48e9;
    ASSERT_EQ(r.collectives.size(), 1u);
    EXPECT_NEAR(seconds(r.collectives[0].end - r.collectives[0].begin), least, 1e-6) << every;
    EXPECT_EQ(r.cores, every ? 32u : 2u);
    for (const hw::Fs total : r.rank_total) EXPECT_NEAR(seconds(total - r.lead_in), least, 1e-6);
  }
}

TEST(Programs, ALateReceiverDelaysNoSender) {
  // The front goes on when its message is there; the back, at work on something else, finds it later.
  const isa::Program front = half(true, {{message(Opcode::kSend, 1)}, work(2)});
  const isa::Program back = half(false, {work(200), {message(Opcode::kRecv, 0)}});
  const SimResult r = hw::simulate_in_child({&front, &back}, instances(1), {});
  ASSERT_EQ(r.rank_total.size(), 2u);
  EXPECT_EQ(r.rank, 16u);
  ASSERT_EQ(r.collectives.size(), 1u);
  EXPECT_EQ(r.collectives[0].call, 1u);
  EXPECT_LT(seconds(r.collectives[0].end - r.collectives[0].begin), 1e-6);
  EXPECT_LT(r.rank_total[0], r.rank_total[1] / 2);
}

TEST(Programs, AReceiverWithoutASenderIsNamed) {
  const isa::Program front = half(true, {{message(Opcode::kRecv, 1)}, {message(Opcode::kSend, 1)}});
  const isa::Program back = half(false, {{message(Opcode::kRecv, 0)}, {message(Opcode::kSend, 0)}});
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [&] {
                      hw::simulate_in_child({&front, &back}, instances(1), {});
                    },
                    {"deadlock", "rank 0 waits in recv on queue 1 for a message of rank 16"}));
}

Instr core_barrier(int number) {
  Instr instr = on(Engine::kGpSimd, Opcode::kCoreBarrier);
  instr.imm0 = static_cast<float>(number);
  instr.dst = sbuf(128, 4096);
  return instr;
}

hw::MachineParams physical_cores() {
  const std::vector<std::string> changes{"chip.logical=1"};
  return hw::load_machine("trn2.3xlarge", changes);
}

/// One of the two physical cores of a logical one of Trn2.
isa::Program physical(std::uint32_t rank, std::vector<Instr> instrs) {
  isa::Program out = program(std::move(instrs), 1, 2);
  out.first_rank = rank, out.own_ranks = 1;
  return out;
}

TEST(Programs, PhysicalCoresOfALogicalOneWaitForEachOther) {
  const hw::MachineParams machine = physical_cores();
  std::vector<Instr> early = work(2), late = work(40);
  early.back().signal = late.back().signal = true;
  for (auto* instrs : {&early, &late}) {
    instrs->push_back(core_barrier(0));
    instrs->back().waits[0] = {.sem = static_cast<std::uint16_t>(Engine::kVector), .count = 1};
    instrs->back().wait_count = 1;
  }
  const isa::Program first = physical(0, early), second = physical(1, late);
  const auto results = hw::simulate_each({&first, &second}, machine, {});
  ASSERT_EQ(results.size(), 2u);
  // The late one finds the other there; a semaphore's way is between their ends.
  EXPECT_NEAR(seconds(results[0].total), seconds(results[1].total), 2 * machine.semaphore.value);
  const auto of = [&](std::size_t core, Engine engine) {
    return results[core].engines[static_cast<std::size_t>(engine)];
  };
  const auto waited = [&](std::size_t core) {
    return seconds(of(core, Engine::kGpSimd).waiting[static_cast<std::size_t>(hw::Hold::kBarrier)]);
  };
  const double work = seconds(of(1, Engine::kVector).busy);  // 40 copies, 38 more than the other core has
  EXPECT_NEAR(waited(0), work * 38 / 40, 0.02 * work);
  EXPECT_LE(waited(1), machine.semaphore.value);
}

TEST(Programs, ACoreWhoseOtherNeverMeetsItIsNamed) {
  const hw::MachineParams machine = physical_cores();
  const isa::Program first = physical(0, {core_barrier(0)}), second = physical(1, {core_barrier(1)});
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [&] {
                      hw::simulate_each_in_child({&first, &second}, machine, {});
                    },
                    {"deadlock", "rank 0: gpsimd waits for the other core at #0"}));
}

}  // namespace
