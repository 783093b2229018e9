// The plan with less memory that is nearest to a job that does not fit.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/known_facts.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/projection.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

/// Plans with less memory on a core: recomputation first, then ZeRO, then more cores that share a layer or the layers.
/// Cores that share a layer wait for each other in each of them: in one instance, unless nothing else fits.
PlanMoves less_memory(const Job& job) {
  using runtime::Recompute;
  const runtime::Plan& plan = job.step.plan;
  PlanMoves moves{.zero1 = {plan.zero1, true}, .recompute = {plan.recompute, Recompute::kSelective, Recompute::kFull}};
  constexpr std::array<PlanMoves::Degrees, 14> kFactors = {{{1, 1},
                                                            {2, 1},
                                                            {4, 1},
                                                            {1, 2},
                                                            {2, 2},
                                                            {8, 1},
                                                            {1, 4},
                                                            {4, 2},
                                                            {8, 2},
                                                            {8, 4},
                                                            {32, 1},
                                                            {32, 2},
                                                            {32, 4},
                                                            {32, 8}}};
  for (const auto [tensor, pipeline] : kFactors)
    if (plan.data % (tensor * pipeline) == 0) moves.degrees.push_back({plan.tensor * tensor, plan.pipeline * pipeline});
  // clang 14, which fuzzes, cannot read std::ranges::stable_partition
  std::stable_partition(moves.degrees.begin(), moves.degrees.end(),
                        [own = job.machine.instance_cores()](const auto& d) { return d.tensor <= own; });
  return moves;
}

/// As many sequences in an optimizer step, or as near above as the plan allows.
void keep_batch(Job& job, std::int64_t sequences) {
  runtime::Plan& plan = job.step.plan;
  const std::int64_t at_once = plan.micro_batch * static_cast<std::int64_t>(plan.data);
  plan.micro_batches = std::max((sequences + at_once - 1) / at_once, plan.pipeline);
}

std::vector<Job> smaller_plans(const Job& job) {
  if (job.model->splits()) {
    Job split = job;
    split.step.plan.sequence = job.step.plan.tensor > 1;
    return plans_near(split, less_memory(job));
  }
  // Cores that share data alone: smaller micro-batches, which cost little, before all that keeps less.
  const runtime::Plan& plan = job.step.plan;
  std::vector<std::int64_t> parts;
  for (std::int64_t count = 2; count <= plan.micro_batch; ++count)
    if (plan.micro_batch % count == 0) parts.push_back(plan.micro_batch / count);
  std::vector<Job> out = parts.empty() ? std::vector<Job>{} : plans_near(job, {.micro_batch = parts});
  parts.insert(parts.begin(), plan.micro_batch);
  for (Job& less : plans_near(job, {.micro_batch = parts,
                                   .zero1 = {plan.zero1, true},
                                   .recompute = {plan.recompute, runtime::Recompute::kFull}}))
    if (std::ranges::none_of(out, [&](const Job& tried) { return tried.step.plan == less.step.plan; }))
      out.push_back(std::move(less));
  if (!job.model->shares_tensors()) return out;
  PlanMoves shared{.zero1 = {plan.zero1, true}, .recompute = {runtime::Recompute::kFull}};
  for (std::int64_t more = 2; plan.data % more == 0; more *= 2)
    shared.degrees.push_back({plan.tensor * more, plan.pipeline});
  if (!shared.degrees.empty())
    for (Job& less : plans_near(job, shared)) out.push_back(std::move(less));
  return out;
}

/// Whether larger micro-batches can make up for recomputation, which repeats the forward pass: a third of the work
/// without it. They save the host's work, as far as the device does not take longer by itself then.
bool may_recompute(const Job& job, const analysis::JobTime& time) {
  return job.step.plan.recompute != runtime::Recompute::kNone || time.device_step * 4 / 3 < time.step;
}

/// `near`, or a plan that takes less time: with recomputation or ZeRO the largest micro-batch that still fits on as
/// many cores.
template <class Fits>
Job soonest_of_more(const Job& near, const std::vector<Job>& plans, const Fits& fits, SharedBlocks& shared) {
  const auto kind_of = [](const Job& j) { return std::pair{j.step.plan.recompute, j.step.plan.zero1}; };
  std::map<std::pair<runtime::Recompute, bool>, std::vector<const Job*>> kinds;
  for (const Job& other : plans)
    if (other.step.plan.micro_batch > near.step.plan.micro_batch && kind_of(other) != kind_of(near) &&
        other.step.plan.tensor == near.step.plan.tensor)
      kinds[kind_of(other)].push_back(&other);
  const auto time_of = [&](const Job& j) { return project_if_it_fits(j, {.shared = &shared}).time; };
  const Job* best = &near;
  const analysis::JobTime time = time_of(near);
  double least = time.total;
  for (auto& [kind, by_batch] : kinds) {
    if (kind.first != near.step.plan.recompute && !may_recompute(near, time)) continue;
    std::ranges::sort(by_batch, {}, [](const Job* j) { return j->step.plan.micro_batch; });
    const auto too_large = std::ranges::partition_point(by_batch, [&](const Job* j) { return fits(*j); });
    if (too_large == by_batch.begin()) continue;
    const Job* most = *std::prev(too_large);
    const double seconds = time_of(*most).total;
    if (seconds < least) least = seconds, best = most;
  }
  return *best;
}

}  // namespace

std::optional<Job> nearest_that_fits(const Job& job) {
  SharedBlocks shared{job.machine.target()};
  return nearest_that_fits(job, job.step.plan.sequences_per_step(), shared);
}

std::optional<Job> nearest_that_fits(const Job& job, std::int64_t sequences, SharedBlocks& shared) {
  KnownFacts known;
  const auto fits = [&](const Job& candidate) {
    bool compiled = false;
    const auto problem = problem_of([&] {
      const CompileStages options{.give_up_at = candidate.machine.hbm_bytes_per_core()};
      compiled = least_memory(candidate, known).fits() && compile_stages(candidate, shared, options).memory.fits();
    });
    return !problem && compiled;
  };
  std::vector<Job> plans = smaller_plans(job);
  if (sequences != job.step.plan.sequences_per_step())
    for (Job& other : plans) keep_batch(other, sequences);
  const auto near = std::ranges::find_if(plans, fits);
  if (near == plans.end()) return std::nullopt;
  return job.model->splits() ? *near : soonest_of_more(*near, plans, fits, shared);
}

}  // namespace trnsim
