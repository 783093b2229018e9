// Many cores: representatives against all of them, links in use, sends and receives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "hw/run/machine.h"
#include "tests/cpu_time.h"
#include "tests/hw/groups.h"

namespace {

using namespace tiny;
using hw::seconds;
using hw::SimResult;

/// Matmuls between a load and a store.
std::vector<Instr> compute(std::uint32_t rounds) {
  std::vector<Instr> instrs;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    instrs.push_back(dma(sbuf(128, 2048, 0, Dtype::kBf16), hbm(128, 2048, 0, Dtype::kBf16), 0));
    for (int k = 0; k < 8; ++k) {
      Instr mm =
          matmul(psum(128, 512), sbuf(128, 128, 256 * k, Dtype::kBf16), sbuf(128, 512, 2048, Dtype::kBf16), k > 0);
      instrs.push_back(k == 0 ? after(mm, dma_sem(0), i + 1) : mm);
    }
  }
  return instrs;
}

isa::Block block(std::string name, std::vector<Instr> instrs) {
  isa::Block block;
  block.name = std::move(name);
  block.instrs = std::move(instrs);
  block.registers = 1;
  block.labels = {"all"};
  return block;
}

/// `layers` times: compute, a tensor-parallel all-reduce that the next layer awaits, a data-parallel one that is
/// not awaited before the end.
isa::Program training(std::uint32_t ranks, std::uint32_t tensor_parallel, int layers) {
  isa::Program program = tiny::program(compute(12), 1, ranks);
  program.groups = {strided(tensor_parallel, 1, ranks), strided(ranks / tensor_parallel, tensor_parallel, ranks)};
  program.blocks.push_back(block("tensor", {collective(Opcode::kAllReduce, 1 << 19, 1 << 19, 0, 0)}));
  program.blocks.push_back(
      block("data", {collective(Opcode::kReduceScatter, 1 << 18, (1ull << 18) * ranks / tensor_parallel, 1, 1)}));
  program.calls.clear();
  for (int layer = 0; layer < layers; ++layer) {
    for (const std::uint32_t block : {0u, 1u, 2u}) {
      isa::Call call;
      call.block = block;
      call.bases = {0};
      call.layer = layer;
      if (block == 0) call.await[0] = static_cast<std::uint32_t>(layer);
      program.calls.push_back(call);
    }
  }
  return program;
}

TEST(Cluster, OneCoreSpeaksForThirtyTwo) {
  const isa::Program job = training(32, 8, 4);
  const SimResult all = run(job, instances(1), exact());
  const SimResult one = run(job, instances(1));
  EXPECT_EQ(all.cores, 32u);
  EXPECT_EQ(one.cores, 1u);
  EXPECT_NEAR(seconds(one.total), seconds(all.total), 0.01 * seconds(all.total));
  EXPECT_EQ(one.collectives.size(), 8u);
  EXPECT_EQ(all.collectives.size(), 8u);  // of the core reported
  EXPECT_NEAR(seconds(one.collective_exposed), seconds(all.collective_exposed), 0.01 * seconds(all.total));
  for (const hw::Fs total : all.rank_total) EXPECT_NEAR(seconds(total), seconds(one.total), 0.01 * seconds(one.total));
}

TEST(Cluster, OneCoreSpeaksForTwoInstances) {
  const isa::Program job = training(64, 32, 2);
  const SimResult all = run(job, instances(2), exact());
  const SimResult one = run(job, instances(2));
  EXPECT_EQ(all.cores, 64u);
  EXPECT_NEAR(seconds(one.total), seconds(all.total), 0.01 * seconds(all.total));
}

// Sixteen ranks are on one instance, or eight on each of two, which the network joins.
TEST(Cluster, CoresThatAreNotInUseHaveNoRanks) {
  const isa::Program job = training(16, 16, 2);
  const hw::MachineParams halves = instances(2).with_cores(8);
  EXPECT_EQ(halves.core_count(), 16);
  EXPECT_NE(halves.hash, instances(2).hash);
  EXPECT_EQ(instances(2).with_cores(32).hash, instances(2).hash);
  const SimResult near = run(job, instances(2)), far = run(job, halves);
  EXPECT_GT(far.total, near.total);
  EXPECT_NEAR(seconds(far.total), seconds(run(job, halves, exact()).total), 0.01 * seconds(far.total));
}

TEST(Cluster, AThousandCoresTakeNoLongerToSimulateThanOne) {
  const isa::Program job = training(1024, 32, 8);
  const tests::CpuTime took;
  const SimResult one = run(job, instances(32));
  EXPECT_LT(took.seconds(), 2);
  EXPECT_EQ(one.cores, 1u);
  ASSERT_EQ(one.collectives.size(), 16u);
  EXPECT_EQ(one.collectives[0].ranks, 32u);
  EXPECT_EQ(one.collectives[1].ranks, 32u);  // the same core of 32 instances
}

TEST(Cluster, MoreRanksThanCoresAreRefused) {
  try {
    run(training(64, 32, 1), instances(1));
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cluster.instances"));
  }
}

TEST(Cluster, GroupsThatCannotBeFormedAreRefused) {
  isa::Program job = training(32, 8, 1);
  job.groups[0] = strided(1, 1, 32);
  job.groups[0][0] = {0, 1, 2};
  EXPECT_THROW(run(job, instances(1)), base::Error);
}

/// Pairs of ranks `apart`, all at once.
isa::Program exchange(std::uint32_t ranks, std::uint32_t apart) {
  Instr send = collective(Opcode::kSend, 1 << 22, 1 << 22), receive = collective(Opcode::kRecv, 1 << 22, 1 << 22);
  send.peer = 1;     // the first sends to the second,
  receive.peer = 0;  // which receives from it
  isa::Program job = tiny::program({send, receive}, 3, ranks);
  job.groups = {strided(2, apart, ranks)};
  return job;
}

TEST(Cluster, AMessageIsThereWhenItHasBeenSent) {
  const SimResult near = run(exchange(32, 1), instances(1));
  const SimResult far = run(exchange(64, 32), instances(2));
  ASSERT_EQ(near.collectives.size(), 6u);
  EXPECT_EQ(near.collectives[1].link_bytes, 0u);
  EXPECT_GE(near.collectives[1].end, near.collectives[0].end);
  EXPECT_NEAR(seconds(near.collectives[0].end - near.collectives[0].begin), 15e-6 + (1 << 22) / 58e9, 1e-9);
  EXPECT_NEAR(seconds(far.collectives[0].end - far.collectives[0].begin), 30e-6 + 32.0 * (1 << 22) / 100e9, 1e-9);
  isa::Program deaf = exchange(32, 1);
  std::swap(deaf.blocks[0].instrs.own()[0], deaf.blocks[0].instrs.own()[1]);
  EXPECT_THROW(run(deaf, instances(1)), base::Error);
}

TEST(Cluster, ThirtyTwoCoresComputeInTheirGroups) {
  constexpr std::int64_t kOwn = 0, kSum = 4096, kReceived = 8192;
  const auto words = [](std::int64_t offset) { return hbm(1, 64, offset); };
  Instr sum = all_reduce(words(kSum), words(kOwn));
  Instr send = on(Engine::kSync, Opcode::kSend), receive = on(Engine::kSync, Opcode::kRecv);
  send.a = words(kSum);
  send.peer = 1;
  receive.dst = words(kReceived);
  send.group = receive.group = 1;
  isa::Program job = tiny::program({sum, after(send, cc_sem(0), 1), after(receive, cc_sem(0), 2)}, 1, 32);
  job.hbm_bytes = 1 << 20;
  job.groups = {strided(8, 1, 32), strided(2, 16, 32)};
  hw::SimOptions options;
  options.check_races = true;
  const auto device = hw::make_sim_device(instances(1), options);
  device->load(job);
  const auto at = [&](std::uint32_t rank, std::int64_t offset) -> float* {
    return reinterpret_cast<float*>(device->memory(rank).hbm() + offset);
  };
  for (std::uint32_t r = 0; r < 32; ++r) std::fill_n(at(r, kOwn), 64, static_cast<float>(r));
  device->run({});
  for (std::uint32_t r = 0; r < 32; ++r) {
    const auto sum_of = [](std::uint32_t rank) { return static_cast<float>(8 * (rank / 8 * 8) + 28); };
    EXPECT_EQ(at(r, kSum)[63], sum_of(r)) << r;
    EXPECT_EQ(at(r, kReceived)[0], r < 16 ? 0 : sum_of(r - 16)) << r;
  }
  EXPECT_EQ(device->result().cores, 32u);
}

TEST(Fabric, LaterFlowsGetTheRemainingBandwidth) {
  if (sc_core::sc_get_status() != sc_core::SC_ELABORATION) GTEST_SKIP() << "modules need a process of their own";
  const hw::MachineParams machine = instances(1);
  const hw::Topology torus{machine};
  hw::LinkLoads loads{torus, machine};
  loads.add({0, 2}, hw::Pattern::kForward, 48e9 * 1e-3);  // all of a link for 1 ms
  const auto flow = loads.loads();
  ASSERT_EQ(flow.size(), 1u);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  hw::Fabric fabric{"fabric", torus, 1};
  constexpr hw::Fs kMs = 1'000'000'000'000;
  EXPECT_EQ(fabric.move(0, 2 * kMs, flow), 2 * kMs);                              // half of the link
  EXPECT_EQ(fabric.move(kMs, kMs, flow), 5 * kMs / 2);                            // the other half, then all
  EXPECT_NEAR(static_cast<double>(fabric.move(0, 2 * kMs, flow)), 3.5 * kMs, 2);  // until 1 ms, then from 2.5 ms on
  EXPECT_NEAR(fabric.link(0, flow[0].link).bytes(), 3 * 48e6, 1);
  fabric.check_bounds(7 * kMs / 2);
  EXPECT_THROW(fabric.check_bounds(5 * kMs / 2), base::Error);
  fabric.reset();
  EXPECT_EQ(fabric.move(0, kMs, flow), kMs);
  hw::Link link{"link", 48e9};
  link.carry(0, kMs, 30e9);
  EXPECT_THROW(link.carry(0, kMs, 30e9), base::Error);
}

}  // namespace
