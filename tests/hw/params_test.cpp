// The machine files and the one list of their fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "hw/params.h"

namespace {

using hw::MachineParams;

std::string refusal(std::string_view machine, std::vector<std::string> overrides = {}) {
  try {
    hw::load_machine(machine, overrides);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(Params, EveryShippedMachineHasEveryFieldWithASource) {
  EXPECT_THAT(hw::machine_names(),
              testing::ElementsAre("inf2.24xlarge", "inf2.48xlarge", "inf2.8xlarge", "inf2.xlarge", "trn1.2xlarge",
                                   "trn1.32xlarge", "trn1n.32xlarge", "trn2.3xlarge", "trn2.48xlarge"));
  for (const auto& name : hw::machine_names()) {
    const auto machine = hw::load_machine(name);
    EXPECT_EQ(machine.name, name);
    std::set<std::string_view> keys;
    for (const auto& field : MachineParams::fields()) {
      EXPECT_FALSE((machine.*field.member).source.empty()) << name << " " << field.key;
      EXPECT_TRUE(keys.insert(field.key).second) << field.key << " twice";
    }
  }
}

TEST(Params, DocumentedFigures) {
  const auto small = hw::load_machine("trn1.2xlarge"), large = hw::load_machine("trn1.32xlarge");
  EXPECT_EQ(small.core_count(), 2);
  EXPECT_EQ(large.core_count(), 32);
  EXPECT_NEAR(small.peaks().matmul_flops, 91.75e12, 0.01e12);
  EXPECT_DOUBLE_EQ(small.peaks().hbm_bandwidth, 410e9);
  EXPECT_DOUBLE_EQ(hw::load_machine("trn1n.32xlarge").efa_bandwidth.value, 200e9);
  EXPECT_DOUBLE_EQ(large.tensor_clock.value, 2.8e9);  // inherited
  EXPECT_EQ(small.hbm_bytes_per_core(), 16ull << 30);
}

TEST(Params, InstancesJoinIntoACluster) {
  const auto cluster = hw::load_machine("trn1n.32xlarge", std::vector<std::string>{"cluster.instances=128"});
  EXPECT_EQ(cluster.instance_cores(), 32);
  EXPECT_EQ(cluster.core_count(), 4096);
  EXPECT_NE(cluster.hash, hw::load_machine("trn1n.32xlarge").hash);
  EXPECT_THAT(refusal("trn1.32xlarge", {"cluster.instances=129"}), testing::HasSubstr("1 to 128"));
  EXPECT_THAT(refusal("trn1.32xlarge", {"cluster.instances=0"}), testing::HasSubstr("cluster.instances"));
  EXPECT_THAT(refusal("trn1.2xlarge", {"cluster.instances=2"}), testing::HasSubstr("no EFA"));
}

/// Programs for a core of Trn1 run on Inf2's, whose chips are a ring.
TEST(Params, Inf2IsTrn1sCoreInARing) {
  const auto one = hw::load_machine("inf2.xlarge"), ring = hw::load_machine("inf2.48xlarge");
  EXPECT_TRUE(one.target() == hw::load_machine("trn1.2xlarge").target());
  EXPECT_EQ(one.core_count(), 2);
  EXPECT_EQ(hw::load_machine("inf2.24xlarge").core_count(), 12);
  EXPECT_EQ(ring.core_count(), 24);
  EXPECT_EQ(ring.training.value, 0);
  EXPECT_EQ(hw::load_machine("trn1.2xlarge").training.value, 1);
  for (const std::uint32_t legal : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u}) EXPECT_TRUE(ring.forms_groups_of(legal));
  for (const std::uint32_t illegal : {5u, 7u, 9u, 18u}) EXPECT_FALSE(ring.forms_groups_of(illegal));
  EXPECT_FALSE(hw::load_machine("trn1.32xlarge").forms_groups_of(24));
  EXPECT_THAT(refusal("inf2.48xlarge", {"cluster.instances=2"}), testing::HasSubstr("no EFA"));
  EXPECT_THAT(refusal("inf2.48xlarge", {"link.ports=3"}), testing::HasSubstr("ring"));
  EXPECT_THAT(refusal("trn1.32xlarge", {"link.ports=2"}), testing::HasSubstr("neither 4"));
}

/// The figures of AWS's comparison table that no key of the file is: they follow from several.
TEST(Params, Trn2IsAsPublished) {
  const std::vector<std::string> apart{"chip.logical=1"};  // the runtime joins two cores by default
  EXPECT_EQ(hw::load_machine("trn2.3xlarge").core_count(), 4);
  const auto chip = hw::load_machine("trn2.3xlarge", apart), instance = hw::load_machine("trn2.48xlarge", apart);
  EXPECT_EQ(chip.core_count(), 8);
  EXPECT_EQ(instance.core_count(), 128);
  EXPECT_NEAR(chip.peaks().matmul_flops, 79e12, 0.5e12);         // published rounded to 1
  EXPECT_NEAR(chip.peaks().dma_bandwidth * 8, 3.5e12, 0.05e12);  // of the chip, rounded to 0.1
  EXPECT_DOUBLE_EQ(chip.peaks().hbm_bandwidth * 8, 2.9e12);
  EXPECT_EQ(chip.hbm_bytes_per_core(), std::uint64_t{12} << 30);
  const isa::Target target = chip.target();
  EXPECT_EQ(target.geometry.sbuf_partition_bytes * target.geometry.partitions, 28 << 20);
  EXPECT_EQ(target.geometry.psum_partition_bytes * target.geometry.partitions, 2 << 20);
  const isa::DmaTiming& dma = target.timing.dma;
  const double reached = dma.rate * dma.packet / (dma.packet + dma.descriptor_overhead);
  EXPECT_GE(reached, 23e9);                          // the DMA bandwidth guide's, of a queue
  EXPECT_NEAR(reached, dma.packet / 158e-9, 0.1e9);  // v3_dma_4096
  EXPECT_TRUE(target == instance.target());          // one program runs on both
}

/// The constants of Trn2 are documented, or read off its instructions; unpublished numbers say so. The runtime around a
/// benchmark's program is no part of the core.
/// Programs for one core; logical cores of two and a benchmark's loop have no instructions of their own.
TEST(Params, TheInstructionsAloneDecideNumbersOfTrn2) {
  for (const char* name : {"trn2.3xlarge", "trn2.48xlarge"}) {
    auto file =
        base::ParamFile::load(std::filesystem::path{TRNSIM_SOURCE_DIR} / "hw/params" / (std::string{name} + ".toml"));
    for (const auto& key : file.keys()) {
      const bool fitted = key == "program.benchmark" || key == "chip.exchange" || key == "hbm.turnaround";
      EXPECT_EQ(file.parameter(key).fitted_on.empty(), !fitted) << key;
      for (const std::string& row : file.parameter(key).read_off) EXPECT_THAT(row, testing::StartsWith("v3_")) << key;
      EXPECT_TRUE(key == "name" || key == "inherits" || !file.parameter(key).source.empty()) << key;
    }
  }
}

TEST(Params, OverridesChangeTheMachineAndItsHash) {
  const auto plain = hw::load_machine("trn1.2xlarge");
  const std::vector<std::string> twice{"hbm.bandwidth=2x", "vector.clock=2 GHz"};
  const auto fast = hw::load_machine("trn1.2xlarge", twice);
  EXPECT_DOUBLE_EQ(fast.hbm_bandwidth.value, 1640e9);
  EXPECT_DOUBLE_EQ(fast.clock(isa::Engine::kVector), 2e9);
  EXPECT_NE(fast.hash, plain.hash);
  EXPECT_THAT(fast.toml, testing::HasSubstr("2 GHz"));
}

TEST(Params, RefusesImpossibleMachines) {
  EXPECT_THAT(refusal("trn9"), testing::HasSubstr("trn1.2xlarge, trn1.32xlarge, trn1n.32xlarge"));
  EXPECT_THAT(refusal("trn1.2xlarge", {"hbm.bandwith=1 TB/s"}), testing::HasSubstr("hbm.bandwidth"));
  EXPECT_THAT(refusal("trn1.2xlarge", {"hbm.bandwidth=3 GHz"}), testing::Not(testing::HasSubstr("accepted")));
  EXPECT_THAT(refusal("trn1.2xlarge", {"tensor.clock=0 GHz"}), testing::HasSubstr("tensor.clock"));
  EXPECT_THAT(refusal("trn1.2xlarge", {"power.utilisation=1.2"}), testing::HasSubstr("power.utilisation"));
  EXPECT_THAT(refusal("trn1.2xlarge", {"chip.cores=3"}), testing::HasSubstr("chip.cores"));
  EXPECT_THAT(refusal("trn1.32xlarge", {"chip.count=8"}), testing::HasSubstr("link.rows times link.columns"));
  EXPECT_THAT(refusal("trn1.32xlarge", {"link.ports=6"}), testing::HasSubstr("link.ports"));
  EXPECT_THAT(refusal("trn1.32xlarge", {"link.bandwidth=0 GB/s"}), testing::HasSubstr("link.bandwidth"));
}

TEST(Params, AFileIsFoundByNameOrByPathAlone) {
  EXPECT_THAT(refusal("trn1.2xlage"), testing::HasSubstr("write \"trn1.2xlarge\""));
  EXPECT_THAT(refusal("./trn1.2xlarge"), testing::HasSubstr("is not a file"));  // a path: no name is tried
  EXPECT_EQ(hw::machine_file("trn1.2xlarge").parameter("tensor.clock").text, "clock of the PE array");
}

TEST(Params, PricesAreNoPartOfAMachine) {
  const std::vector<std::string> cheaper{"price.on_demand=0.5x"};
  EXPECT_EQ(hw::load_machine("trn1.2xlarge", cheaper).hash, hw::load_machine("trn1.2xlarge").hash);
  const auto path = std::filesystem::path{testing::TempDir()} / ("priced_" + std::to_string(getpid()) + ".toml");
  std::ofstream{path} << hw::load_machine("trn1.2xlarge").toml
                      << "[price]\non_demand = { value = \"$1/h\", source = \"me\" }\n";
  EXPECT_THAT(refusal(path.string()), testing::HasSubstr("`set` price.on_demand"));
  std::filesystem::remove(path);
}

TEST(Params, TheResolvedMachineLoadsToTheSame) {
  const auto machine = hw::load_machine("trn1n.32xlarge", std::vector<std::string>{"dma.start=2 us"});
  const auto path =
      std::filesystem::path{testing::TempDir()} / ("resolved_machine_" + std::to_string(getpid()) + ".toml");
  std::ofstream{path} << machine.toml;
  const auto again = hw::load_machine(path.string());
  for (const auto& field : MachineParams::fields())
    EXPECT_EQ((again.*field.member).value, (machine.*field.member).value) << field.key;
  EXPECT_EQ(again.hash, machine.hash);
  const auto file = base::ParamFile::load(path);
  for (const auto& field : MachineParams::fields()) EXPECT_NE(file.parameter(field.key).text, "") << field.key;
  std::filesystem::remove(path);
}

TEST(Params, FewConstantsAreFitted) {
  auto file = base::ParamFile::load(std::filesystem::path{TRNSIM_SOURCE_DIR} / "hw/params/trn1.2xlarge.toml");
  int fitted = 0, read_off = 0;
  for (const auto& key : file.keys()) {
    fitted += !file.parameter(key).fitted_on.empty();
    read_off += !file.parameter(key).read_off.empty();
  }
  EXPECT_EQ(fitted, 8);
  EXPECT_EQ(read_off, 14);
}

}  // namespace
