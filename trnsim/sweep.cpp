#include "trnsim/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "analysis/prices.h"
#include "analysis/stats.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "hw/sim_device.h"
#include "isa/asm.h"
#include "isa/check.h"
#include "trnsim/decoder_projection.h"
#include "trnsim/project.h"
#include "trnsim/settings.h"
#include "workloads/config.h"
#include "workloads/job.h"
#include "workloads/presets.h"

namespace trnsim {
namespace {

using analysis::Metrics;
using analysis::SweepPoint;

/// Options of a run that the projection reads; a sweep over any other would change nothing.
constexpr std::array<std::string_view, 19> kOptions = {"per_device_train_batch_size",
                                                       "per_device_eval_batch_size",
                                                       "gradient_accumulation_steps",
                                                       "max_length",
                                                       "num_train_epochs",
                                                       "max_steps",
                                                       "numerics",
                                                       "nproc_per_node",
                                                       "nnodes",
                                                       "stack",
                                                       "passes",
                                                       "instance_type",
                                                       "logging_steps",
                                                       "tensor_parallel_size",
                                                       "pipeline_parallel_size",
                                                       "disable_sequence_parallel",
                                                       "zero_1",
                                                       "optimizer_use_master_weights",
                                                       "recompute"};
constexpr std::string_view kModelKey = "model";  // a key of a point too: the preset that the job trains

bool is_bert(const std::string& model) {
  return std::holds_alternative<workloads::BertConfig>(workloads::model_preset(model));
}

bool is_option(const std::string& key) { return std::ranges::find(kOptions, key) != kOptions.end(); }

/// Results of another binary are not ours.
std::uint64_t binary_hash() {
  static const std::uint64_t hash = base::hash64(base::read_file("/proc/self/exe"));
  return hash;
}

std::vector<std::string> overrides(const SweepPoint& point) {
  std::vector<std::string> list;
  for (const auto& [key, value] : point) {
    if (!is_option(key) && key != kModelKey) list.push_back(key + "=" + value);
  }
  return list;
}

/// Of a program: every key is a machine parameter, or a price.
std::vector<std::string> settings(const SweepPoint& point) {
  std::vector<std::string> list;
  for (const auto& [key, value] : point) list.push_back(key + "=" + value);
  return list;
}
hw::MachineParams machine_at(const std::string& machine, const SweepPoint& point) {
  return hw::load_machine(machine, settings(point));
}

/// A result is another one when the price is.
std::string price_text(const std::string& machine, std::vector<std::string> set) {
  const auto price = analysis::price_per_hour(machine, {.set = std::move(set)});
  return price ? fmt::format("{}", *price) : "no price";
}

Metrics metrics_of(const hw::SimResult& result, const isa::Program& program) {
  const analysis::Utilisation u = analysis::utilisation(result, program);
  Metrics metrics = {{"seconds", u.seconds},
                     {"mfu", u.mfu},
                     {"hfu", u.hfu},
                     {"mbu", u.mbu},
                     {"collectives_exposed_seconds", hw::seconds(result.collective_exposed)}};
  for (const analysis::Resource& resource : analysis::resources(result)) {
    std::string name = "busy." + resource.name;
    std::ranges::replace(name, ' ', '_');
    metrics[name] = resource.busy;
  }
  return metrics;
}

/// A workload with the options of a point.
struct JobAtPoint {
  std::string model;
  TrainOptions options{};
  hw::MachineParams machine{};
};

JobAtPoint job_at(const workloads::Job& job, const std::string& machine, const SweepPoint& point) {
  JobAtPoint at{.model = job.model};
  std::map<std::string, std::string> changed;
  if (!machine.empty()) changed["instance_type"] = machine;
  for (const auto& [key, value] : point) {
    if (is_option(key)) changed[key] = value;
    if (key == kModelKey) at.model = value;
  }
  if (is_bert(at.model) != is_bert(job.model))
    throw base::Error{base::Fault::kUsage, "--set model",
                      fmt::format("{} cannot train \"{}\": one is an encoder, one a decoder", job.name, at.model),
                      fmt::format("choose a model like {}", job.model)};
  apply_defaults(at.options, changed, "--set");
  for (const auto& [name, value] : changed) at.options.given.insert(name);
  apply_defaults(at.options, job.options, job.file);
  at.options.set = overrides(point);
  at.machine = hw::load_machine(at.options.instance_type, at.options.set);
  if (is_bert(at.model)) refuse_plan_of_encoder(at.options, at.model);
  return at;
}

workloads::BertConfig encoder_of_job(const workloads::Job& job, const std::string& model) {
  workloads::BertConfig config = workloads::bert_preset(model);
  config.label_names.clear();
  for (std::int64_t i = 0; i < job.labels; ++i) config.label_names.push_back(fmt::format("LABEL_{}", i));
  return config;
}

std::uint64_t job_hash(const workloads::Job& job, const std::string& machine, const SweepPoint& point) {
  const JobAtPoint at = job_at(job, machine, point);
  base::Hasher hasher;
  hasher.add_text(base::hash_text(binary_hash()));
  hasher.add_text(base::hash_text(at.machine.hash));
  hasher.add_text(price_text(at.machine.name, at.options.set));
  hasher.add_text(fmt::format("{} {} {} {}", at.model, job.samples, job.eval_samples, job.labels));
  for (const TrainOptionRow& row : train_option_rows()) {
    if (!is_option(std::string{row.name()}) || row.name() == "instance_type") continue;
    std::visit([&](auto member) { hasher.add_text(trnsim::show(at.options.*member)); }, row.member);
  }
  return hasher.digest();
}

/// Of the whole job: over those of its step.
void add_job(Metrics& metrics, const analysis::JobTime& time, std::optional<double> dollars, double samples,
             std::uint64_t hbm_bytes) {
  metrics["seconds"] = time.total;
  if (dollars) metrics["dollars"] = *dollars;
  metrics["step_seconds"] = time.step;
  metrics["device_step_seconds"] = time.device_step;
  metrics["host_step_seconds"] = time.host_step;
  metrics["samples_per_second"] = samples / time.total;
  metrics["hbm_bytes"] = static_cast<double>(hbm_bytes);
  if (time.step > 0) metrics["busy.host"] = std::min(100.0, time.host_step / time.step * 100);
}

Metrics encoder_metrics(const workloads::Job& job, const JobAtPoint& at) {
  ProjectedJob plan = projected_job(at.options, encoder_of_job(job, at.model), job.samples, job.eval_samples);
  plan.step.ranks = cores_of(at.options, at.machine);
  const Projection p = project(plan, at.machine);
  Metrics metrics = metrics_of(p.device, p.compiled.program);
  add_job(metrics, p.time, p.dollars, p.samples, p.compiled.memory.total);
  return metrics;
}

Metrics decoder_metrics(const workloads::Job& job, const JobAtPoint& at) {
  const double sequences = static_cast<double>(job.samples) * at.options.num_train_epochs;
  DecoderJob plan = decoder_job(at.options, decoder_config(at.model), sequences);
  if (at.options.max_steps >= 0) plan.sequences = static_cast<double>(at.options.max_steps) * plan.sequences_per_step();
  const DecoderProjection p = project(plan, machines_of(plan, at.options.instance_type, at.options.set));
  Metrics metrics = metrics_of(p.device, p.compiled.program);
  add_job(metrics, p.time, p.dollars, p.steps * plan.sequences_per_step(), p.memory.total);
  metrics["mfu"] = 100 * p.mfu;  // of all stages
  return metrics;
}

Metrics job_metrics(const workloads::Job& job, const std::string& machine, const SweepPoint& point) {
  const JobAtPoint at = job_at(job, machine, point);
  return is_bert(at.model) ? encoder_metrics(job, at) : decoder_metrics(job, at);
}

}  // namespace

analysis::SweepModel program_model(const std::string& path, const std::string& machine) {
  const std::string text = base::read_file(path);
  const auto program = std::make_shared<const isa::Program>(isa::parse_program(text, path));
  isa::check(*program, hw::load_machine(machine).target());
  const std::uint64_t content = base::hash64(text, binary_hash());
  return {.hash =
              [content, machine](const SweepPoint& point) {
                const hw::MachineParams params = machine_at(machine, point);
                return base::hash64(base::hash_text(params.hash) + price_text(params.name, settings(point)), content);
              },
          .evaluate =
              [program, machine](const SweepPoint& point) {
                const hw::MachineParams params = machine_at(machine, point);
                isa::check(*program, params.target());
                Metrics metrics = metrics_of(hw::simulate(*program, params), *program);
                if (const auto price = analysis::price_per_hour(params.name, {.set = settings(point)}))
                  metrics["dollars"] = metrics.at("seconds") / 3600 * *price;
                return metrics;
              }};
}

analysis::SweepModel job_model(const std::string& workload, const std::string& machine) {
  const auto job = std::make_shared<const workloads::Job>(workloads::load_job(workload));
  return {.hash = [job, machine](const SweepPoint& point) { return job_hash(*job, machine, point); },
          .evaluate = [job, machine](const SweepPoint& point) { return job_metrics(*job, machine, point); }};
}

}  // namespace trnsim
