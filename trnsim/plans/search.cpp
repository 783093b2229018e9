#include "trnsim/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "base/text.h"
#include "hw/params.h"
#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/point_metrics.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/projection.h"
#include "workloads/models/model.h"
#include "workloads/step/pipeline.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// A plan as far as it can be judged before anything is compiled.
TriedPlan screened(Job job, std::int64_t batch) {
  runtime::Plan& plan = job.step.plan;
  const std::int64_t samples = plan.micro_batch * static_cast<std::int64_t>(plan.data);
  if (!job.generation) plan.micro_batches = std::max<std::int64_t>(1, batch / samples);
  job.sizes = {};
  TriedPlan tried{.job = std::move(job)};
  const auto problem = possible(tried.job);
  if (problem && !problem->too_large) {
    tried.refused = problem->text;
    return tried;
  }
  tried.memory = problem ? problem->memory : least_memory(tried.job).total;
  const runtime::Plan& p = tried.job.step.plan;
  if (!tried.job.generation && batch % samples != 0)
    tried.refused = fmt::format("a batch of {} is not a multiple of micro-batches of {} on {}", batch, p.micro_batch,
                                base::counted(p.data, "data-parallel rank"));
  else if (p.micro_batches < p.pipeline)
    tried.refused = fmt::format("{} micro-batches are too few to keep {} busy", p.micro_batches,
                                base::counted(p.pipeline, "stage"));
  else if (problem)
    tried.too_large = true, tried.refused = problem->text;
  return tried;
}

/// Divisors of the layers: each is a number of stages.
std::vector<std::int64_t> stages_of(const workloads::ModelPtr& model) {
  constexpr std::int64_t kMost = 16;
  if (!model->splits()) return {1};
  const std::int64_t layers = model->sizes().layers;
  std::vector<std::int64_t> out;
  for (std::int64_t n = 1; n <= std::min(layers, kMost); ++n)
    if (layers % n == 0) out.push_back(n);
  return out;
}

/// Degrees that use all cores, with and without options that cost or save only memory.
PlanMoves moves_of(const Job& job, const PlanSpace& space) {
  using runtime::Recompute;
  PlanMoves moves{.micro_batch = space.micro_batches,
                  .chunks = {1},
                  .zero1 = {true, false},
                  .recompute = {Recompute::kNone, Recompute::kSelective, Recompute::kFull},
                  .any_batch = true};
  if (job.step.plan.chunks > 1) moves.chunks.push_back(job.step.plan.chunks);
  const std::int64_t most = job.model->shares_tensors() ? job.machine.instance_cores() : 1;
  for (std::int64_t tensor = 1; tensor <= most; tensor *= 2)
    for (const std::int64_t pipeline : stages_of(job.model)) moves.degrees.push_back({tensor, pipeline});
  return moves;
}

/// Degrees of tensor parallelism, up to all cores of an instance, with each batch.
std::vector<TriedPlan> generation_plans(const Job& job, const PlanSpace& space) {
  std::vector<TriedPlan> out;
  for (const std::int64_t batch : space.micro_batches)
    for (std::int64_t tensor = 1; tensor <= job.machine.instance_cores(); tensor *= 2) {
      Job other = job;
      other.step.plan.tensor = tensor, other.step.plan.micro_batch = batch;
      out.push_back(screened(std::move(other), batch));
    }
  return out;
}

/// Most of a plan's blocks depend on these.
using BlockKey = std::tuple<std::int64_t, std::int64_t, runtime::Recompute>;
BlockKey block_key(const Job& job) {
  return {job.step.plan.micro_batch, job.step.plan.tensor, job.step.plan.recompute};
}

/// Metrics of the kinds of memory of a plan.
void put_kinds(const Memory& memory, std::size_t i, analysis::Metrics& out) {
  for (const auto& [kind, bytes] : memory.by_kind) out[name_of(i, kKind) + kind] = static_cast<double>(bytes);
}

void note_kinds(TriedPlan& plan, std::size_t i, const analysis::Metrics& metrics) {
  const std::string kind = name_of(i, kKind);
  plan.by_kind.clear();
  for (auto at = metrics.lower_bound(kind); at != metrics.end() && at->first.starts_with(kind); ++at)
    plan.by_kind[at->first.substr(kind.size())] = static_cast<std::uint64_t>(at->second);
}

void try_out(const Job& job, std::size_t i, bool exact, SharedBlocks& shared, analysis::Metrics& out) {
  Projection p;
  const auto problem = problem_of([&] {
    p = project_if_it_fits(job, {.exact = exact,
                                 .in_child = false,  // this process is one already
                                 .micro_batches = kTimedMicroBatches,
                                 .shared = &shared,
                                 .give_up = true});
  });
  if (problem) {
    base::ensure(problem->too_large, describe(job), problem->text);
    out[name_of(i, kMemory)] = 0;  // a tile is too large for SBUF
    return;
  }
  out[name_of(i, kMemory)] = static_cast<double>(p.memory.total);
  if (!p.memory.fits()) return;
  out[name_of(i, kSeconds)] = p.time.step;
  out[name_of(i, kMfu)] = p.mfu;
  if (p.generation) out[name_of(i, kTotal)] = p.time.total;
  put_kinds(p.memory, i, out);
}

void note(TriedPlan& plan, std::size_t i, const analysis::Metrics& metrics) {
  plan.memory = static_cast<std::uint64_t>(metrics.at(name_of(i, kMemory)));
  if (const auto found = metrics.find(name_of(i, kSeconds)); found != metrics.end()) {
    plan.seconds = found->second;
    plan.mfu = metrics.at(name_of(i, kMfu));
    if (plan.job.generation) plan.total = metrics.at(name_of(i, kTotal));
    note_kinds(plan, i, metrics);
    return;
  }
  plan.too_large = true;
  plan.refused = plan.memory == 0 ? "a tile does not fit in SBUF" : too_large(plan.memory, plan.job).text;
}

/// Numbers of plans by the key of their blocks, the key with most plans first: they take longest.
std::vector<std::vector<std::size_t>> families_of(const std::vector<TriedPlan>& plans,
                                                  std::span<const std::size_t> some) {
  std::map<BlockKey, std::vector<std::size_t>> families;
  for (const std::size_t i : some) families[block_key(plans[i].job)].push_back(i);
  std::vector<std::vector<std::size_t>> out;
  for (auto& [key, members] : families) out.push_back(std::move(members));
  std::ranges::stable_sort(out, std::greater{}, &std::vector<std::size_t>::size);
  return out;
}

/// Asks `measure` for metrics of some plans, under name_of() of each. A sweep whose points are families of plans by
/// number, and whose results are not kept.
using Measure = std::function<void(const Job& job, std::size_t i, SharedBlocks& shared, analysis::Metrics& out)>;
std::vector<analysis::Metrics> measured(const std::vector<TriedPlan>& plans,
                                        const std::vector<std::vector<std::size_t>>& families, int processes,
                                        const Measure& measure, const analysis::SweepWatch& watch = {}) {
  std::vector<analysis::SweepPoint> points;
  for (std::size_t f = 0; f < families.size(); ++f) points.push_back({{"family", std::to_string(f)}});
  const auto number = [](const analysis::SweepPoint& point) { return std::stoull(point.front().second); };
  SharedBlocks shared{plans.front().job.machine.target()};  // each child process has its own copy, for the next too
  const auto evaluate = [&](const analysis::SweepPoint& point) {
    analysis::Metrics metrics;
    for (const std::size_t i : families[number(point)]) measure(plans[i].job, i, shared, metrics);
    return metrics;
  };
  analysis::SweepRun run =
      analysis::run_sweep(points, {.hash = number, .evaluate = evaluate}, ":memory:", processes, {}, watch);
  if (run.interrupted)
    throw Error{Fault::kUsage, "trnsim plan", "was interrupted", "let it finish, or try fewer `nnodes`"};
  std::vector<analysis::Metrics> out;
  for (std::size_t f = 0; f < families.size(); ++f) {
    if (const std::string& error = run.results[f].error; !error.empty())
      throw Error{Fault::kInternal, describe(plans[families[f].front()].job), error,
                  "please report this with the command that you ran"};
    out.push_back(std::move(run.results[f].metrics));
  }
  return out;
}

/// Whether some micro-batches do not tell the memory of all: in a pipeline they overlap.
bool is_open(const TriedPlan& plan) {
  const runtime::Plan& p = plan.job.step.plan;
  return plan.refused.empty() && p.pipeline > 1 && p.micro_batches > kTimedMicroBatches;
}

}  // namespace

std::vector<std::size_t> by_time(const std::vector<TriedPlan>& plans) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (plans[i].refused.empty()) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return plans[i].seconds; });
  return order;
}

std::vector<std::int64_t> default_micro_batches(const Settings& settings, const Job& job, std::int64_t batch) {
  const std::int64_t own = settings.training.per_device_train_batch_size;
  if (settings.given.contains("per_device_train_batch_size") || job.generation || job.model->splits()) return {own};
  std::vector<std::int64_t> out;
  for (std::int64_t size = TrainingSettings{}.per_device_train_batch_size; size >= 1; size /= 2) {
    out.insert(out.begin(), size);
    if (size * job.cores() <= batch) break;
  }
  return out;
}

std::vector<TriedPlan> plans_of(const Job& job, const PlanSpace& space) {
  if (job.generation) return generation_plans(job, space);
  if (job.model->is_given())
    throw Error{Fault::kUsage, job.model->family(), "is a program: its plan is as it is written",
                "name a model, such as bert-base"};
  Job plain = job;  // a state that exists once is not shared, even if the job says so
  plain.step.plan.zero1 = false;
  std::vector<TriedPlan> out;
  for (Job& other : plans_near(plain, moves_of(job, space))) out.push_back(screened(std::move(other), space.batch));
  return out;
}

void time_plans(std::vector<TriedPlan>& plans, int processes, bool exact, const analysis::SweepWatch& watch) {
  const auto families = families_of(plans, by_time(plans));
  if (families.empty()) return;
  const auto metrics = measured(
      plans, families, processes,
      [exact](const Job& job, std::size_t i, SharedBlocks& shared, analysis::Metrics& out) {
        try_out(job, i, exact, shared, out);
      },
      watch);
  for (std::size_t f = 0; f < families.size(); ++f)
    for (const std::size_t i : families[f]) note(plans[i], i, metrics[f]);
}

void settle_memory(std::vector<TriedPlan>& plans, std::size_t most, int processes) {
  std::set<std::size_t> settled;
  while (true) {
    std::vector<std::size_t> fastest = by_time(plans), open;
    fastest.resize(std::min(fastest.size(), most));
    for (const std::size_t i : fastest)
      if (is_open(plans[i]) && settled.insert(i).second) open.push_back(i);
    if (open.empty()) return;
    const auto families = families_of(plans, open);
    const auto metrics = measured(plans, families, processes,
                                  [](const Job& job, std::size_t i, SharedBlocks& shared, analysis::Metrics& out) {
                                    const Memory memory = memory_of_all_micro_batches(job, shared);
                                    out[name_of(i, kMemory)] = static_cast<double>(memory.total);
                                    put_kinds(memory, i, out);
                                  });
    for (std::size_t f = 0; f < families.size(); ++f)
      for (const std::size_t i : families[f]) {
        TriedPlan& plan = plans[i];
        note_kinds(plan, i, metrics[f]);
        plan.memory = static_cast<std::uint64_t>(metrics[f].at(name_of(i, kMemory)));
        if (plan.memory > plan.job.machine.hbm_bytes_per_core())
          plan.too_large = true, plan.refused = too_large(plan.memory, plan.job).text;
      }
  }
}

}  // namespace trnsim
