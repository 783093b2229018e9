// Event files of TensorBoard: TFRecord around the protobuf messages Event and Summary.
// Source: tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto.
#include <fmt/format.h>

#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "analysis/export/export.h"
#include "analysis/export/tf_record.h"
#include "analysis/figures/figure_table.h"

namespace analysis {
namespace {

using Message = protozero::pbf_writer;

class EventFile {
 public:
  explicit EventFile(double begin) : begin_{begin} {
    std::string bytes;
    Message event{bytes};
    event.add_double(1, begin);
    event.add_string(3, "brain.Event:2");
    out_ += tf_record(bytes);
  }

  void scalar(const std::string& tag, std::int64_t step, double seconds, const Maybe& value) {
    if (!value || !std::isfinite(*value)) return;
    std::string bytes;
    {
      Message event{bytes};
      event.add_double(1, begin_ + seconds);
      event.add_int64(2, step);
      Message summary{event, 5}, one{summary, 1};
      one.add_string(1, tag);
      one.add_float(2, static_cast<float>(*value));
    }
    out_ += tf_record(bytes);
  }

  std::string take() { return std::move(out_); }

 private:
  double begin_;
  std::string out_;
};

void add_steps(const ExportRun& run, EventFile& file) {
  for (const StepFigures& one : run.steps) {
    const double seconds = one.host_seconds.value_or(0);
    file.scalar("train/loss", one.step, seconds, one.loss);
    file.scalar("train/learning_rate", one.step, seconds, one.learning_rate);
    file.scalar("train/grad_norm", one.step, seconds, one.grad_norm);
    file.scalar("train/epoch", one.step, seconds, one.epoch);
  }
}

void add_evaluations(const TrainingFigures& training, std::int64_t last, double seconds, EventFile& file) {
  for (const EvaluationFigures& one : training.epochs) {
    const double epoch = one.epoch.value_or(0), at = seconds * epoch / std::max(epoch, 1.0);
    file.scalar(one.split + "/loss", last, at, one.loss);
    if (one.samples) file.scalar(one.split + "/samples", last, at, static_cast<double>(*one.samples));
    for (const auto& [name, value] : one.scores) file.scalar(one.split + "/" + name, last, at, value);
  }
}

std::vector<ExportFile> tensorboard_files(const ExportRun& run) {
  EventFile file{run.begin};
  add_steps(run, file);
  const std::int64_t last = run.steps.empty() ? 0 : run.steps.back().step;
  const double seconds = run.steps.empty() ? 0 : run.steps.back().host_seconds.value_or(0);
  if (run.figures.training) add_evaluations(*run.figures.training, last, seconds, file);
  for (const char* section : {"job", "plan", "cost", "utilisation", "memory"})
    for (const auto& [figure, value] : figures_of_section(run.figures, section))
      file.scalar(fmt::format("{}/{}", section == std::string_view{"job"} ? "train" : section, figure->name), last,
                  seconds, value);
  for (const auto& [kind, bytes] : run.figures.memory.kinds)
    file.scalar("memory/" + kind, last, seconds, static_cast<double>(bytes));
  return {{fmt::format("events.out.tfevents.{}.trnsim", std::llround(run.begin)), file.take()}};
}

}  // namespace

Exporter exporter_tensorboard() { return {"tensorboard", "tensorboard", tensorboard_files}; }

}  // namespace analysis
