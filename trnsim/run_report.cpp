#include "trnsim/run_report.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <thread>

#include "analysis/cost.h"
#include "analysis/record.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/stats.h"
#include "base/files.h"
#include "base/param_file.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "hw/sim_device.h"
#include "trnsim/version.h"

namespace trnsim {
namespace {

using base::Table;
using nlohmann::ordered_json;

/// What we predict for a figure that somebody published; nothing for one that we do not know.
std::optional<double> predicted(const std::string& name, const Projection& p) {
  if (name == "train_samples_per_second") return p.samples_per_second();
  if (name == "train_runtime") return p.time.total;
  if (name == "dollars") return p.dollars;
  return {};
}

/// Those of the projected job.
std::vector<workloads::Published> published_figures(const RunReport& run) {
  return run.job && run.is_published ? run.job->published : std::vector<workloads::Published>{};
}

std::string show(const std::string& name, double value) {
  if (name == "train_runtime") return base::clock_text(value);
  if (name == "dollars") return fmt::format("${:.3f}", value);
  return fmt::format("{:.2f}", value);
}

ordered_json job_json(const RunReport& run) {
  const Projection& p = *run.projection;
  ordered_json parts = ordered_json::array();
  for (const analysis::TimeItem& part : p.time.parts) parts.push_back({{"name", part.name}, {"seconds", part.seconds}});
  return {{"step_seconds", p.time.step},
          {"device_step_seconds", p.time.device_step},
          {"host_step_seconds", p.time.host_step},
          {"overlapped", p.time.overlapped},
          {"train_runtime", p.time.total},
          {"train_samples_per_second", p.samples_per_second()},
          {"train_steps_per_second", p.steps / p.time.total},
          {"compile_seconds", p.time.compile},
          {"tokens", p.samples * static_cast<double>(run.projected->step.length)},
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
                   {"simulated_step_seconds", t.simulated_step_seconds},
                   {"host_seconds", t.outcome.host_seconds},
                   {"epochs", epochs}};
  if (!t.outcome.evaluations.empty()) {
    const workloads::EvalRecord& last = t.outcome.evaluations.back();
    out["eval_loss"] = last.loss;
    add_scores(out, "eval_", last);
  }
  return out;
}

ordered_json options_json(const TrainOptions& options) {
  ordered_json out = ordered_json::object();
  for (const TrainOptionRow& row : train_option_rows())
    std::visit([&](auto member) { out[std::string{row.name()}] = options.*member; }, row.member);
  return out;
}

/// null when nobody says what the machine costs.
ordered_json cost_json(const RunReport& run) {
  const Projection& p = *run.projection;
  if (!p.price_per_hour) return nullptr;
  const analysis::Cost cost =
      analysis::cost_of(p.time.total, *p.price_per_hour, static_cast<int>(run.machine->instances.value),
                        run.projected->epochs, p.samples);
  return {{"price_per_hour", *p.price_per_hour},
          {"run", cost.run},
          {"per_epoch", cost.per_epoch},
          {"per_1k_samples", cost.per_1k_samples}};
}

ordered_json model_json(const workloads::ModelConfig& config) {
  const std::string family = base::lower(workloads::family_of(config));
  return std::visit(
      [&](const auto& c) {
        return ordered_json{{"family", family},
                            {"layers", c.num_hidden_layers},
                            {"hidden", c.hidden_size},
                            {"parameters", workloads::parameter_count(workloads::model_weights(config))}};
      },
      config);
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

std::vector<analysis::Section> summary(const RunReport& run) {
  std::vector<analysis::Section> out;
  if (run.projection) {
    const Projection& p = *run.projection;
    analysis::Section job{"Projected job", {}};
    job.facts.push_back({"machine", run.machine->name});
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
    for (const workloads::EvalRecord& e : t.outcome.evaluations)
      trained.facts.push_back({fmt::format("{} at epoch {:.2f}", e.split, e.epoch), scores_text(e)});
    out.push_back(std::move(trained));
  }
  return out;
}

}  // namespace

Table job_table(const RunReport& run) {
  Table table{{{"figure", ""}, {"predicted", ""}, {"published", ""}, {"error", "error %"}, {"source", ""}}};
  const std::vector<workloads::Published> figures = published_figures(run);
  for (const workloads::Published& published : figures) {
    const auto value = predicted(published.name, *run.projection);
    if (!value) continue;
    table.add_row({published.name, show(published.name, *value), show(published.name, published.value),
                   fmt::format("{:+.1f}", 100 * (*value / published.value - 1)), published.source});
  }
  for (const char* name : {"train_samples_per_second", "train_runtime", "dollars"}) {
    const auto known = [&](const workloads::Published& published) { return published.name == name; };
    if (std::ranges::any_of(figures, known)) continue;
    const auto value = predicted(name, *run.projection);
    table.add_row({name, value ? show(name, *value) : "no price", "", "", ""});
  }
  return table;
}

Table engine_table(const Projection& projection) {
  Table table{{{"engine", ""}, {"busy", "busy %"}, {"waiting", "waiting %"}, {"idle", "idle %"}, {"instructions", ""}}};
  for (const analysis::EngineShare& e : analysis::engine_shares(projection.device))
    table.add_row({e.engine, fmt::format("{:.1f}", e.busy), fmt::format("{:.1f}", e.waited()),
                   fmt::format("{:.1f}", e.idle), fmt::format("{}", e.instructions)});
  return table;
}

Table time_table(const Projection& projection) {
  Table table{{{"part", "part of train_runtime"}, {"seconds", ""}, {"share", "%"}}};
  for (const analysis::TimeItem& part : projection.time.parts)
    table.add_row({part.name, fmt::format("{:.2f}", part.seconds),
                   fmt::format("{:.1f}", 100 * part.seconds / projection.time.total)});
  return table;
}

Table memory_table(const std::map<std::string, std::uint64_t>& by_kind, std::uint64_t total, std::uint64_t capacity) {
  Table table{{{"kind", "HBM per core"}, {"bytes", ""}}};
  const auto bytes = [](std::uint64_t n) { return base::readable(static_cast<double>(n), base::Dimension::kBytes); };
  for (const auto& [kind, n] : by_kind) table.add_row({kind, bytes(n)});
  table.add_row({"in all", bytes(total)});
  if (capacity > 0) table.add_row({"there are", bytes(capacity)});
  return table;
}

ordered_json result_body(const RunReport& run) {
  ordered_json body;
  body["trnsim"] = {{"version", version()}};
  body["command"] = run.command;
  ordered_json workload{{"name", run.workload}, {"options", options_json(run.options)}};
  if (run.projected) {
    workload["model"] = model_json(run.decoder ? *run.decoder : workloads::ModelConfig{run.projected->config});
    workload["dataset"] = {{"samples", run.projected->samples}};
  }
  body["workload"] = std::move(workload);
  body["machine"] = {{"instance_type", run.machine->name},
                     {"instances", run.machine->instances.value},
                     {"cores", run.decoder     ? run.cores
                               : run.projected ? run.projected->step.ranks
                                               : 0},
                     {"hash", fmt::format("{:016x}", run.machine->hash)}};
  body["seed"] = run.options.seed;
  if (run.projection) {
    const Projection& p = *run.projection;
    body["job"] = job_json(run);
    body["cost"] = cost_json(run);
    const analysis::Utilisation u = analysis::utilisation(p.device, p.compiled.program);
    body["utilisation"] = {{"mfu", u.mfu},
                           {"mfu_advertised", u.mfu_advertised},
                           {"hfu", u.hfu},
                           {"mbu", u.mbu},
                           {"mfu_achievable", u.mfu_achievable},
                           {"intensity", u.intensity},
                           {"model_flops", u.model_flops},
                           {"matmul_flops", u.matmul_flops},
                           {"transpose_flops", u.transpose_flops}};
    body["engines"] = engines_json(p.device);
    ordered_json resources = ordered_json::array();
    for (const analysis::Resource& r : analysis::resources(p.device))
      resources.push_back({{"name", r.name}, {"busy", r.busy}, {"waiting", r.waiting}});
    body["resources"] = std::move(resources);
    ordered_json memory = ordered_json::object();
    for (const auto& [kind, bytes] : p.compiled.memory.bytes_by_kind) memory[kind] = bytes;
    memory["peak"] = p.compiled.memory.total;
    memory["capacity"] = run.machine->hbm_bytes_per_core();
    body["memory"] = std::move(memory);
  }
  body["metrics"] = run.training ? metrics_json(*run.training) : ordered_json{};
  ordered_json published = ordered_json::array();
  if (run.projection)
    for (const workloads::Published& figure : published_figures(run))
      if (const auto value = predicted(figure.name, *run.projection))
        published.push_back({{"name", figure.name},
                             {"published", figure.value},
                             {"predicted", *value},
                             {"error_percent", 100 * (*value / figure.value - 1)},
                             {"source", figure.source}});
  body["published"] = std::move(published);
  body["host"] = {
      {"seconds", run.host_seconds},
      {"peak_bytes", peak_bytes()},
      {"threads", run.options.host_threads > 0 ? run.options.host_threads
                                               : static_cast<std::int64_t>(std::thread::hardware_concurrency())}};
  return body;
}

void write_run_files(const std::filesystem::path& folder, const RunReport& run) {
  analysis::write_result(folder, result_body(run));
  analysis::write_machine(folder, hw::machine_file(run.options.instance_type, run.options.set));
  analysis::write_summary(folder, run.workload, summary(run));
  if (!run.projection) return;
  const Projection& p = *run.projection;
  analysis::write_stats(folder, analysis::summary_stats(p.device, p.compiled.program));
  analysis::RecordInfo info;
  info.trnsim = version();
  info.workload = run.workload;
  info.command = run.command;
  info.instance_type = run.machine->name;
  info.instances = static_cast<std::uint32_t>(run.machine->instances.value);
  info.cores_per_chip = static_cast<std::uint32_t>(run.machine->cores.value);
  info.hbm_bytes_per_core = run.machine->hbm_bytes_per_core();
  info.machine_hash = run.machine->hash;
  info.machine_toml = run.machine->toml;
  analysis::write_record(folder, p.device, p.compiled.program, info);
  const auto prices = analysis::load_prices(std::string_view{});
  const std::array page{analysis::load_report_run(folder, prices, analysis::kRooflineEfficiency)};
  base::write_file(folder / "report.html", analysis::report_html(page));
}

}  // namespace trnsim
