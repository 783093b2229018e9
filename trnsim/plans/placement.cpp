#include "trnsim/plans/placement.h"
#include "trnsim/plans/point_metrics.h"

#include <algorithm>
#include <set>

#include "analysis/cost/prices.h"
#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "hw/params.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/plans/possible.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using Values = std::vector<std::pair<std::string, std::string>>;

std::int64_t largest_divisor(std::int64_t all, std::int64_t most) {
  std::int64_t divisor = std::min(all, most);
  while (all % divisor != 0) --divisor;
  return divisor;
}

/// The plan of the job's optimizer batch on `cores` of each instance; nothing when they cannot share it evenly.
std::optional<Values> same_batch(const runtime::Plan& plan, std::int64_t cores, std::int64_t instances) {
  const std::int64_t shared = plan.tensor * plan.pipeline, all = cores * instances;
  if (all % shared != 0 || plan.sequences_per_step() % (all / shared) != 0) return {};
  const std::int64_t each = plan.sequences_per_step() / (all / shared);
  const std::int64_t micro = largest_divisor(each, plan.micro_batch);
  if (each / micro < plan.pipeline) return {};
  return Values{{"nproc_per_node", std::to_string(cores)},
                {"per_device_train_batch_size", std::to_string(micro)},
                {"gradient_accumulation_steps", std::to_string(each / micro)}};
}

/// The search for the places of one job.
class Places {
 public:
  Places(const Settings& settings, const JobOf& job_of, const PlacementSpace& space)
      : settings_{settings}, job_of_{job_of}, space_{space}, job_{job_of(settings)}, seen_{hash_of(job_)} {}

  void add(const std::string& machine, std::int64_t cores, std::int64_t instances) {
    where_ = {{"instance_type", machine}};
    if (instances != settings_.machine.nnodes) where_.emplace_back("nnodes", std::to_string(instances));
    if (job_.generation) {
      if (instances == 1) keep(placed({}, machine, instances));
      return;
    }
    keep(placed({{"nproc_per_node", std::to_string(cores)}}, machine, instances));
    if (!space_.keeps_batch) return;
    for (std::int64_t some = cores; some > 0; --some) {
      const auto plan = same_batch(job_.step.plan, some, instances);
      if (!plan) continue;
      PlacedJob there = placed(*plan, machine, instances);
      if (there.problem && !there.problem->too_large) continue;  // these cores form no groups: fewer may
      return keep(std::move(there));
    }
  }

  std::vector<PlacedJob> take() { return std::move(out_); }
  /// Whether the job may be there at all: nothing is trained on a machine for inference alone.
  bool takes(const hw::MachineParams& machine) const { return machine.training.value > 0 || job_.generation; }

 private:
  PlacedJob placed(const Values& plan, const std::string& machine, std::int64_t instances) const {
    PlacedJob out{.change = {.settings = where_, .text = ""}, .instance_type = machine, .instances = instances};
    out.change.settings.insert(out.change.settings.end(), plan.begin(), plan.end());
    std::optional<Job> job;
    out.problem = problem_of([&] { job = job_of_(changed(settings_, out.change)); });
    if (!out.problem) out.problem = possible(*job);
    if (job) {
      out.cores = job->cores(), out.sequences_per_step = job->sequences_per_step();
      out.samples = job->samples(), out.steps = job->steps();
      out.tokens = job->samples() * (job->generation ? job->steps() : job->mean_length());
      if (job->generation) out.copies = copies_of(*job);
    }
    if (!out.problem) out.job = std::move(job);
    return out;
  }

  /// Unless it is the job itself, or another place with other words.
  void keep(PlacedJob place) {
    if (!place.job || seen_.insert(hash_of(*place.job)).second) out_.push_back(std::move(place));
  }

  const Settings& settings_;
  const JobOf& job_of_;
  const PlacementSpace& space_;
  const Job job_;
  Values where_;
  std::set<std::uint64_t> seen_;
  std::vector<PlacedJob> out_;
};

analysis::Metrics metrics_of(const PlacedJob& place, const ProjectOf& project) {
  analysis::Metrics out{{kFits, 0}, {kMemory, 0}};
  const auto problem = problem_of([&] {
    const auto [job, p] = project(*place.job);
    out[kMemory] = static_cast<double>(p.memory.total);
    if (!p.memory.fits()) return;
    out[kFits] = 1, out[kSeconds] = p.time.total, out[kSteps] = p.steps, out[kSamples] = p.samples;
    out[kTokens] = p.samples * (job.generation ? p.steps : job.mean_length());
    out[kBatch] = job.sequences_per_step();
    if (p.dollars) out[kDollars] = *p.dollars;
    if (!p.time.interrupted) return;
    out[kCutSeconds] = p.time.interrupted->seconds, out[kCutSteps] = p.time.interrupted->save_steps;
    if (p.time.interrupted->dollars) out[kCutDollars] = *p.time.interrupted->dollars;
  });
  if (problem && !problem->too_large) throw Error{Fault::kUsage, place.instance_type, problem->text, "leave it out"};
  return out;
}

void note(PlacedJob& place, const analysis::SweepResult& result) {
  if (!result.error.empty()) {
    place.problem = Problem{.text = result.error};
    return;
  }
  const analysis::Metrics& m = result.metrics;
  if (m.at(kFits) == 0) {
    place.problem = too_large(static_cast<std::uint64_t>(m.at(kMemory)), *place.job);
    return;
  }
  place.change.seconds = m.at(kSeconds);
  if (const auto found = m.find(kDollars); found != m.end()) place.change.dollars = found->second;
  place.steps = m.at(kSteps), place.samples = m.at(kSamples), place.tokens = m.at(kTokens);
  place.sequences_per_step = m.at(kBatch);
  if (!m.contains(kCutSeconds)) return;
  place.interrupted = analysis::InterruptedTime{.seconds = m.at(kCutSeconds), .save_steps = m.at(kCutSteps)};
  if (const auto found = m.find(kCutDollars); found != m.end()) place.interrupted->dollars = found->second;
}

}  // namespace

std::vector<std::string> priced_machines() {
  std::vector<std::string> out;
  const std::vector<std::string> machines = hw::machine_names();
  for (const analysis::PricedInstance& one : analysis::load_prices(std::string_view{}))
    if (one.per_hour[0] && std::ranges::find(machines, one.name) != machines.end()) out.push_back(one.name);
  return out;
}

std::vector<PlacedJob> placements_of(const Settings& settings, const JobOf& job_of, const PlacementSpace& space) {
  Places places{settings, job_of, space};
  for (const std::string& name : priced_machines()) {
    const auto machine = machine_with(name, settings.machine.set);
    if (!machine || !places.takes(*machine)) continue;
    for (const int count : space.counts) places.add(name, machine->instance_cores(), count);
  }
  return places.take();
}

void project_placements(std::vector<PlacedJob>& placements, const ProjectOf& project, int processes) {
  std::vector<analysis::SweepPoint> points;
  for (std::size_t i = 0; i < placements.size(); ++i)
    if (placements[i].job) points.push_back({{"place", std::to_string(i)}});
  if (points.empty()) return;
  const auto number = [](const analysis::SweepPoint& point) { return std::stoull(point.front().second); };
  const auto evaluate = [&](const analysis::SweepPoint& point) {
    return metrics_of(placements[number(point)], project);
  };
  const analysis::SweepRun run =
      analysis::run_sweep(points, {.hash = number, .evaluate = evaluate}, ":memory:", processes);
  if (run.interrupted)
    throw Error{Fault::kUsage, "the instances of a job", "were interrupted", "let it finish, or try fewer `instances`"};
  for (std::size_t i = 0; i < points.size(); ++i) note(placements[number(points[i])], run.results[i]);
}

}  // namespace trnsim
