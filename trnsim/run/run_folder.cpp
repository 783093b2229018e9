// The folder of a run: result.json, the records of its stages, and what is made from them.

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <thread>

#include "analysis/cost/cost.h"
#include "analysis/numerics/numeric_events.h"
#include "analysis/profile/stats.h"
#include "analysis/record/record.h"
#include "analysis/record/result.h"
#include "analysis/report/report.h"
#include "base/error.h"
#include "base/files.h"
#include "base/param_file.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "hw/sim_device.h"
#include "trnsim/job/lengths.h"
#include "trnsim/job/version.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/compiler_memory.h"
#include "trnsim/run/run.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using nlohmann::ordered_json;

ordered_json job_json(const RunResult& run) {
  const Projection& p = *run.projection;
  ordered_json parts = ordered_json::array();
  for (const analysis::TimeItem& part : p.time.parts) parts.push_back({{"name", part.name}, {"seconds", part.seconds}});
  return {{"step_seconds", p.time.step},
          {"device_step_seconds", p.time.device_step},
          {"host_step_seconds", p.time.host_step},
          {"overlapped", p.time.overlapped},
          {"train_runtime", p.time.total},
          {"train_runtime_elsewhere", runtime_elsewhere(*run.job, p, run.settings.machine.set)},
          {"train_samples_per_second", p.samples_per_second()},
          {"train_steps_per_second", p.steps / p.time.total},
          {"mfu_percent", 100 * p.job_mfu},
          {"stack", run.job->stack},
          {"start_seconds", p.time.start},
          {"compile_seconds", p.time.compile},
          {"compile_first_seconds", p.time.compile_first},
          {"host_memory_bytes", compile_cost(*run.job, p).host_bytes},
          {"tokens", p.samples * run.job->mean_length()},
          {"model_flops", p.model_flops * p.steps},
          {"parts", parts}};
}

ordered_json engines_json(const hw::SimResult& result) {
  ordered_json out = ordered_json::array();
  for (const analysis::EngineShare& e : analysis::engine_shares(result)) {
    ordered_json waiting = ordered_json::object();
    for (int h = 0; h < hw::kHoldCount; ++h)
      waiting[hw::kHoldNames[static_cast<std::size_t>(h)]] = e.waiting[static_cast<std::size_t>(h)];
    out.push_back({{"engine", e.engine},
                   {"busy", e.busy},
                   {"waiting", waiting},
                   {"idle", e.idle},
                   {"instructions", e.instructions}});
  }
  return out;
}

void add_scores(ordered_json& out, const std::string& prefix, const workloads::EvalRecord& record) {
  for (const auto& [name, value] : record.scores) std::visit([&, key = prefix + name](auto v) { out[key] = v; }, value);
}

std::string scores_text(const workloads::EvalRecord& record) {
  std::string text = fmt::format("loss {:.4f}", record.loss);
  for (const auto& [name, value] : record.scores)
    std::visit([&, key = name](auto v) { text += fmt::format(", {} {:.4f}", key, static_cast<double>(v)); }, value);
  return text;
}

ordered_json metrics_json(const Training& t) {
  ordered_json epochs = ordered_json::array();
  for (const workloads::EvalRecord& e : t.outcome.evaluations) {
    epochs.push_back({{"split", e.split}, {"epoch", e.epoch}, {"loss", e.loss}, {"samples", e.samples}});
    add_scores(epochs.back(), "", e);
  }
  ordered_json out{{"model", t.model},
                   {"parameters", t.parameters},
                   {"numerics", t.numerics},
                   {"dataset", t.dataset},
                   {"synthetic", t.synthetic},
                   {"steps", t.outcome.steps},
                   {"interrupted", t.outcome.interrupted},
                   {"train_loss", t.outcome.train_loss},
                   {"numeric_events", analysis::to_json(t.outcome.events)},
                   {"simulated_step_seconds", t.simulated_step_seconds},
                   {"host_seconds", t.outcome.host_seconds},
                   {"epochs", epochs}};
  // The last of each split, under the split's name.
  for (const workloads::EvalRecord& e : t.outcome.evaluations) {
    out[e.split + "_loss"] = e.loss;
    add_scores(out, e.split + "_", e);
  }
  return out;
}

/// Of the model that was trained for real, at the end.
std::optional<double> f1_of(const RunResult& run) {
  if (!run.training || run.training->outcome.evaluations.empty()) return {};
  for (const auto& [name, score] : run.training->outcome.evaluations.back().scores)
    if (name == "f1_weighted") return std::get<double>(score);
  return {};
}

ordered_json model_json(const workloads::ModelPtr& config) {
  const std::string family = base::lower(config->family());
  return ordered_json{{"family", family},
                      {"layers", config->sizes().layers},
                      {"hidden", config->sizes().hidden},
                      {"parameters", workloads::parameter_count(config->weights())}};
}

ordered_json plan_json(const RunResult& run) {
  const runtime::Plan& plan = run.job->step.plan;
  const Projection& p = *run.projection;
  ordered_json out{{"text", describe(*run.job)},          {"tensor", plan.tensor},
                   {"pipeline", plan.pipeline},           {"data", plan.data},
                   {"micro_batches", plan.micro_batches}, {"numerics", plan.numerics.name}};
  if (plan.pipeline == 1) return out;
  out["bubble_seconds"] = p.bubble_seconds;
  out["micro_batch_seconds"] = p.micro_seconds;
  out["recorded_micro_batches"] = p.micro_batches;
  out["slowest_stage"] = p.slowest;
  for (const Stage& stage : p.stages)
    out["stage_seconds"].push_back(hw::seconds(stage.device.total - stage.device.lead_in));
  return out;
}

ordered_json cost_json(const RunResult& run) {
  const Projection& p = *run.projection;
  if (!p.price_per_hour) return {{"price_per_hour", nullptr}, {"run", nullptr}};
  const analysis::Cost cost = analysis::cost_of(p.time.total, *p.price_per_hour, static_cast<int>(run.job->instances()),
                                                run.job->sizes.epochs, p.samples);
  return {{"price_per_hour", *p.price_per_hour},
          {"run", cost.run},
          {"per_epoch", cost.per_epoch},
          {"per_1k_samples", cost.per_1k_samples}};
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void drop(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error)
    throw base::Error{base::Fault::kEnvironment, path.string(), fmt::format("cannot be removed: {}", error.message()),
                      "choose another `output_dir`"};
}

std::vector<analysis::Section> summary(const RunResult& run) {
  std::vector<analysis::Section> out;
  if (run.projection) {
    const Projection& p = *run.projection;
    analysis::Section job{"Projected job", {}};
    job.facts.push_back({"machine", run.machine.name});
    job.facts.push_back({"step", fmt::format("{:.1f} ms, device {:.1f} ms, host {:.1f} ms", p.time.step * 1e3,
                                             p.time.device_step * 1e3, p.time.host_step * 1e3)});
    job.facts.push_back({"train_runtime", base::clock_text(p.time.total)});
    job.facts.push_back({"samples/s", fmt::format("{:.2f}", p.samples_per_second())});
    job.facts.push_back({"cost", p.dollars ? fmt::format("${:.3f}", *p.dollars) : "no price"});
    out.push_back(std::move(job));
  }
  if (run.training) {
    const Training& t = *run.training;
    analysis::Section trained{"Training on the simulated cores", {}};
    trained.facts.push_back({"model", t.model});
    trained.facts.push_back({"data", t.dataset + (t.synthetic ? " (synthetic)" : "")});
    trained.facts.push_back({"numerics", t.numerics});
    trained.facts.push_back({"train loss", fmt::format("{:.4f}", t.outcome.train_loss)});
    trained.facts.push_back({"numbers lost", analysis::numeric_events_text(analysis::to_json(t.outcome.events))});
    for (const workloads::EvalRecord& e : t.outcome.evaluations)
      trained.facts.push_back({fmt::format("{} at epoch {:.2f}", e.split, e.epoch), scores_text(e)});
    out.push_back(std::move(trained));
  }
  return out;
}

ordered_json utilisation_json(const Stage& stage) {
  const analysis::Utilisation u = analysis::utilisation(stage.device, stage.compiled.program);
  return {{"mfu", u.mfu},
          {"mfu_advertised", u.mfu_advertised},
          {"hfu", u.hfu},
          {"mbu", u.mbu},
          {"mfu_achievable", u.mfu_achievable},
          {"intensity", u.intensity},
          {"model_flops", u.model_flops},
          {"matmul_flops", u.matmul_flops},
          {"transpose_flops", u.transpose_flops}};
}

ordered_json resources_json(const hw::SimResult& device) {
  ordered_json out = ordered_json::array();
  for (const analysis::Resource& r : analysis::resources(device))
    out.push_back({{"name", r.name}, {"busy", r.busy}, {"waiting", r.waiting}});
  return out;
}

ordered_json memory_json(const Memory& memory) {
  ordered_json out = ordered_json::object();
  for (const auto& [kind, bytes] : memory.by_kind) out[kind] = bytes;
  out["peak"] = memory.total;
  out["capacity"] = memory.capacity;
  for (const auto& [part, bytes] : compiler_parts(memory)) out["compiler"][part] = bytes;
  out["verdict"] = verdict(memory);
  return out;
}

/// What the compiler's passes are worth, of a workload that is about them.
ordered_json compiler_json(const CompilerGain& gain, const std::optional<workloads::Published>& published) {
  ordered_json cases = ordered_json::array();
  const double first = gain.cases.front().samples_per_second();
  for (const CompilerCase& c : gain.cases)
    cases.push_back({{"name", c.name},
                     {"per_device_train_batch_size", c.job.step.plan.micro_batch},
                     {"learning_rate", c.learning_rate},
                     {"device_step_seconds", c.projection.time.device_step},
                     {"step_seconds", c.projection.time.step},
                     {"samples_per_second", c.samples_per_second()},
                     {"speed_up_percent", 100 * (c.samples_per_second() / first - 1)},
                     {"hbm_bytes", c.projection.memory.total}});
  ordered_json out{{"speed_up_percent", 100 * gain.speed_up()}, {"cases", cases}};
  if (published) out["published"] = {{"speed_up_percent", 100 * published->value}, {"source", published->source}};
  return out;
}

/// The published figures that are predicted, with the error of each.
ordered_json published_json(const RunResult& run) {
  ordered_json out = ordered_json::array();
  if (!run.projection) return out;
  for (const workloads::Published& figure : run.published)
    if (const auto value = predicted(figure.name, run))
      out.push_back({{"name", figure.name},
                     {"published", figure.value},
                     {"low", figure.low},
                     {"high", figure.high},
                     {"predicted", *value},
                     {"error_percent", 100 * figure.error(*value)},
                     {"source", figure.source}});
  return out;
}

}  // namespace

std::optional<double> predicted(const std::string& name, const RunResult& run) {
  if (name == "eval_f1") return f1_of(run);
  if (!run.projection) return {};
  const Projection& p = *run.projection;
  if (name == "train_samples_per_second") return p.samples_per_second();
  if (name == "train_runtime") return p.time.total;
  if (name == "dollars") return p.dollars;
  if (name == "compile") return p.time.compile;
  if (name == "end_to_end") return p.end_to_end;
  if (name == "dollars_end_to_end" && p.dollars) return *p.dollars * p.end_to_end / p.time.total;
  if (name == "core_utilisation") return p.time.device_step / p.time.step;
  if (name == "eval_runtime" && run.job->evaluations() > 0)
    for (const analysis::TimeItem& part : p.time.parts)
      if (part.name == "evaluation") return part.seconds / run.job->evaluations();
  return {};
}

ordered_json answer_json(const Answer& answer, const std::optional<std::vector<Change>>& changes) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; changes && i < changes->size(); ++i) {
    const Change& c = (*changes)[i];
    ordered_json settings = ordered_json::object();
    for (const auto& [name, value] : c.settings) settings[name] = value;
    std::string command = answer.changes[i].command;  // without the program's folder: the file is read elsewhere
    command.erase(0, command.find_last_of('/', command.find(' ')) + 1);
    list.push_back({{"settings", settings},
                    {"text", answer.changes[i].text},
                    {"command", command},
                    {"speed_up_percent", 100 * c.speed_up},
                    {"train_runtime", c.seconds},
                    {"dollars", c.dollars ? ordered_json(*c.dollars) : ordered_json()}});
  }
  return {{"time", answer.time},      {"dollars", answer.dollars}, {"memory", answer.memory},
          {"bound_by", answer.bound}, {"sure", answer.sure},       {"changes", changes ? list : ordered_json()}};
}

ordered_json result_body(const RunResult& run) {
  ordered_json body;
  body["trnsim"] = {{"version", version()}};
  body["command"] = run.command;
  ordered_json workload{{"name", run.workload}, {"options", to_json(run.settings)}};
  if (run.job) {
    workload["model"] = model_json(run.job->model);
    workload["dataset"] = {{"samples", static_cast<std::int64_t>(run.job->sizes.samples)}};
  }
  body["workload"] = std::move(workload);
  body["machine"] = {{"instance_type", run.machine.name},
                     {"instances", run.machine.instances.value},
                     {"cores", run.job       ? run.job->cores()
                               : run.trained ? run.trained->cores()
                                             : 0},
                     {"hash", fmt::format("{:016x}", run.machine.hash)}};
  body["seed"] = run.settings.training.seed;
  if (run.projection) {
    const Projection& p = *run.projection;
    body["answer"] = answer_json(answer(*run.job, p, run.changes, run.typed), run.changes);
    body["job"] = job_json(run);
    if (!p.lengths.empty()) body["lengths"] = lengths_json(*run.job, p);
    body["plan"] = plan_json(run);
    body["cost"] = cost_json(run);
    body["utilisation"] = utilisation_json(p.stage());
    body["engines"] = engines_json(p.stage().device);
    body["resources"] = resources_json(p.stage().device);
    body["memory"] = memory_json(p.memory);
  }
  body["metrics"] = run.training ? metrics_json(*run.training) : ordered_json{};
  if (run.training && run.trained_settings) body["metrics"]["options"] = to_json(*run.trained_settings);
  body["published"] = published_json(run);
  if (run.gain) body["compiler"] = compiler_json(*run.gain, run.published_gain);
  body["host"] = {{"seconds", run.host_seconds},
                  {"peak_bytes", peak_bytes()},
                  {"threads", run.settings.machine.host_threads > 0
                                  ? run.settings.machine.host_threads
                                  : static_cast<std::int64_t>(std::thread::hardware_concurrency())}};
  return body;
}

void remove_run_files(const std::filesystem::path& folder, const std::filesystem::path& checkpoint) {
  for (const char* name : {"result.json", "machine.toml", "summary.md", "stats.txt", "report.html", "run.sqlite",
                           "model", "tensorboard", "metrics.prom", "mlperf.jsonl", "records"})
    drop(folder / name);
  for (std::size_t stage = 0; std::filesystem::exists(folder / analysis::record_name(stage)); ++stage)
    drop(folder / analysis::record_name(stage));
  std::vector<std::filesystem::path> left;  // by a run that was killed while it wrote
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".tmp") || (name.starts_with(".") && name.find(".sqlite.") != std::string::npos))
      left.push_back(entry.path());
  }
  for (const std::filesystem::path& path : left) drop(path);
  const auto within =
      std::filesystem::weakly_canonical(checkpoint).lexically_relative(std::filesystem::weakly_canonical(folder));
  if (!checkpoint.empty() && !within.empty() && *within.begin() != "..") return;
  drop(folder / "steps.jsonl");
  drop(folder / "checkpoint");
}

void write_run_files(const std::filesystem::path& folder, const RunResult& run) {
  analysis::write_result(folder, result_body(run));
  analysis::write_machine(folder, hw::machine_file(run.settings.machine.instance_type, run.settings.machine.set));
  analysis::write_summary(folder, run.workload, summary(run));
  if (!run.projection) return write_exports(folder, run);
  const Projection& p = *run.projection;
  analysis::write_stats(folder, analysis::summary_stats(p.stage().device, p.stage().compiled.program));
  write_records(folder, run);
  const auto prices = analysis::load_prices(std::string_view{});
  const std::array page{analysis::load_report_run(folder, prices, analysis::kRooflineEfficiency)};
  base::write_file(folder / "report.html", analysis::report_html(page));
  write_exports(folder, run);
}

}  // namespace trnsim
