#include "trnsim/sweep.h"
#include "trnsim/graphs/graph_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/cost/prices.h"
#include "analysis/figures/figure_table.h"
#include "analysis/profile/stats.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "isa/asm.h"
#include "isa/check.h"
#include "runtime/compiler/compile.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/figures.h"
#include "trnsim/project/stages.h"
#include "trnsim/run/run.h"
#include "workloads/jobs/workload.h"

namespace trnsim {
namespace {

using analysis::Metrics;
using analysis::SweepPoint;

constexpr std::string_view kModelKey = "model";  // a key of a point too: the preset that the job trains

/// For a program: every key is a machine parameter, or a price.
std::vector<std::string> assignments(const SweepPoint& point) {
  std::vector<std::string> list;
  for (const auto& [key, value] : point) list.push_back(key + "=" + value);
  return list;
}

/// A result is another one when the price is.
std::string price_text(const std::optional<double>& price) { return price ? fmt::format("{}", *price) : "no price"; }

/// Per cent of the time that each resource of a core is in use.
void add_busy(Metrics& metrics, const hw::SimResult& result) {
  for (const analysis::Resource& resource : analysis::resources(result)) {
    std::string name = "busy." + resource.name;
    std::ranges::replace(name, ' ', '_');
    metrics[name] = resource.busy;
  }
}

/// Metrics of a program, under the names of stats.txt.
Metrics metrics_of(const hw::SimResult& result, const isa::Program& program) {
  const analysis::Utilisation u = analysis::utilisation(result, program);
  Metrics metrics = {{"total_time", u.seconds},
                     {"mfu_estimated_percent", u.mfu},
                     {"hfu_estimated_percent", u.hfu},
                     {"mbu_estimated_percent", u.mbu},
                     {"cc_op_exposed_time", hw::seconds(result.collective_exposed)}};
  add_busy(metrics, result);
  return metrics;
}

/// The job of a point: the workload, or another model of its kind, and the settings of its job.
struct JobAtPoint {
  workloads::Workload workload;
  Settings given;

  Job job() const { return projected_job(workload, given); }
};

/// A workload with the settings, the model and the machine parameters of a point. Errors: Fault::kUsage for a value
/// that no point could have.
JobAtPoint job_at(const workloads::Workload& workload, const std::string& machine, const SweepPoint& point) {
  std::map<std::string, std::string> changed;
  std::string model = workload.model;
  Settings given;
  if (!machine.empty()) changed["instance_type"] = machine;
  for (const auto& [key, value] : point) {
    if (key == kModelKey)
      model = value;
    else if (find_setting(key))
      changed[key] = value;
    else
      given.machine.set.push_back(key + "=" + value);
  }
  apply_defaults(given, changed, "sweep");
  for (const auto& [name, value] : changed) given.given.insert(name);
  if (!given.machine.set.empty()) given.given.insert("set");
  load_machine(given.machine.instance_type, given.machine.set, given.machine.nnodes);
  if (model == workload.model) return {workload, given};
  if (load_model_config(model)->task() != load_model_config(workload.model)->task())
    throw base::Error{base::Fault::kUsage, "model",
                      fmt::format("{} cannot train \"{}\": one is an encoder, one a decoder", workload.name, model),
                      fmt::format("choose a model like {}", workload.model)};
  workloads::Workload other = workload;
  other.model = model;
  return {other, given};
}

/// A plan that this point's cores do not allow has an error for a result: the other points continue.
std::uint64_t hash_at(const workloads::Workload& workload, const std::string& machine, const SweepPoint& point,
                      std::uint64_t (*of)(const Job&) = hash_of) {
  const JobAtPoint at = job_at(workload, machine, point);
  std::uint64_t hash = 0;
  const auto problem = problem_of([&] { hash = of(at.job()); });
  return problem ? base::hash64(std::string_view{problem->text}) : hash;
}

/// A sweep over a setting that is not part of the job would show the same point again and again. Errors: Fault::kUsage.
void require_effect(const workloads::Workload& workload, const workloads::Model& model, const SweepPoint& point) {
  const auto changes = [&](const Setting& setting) {
    return setting.effect.job && (!shares_model(setting) || shares_model(setting, model));
  };
  for (const auto& [key, value] : point)
    if (const Setting* setting = find_setting(key); setting && !changes(*setting))
      throw base::Error{base::Fault::kUsage, fmt::format("`{}`", key),
                        fmt::format("changes neither time nor cost of {}", workload.name),
                        "sweep over a machine parameter, or a setting that the projection reads"};
}

/// The last projections of this process, which was made for them: jobs with the same device part share it, and jobs on
/// one machine their blocks.
class Projections {
 public:
  Projection of(const Job& job) {
    const std::uint64_t key = device_hash(job);
    const auto found = std::ranges::find(kept_, key, &Kept::first);
    if (found != kept_.end()) return with_host_of(job, found->second);
    if (kept_.size() == kMost) kept_.pop_front();
    if (!blocks_ || machine_ != job.machine.hash) blocks_.emplace(job.machine.target(), kInstructions, kInstructions);
    machine_ = job.machine.hash;
    return kept_.emplace_back(key, project(job, {.in_child = false, .shared = &*blocks_})).second;
  }

 private:
  static constexpr std::size_t kInstructions = 1'000'000;  // of blocks, kept unpacked by each process: 0.4 GB
  static constexpr std::size_t kMost =
      2;  // points of one affinity come one after the other; a projection has megabytes
  using Kept = std::pair<std::uint64_t, Projection>;
  std::deque<Kept> kept_;
  std::optional<SharedBlocks> blocks_;
  std::uint64_t machine_ = 0;
};

Metrics job_metrics(const Job& job, const Projection& p) {
  Metrics metrics = analysis::projected_figures(figures_of(job, p));
  add_busy(metrics, p.stage().device());
  return metrics;
}

}  // namespace

analysis::SweepModel program_model(const std::string& path, const std::string& machine) {
  const std::string text = base::read_file(path);
  const auto program = std::make_shared<const isa::Program>(isa::parse_program(text, path));
  isa::check(*program, hw::load_machine(machine).target());
  const std::uint64_t content = base::hash64(text, base::hash_of_own_code());
  const auto price_of = [machine](const SweepPoint& point) {
    return analysis::price_per_hour(machine, {.set = assignments(point)});
  };
  return {.hash =
              [content, machine, price_of](const SweepPoint& point) {
                const hw::MachineParams params = hw::load_machine(machine, assignments(point));
                return base::hash64(base::hash_text(params.hash) + price_text(price_of(point)), content);
              },
          .evaluate =
              [program, machine, price_of](const SweepPoint& point) {
                const hw::MachineParams params = hw::load_machine(machine, assignments(point));
                Metrics metrics = metrics_of(hw::simulate(*program, params), *program);
                if (const auto price = price_of(point)) metrics["dollars"] = metrics["total_time"] / 3600 * *price;
                return metrics;
              }};
}

analysis::SweepModel job_model(const std::string& workload, const std::string& machine) {
  const auto jobs = std::make_shared<const workloads::Workload>(workload_of(workload));
  if (jobs->speed_up)  // run() answers for the largest batch with all passes, which a point's own batch would
                       // contradict
    throw base::Error{base::Fault::kUsage, workload,
                      "compares two batches, without and with the compiler's passes, but a point of a sweep has one",
                      "use `trnsim run` or `trnsim ablate`, or sweep a copy of its file without [compiler]"};
  return {.hash =
              [jobs, machine, model = load_model_config(jobs->model)](const SweepPoint& point) {
                require_effect(*jobs, *model, point);
                return base::hash64(base::hash_text(hash_at(*jobs, machine, point)), base::hash_of_own_code());
              },
          .evaluate =
              [jobs, machine, projections = std::make_shared<Projections>()](const SweepPoint& point) {
                const Job job = job_at(*jobs, machine, point).job();
                return job_metrics(job, projections->of(job));
              },
          .affinity = [jobs, machine](const SweepPoint& point) { return hash_at(*jobs, machine, point, device_hash); }};
}

}  // namespace trnsim
