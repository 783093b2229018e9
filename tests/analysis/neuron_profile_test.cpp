// Profiles of the device beside a run: our own, and one written by hand with the fields that the tool documents.
#include "analysis/neuron_tools/neuron_profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "tests/analysis/recorded.h"
#include "tests/fails.h"

namespace {

using analysis::Difference;
using base::Fault;
using tests::fails;

std::filesystem::path profile_file(const char* name, const std::string& text) {
  const std::filesystem::path path = recorded::folder() / name;
  std::ofstream{path} << text;
  return path;
}

const Difference& difference_of(const std::vector<Difference>& all, const std::string& part, const std::string& name) {
  const auto found = std::ranges::find_if(all, [&](const Difference& d) { return d.part == part && d.name == name; });
  if (found == all.end()) throw std::runtime_error{"no " + part + " " + name};
  return *found;
}

TEST(NeuronProfile, OwnExportComparesWithoutADifference) {
  const analysis::Record record = recorded::record();
  const auto file = recorded::folder() / "own.json";
  analysis::write_neuron_profile(record, file);
  const auto differences = analysis::compare(record, analysis::read_neuron_profile(file), "own.json");
  EXPECT_GT(differences.size(), 15u);
  for (const Difference& d : differences) EXPECT_EQ(d.change(), 0) << d.part << " " << d.name;
  EXPECT_GT(difference_of(differences, "op", "matmul").before, 0);
  EXPECT_GT(difference_of(differences, "instructions", "tensor").before, 0);
  EXPECT_EQ(difference_of(differences, "total", "total_time").before, hw::seconds(record.result.total));
}

TEST(NeuronProfile, WithoutEventsTimesAreThoseOfTheOps) {
  const auto traced = analysis::neuron_profile_of(recorded::record()),
             summed = analysis::neuron_profile_of(recorded::record(false));
  ASSERT_EQ(traced.opcodes.size(), summed.opcodes.size());
  for (const auto& [name, work] : traced.opcodes) EXPECT_EQ(work.count, summed.opcodes.at(name).count) << name;
  EXPECT_TRUE(fails(Fault::kUsage, [] { analysis::write_neuron_profile(recorded::record(false), "x.json"); },
                    {"recorded no instructions", "trace_steps"}));
}

// Under the tool's names: PE and ACT, MULTIPLY_MOVING and ACTIVATE; the matmuls are twice as slow as ours.
TEST(NeuronProfile, TheDifferenceOfADocumentedOneIsFound) {
  const analysis::Record record = recorded::record();
  const analysis::NeuronProfile own = analysis::neuron_profile_of(record);
  const auto matmul = own.opcodes.at("matmul"), active = own.opcodes.at("activation");
  std::string rows;
  const auto add = [&](const char* engine, const char* opcode, const analysis::NeuronProfile::Work& work,
                       double times) {
    for (std::uint64_t i = 0; i < work.count; ++i)
      rows += fmt::format(R"({}{{"start_ts": 0, "end_ts": 1, "duration_ns": {}, "engine": "{}", "opcode": "{}"}})",
                          rows.empty() ? "" : ",", times * 1e9 * work.seconds / static_cast<double>(work.count), engine,
                          opcode);
  };
  add("PE", "MULTIPLY_MOVING", matmul, 2), add("ACT", "ACTIVATE", active, 1), add("DVE", "TENSOR_REDUCE", {1, 1e-6}, 1);
  const auto file =
      profile_file("device.json", fmt::format(R"({{"Summary": [{{"total_time": {}, "model_flops": {},
      "tensor_engine_active_time": "0.5", "dma_transfer_count": 4}}], "Instruction": [{}]}})",
                                              1.5 * own.summary.at("total_time"), own.summary.at("model_flops"), rows));
  const auto all = analysis::compare(record, analysis::read_neuron_profile(file), "device.json");
  EXPECT_NEAR(difference_of(all, "total", "total_time").percent(), 50, 1e-6);
  EXPECT_NEAR(difference_of(all, "op", "matmul").percent(), 100, 1e-3);
  EXPECT_NEAR(difference_of(all, "op", "activation").percent(), 0, 1e-3);
  EXPECT_EQ(difference_of(all, "op", "tensor_reduce").before, 0);
  EXPECT_EQ(difference_of(all, "instructions", "vector").after, 1);
  EXPECT_NEAR(difference_of(all, "busy", "tensor_engine_active_percent").after,
              50 / (1.5 * own.summary.at("total_time")), 1e-3);
  const auto first = std::ranges::find(all, "op", &Difference::part);
  EXPECT_TRUE(std::ranges::is_sorted(first, all.end(), std::greater{},
                                     [](const Difference& d) { return std::abs(d.change()); }));
}

TEST(NeuronProfile, AnotherProgramsOrABrokenOneIsOneError) {
  const analysis::Record record = recorded::record();
  const double flops = record.utilisation.model_flops;
  const auto other =
      profile_file("other.json", fmt::format(R"({{"summary": [{{"total_time": 1, "model_flops": {}}}]}})", 3 * flops));
  EXPECT_TRUE(fails(Fault::kData, [&] { compare(record, analysis::read_neuron_profile(other), other.string()); },
                    {"other.json", "another program", "FLOP"}));
  const auto reading = [](const char* text) {
    return [path = profile_file("bad.json", text)] { analysis::read_neuron_profile(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("[1, 2"), {"bad.json", "not a JSON object"}));
  EXPECT_TRUE(fails(Fault::kData, reading("{}"), {"neither a summary nor instructions"}));
  EXPECT_TRUE(fails(Fault::kData, reading(R"({"summary": [{"total_time": 0}]})"), {"total_time"}));
  EXPECT_TRUE(fails(Fault::kData, reading(R"({"instruction": [{"engine": "PE", "duration_ns": 3}]})"),
                    {"instruction 0", "opcode"}));
  EXPECT_TRUE(fails(Fault::kData, reading(R"({"instruction": [{"engine": "PE", "opcode": "X", "duration_ns": -3}]})"),
                    {"instruction 0", "duration_ns"}));
}

}  // namespace
