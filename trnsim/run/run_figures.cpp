// figures_of(): all that a run answers, as values.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <tuple>

#include "analysis/figures/figure_table.h"
#include "analysis/figures/json_fields.h"
#include "base/error.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/figures.h"
#include "trnsim/run/run.h"
#include "trnsim/version.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

analysis::Named<analysis::SettingValue> options_of(const Settings& settings) {
  analysis::Named<analysis::SettingValue> out;
  analysis::read_json(to_json(settings), {"settings", ""}, out);
  return out;
}

double plain(const workloads::MetricValue& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

analysis::TrainingFigures training_figures(const RunResult& run) {
  const Training& t = *run.training;
  analysis::TrainingFigures out;
  out.model = t.model, out.numerics = t.numerics, out.dataset = t.dataset, out.synthetic = t.synthetic;
  out.interrupted = t.outcome.interrupted, out.parameters = t.parameters, out.steps = t.outcome.steps;
  out.train_loss = t.outcome.train_loss, out.simulated_step_seconds = t.simulated_step_seconds;
  out.host_seconds = t.outcome.host_seconds, out.numeric_events = t.outcome.events;
  if (run.trained_settings) out.options = options_of(*run.trained_settings);
  const auto keep = [&](const std::string& name, double value) {
    const auto found = std::ranges::find(out.scores, name, &std::pair<std::string, double>::first);
    (found == out.scores.end() ? out.scores.emplace_back(name, 0) : *found).second = value;
  };
  for (const workloads::EvalRecord& e : t.outcome.evaluations) {
    auto& one = out.epochs.emplace_back();
    one.split = e.split, one.epoch = e.epoch, one.loss = e.loss, one.samples = e.samples;
    keep(e.split + "_loss", e.loss);
    for (const auto& [name, value] : e.scores) {
      one.scores.emplace_back(name, plain(value));
      keep(e.split + "_" + name, plain(value));
    }
  }
  return out;
}

/// The compiler's passes, of a workload that is about them.
analysis::GainFigures gain_figures(const CompilerGain& gain, const std::optional<workloads::Published>& published) {
  analysis::GainFigures out{.speed_up_percent = 100 * gain.speed_up(), .cases = {}, .published = {}};
  const double first = gain.cases.front().samples_per_second();
  for (const CompilerCase& c : gain.cases)
    out.cases.push_back({.name = c.name,
                         .per_device_train_batch_size = c.job.step.plan.micro_batch,
                         .learning_rate = c.learning_rate,
                         .device_step_seconds = c.projection.time.device_step,
                         .step_seconds = c.projection.time.step,
                         .samples_per_second = c.samples_per_second(),
                         .speed_up_percent = 100 * (c.samples_per_second() / first - 1),
                         .hbm_bytes = static_cast<std::int64_t>(c.projection.memory.total)});
  if (published) out.published = {100 * published->value, published->source};
  return out;
}

/// The published figures that are predicted, with the error of each.
std::vector<analysis::PublishedFigure> published_figures(const RunResult& run, const analysis::Figures& figures) {
  std::vector<analysis::PublishedFigure> out;
  if (!run.projection) return out;
  for (const workloads::Published& one : run.published) {
    const analysis::Figure* figure = analysis::find_figure(one.name);
    base::ensure(figure != nullptr, one.name, "no figure has that name");
    if (const analysis::Maybe value = figure->of(figures))
      out.push_back({.name = std::string{figure->name},
                     .published = one.value,
                     .low = one.low,
                     .high = one.high,
                     .predicted = *value,
                     .error_percent = 100 * one.error(*value),
                     .source = one.source});
  }
  return out;
}

analysis::HostFigures host_figures(const RunResult& run) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {.seconds = run.host_seconds,
          .peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024,
          .threads = run.settings.machine.host_threads > 0
                         ? run.settings.machine.host_threads
                         : static_cast<std::int64_t>(std::thread::hardware_concurrency()),
          .date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))};
}

}  // namespace

analysis::Figures figures_of(const RunResult& run) {
  analysis::Figures out;
  if (run.projection) {
    const Projection& p = *run.projection;
    out = figures_of(*run.job, p);
    out.answer = figures_of(answer(*run.job, p, run.changes, run.typed), run.changes);
    for (const auto& [name, seconds] : runtime_on_other_instances(*run.job, p, run.settings.machine.set))
      out.time.other_instances.emplace_back(name, seconds);
  }
  out.version = version(), out.command = run.command;
  out.workload.name = run.workload, std::tie(out.workload.file, out.workload.file_hash) = run.file;
  out.workload.options = options_of(run.settings);
  out.machine.instance_type = run.machine.name, out.machine.hash = fmt::format("{:016x}", run.machine.hash);
  out.machine.instances = run.machine.instances.value;
  const Job* job = run.job ? &*run.job : run.trained ? &*run.trained : nullptr;
  out.machine.cores = job ? static_cast<double>(job->cores()) : 0;
  out.seed = run.settings.training.seed;
  if (run.training) out.training = training_figures(run);
  for (const GeneratedText& text : run.texts) out.work.texts.push_back({text.text, {text.ids.begin(), text.ids.end()}});
  out.published = published_figures(run, out);
  if (run.gain) out.gain = gain_figures(*run.gain, run.published_gain);
  out.host = host_figures(run);
  return out;
}

}  // namespace trnsim
