// The nearest job that fits, for one that does not.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/cost/prices.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "hw/params.h"
#include "trnsim/plans/advice.h"
#include "trnsim/plans/answer.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/possible.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t kMostInstances = 64;

/// Settings of more cores than the job has: all of its instance's, several of them, then those of instances with more
/// cores that have a price.
std::vector<Values> more_cores(const Settings& settings, const Job& job) {
  std::vector<Values> out;
  const std::int64_t own = job.machine.instance_cores();
  const auto add = [&](const std::string& name, std::int64_t cores) {
    for (std::int64_t instances = name == job.machine.name ? settings.machine.nnodes : 1; instances <= kMostInstances;
         instances *= 2) {
      if (instances * cores <= job.cores()) continue;
      Values values;
      if (name != job.machine.name) values.emplace_back("instance_type", name);
      if (instances != settings.machine.nnodes) values.emplace_back("nnodes", std::to_string(instances));
      if (settings.machine.nproc_per_node > 0 && settings.machine.nproc_per_node != cores)
        values.emplace_back("nproc_per_node", std::to_string(cores));
      out.push_back(std::move(values));
    }
  };
  add(job.machine.name, own);
  for (const std::string& name : hw::machine_names()) {
    const std::int64_t cores = hw::load_machine(name, {}).instance_cores();
    if (cores > own && analysis::price_per_hour(name, {.purchase = job.purchase, .set = {}})) add(name, cores);
  }
  return out;
}

std::string needs_text(const Projection& p) {
  const auto bytes = [](std::uint64_t n) { return base::readable(static_cast<double>(n), base::Dimension::kBytes); };
  std::string out = fmt::format("{} of {} per core, {} a step", bytes(p.memory.total), bytes(p.memory.capacity),
                                base::readable(p.time.step, base::Dimension::kTime));
  if (p.steps > 1) out += fmt::format(", {} in all", base::duration_text(p.time.total));
  if (p.steps > 1 && p.dollars) out += " and " + base::money_text(*p.dollars);
  return out;
}

/// The change `more` with the plan that then fits; nothing when no plan fits.
std::optional<Change> fitted(const Settings& settings, const JobOf& job_of, const Values& more, KnownBlocks& known) {
  Change change{.settings = more, .text = ""};
  bool fits = false;
  const auto problem = problem_of([&] {
    const Job before = job_of(settings), wider = job_of(changed(settings, change));
    const auto sequences = static_cast<std::int64_t>((more.empty() ? wider : before).sequences_per_step());
    const std::optional<Job> near = nearest_that_fits(wider, sequences, known.of(wider.machine));
    if (!near) return;
    Values values = plan_changes(before, *near);
    std::ranges::sort(values);
    change.settings.insert(change.settings.end(), values.begin(), values.end());
    const Job after = job_of(changed(settings, change));
    const Projection p = project_if_it_fits(after, {.shared = &known.of(after.machine)});
    fits = p.memory.fits();
    if (fits) change.seconds = p.time.total, change.dollars = p.dollars, change.text = needs_text(p);
  });
  if (problem || !fits) return {};
  return change;
}

}  // namespace

std::optional<Change> fitting_change(const Settings& settings, const JobOf& job_of, KnownBlocks* known) {
  const Job job = job_of(settings);
  if (job.generation) return {};  // its error names the cores that hold it
  KnownBlocks own;
  KnownBlocks& blocks = known ? *known : own;
  if (auto change = fitted(settings, job_of, {}, blocks)) return change;
  for (const Values& more : more_cores(settings, job))
    if (auto change = fitted(settings, job_of, more, blocks)) return change;
  return {};
}

std::string fix_text(const std::optional<Change>& fitting_change, const std::vector<std::string>& typed) {
  if (!fitting_change) return "";
  std::string out = fmt::format("this fits: {}: {}", settings_text(*fitting_change), fitting_change->text);
  if (replaces(typed, *fitting_change))
    out += fmt::format("\n       in full: {}", command_with(typed, *fitting_change, FolderIs::kFree));
  return out;
}

}  // namespace trnsim
