#include "cli/sweep_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "analysis/stats.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "cli/project.h"
#include "cli/train_options.h"
#include "hw/sim_device.h"
#include "isa/asm.h"
#include "isa/check.h"
#include "workloads/config.h"
#include "workloads/job.h"

namespace cli {
namespace {

using analysis::Metrics;
using analysis::SweepPoint;

/// Options of a run that the projection reads; a sweep over any other would change nothing.
constexpr std::array<std::string_view, 13> kOptions = {"per_device_train_batch_size",
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
                                                       "logging_steps"};

bool is_option(const std::string& key) { return std::ranges::find(kOptions, key) != kOptions.end(); }

/// Results of another binary are not ours.
std::uint64_t binary_hash() {
  static const std::uint64_t hash = base::hash64(base::read_file("/proc/self/exe"));
  return hash;
}

std::vector<std::string> overrides(const SweepPoint& point) {
  std::vector<std::string> list;
  for (const auto& [key, value] : point) {
    if (!is_option(key)) list.push_back(key + "=" + value);
  }
  return list;
}

Metrics metrics_of(const hw::SimResult& result, const isa::Program& program, double dollars_per_hour) {
  const analysis::Utilisation u = analysis::utilisation(result, program);
  Metrics metrics = {{"seconds", u.seconds}, {"dollars", u.seconds / 3600 * dollars_per_hour},
                     {"mfu", u.mfu},         {"hfu", u.hfu},
                     {"mbu", u.mbu},         {"collectives_exposed_seconds", hw::seconds(result.collective_exposed)}};
  for (const analysis::Resource& resource : analysis::resources(result)) {
    std::string name = "busy." + resource.name;
    std::ranges::replace(name, ' ', '_');
    metrics[name] = resource.busy;
  }
  return metrics;
}

/// A workload with the options of a point.
struct JobAtPoint {
  TrainOptions options;
  hw::MachineParams machine;
};

JobAtPoint job_at(const workloads::Job& job, const std::string& machine, const SweepPoint& point) {
  JobAtPoint at;
  std::map<std::string, std::string> changed;
  if (!machine.empty()) changed["instance_type"] = machine;
  for (const auto& [key, value] : point) {
    if (is_option(key)) changed[key] = value;
  }
  apply_defaults(at.options, changed, "--set");
  for (const auto& [name, value] : changed) at.options.given.insert(name);
  apply_defaults(at.options, job.options, job.file);
  at.machine = hw::load_machine(at.options.instance_type, overrides(point));
  return at;
}

workloads::BertConfig model_of_job(const workloads::Job& job) {
  workloads::BertConfig config = workloads::bert_preset(job.model);
  config.label_names.clear();
  for (std::int64_t i = 0; i < job.labels; ++i) config.label_names.push_back(fmt::format("LABEL_{}", i));
  return config;
}

std::uint64_t job_hash(const workloads::Job& job, const std::string& machine, const SweepPoint& point) {
  const JobAtPoint at = job_at(job, machine, point);
  base::Hasher hasher;
  hasher.add_text(base::hash_text(binary_hash()));
  hasher.add_text(base::hash_text(at.machine.hash));
  hasher.add_text(fmt::format("{} {} {} {}", job.model, job.samples, job.eval_samples, job.labels));
  for (const TrainOptionRow& row : train_option_rows()) {
    if (!is_option(std::string{row.name()}) || row.name() == "instance_type") continue;
    std::visit([&](auto member) { hasher.add_text(cli::show(at.options.*member)); }, row.member);
  }
  return hasher.digest();
}

Metrics job_metrics(const workloads::Job& job, const std::string& machine, const SweepPoint& point) {
  const JobAtPoint at = job_at(job, machine, point);
  ProjectedJob plan = projected_job(at.options, model_of_job(job), job.samples, job.eval_samples);
  plan.step.ranks = cores_of(at.options, at.machine);
  const Projection p = project(plan, at.machine);
  Metrics metrics = metrics_of(p.device, p.compiled.program, 0);
  metrics["seconds"] = p.time.total;
  metrics["dollars"] = p.dollars;
  metrics["step_seconds"] = p.time.step;
  metrics["device_step_seconds"] = p.time.device_step;
  metrics["host_step_seconds"] = p.time.host_step;
  metrics["samples_per_second"] = p.samples_per_second();
  metrics["hbm_bytes"] = static_cast<double>(p.compiled.memory.total);
  if (p.time.step > 0) metrics["busy.host"] = std::min(100.0, p.time.host_step / p.time.step * 100);
  return metrics;
}

}  // namespace

analysis::SweepModel program_model(const std::string& path, const std::string& machine) {
  const std::string text = base::read_file(path);
  const auto program = std::make_shared<const isa::Program>(isa::parse_program(text, path));
  isa::check(*program);
  const std::uint64_t content = base::hash64(text, binary_hash());
  return {.hash =
              [content, machine](const SweepPoint& point) {
                return base::hash64(base::hash_text(hw::load_machine(machine, overrides(point)).hash), content);
              },
          .evaluate =
              [program, machine](const SweepPoint& point) {
                const hw::MachineParams params = hw::load_machine(machine, overrides(point));
                return metrics_of(hw::simulate(*program, params), *program, params.price_on_demand.value);
              }};
}

analysis::SweepModel job_model(const std::string& workload, const std::string& machine) {
  const auto job = std::make_shared<const workloads::Job>(workloads::load_job(workload));
  return {.hash = [job, machine](const SweepPoint& point) { return job_hash(*job, machine, point); },
          .evaluate = [job, machine](const SweepPoint& point) { return job_metrics(*job, machine, point); }};
}

}  // namespace cli
