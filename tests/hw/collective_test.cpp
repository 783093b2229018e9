// Plans of collectives over many chips: their groups, traffic and times.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/hw/groups.h"

namespace {

using namespace tiny;
using hw::CollectivePlan;
using hw::plan_collective;
using hw::ReplicaGroups;
using hw::seconds;

std::string refusal(const ReplicaGroups& table, const hw::MachineParams& machine, Opcode op = Opcode::kAllReduce) {
  try {
    plan_collective(collective(op, 1 << 20, 1 << 20), table, machine);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kProgram);
    return error.what();
  }
  return "accepted";
}

TEST(ReplicaGroups, TheLegalOnesAreAccepted) {
  const auto one = instances(1), many = instances(8);
  for (const std::uint32_t size : {1u, 2u, 4u, 8u, 16u, 32u}) {
    for (std::uint32_t stride = 1; stride * size <= 32; stride *= 2)
      EXPECT_EQ(refusal(strided(size, stride, 32), one), "accepted") << size << " x " << stride;
  }
  for (const std::uint32_t size : {64u, 96u, 256u}) EXPECT_EQ(refusal({strided(size, 1, size)[0]}, many), "accepted");
  EXPECT_EQ(refusal(strided(32, 8, 256), many), "accepted");  // data parallel beside tensor parallel 8
  EXPECT_EQ(refusal(strided(4, 64, 256), many), "accepted");  // the same core of every second instance
}

TEST(ReplicaGroups, OthersAreRefusedWithTheLegalOnes) {
  const auto one = instances(1), two = instances(2);
  using testing::HasSubstr;
  const std::string legal = "use groups of 1, 2, 4, 8, 16, 32 cores of an instance, equally far apart";
  EXPECT_THAT(refusal({{0, 1, 2}}, one), testing::AllOf(HasSubstr("takes 3 cores"), HasSubstr(legal)));
  EXPECT_THAT(refusal({{0, 1, 2, 4}}, one), HasSubstr("not equally far apart"));
  EXPECT_THAT(refusal(strided(64, 1, 64), one), HasSubstr("there is no core 63 among its 32"));
  EXPECT_THAT(refusal({{0, 1, 32, 34}}, two), HasSubstr("different cores in different instances"));
  EXPECT_THAT(refusal({{0, 1}, {2, 3, 4, 5}}, one), HasSubstr("the first set of its table 2 of 1"));
  EXPECT_THAT(refusal({{0, 64, 96}}, instances(4)), HasSubstr("instances are not equally far apart"));
  EXPECT_THAT(refusal({{0, 1, 2, 3}}, one, Opcode::kSend), HasSubstr("use a replica group of pairs"));
}

/// Every operation over every kind of group: checked against lower bounds.
TEST(Collective, NothingBeatsTheLowerBounds) {
  const auto one = instances(1), four = instances(4);
  const auto check = [](Opcode op, std::uint64_t bytes, const ReplicaGroups& table, const hw::MachineParams& machine) {
    const auto r = static_cast<std::uint32_t>(table[0].size());
    const std::uint64_t dst = op == Opcode::kReduceScatter ? bytes / r : bytes;
    const std::uint64_t src = op == Opcode::kAllGather ? bytes / r : bytes;
    const CollectivePlan plan = plan_collective(collective(op, dst, src), table, machine);
    EXPECT_GE(static_cast<double>(plan.link_bytes) + 0.5, hw::least_sent(op, r, static_cast<double>(bytes)));
    EXPECT_GE(seconds(plan.moving) * 58e9 * (1 + 1e-6), static_cast<double>(plan.link_bytes));
    EXPECT_LE(plan.hbm_bandwidth, 410e9);
    EXPECT_LE(plan.dma_width, 16);
    for (const auto& load : plan.links) {
      const double bandwidth = load.link < 64 ? 48e9 : 100e9;
      EXPECT_LE(load.bytes, seconds(plan.moving) * bandwidth * (1 + 1e-6));
    }
  };
  for (const Opcode op :
       {Opcode::kAllReduce, Opcode::kReduceScatter, Opcode::kAllGather, Opcode::kAllToAll, Opcode::kBroadcast}) {
    for (const std::uint64_t bytes : {1ull << 12, 1ull << 19, 1ull << 26}) {
      for (const std::uint32_t size : {2u, 4u, 8u, 16u, 32u}) check(op, bytes, strided(size, 32 / size, 32), one);
      check(op, bytes, strided(128, 1, 128), four);
      check(op, bytes, strided(16, 8, 128), four);
      check(op, bytes, strided(4, 32, 128), four);
    }
  }
}

TEST(Collective, AnAllReduceSendsTwiceTheOthersShare) {
  const auto one = instances(1), many = instances(32);
  constexpr std::uint64_t kBytes = 1 << 26;
  for (const std::uint32_t r : {2u, 4u, 8u, 16u, 32u}) {
    const auto plan = plan_collective(collective(Opcode::kAllReduce, kBytes, kBytes), r, one);
    EXPECT_EQ(plan.link_bytes, 2 * (r - 1) * kBytes / r) << r;
  }
  for (const std::uint32_t r : {64u, 256u, 1024u}) {
    const auto plan = plan_collective(collective(Opcode::kAllReduce, kBytes, kBytes), r, many);
    EXPECT_EQ(plan.link_bytes, 2 * (r - 1) * kBytes / r) << r;  // hierarchical: the same bytes
  }
}

TEST(Collective, APlanThatBeatsABoundIsOurMistake) {
  const auto machine = instances(2);
  const Instr instr = collective(Opcode::kAllReduce, 1 << 26, 1 << 26);
  const hw::Placement at{.shape = {.local = 32, .instances = 2}, .chips = 16, .crosses = true};
  const auto plan = plan_collective(instr, 64, machine);
  EXPECT_NO_THROW(hw::check_bounds(instr, at, plan, machine));
  const auto fault_of = [&](const CollectivePlan& bad) {
    try {
      hw::check_bounds(instr, at, bad, machine);
    } catch (const base::Error& error) {
      return error.fault();
    }
    return base::Fault::kUsage;
  };
  CollectivePlan bad = plan;
  bad.link_bytes -= 2;  // less than 2 (r - 1) / r
  EXPECT_EQ(fault_of(bad), base::Fault::kInternal);
  bad = plan;
  bad.moving /= 3;  // faster than EFA and the core
  EXPECT_EQ(fault_of(bad), base::Fault::kInternal);
  bad = plan;
  bad.hbm_bandwidth *= 10;
  EXPECT_EQ(fault_of(bad), base::Fault::kInternal);
}

TEST(Collective, TheAlgorithmFollowsSizeAndRanks) {
  const auto one = instances(1), two = instances(2);
  const auto name = [](std::uint64_t bytes, std::uint32_t ranks, const hw::MachineParams& machine) {
    return plan_collective(collective(Opcode::kAllReduce, bytes, bytes), ranks, machine).algorithm;
  };
  EXPECT_EQ(name(1 << 16, 32, one), "mesh");
  EXPECT_EQ(name(1 << 20, 32, one), "halving");
  EXPECT_EQ(name(1 << 20, 24, hw::load_machine("inf2.48xlarge")), "ring");  // no power of two
  EXPECT_EQ(name(1 << 26, 32, one), "ring");
  EXPECT_EQ(name(1 << 16, 64, two), "mesh + network");
  EXPECT_EQ(name(1 << 24, 64, two), "ring + network");
  EXPECT_EQ(name(1 << 24, 1, one), "none");
  EXPECT_EQ(plan_collective(collective(Opcode::kAllReduce, 64, 64), strided(2, 32, 64), two).algorithm, "network");
  Instr send = collective(Opcode::kSend, 1024, 1024);
  send.peer = 1;
  EXPECT_EQ(plan_collective(send, strided(2, 8, 32), one).algorithm, "pair");
}

/// Writes of a mesh pass the chips between. A ring of chips forms groups of any equal parts, of bytes that they do not
/// divide.
TEST(Collective, ASmallOneTakesAsLongHoweverFarItsRanksAreAndLongerTheMoreTheyAre) {
  const Instr small = collective(Opcode::kAllReduce, 5120 * 4, 5120 * 4);
  const auto floor = [&](const char* machine, std::uint32_t ranks) {
    return seconds(plan_collective(small, ranks, hw::load_machine(machine)).floor);
  };
  const double near = floor("trn1.32xlarge", 4), peer = 2 * hw::load_machine("trn1.32xlarge").cc_peer.value;
  EXPECT_NEAR(floor("trn1.32xlarge", 32), near + 28 * peer, 1e-12);
  EXPECT_NEAR(floor("inf2.48xlarge", 24), near + 20 * peer, 1e-12);
  EXPECT_GT(near, floor("trn1.32xlarge", 2) + 2 * peer);
}

/// 32 ranks: a step within a chip, which is no hop, then to the chips one and two columns and one and two rows away;
/// twice.
TEST(Collective, HalvingTakesAStepForEachPowerOfTwo) {
  const auto floor = [](std::uint64_t bytes, std::uint32_t ranks) {
    return seconds(plan_collective(collective(Opcode::kAllReduce, bytes, bytes), ranks, instances(1)).floor);
  };
  EXPECT_NEAR(floor(1 << 22, 32), 15e-6 + 2 * 6 * 2e-6, 1e-12);
  EXPECT_NEAR(floor(1 << 26, 32), 15e-6 + 2 * 31 * 3.4e-6, 1e-12);  // a ring
  EXPECT_NEAR(floor(1 << 22, 2), 15e-6, 1e-12);
}

TEST(Collective, ASmallOneInsideAProgramTakesAFewTensOfMicroseconds) {
  // 32 ranks, as a token of Llama has 64 of: 55 to 67 us each by published times of a token, with the work around it,
  // so less by itself. Two exchanges beyond the floor, each a hop and a write to every other, and the data.
  const auto plan = plan_collective(collective(Opcode::kAllReduce, 65536, 65536), 32, instances(1));
  EXPECT_NEAR(seconds(plan.floor), 15e-6 + 2 * (2e-6 + 31 * 0.33e-6), 1e-12);
  EXPECT_LT(seconds(plan.floor + plan.moving), 55e-6);
}

/// A ring of Inf2's 24 ranks: in each step a message waits for the one before, and one DMA engine moves each of its
/// packets of 64 KiB.
TEST(Collective, AShortMessageOfARingHasOneDmaEngine) {
  const hw::MachineParams inf2 = hw::load_machine("inf2.48xlarge");
  const auto moving = [&](std::uint64_t bytes) {
    return seconds(plan_collective(collective(Opcode::kAllReduce, bytes, bytes), 24, inf2).moving);
  };
  const auto engine = [&](double bytes) { return (bytes + inf2.dma_descriptor_overhead.value) / inf2.dma_rate.value; };
  EXPECT_NEAR(moving(1 << 20), 46 * engine((1 << 20) / 24.0), 1e-12);
  EXPECT_NEAR(moving(2 << 20), 46 * engine(64 << 10), 1e-12);          // two packets side by side
  EXPECT_NEAR(moving(16 << 20), 46 * (16 << 20) / 24.0 / 58e9, 1e-9);  // many: the core's bandwidth
  const auto plan = plan_collective(collective(Opcode::kAllReduce, 1 << 20, 1 << 20), 24, inf2);
  EXPECT_NEAR(seconds(plan.floor), 15e-6 + 46 * 3.4e-6, 1e-12);
}

TEST(Collective, GroupsThatShareLinksShareTheirBandwidth) {
  const auto one = instances(1), two = instances(2);
  const Instr large = collective(Opcode::kAllReduce, 1 << 28, 1 << 28);
  const auto moving = [&](const ReplicaGroups& table, const hw::MachineParams& machine) {
    return seconds(plan_collective(large, table, machine).moving);
  };
  // Tensor parallel 8: each ring has its row. Data parallel 4 beside it: two rings share a column, 48 of 58 GB/s each.
  EXPECT_NEAR(moving(strided(8, 1, 32), one), 2 * 7.0 / 8 * (1 << 28) / 58e9, 1e-9);
  EXPECT_NEAR(moving(strided(4, 8, 32), one), 2 * 3.0 / 4 * (1 << 28) / 48e9, 1e-9);
  EXPECT_NEAR(moving({strided(4, 8, 32)[0]}, one), 2 * 3.0 / 4 * (1 << 28) / 58e9, 1e-9);  // alone
  // 32 pairs across the network share 100 GB/s; one pair has what a core can send.
  EXPECT_NEAR(moving(strided(2, 32, 64), two), 32.0 * (1 << 28) / 100e9, 1e-9);
  EXPECT_NEAR(moving({strided(2, 32, 64)[0]}, two), (1 << 28) / 58e9, 1e-9);
  EXPECT_NEAR(moving(strided(2, 32, 64), instances(2, "trn1n.32xlarge")), 32.0 * (1 << 28) / 200e9, 1e-9);
}

TEST(Collective, ABarrierOfACluster) {
  const Instr barrier = on(Engine::kSync, Opcode::kBarrier);
  EXPECT_NEAR(seconds(plan_collective(barrier, 2, trn1()).floor), 40e-6, 1e-12);
  EXPECT_NEAR(seconds(plan_collective(barrier, 32, instances(1)).floor), 40e-6 + 8 * 2e-6, 1e-12);
  EXPECT_NEAR(seconds(plan_collective(barrier, 128, instances(4)).floor), 40e-6 + 8 * 2e-6 + 2 * 15e-6, 1e-12);
}

struct PublishedRow {
  const char* id;
  Opcode op;
  std::uint64_t bytes;
  std::uint32_t ranks;
  double microseconds;
};

/// nccom-test of the AWS Neuron documentation; validation/micro.csv.
TEST(Micro, CollectivesOfManyChips) {
  constexpr std::array kRows = {PublishedRow{"ag32_1024", Opcode::kAllGather, 1024, 32, 151},
                                PublishedRow{"ag32_524288", Opcode::kAllGather, 524288, 32, 179},
                                PublishedRow{"ar64_8", Opcode::kAllReduce, 8, 64, 520},
                                PublishedRow{"ar64_16384", Opcode::kAllReduce, 16384, 64, 1031},
                                PublishedRow{"ar64_4194304", Opcode::kAllReduce, 4194304, 64, 1378},
                                PublishedRow{"ar64_67108864", Opcode::kAllReduce, 67108864, 64, 3963},
                                PublishedRow{"ar64_1073741824", Opcode::kAllReduce, 1073741824, 64, 41806}};
  for (const PublishedRow& row : kRows) {
    const std::uint64_t src = row.op == Opcode::kAllGather ? row.bytes / row.ranks : row.bytes;
    auto machine = instances(row.ranks > 32 ? 2 : 1);
    if (row.op == Opcode::kAllGather) machine.cc_mesh_below.value = machine.cc_halving_below.value = 0;  // of 2023
    const auto plan = plan_collective(collective(row.op, row.bytes, src), row.ranks, machine);
    const double got = (seconds(plan.floor + plan.moving + plan.standalone) + machine.cc_loop.value) * 1e6;
    fmt::print("{}: published {} us, planned {:.1f} us, {:+.1f} %, {}\n", row.id, row.microseconds, got,
               (got / row.microseconds - 1) * 100, plan.algorithm);
    EXPECT_NEAR(got, row.microseconds, 0.15 * row.microseconds) << row.id;
  }
}

}  // namespace
