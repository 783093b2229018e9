// The mechanisms that NeuronCore-v3 adds: a PE array that warms up, descriptor generation, a shared stack, logical
// cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "hw/core/power.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "tests/hw/tiny_programs.h"

namespace {

using hw::Fs;

constexpr Fs kRamp = 3000, kWork = 100;

/// When the last of `count` works of `use` of the array ends, `pause` between two.
Fs end_of(hw::ColdStart& array, int count, double use = 1, Fs pause = 0, Fs begin = 0) {
  Fs free = begin;
  for (int i = 0; i < count; ++i) {
    const Fs at = std::max(free, array.next());
    array.work(at, kWork, use);
    free = at + kWork + pause;
  }
  return array.state().end;
}

TEST(ColdStart, AFullArrayRunsAtHalfItsRateUntilItHasWorkedForTheRamp) {
  hw::ColdStart array{0.5, kRamp};
  EXPECT_EQ(end_of(array, 15), 3000u);              // 15 of 100 at half the rate
  EXPECT_EQ(end_of(array, 10, 1, 0, 3000), 4000u);  // then at the whole
  EXPECT_TRUE(array.state().hot);
}

TEST(ColdStart, ShortPausesDoNotCoolAWarmArrayAndALongOneDoes) {
  hw::ColdStart array{0.5, kRamp};
  end_of(array, 15);
  EXPECT_EQ(end_of(array, 10, 1, 20, 3000), 3000u + 10 * 120 - 20);
  EXPECT_TRUE(array.at(array.state().end + kRamp - 1).hot);
  EXPECT_FALSE(array.at(array.state().end + kRamp).hot);
}

TEST(ColdStart, HalfAnArrayNeverWarmsUp) {
  hw::ColdStart array{0.5, kRamp};
  EXPECT_EQ(end_of(array, 100, 0.5), 100u * 200);
  EXPECT_FALSE(array.state().hot);
}

TEST(ColdStart, AnArrayWithoutRampIsAlwaysWarm) {
  hw::ColdStart array{1, 0};
  array.work(0, kWork, 1);
  EXPECT_EQ(array.next(), 0u);
}

/// A core of its own, which the runtime does not join to another one.
const std::vector<std::string> kApart{"chip.logical=1"};

TEST(HbmStack, ACoreAloneHasTheWholeStackAndTwoShareIt) {
  const auto chip = hw::load_machine("trn2.3xlarge", kApart);
  EXPECT_DOUBLE_EQ(chip.used_by(1).hbm_bandwidth_per_core(), 2 * chip.hbm_bandwidth_per_core());
  EXPECT_DOUBLE_EQ(chip.used_by(2).hbm_bandwidth_per_core(), chip.hbm_bandwidth_per_core());
  EXPECT_NE(chip.used_by(1).hash, chip.hash);
  const auto trn1 = hw::load_machine("trn1.2xlarge");  // a stack for each core
  EXPECT_DOUBLE_EQ(trn1.used_by(1).hbm_bandwidth_per_core(), trn1.hbm_bandwidth_per_core());
}

TEST(LogicalCores, AreHalfAsManyAndTwiceAsFastWithTheSameLatency) {
  const auto one = hw::load_machine("trn2.48xlarge", kApart), two = hw::load_machine("trn2.48xlarge");
  EXPECT_EQ(two.core_count(), 64);
  EXPECT_DOUBLE_EQ(two.peaks().matmul_flops, 2 * one.peaks().matmul_flops);
  EXPECT_DOUBLE_EQ(two.peaks().dma_bandwidth, 2 * one.peaks().dma_bandwidth);
  EXPECT_EQ(two.hbm_bytes_per_core(), std::uint64_t{24} << 30);
  EXPECT_DOUBLE_EQ(two.vector_latency.value / two.vector_clock.value,
                   one.vector_latency.value / one.vector_clock.value);
  EXPECT_THROW(hw::load_machine("trn2.48xlarge", std::vector<std::string>{"chip.logical=3"}), base::Error);
}

/// Two chains: an operation that reads another's result waits once for the other core's part, whatever its tiles; one
/// that reads its own does not, nor does one that takes the place of another's operand.
TEST(LogicalCores, SeeEachOthersPartOfAnOperationLater) {
  using namespace tiny;
  const auto seconds_of = [](std::uint32_t second_label, int second_reads, const char* exchange) {
    std::vector<Instr> instrs;
    for (int tile = 0; tile < 3; ++tile) {
      const int at = 2048 * tile;
      instrs.push_back(signal(copy(Engine::kVector, sbuf(128, 512, 16384 + at), sbuf(128, 512, at))));
      instrs.push_back(after(activate(sbuf(128, 512, 32768 + at), sbuf(128, 512, second_reads + at)),
                             sem(Engine::kVector), static_cast<std::uint32_t>(tile) + 1));
      instrs.back().label = second_label;
    }
    isa::Program made = program(instrs);
    made.blocks[0].labels = {"first", "second"};
    const std::vector<std::string> set{std::string{"chip.exchange="} + exchange};
    return hw::seconds(run(made, hw::load_machine("trn2.3xlarge", set)).total);
  };
  EXPECT_NEAR(seconds_of(1, 16384, "10us") - seconds_of(1, 16384, "0us"), 10e-6, 1e-6);
  EXPECT_DOUBLE_EQ(seconds_of(0, 16384, "10us"), seconds_of(0, 16384, "0us"));
  EXPECT_DOUBLE_EQ(seconds_of(1, 65536, "10us"), seconds_of(1, 65536, "0us"));
}

/// A load of another operation's store waits as well: HBM is shared, but the other core's part comes later.
TEST(LogicalCores, SeeEachOthersStoresLater) {
  using namespace tiny;
  const auto seconds_of = [](std::uint32_t second_label, const char* exchange) {
    std::vector<Instr> instrs{dma(hbm(128, 512, 0), sbuf(128, 512, 0), 0)};
    instrs.push_back(after(dma(sbuf(128, 512, 4096), hbm(128, 512, 0), 1), isa::kFirstDmaSemaphore, 1));
    instrs.back().label = second_label;
    isa::Program made = program(instrs);
    made.blocks[0].labels = {"first", "second"};
    const std::vector<std::string> set{std::string{"chip.exchange="} + exchange};
    return hw::seconds(run(made, hw::load_machine("trn2.3xlarge", set)).total);
  };
  EXPECT_NEAR(seconds_of(1, "10us") - seconds_of(1, "0us"), 10e-6, 1e-7);
  EXPECT_DOUBLE_EQ(seconds_of(0, "10us"), seconds_of(0, "0us"));
}

/// Layers have the same labels: data that comes back to one is the next layer's, whose operations exchange again.
TEST(LogicalCores, ExchangeInEachOfTheLayersOfABlock) {
  using namespace tiny;
  const auto seconds_of = [](int layers, const char* exchange) {
    std::vector<Instr> instrs;
    for (int layer = 0; layer < layers; ++layer) {
      const auto turn = static_cast<std::uint32_t>(layer);
      const int at = 4096 * layer;
      instrs.push_back(signal(copy(Engine::kVector, sbuf(128, 512, at + 2048), sbuf(128, 512, at))));
      if (layer > 0) instrs.back() = after(instrs.back(), sem(Engine::kScalar), turn);
      instrs.push_back(after(signal(activate(sbuf(128, 512, at + 4096), sbuf(128, 512, at + 2048))),
                             sem(Engine::kVector), turn + 1));
      instrs.back().label = 1;
    }
    isa::Program made = program(instrs);
    made.blocks[0].labels = {"first", "second"};
    const std::vector<std::string> set{std::string{"chip.exchange="} + exchange};
    return hw::seconds(run(made, hw::load_machine("trn2.3xlarge", set)).total);
  };
  EXPECT_NEAR(seconds_of(1, "10us") - seconds_of(1, "0us"), 10e-6, 1e-7);
  EXPECT_NEAR(seconds_of(4, "10us") - seconds_of(4, "0us"), 7 * 10e-6, 1e-7);
}

TEST(LogicalCores, APhysicalCoreWaitsForNoOther) {
  EXPECT_EQ(hw::load_machine("trn2.3xlarge", kApart).exchange.value, 0);
  EXPECT_GT(hw::load_machine("trn2.3xlarge").exchange.value, 0);
}

/// Many small loads wait for their descriptors: two units make those of one load in 559 ns.
TEST(DescriptorGeneration, BoundsManySmallTransfers) {
  using namespace tiny;
  const auto chip = hw::load_machine("trn2.3xlarge", kApart);
  const std::vector<std::string> before{"chip.logical=1", "dma.generators=0"};
  const auto made_before = hw::load_machine("trn2.3xlarge", before);
  std::vector<Instr> loads;
  for (int i = 0; i < 64; ++i)
    loads.push_back(dma(sbuf(1, 16, 64 * i), hbm(1, 16, 4096 * i), static_cast<std::uint8_t>(i % 8)));
  const double limited = hw::seconds(hw::simulate(program(loads), chip).total);
  const double free = hw::seconds(hw::simulate(program(loads), made_before).total);
  EXPECT_GT(limited, free);
  // 559 ns, MIN_II of the sequencer and its semaphore for each of a unit's DMAs.
  EXPECT_NEAR(limited - chip.lead_in.value, 32 * (559e-9 + 64 / 1.2e9 + 38e-9), 2.5e-6);
}

}  // namespace
