// The exports that are text: Prometheus and MLPerf's log; and which file each export is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/export/export.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "base/text.h"
#include "isa/names.h"

namespace analysis {
namespace {

using Json = nlohmann::ordered_json;

struct Gauge {
  const char *section, *key, *name, *help;
};
constexpr Gauge kGauges[] = {
    {"job", "train_runtime", "train_runtime_seconds", "time of the job"},
    {"job", "step_seconds", "step_seconds", "time of a step, with the host"},
    {"job", "device_step_seconds", "device_step_seconds", "time of a step on the device"},
    {"job", "host_step_seconds", "host_step_seconds", "time of a step on the host"},
    {"job", "train_samples_per_second", "train_samples_per_second", "samples of all cores"},
    {"job", "mfu_percent", "job_mfu_percent", "model FLOPs utilisation of the job"},
    {"job", "compile_seconds", "compile_seconds", "compilation with an empty cache"},
    {"cost", "run", "cost_dollars", "price of the job"},
    {"utilisation", "mfu", "device_mfu_percent", "model FLOPs utilisation of the device's time"},
    {"utilisation", "hfu", "device_hfu_percent", "hardware FLOPs utilisation of the device's time"},
    {"utilisation", "mbu", "device_mbu_percent", "memory bandwidth utilisation of the device's time"},
    {"memory", "peak", "hbm_peak_bytes", "HBM of the core that needs most"},
    {"memory", "capacity", "hbm_capacity_bytes", "HBM of a core"},
    {"metrics", "train_loss", "train_loss", "mean loss of the training"},
    {"metrics", "eval_loss", "eval_loss", "loss on the validation split"},
    {"metrics", "eval_accuracy", "eval_accuracy", "accuracy on the validation split"}};

/// A label's value: backslash, quote and line feed are escaped.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string{c};
  return out;
}

const Json& member(const Json& body, const char* section, const char* key) {
  static const Json kNull;
  const auto part = body.find(section);
  if (part == body.end() || !part->is_object()) return kNull;
  const auto value = part->find(key);
  return value == part->end() ? kNull : *value;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

/// Lines of an MLPerf log.
class MlLog {
 public:
  void add(double seconds, const char* type, const std::string& key, const Json& value,
           Json metadata = Json::object()) {
    metadata["file"] = "trnsim", metadata["lineno"] = 0;
    const Json line{{"namespace", ""},    {"time_ms", std::llround(seconds * 1e3)},
                    {"event_type", type}, {"key", key},
                    {"value", value},     {"metadata", metadata}};
    out_ += ":::MLLOG " + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  void point(double seconds, const std::string& key, const Json& value, Json metadata = Json::object()) {
    add(seconds, "POINT_IN_TIME", key, value, std::move(metadata));
  }
  void begin(double seconds, const char* key) { add(seconds, "INTERVAL_START", key, nullptr); }
  void end(double seconds, const char* key, Json metadata = Json::object()) {
    add(seconds, "INTERVAL_END", key, nullptr, std::move(metadata));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void write_parquet(const std::filesystem::path& folder, const Record& record) {
  std::vector<ParquetColumn> calls{{"block"},   {"layer"},   {"phase"},    {"replayed"},
                                   {"begin_s"}, {"seconds"}, {"hbm_bytes"}};
  for (const hw::CallTime& call : record.result.calls) {
    calls[0].text.push_back(record.program.blocks[call.block].name);
    calls[1].whole.push_back(call.layer);
    calls[2].text.emplace_back(isa::name_of(call.phase));
    calls[3].whole.push_back(call.replayed);
    calls[4].real.push_back(hw::seconds(call.begin));
    calls[5].real.push_back(hw::seconds(call.end - call.begin));
    calls[6].whole.push_back(static_cast<std::int64_t>(call.dma.read_bytes + call.dma.written_bytes));
  }
  base::write_file(folder / "calls.parquet", parquet_file(calls));
  std::vector<ParquetColumn> ops{{"block"}, {"op"}, {"opcode"}, {"engine"}, {"count"}, {"busy_s"}, {"waiting_s"}};
  for (const hw::OpTime& op : record.result.ops) {
    const isa::Block& block = record.program.blocks[op.block];
    ops[0].text.push_back(block.name);
    ops[1].text.push_back(op.label < block.labels.size() ? block.labels[op.label] : "");
    ops[2].text.emplace_back(isa::name_of(op.op));
    ops[3].text.emplace_back(isa::name_of(op.engine));
    ops[4].whole.push_back(static_cast<std::int64_t>(op.count));
    ops[5].real.push_back(hw::seconds(op.busy));
    ops[6].real.push_back(hw::seconds(op.waiting));
  }
  base::write_file(folder / "ops.parquet", parquet_file(ops));
  std::vector<ParquetColumn> collectives{{"opcode"}, {"ranks"}, {"bytes"}, {"begin_s"}, {"seconds"}, {"queued_s"}};
  for (const hw::CollectiveTime& c : record.result.collectives) {
    collectives[0].text.emplace_back(isa::name_of(c.op));
    collectives[1].whole.push_back(c.ranks);
    collectives[2].whole.push_back(static_cast<std::int64_t>(c.bytes));
    collectives[3].real.push_back(hw::seconds(c.begin));
    collectives[4].real.push_back(hw::seconds(c.end - c.begin));
    collectives[5].real.push_back(hw::seconds(c.begin - c.issued));
  }
  if (!record.result.collectives.empty()) base::write_file(folder / "collectives.parquet", parquet_file(collectives));
}

/// Other places that `report_to` of Hugging Face's Trainer knows: a name of them is no mistake. Source: transformers,
/// integrations/integration_utils.py, INTEGRATION_TO_CALLBACK.
constexpr std::array kTrackers = {"azure_ml", "clearml", "codecarbon", "comet_ml", "dagshub", "dvclive",
                                  "flyte",    "mlflow",  "neptune",    "swanlab",  "trackio", "wandb"};

}  // namespace

std::vector<std::string> exports_of(std::string_view names, std::vector<std::string>& elsewhere) {
  std::vector<std::string> known{kExports.begin(), kExports.end()}, out;
  known.insert(known.end(), {"all", "none"});
  known.insert(known.end(), kTrackers.begin(), kTrackers.end());
  bool all = false;
  for (const std::string& name : base::split(names, ',')) {
    if (name.empty()) continue;
    if (std::ranges::find(known, name) == known.end())
      throw base::Error{base::Fault::kUsage, "`report_to`", fmt::format("'{}' is no place to report to", name),
                        base::suggest_fix(name, known)};
    all |= name == "all";
    if (std::ranges::find(kExports, name) != kExports.end()) out.push_back(name);
    if (std::ranges::find(kTrackers, name) != kTrackers.end()) elsewhere.push_back(name);
  }
  return all ? std::vector<std::string>{kExports.begin(), kExports.end()} : out;
}

std::string prometheus_text(const ExportRun& run) {
  const std::string labels = fmt::format(
      "workload=\"{}\",instance_type=\"{}\",stack=\"{}\"", label(text_of(member(run.body, "workload", "name"))),
      label(text_of(member(run.body, "machine", "instance_type"))), label(text_of(member(run.body, "job", "stack"))));
  std::string out;
  for (const Gauge& g : kGauges) {
    const Json& value = member(run.body, g.section, g.key);
    if (!value.is_number() || !std::isfinite(value.get<double>())) continue;
    out += fmt::format("# HELP trnsim_{} {}\n# TYPE trnsim_{} gauge\ntrnsim_{}{{{}}} {}\n", g.name, g.help, g.name,
                       g.name, labels, value.get<double>());
  }
  const Json engines = run.body.value("engines", Json::array());
  if (!engines.is_array() || engines.empty()) return out;
  out += "# HELP trnsim_engine_busy_percent of the device's step\n# TYPE trnsim_engine_busy_percent gauge\n";
  for (const Json& engine : engines)
    out += fmt::format("trnsim_engine_busy_percent{{{},engine=\"{}\"}} {}\n", labels, label(engine.value("engine", "")),
                       engine.value("busy", 0.0));
  return out;
}

std::string mlperf_log(const ExportRun& run) {
  MlLog log;
  const double begin = run.begin;
  const Json metrics = run.body.value("metrics", Json{});
  double now = begin;
  log.begin(begin, "init_start");
  log.point(begin, "submission_benchmark", member(run.body, "workload", "name"));
  log.point(begin, "submission_platform", member(run.body, "machine", "instance_type"));
  log.point(begin, "seed", run.body.value("seed", Json{}));
  log.point(begin, "train_samples",
            member(run.body, "workload", "dataset").is_object()
                ? member(run.body, "workload", "dataset").value("samples", Json{})
                : Json{});
  log.end(begin, "init_stop");
  log.begin(begin, "run_start");
  for (const Json& line : run.steps) {
    now = begin + line.value("simulated_seconds", 0.0);
    log.point(now, "train_loss", line.value("loss", Json{}),
              {{"step_num", line.value("step", 0)}, {"epoch_num", line.value("epoch", 0.0)}});
  }
  if (metrics.is_object()) {
    for (const Json& one : metrics.value("epochs", Json::array()))
      for (const auto& [name, value] : one.items())
        if (name == "loss" || name == "accuracy" || name == "f1_macro" || name == "perplexity")
          log.point(now, one.value("split", "eval") + "_" + name, value, {{"epoch_num", one.value("epoch", 0.0)}});
  }
  const Json& total = member(run.body, "job", "train_runtime");
  const bool stopped = metrics.is_object() && metrics.value("interrupted", false);
  log.end(total.is_number() ? std::max(now, begin + total.get<double>()) : now, "run_stop",
          {{"status", stopped ? "aborted" : "success"}});
  return log.take();
}

void export_run(const std::filesystem::path& folder, std::string_view name, const ExportRun& run) {
  if (name == "prometheus") return base::write_file(folder / "metrics.prom", prometheus_text(run));
  if (name == "jsonl") return base::write_file(folder / "mlperf.jsonl", mlperf_log(run));
  const std::filesystem::path own = folder / (name == "parquet" ? "records" : "tensorboard");
  std::filesystem::create_directories(own);
  if (name == "parquet") {
    if (run.record) write_parquet(own, *run.record);
    return;
  }
  base::write_file(own / fmt::format("events.out.tfevents.{}.trnsim", std::llround(run.begin)),
                   tensorboard_events(run));
}

}  // namespace analysis
