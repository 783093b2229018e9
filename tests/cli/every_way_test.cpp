// Every figure of a job, asked in every way: equal to the last digit, or under another name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "analysis/figures/figure_table.h"
#include "analysis/profile/memory_use.h"
#include "analysis/record/record.h"
#include "base/text.h"
#include "tests/analysis/parquet_columns.h"
#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using Json = nlohmann::json;
using Values = std::map<std::string, double>;

struct Case {
  const char *workload, *place;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.workload << " " << c.place; }
};

class EveryWay : public cli_test::Runs, public testing::WithParamInterface<Case> {
 protected:
  std::string job() const { return std::string{GetParam().workload} + " " + GetParam().place; }
};

/// The gauges of Prometheus's text, by name: every figure that the run has.
Values prometheus(const std::string& text) {
  Values out;
  const std::regex gauge{"trnsim_([a-z0-9_]+)\\{([^}]*)\\} (\\S+)"};
  for (std::sregex_iterator at{text.begin(), text.end(), gauge}, end; at != end; ++at)
    if (at->str(2).find("engine=") == std::string::npos) out[at->str(1)] = std::stod(at->str(3));
  return out;
}

/// Two columns of a table in CSV, by the first.
Values named_rows(const std::string& csv, std::size_t name, std::size_t value) {
  Values out;
  for (const std::string& line : base::split(csv, '\n')) {
    const std::vector<std::string> cells = base::split(line, ',');
    if (cells.size() <= std::max(name, value)) continue;
    char* end = nullptr;
    const double number = std::strtod(cells[value].c_str(), &end);
    if (end != cells[value].c_str()) out[cells[name]] = number;
  }
  return out;
}

/// Scalars of an events file, which are fp32: behind a tag is the key of field 2 of 32 bits, and the number.
Values tensorboard(const std::string& events, const Values& names) {
  Values out;
  for (const auto& [name, value] : names) {
    const std::string tag = "/" + name + "\x15";
    const std::size_t at = events.find(tag);
    if (at == events.npos || at + tag.size() + sizeof(float) > events.size()) continue;
    float number = 0;
    std::memcpy(&number, events.data() + at + tag.size(), sizeof number);
    out[name] = number;
  }
  return out;
}

/// Seconds between the lines "run_start" and "run_stop" of an MLPerf log, which has whole milliseconds.
double mlperf_seconds(const std::string& log) {
  double begin = 0, end = 0;
  for (const std::string& line : base::split(log, '\n')) {
    if (!line.starts_with(":::MLLOG ")) continue;
    const Json one = Json::parse(line.substr(9));
    if (one["key"] == "run_start") begin = one["time_ms"];
    if (one["key"] == "run_stop") end = one["time_ms"];
  }
  return (end - begin) / 1e3;
}

/// The first row of a table in CSV, by its head.
Values one_row(const std::string& csv) {
  const std::vector<std::string> lines = base::split(csv, '\n');
  const std::vector<std::string> head = base::split(lines.at(0), ','), cells = base::split(lines.at(1), ',');
  Values out;
  for (std::size_t i = 0; i < head.size() && i < cells.size(); ++i) {
    char* end = nullptr;
    const double number = std::strtod(cells[i].c_str(), &end);
    if (!cells[i].empty() && *end == '\0') out[head[i]] = number;
  }
  return out;
}

/// Numbers of result.json by their keys, in all sections of figures.
Values flat(const Json& result) {
  Values out;
  for (const char* section : {"machine", "job", "plan", "cost", "utilisation", "memory"})
    if (result.contains(section))
      for (const auto& [key, value] : result[section].items())
        if (value.is_number()) out[key] = value;
  for (const auto& [key, value] : result["workload"]["model"].items())
    if (value.is_number()) out[key] = value;
  return out;
}

/// Compares the values that both have; at least `least` of them.
void expect_same(const char* way, const Values& want, const Values& got, std::size_t least) {
  std::size_t compared = 0;
  for (const auto& [name, value] : got) {
    const auto found = want.find(name);
    if (found == want.end()) continue;
    EXPECT_EQ(value, found->second) << way << ": " << name;
    ++compared;
  }
  EXPECT_GE(compared, least) << way;
}

TEST_P(EveryWay, IsTheSameFigure) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Ran json =
      run("run " + job() + " --mode timed --report_to all --suggestions 0 --format json --output_dir " + at("a"));
  ASSERT_EQ(json.code, 0) << json.err;
  const Values want = prometheus(slurp(folder_ / "a/metrics.prom"));
  ASSERT_GE(want.size(), 40u);
  const Json result = this->result("a");
  expect_same("result.json", want, flat(result), 40);
  expect_same("run --format json", want, flat(Json::parse(json.out)), 40);
  const Ran csv = run("run " + job() + " --mode timed --suggestions 0 --format csv --output_dir " + at("b"));
  expect_same("run --format csv", want, named_rows(csv.out, 0, 1), 30);
  expect_same("figures.csv", want, named_rows(slurp(folder_ / "a/figures.csv"), 0, 1), 40);
  Values fp32 = want;
  for (auto& [name, value] : fp32) value = static_cast<float>(value);
  std::string events;
  for (const auto& file : std::filesystem::directory_iterator{folder_ / "a/tensorboard"}) events += slurp(file.path());
  expect_same("TensorBoard", fp32, tensorboard(events, want), 40);
  EXPECT_NEAR(mlperf_seconds(slurp(folder_ / "a/mlperf.jsonl")), want.at("train_runtime"), 2e-3);

  std::string flags;
  const std::vector<std::string> words = base::split(GetParam().place, ' ');
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) flags += " --set " + words[i].substr(2) + "=" + words[i + 1];
  const Ran swept = run("sweep --workload " + std::string{GetParam().workload} + flags +
                        " --set hbm.bandwidth=1x --output_dir " + at("points"));
  ASSERT_EQ(swept.code, 0) << swept.err;
  expect_same("sweep", want, one_row(slurp(folder_ / "points/results.csv")), 40);

  const Ran priced = run("cost " + at("a") + " --format json");
  ASSERT_EQ(priced.code, 0) << priced.err;
  for (const Json& row : Json::parse(priced.out))
    if (row["basis"] == "the job's own time") {
      EXPECT_EQ(row["seconds"], want.at("train_runtime"));
      const auto dollars = want.find("dollars");
      EXPECT_EQ(row["on_demand"], dollars == want.end() ? Json{} : Json(dollars->second));
    }
}

/// Sums over a Parquet file's rows, by an engine's or another key.
Values sums(const std::map<std::string, std::vector<Json>>& columns, const char* key, const char* value) {
  Values out;
  for (std::size_t row = 0; row < columns.at(key).size(); ++row)
    out[columns.at(key)[row]] += columns.at(value)[row].get<double>();
  return out;
}

/// `stats`: figures of `trnsim stats` by name.
void expect_same_records(const std::filesystem::path& folder, const Values& stats) {
  const double total = stats.at("total_time");
  const auto ops = parquet_columns::of(slurp(folder / "ops.parquet"));
  for (const auto& [engine, seconds] : sums(ops, "engine", "busy_s"))
    EXPECT_NEAR(seconds, stats.at(engine + "_engine_active_time"), 1e-12 * total) << engine;
  for (const auto& [engine, count] : sums(ops, "engine", "count"))
    EXPECT_EQ(count, stats.at(engine + "_engine_instruction_count")) << engine;
  double end = 0;  // of the last call, or of a collective that it began
  for (const char* name : {"calls.parquet", "collectives.parquet"}) {
    if (!std::filesystem::exists(folder / name)) continue;
    const auto rows = parquet_columns::of(slurp(folder / name));
    for (std::size_t row = 0; row < rows.at("begin_s").size(); ++row)
      end = std::max(end, rows.at("begin_s")[row].get<double>() + rows.at("seconds")[row].get<double>());
  }
  EXPECT_NEAR(end, total, 1e-12 * total);
}

/// The views of one core of a step, from the record alone.
TEST_P(EveryWay, IsTheSameInEveryViewOfTheRecord) {
  ASSERT_EQ(run("run " + job() + " --mode timed --report_to parquet --suggestions 0 --output_dir " + at("a")).code, 0);
  const Json result = this->result("a");
  const analysis::Record record = analysis::read_record(folder_ / "a");
  // Scalars of the optimizer are in the padding of buckets; the record lists them, and the padding whole.
  EXPECT_NEAR(analysis::memory_use(record).peak, result["memory"]["hbm_bytes"].get<double>(), 1024);
  Values stats, resources;
  for (const Json& row : Json::parse(run("stats " + at("a") + " --format json").out)) stats[row["name"]] = row["value"];
  for (const Json& row : result["resources"]) resources[row["name"]] = row["busy"];
  expect_same_records(folder_ / "a/records", stats);
  EXPECT_EQ(stats.at("dma_engines_busy_percent"), resources.at("dma engines"));
  for (const char* engine : {"tensor", "vector", "scalar"})
    EXPECT_EQ(stats.at(std::string{engine} + "_engine_active_time_percent"), resources.at(engine));
  // The record begins with the device's lead-in, which is none of the step's: it has a line of its own.
  EXPECT_NEAR(stats.at("total_time") - stats.at("lead_in_time"), result["job"]["device_step_seconds"],
              1e-12 * stats.at("total_time"));
  for (const auto& [name, value] : result["utilisation"].items())
    EXPECT_EQ(stats.contains(name) ? stats.at(name) : value.get<double>(), value.get<double>()) << name;

  const std::string top = run("top --once " + at("a")).out;
  EXPECT_THAT(top, testing::ContainsRegex(fmt::format("dma .* {:.1f}%", resources.at("dma engines"))));
  const Json report = Json::parse(run("monitor " + at("a")).out)["neuron_runtime_data"][0]["report"];
  EXPECT_EQ(report["execution_stats"]["latency_stats"]["total_latency"]["p50"], result["job"]["step_seconds"]);

  const std::string page = slurp(folder_ / "a/report.html");
  for (const analysis::Figure& figure : analysis::figure_table()) {
    const std::string section{figure.section};
    if (figure.title.empty() || (section != "job" && section != "cost")) continue;
    if (!result[section].contains(std::string{figure.name})) continue;
    const double value = result[section][std::string{figure.name}];
    EXPECT_THAT(page, testing::HasSubstr(fmt::format("data-v=\"{}\"", value))) << figure.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, EveryWay,
                         testing::Values(Case{"bert_emotion", "--instance_type trn1.2xlarge"},
                                         Case{"bert_emotion", "--instance_type trn1.32xlarge --nproc_per_node 8"},
                                         Case{"bert_tweets", "--instance_type trn1.32xlarge"},
                                         Case{"bert_tweets", "--instance_type trn2.3xlarge --nproc_per_node 4"},
                                         Case{"vit_mnist", "--instance_type trn1.2xlarge"},
                                         Case{"t5_small_summarize", "--instance_type trn1n.32xlarge"},
                                         Case{"bert_emotion", "--instance_type trn2.48xlarge --nproc_per_node 16"},
                                         Case{"llama2_7b_dolly", "--instance_type trn1.32xlarge"}));

}  // namespace
