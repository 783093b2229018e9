#include "analysis/neuron_tools/device_view.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::Devices;
using testing::ElementsAre;
using testing::HasSubstr;

const Devices kSmall{.instance_type = "trn1.2xlarge", .chips = 1, .cores_per_chip = 2, .memory = 32.0 * (1ull << 30)};
const Devices kLarge{.instance_type = "trn1.32xlarge",
                     .chips = 16,
                     .cores_per_chip = 2,
                     .memory = 32.0 * (1ull << 30),
                     .rows = 4,
                     .columns = 4};

TEST(Ls, ScriptsCanSumTheCores) {
  // As scripts do: fields between blanks of the lines "| n | ...": the fourth is the number of cores.
  std::istringstream table{ls_table(kLarge)};
  int devices = 0, cores = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields{line};
    std::string bar, device, second, count;
    fields >> bar >> device >> second >> count;
    if (bar != "|" || device.find_first_not_of("0123456789") != std::string::npos) continue;
    ++devices;
    cores += std::stoi(count);
  }
  EXPECT_EQ(devices, 16);
  EXPECT_EQ(cores, 32);
  EXPECT_THAT(ls_table(kSmall), HasSubstr("| 0      | 2      | 0-1      | 32 GB  |"));
}

TEST(Ls, TheTorusLinksEachChipWithFourOthers) {
  EXPECT_THAT(neighbours(kLarge, 0), ElementsAre(1, 3, 4, 12));
  EXPECT_THAT(neighbours(kLarge, 5), ElementsAre(1, 4, 6, 9));
  EXPECT_TRUE(neighbours(kSmall, 0).empty());
  for (int a = 0; a < 16; ++a) {
    for (const int b : neighbours(kLarge, a)) EXPECT_THAT(neighbours(kLarge, b), testing::Contains(a));
  }
  EXPECT_THAT(ls_topology(kLarge), HasSubstr("[ 15 ]"));
  EXPECT_THAT(ls_topology(kSmall), HasSubstr("no links"));
}

TEST(Ls, JsonHasTheKeysOfNeuronLs) {
  const auto list = ls_json(kLarge);
  ASSERT_EQ(list.size(), 16u);
  EXPECT_EQ(list[3]["neuron_device"], 3);
  EXPECT_EQ(list[3]["nc_count"], 2);
  EXPECT_EQ(list[3]["neuroncore_ids"], (std::vector<int>{6, 7}));
  EXPECT_EQ(list[3]["memory_size"], 34'359'738'368);
}

TEST(Ls, CommandLinesAreCutUnlessTheTableIsWide) {
  const analysis::Processes three{.cores = 3, .command = std::string(60, 'x'), .runtime = "1.0"};
  EXPECT_THAT(ls_table(kLarge, three), HasSubstr("| 2   | " + std::string(37, 'x') + "... | 1.0"));
  EXPECT_THAT(ls_table(kLarge, three, true), HasSubstr("| 2   | " + three.command + " | 1.0"));
  const auto list = ls_json(kLarge, three);
  EXPECT_EQ(list[0]["neuron_processes"].size(), 2u);
  EXPECT_EQ(list[1]["neuron_processes"][0]["command"], three.command);
  EXPECT_TRUE(list[2]["neuron_processes"].empty());
}

TEST(Monitor, TheReportHasNeuronMonitorsForm) {
  const analysis::Record record = recorded::record(false);
  const double device = hw::seconds(record.result.total);
  const auto report = monitor_report(record, kSmall, 5, 2 * device);
  const auto& runtime = report["neuron_runtime_data"][0]["report"];
  const auto& cores = runtime["neuroncore_counters"]["neuroncores_in_use"];
  ASSERT_EQ(cores.size(), 2u);
  EXPECT_DOUBLE_EQ(cores["1"]["neuroncore_utilization"], 50);
  EXPECT_DOUBLE_EQ(cores["0"]["flops"], record.utilisation.matmul_flops / (2 * device));
  EXPECT_EQ(runtime["execution_stats"]["execution_summary"]["completed"], std::floor(5 / (2 * device)));
  EXPECT_DOUBLE_EQ(runtime["execution_stats"]["latency_stats"]["device_latency"]["p50"], device);
  const double used = runtime["memory_used"]["neuron_runtime_used_bytes"]["neuron_device"];
  EXPECT_DOUBLE_EQ(used, 2 * (32'768 + 2 * 65'536 + 16));  // the peak of each of two cores
  for (const auto& [name, group] : report["system_data"].items()) {
    EXPECT_TRUE(group.contains("period")) << name;
    EXPECT_TRUE(group.contains("error")) << name;
  }
  EXPECT_EQ(report["neuron_hardware_info"]["neuroncore_per_device_count"], 2);
  EXPECT_EQ(report["neuron_hardware_info"]["neuron_device_type"], "trainium");
  EXPECT_THROW(monitor_report(record, kSmall, 0, 1), base::Error);
}

TEST(Monitor, TheReportNamesTheGeneration) {
  Devices trn2 = kSmall;
  trn2.generation = 3;
  const auto hardware = monitor_report(recorded::record(false), trn2, 5, 1)["neuron_hardware_info"];
  EXPECT_EQ(hardware["neuron_device_type"], "trainium2");
  EXPECT_EQ(hardware["neuron_device_version"], "v3");
  EXPECT_EQ(hardware["neuroncore_version"], "v3");
}

TEST(Top, AFrameShowsTheCallAndTheEnginesInItsWindow) {
  const analysis::Record record = recorded::record(false);
  const hw::CallTime& optimizer = record.result.calls[2];
  const std::string frame = top_frame(record, hw::seconds(optimizer.begin), hw::seconds(optimizer.end), 80);
  EXPECT_THAT(frame, HasSubstr("optimizer optimizer"));
  EXPECT_THAT(frame, HasSubstr("tensor        [" + std::string(56, ' ') + "]   0.0%"));
  EXPECT_THAT(frame, HasSubstr("gradients" + std::string(11, ' ') + "64 KiB"));
  const std::string first =
      top_frame(record, hw::seconds(record.result.calls[0].begin), hw::seconds(record.result.calls[0].end), 80);
  EXPECT_THAT(first, HasSubstr("forward layer_forward"));
  std::istringstream lines{first};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THROW(top_frame(record, 1, 1, 80), base::Error);
}

}  // namespace
