// Lines ":::MLLOG {...}" with the keys of mlperf_logging.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/export/export.h"
#include "analysis/figures/json_fields.h"

namespace analysis {
namespace {

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

void add_evaluations(const TrainingFigures& training, double now, MlLog& log) {
  constexpr std::array<std::string_view, 3> kLogged = {"accuracy", "f1_macro", "perplexity"};
  for (const EvaluationFigures& one : training.epochs) {
    const Json metadata{{"epoch_num", one.epoch.value_or(0)}};
    log.point(now, one.split + "_loss", json_of(one.loss), metadata);
    for (const auto& [name, value] : one.scores)
      if (std::ranges::find(kLogged, name) != kLogged.end()) log.point(now, one.split + "_" + name, value, metadata);
  }
}

std::vector<ExportFile> mlperf_files(const ExportRun& run) {
  MlLog log;
  const Figures& f = run.figures;
  double now = run.begin;
  log.begin(now, "init_start");
  log.point(now, "submission_benchmark", f.workload.name);
  log.point(now, "submission_platform", f.machine.instance_type);
  log.point(now, "seed", json_of(f.seed));
  log.point(now, "train_samples", json_of(f.workload.samples));
  log.end(now, "init_stop");
  log.begin(now, "run_start");
  for (const StepFigures& one : run.steps) {
    now = run.begin + one.simulated_seconds.value_or(0);
    log.point(now, "train_loss", json_of(one.loss), {{"step_num", one.step}, {"epoch_num", one.epoch.value_or(0)}});
  }
  if (f.training) add_evaluations(*f.training, now, log);
  const bool stopped = f.training && f.training->interrupted;
  log.end(std::max(now, run.begin + f.runtime().value_or(0)), "run_stop",
          {{"status", stopped ? "aborted" : "success"}});
  return {{"", log.take()}};
}

}  // namespace

Exporter exporter_jsonl() { return {"jsonl", "mlperf.jsonl", mlperf_files}; }

}  // namespace analysis
