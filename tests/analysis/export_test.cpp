// Exports of a run, read back: by protobuf's decoder, by Apache's reader of Parquet where npm has
// installed it, else by their specifications.
#include "analysis/export/export.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <regex>
#include <sstream>

#include "analysis/export/parquet.h"
#include "analysis/export/tf_record.h"
#include "analysis/figures/figure_table.h"
#include "base/error.h"
#include "base/files.h"
#include "tests/analysis/parquet_columns.h"
#include "tests/analysis/proto_json.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::ExportRun;
using analysis::ParquetColumn;
using testing::HasSubstr;

analysis::Figures figures() {
  analysis::Figures f;
  f.seed = 42, f.workload.name = "a \"job\"", f.workload.samples = 16, f.machine.instance_type = "trn1.2xlarge";
  f.time.train_runtime = 510.5, f.time.stack = "hf-trainer", f.time.step_seconds = 0.25, f.cost.dollars = 0.19;
  f.engines.push_back({.engine = "tensor", .busy = 49.5, .waiting = {}, .idle = 0, .instructions = 0});
  f.training.emplace();
  f.training->train_loss = 0.8;
  f.training->epochs.push_back(
      {.split = "eval", .epoch = 1, .loss = 0.5, .samples = {}, .scores = {{"accuracy", 0.9}, {"f1_weighted", 0.7}}});
  return f;
}

/// An exporter's files for a run.
std::vector<analysis::ExportFile> exported(std::string_view name, const analysis::Record* record = nullptr) {
  const analysis::Figures f = figures();
  std::vector<analysis::StepFigures> steps(2);
  steps[0].step = 10, steps[0].loss = 1.5, steps[0].learning_rate = 1e-3;
  steps[0].simulated_seconds = 1, steps[0].host_seconds = 2;
  steps[1].step = 20, steps[1].learning_rate = 5e-4, steps[1].simulated_seconds = 2, steps[1].host_seconds = 4;
  return analysis::find_exporter(name).files({f, steps, record, 1000});
}

std::uint64_t little(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t b = 0; b < bytes.size(); ++b)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[b])) << 8 * b;
  return value;
}

TEST(TensorBoard, ChecksumsAreCastagnolis) {
  // RFC 3720, B.4: 32 bytes of zeros; and the usual check value of "123456789".
  const auto mask = [](std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8; };
  EXPECT_EQ(analysis::masked_crc32c(std::string(32, '\0')), mask(0x8a9136aa));
  EXPECT_EQ(analysis::masked_crc32c("123456789"), mask(0xe3069283));
}

TEST(TensorBoard, ItsEventsAreDecoded) {
  const std::string file = exported("tensorboard").front().bytes;
  proto_json::Schema schema{"event.proto"};
  std::map<std::string, std::vector<proto_json::Json>> scalars;
  std::vector<proto_json::Json> events;
  for (std::size_t at = 0; at < file.size();) {
    const std::string_view head{file.data() + at, 8};
    const std::uint64_t size = little(head);
    ASSERT_EQ(little({file.data() + at + 8, 4}), analysis::masked_crc32c(head));
    const std::string body = file.substr(at + 12, size);
    ASSERT_EQ(little({file.data() + at + 12 + size, 4}), analysis::masked_crc32c(body));
    events.push_back(schema.decode("tensorflow.Event", body));
    at += 16 + size;
  }
  ASSERT_EQ(events.front()["file_version"], "brain.Event:2");
  for (const auto& event : events)
    if (event.contains("summary")) scalars[event["summary"]["value"][0]["tag"]].push_back(event);
  ASSERT_EQ(scalars["train/loss"].size(), 1u) << "a loss that is no number is left out";
  EXPECT_EQ(scalars["train/loss"][0]["summary"]["value"][0]["simple_value"], 1.5);
  EXPECT_EQ(proto_json::whole(scalars["train/loss"][0]["step"]), 10);
  EXPECT_EQ(scalars["train/loss"][0]["wall_time"], 1002);
  EXPECT_EQ(scalars["train/learning_rate"].size(), 2u);
  EXPECT_NEAR(scalars["eval/accuracy"][0]["summary"]["value"][0]["simple_value"].get<double>(), 0.9, 1e-6);
  EXPECT_EQ(scalars["train/train_runtime"][0]["summary"]["value"][0]["simple_value"], 510.5);
}

TEST(Prometheus, EveryLineIsOfItsForm) {
  const std::string text = exported("prometheus").front().bytes;
  static const std::regex kLine{
      R"((# (HELP|TYPE) trnsim_[a-z_0-9]+ .+|trnsim_[a-z_0-9]+\{([a-z_]+="([^"\\\n]|\\.)*",?)+\} [-+0-9.e]+))"};
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(std::regex_match(line, kLine)) << line;
  EXPECT_THAT(text, HasSubstr("trnsim_train_runtime{workload=\"a \\\"job\\\"\",instance_type=\"trn1.2xlarge\","
                              "stack=\"hf-trainer\"} 510.5\n"));
  EXPECT_THAT(text, HasSubstr("engine=\"tensor\"} 49.5\n"));
}

TEST(Prometheus, EveryFigureIsThereUnderItsName) {
  const std::string text = exported("prometheus").front().bytes;
  const analysis::Figures f = figures();
  for (const analysis::Figure& figure : analysis::figure_table())
    EXPECT_EQ(text.find("\ntrnsim_" + std::string{figure.name} + "{") != std::string::npos, figure.of(f).has_value())
        << figure.name;
}

TEST(MlPerf, LinesHaveTheKeysOfItsLog) {
  std::istringstream lines{exported("jsonl").front().bytes};
  std::vector<std::string> keys;
  double last = 0;
  for (std::string line; std::getline(lines, line);) {
    ASSERT_TRUE(line.starts_with(":::MLLOG ")) << line;
    const auto one = nlohmann::json::parse(line.substr(9));
    for (const char* key : {"namespace", "time_ms", "event_type", "key", "value", "metadata"})
      EXPECT_TRUE(one.contains(key));
    EXPECT_GE(one["time_ms"].get<double>(), last);
    last = one["time_ms"];
    keys.push_back(one["key"]);
  }
  for (const char* key :
       {"submission_benchmark", "seed", "train_samples", "run_start", "train_loss", "eval_accuracy", "run_stop"})
    EXPECT_THAT(keys, testing::Contains(key));
}

TEST(Parquet, FilesAreFramedAndTheirColumnsEven) {
  const std::vector<ParquetColumn> columns{
      {.name = "n", .whole = {1, -2}}, {.name = "x", .real = {0.5, 1e300}}, {.name = "s", .text = {"a", "\u00e4"}}};
  const std::string file = analysis::parquet_file(columns);
  EXPECT_EQ(file.substr(0, 4), "PAR1");
  EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
  EXPECT_LT(little(std::string_view{file}.substr(file.size() - 8, 4)), file.size() - 12);
  const auto read = parquet_columns::of(file);
  EXPECT_EQ(read.at("n"), (std::vector<nlohmann::json>{1, -2}));
  EXPECT_EQ(read.at("x"), (std::vector<nlohmann::json>{0.5, 1e300}));
  EXPECT_EQ(read.at("s"), (std::vector<nlohmann::json>{"a", "\u00e4"}));
  EXPECT_THROW(analysis::parquet_file(std::vector<ParquetColumn>{{.name = "a", .whole = {1}}, {.name = "b"}}),
               base::Error);
}

TEST(Parquet, ApacheReadsTheRecordsBack) {
  const std::filesystem::path modules = std::filesystem::path{TRNSIM_BINARY}.parent_path() / "browser";
  if (!std::filesystem::exists(modules / "node_modules/parquet-wasm"))
    GTEST_SKIP() << "parquet-wasm is not installed: ./dev browser installs it";
  const auto folder = recorded::folder();
  const analysis::Record record = recorded::record(false);
  const analysis::Figures f = figures();
  analysis::export_run(folder, "parquet", {f, {}, &record, 1000});
  const auto read = [&](const std::string& name) {
    const std::string out = (folder / "out.json").string();
    const std::string command = "node " TRNSIM_TEST_DIR "/browser/parquet.mjs " + modules.string() + " " +
                                (folder / "records" / (name + ".parquet")).string() + " >" + out + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << base::read_file(out);
    return nlohmann::json::parse(base::read_file(out));
  };
  const auto calls = read("calls"), ops = read("ops"), collectives = read("collectives");
  ASSERT_EQ(calls.size(), record.result.calls.size());
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const hw::CallTime& call = record.result.calls[c];
    EXPECT_EQ(calls[c]["block"], record.program.blocks[call.block].name);
    EXPECT_EQ(calls[c]["layer"], call.layer);
    EXPECT_EQ(calls[c]["seconds"], hw::seconds(call.end - call.begin));
  }
  EXPECT_EQ(ops.size(), record.result.ops.size());
  EXPECT_EQ(collectives.size(), record.result.collectives.size());
}

TEST(Exports, EachFileOfTheirFolderIsAnExporter) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator{TRNSIM_TEST_DIR "/../analysis/export/to"})
    files.push_back(entry.path().stem().string());
  EXPECT_THAT(analysis::exporter_names(), testing::UnorderedElementsAreArray(files));
  EXPECT_TRUE(exported("parquet").empty()) << "nothing was projected";
}

TEST(Exports, NamesWithoutAnExporterAreReported) {
  std::vector<std::string> trackers;
  EXPECT_EQ(analysis::exports_of("tensorboard,wandb,none", trackers), std::vector<std::string>{"tensorboard"});
  EXPECT_EQ(trackers, std::vector<std::string>{"wandb"});
  EXPECT_EQ(analysis::exports_of("all", trackers), analysis::exporter_names());
  EXPECT_TRUE(analysis::exports_of("", trackers).empty());
  EXPECT_THROW(analysis::exports_of("tensorbord", trackers), base::Error);
}

}  // namespace
