#include "trnsim/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "analysis/sweep/sweep.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/process_pool.h"
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

/// Most of a plan's blocks depend on these: a process that has compiled some plans of a family compiles the others in
/// less time.
struct Family {
  std::int64_t micro_batch = 1, tensor = 1;
  auto operator<=>(const Family&) const = default;
};
Family family_of(const Job& job) { return {job.step.plan.micro_batch, job.step.plan.tensor}; }
/// As its blocks' instructions grow.
double size_of(const Family& family) {
  return static_cast<double>(family.micro_batch) / static_cast<double>(family.tensor);
}

/// A process's answer about a plan.
struct Found {
  bool fits = false;
  std::uint64_t memory = 0;
  std::map<std::string, std::uint64_t> by_kind{};
  double seconds = 0, total = 0, mfu = 0;
};

Found timed(const Job& job, bool exact, SharedBlocks& shared) {
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
    return {};  // a tile is too large for SBUF
  }
  Found out{.fits = p.memory.fits(), .memory = p.memory.total};
  if (!out.fits) return out;
  out.by_kind = p.memory.by_kind;
  out.seconds = p.time.step, out.mfu = p.mfu;
  if (p.generation) out.total = p.time.total;
  return out;
}

Found settled(const Job& job, SharedBlocks& shared) {
  const Memory memory = memory_of_all_micro_batches(job, shared);
  return {.fits = memory.fits(), .memory = memory.total, .by_kind = memory.by_kind};
}

/// Whether some micro-batches do not tell the memory of all: in a pipeline they overlap.
bool is_open(const TriedPlan& plan) {
  const runtime::Plan& p = plan.job.step.plan;
  return plan.refused.empty() && p.pipeline > 1 && p.micro_batches > kTimedMicroBatches;
}

/// Times plans and settles their memory, in processes that keep their blocks. Which of them has which plan does not
/// change an answer.
class PlanTimes {
 public:
  PlanTimes(std::vector<TriedPlan>& plans, const TimePlans& options)
      : plans_{plans},
        watch_{options.watch},
        slots_{static_cast<std::size_t>(options.processes)},
        pool_{slots_, kName,
              [this, exact = options.exact,
               shared = std::make_shared<SharedBlocks>(plans.front().job.machine.target())](std::size_t item) {
                const Job& job = plans_[item / 2].job;
                base::ArchiveWriter archive;
                archive(item % 2 == 0 ? timed(job, exact, *shared) : settled(job, *shared));
                return archive.take();
              }} {}

  void time() { run(by_time(plans_), false); }

  void settle(std::size_t most) {
    std::set<std::size_t> settled;
    while (true) {
      std::vector<std::size_t> fastest = by_time(plans_), open;
      fastest.resize(std::min(fastest.size(), most));
      for (const std::size_t i : fastest)
        if (is_open(plans_[i]) && settled.insert(i).second) open.push_back(i);
      if (open.empty()) return;
      run(open, true);
    }
  }

 private:
  static constexpr const char* kName = "trnsim plan";
  using Waiting = std::vector<std::deque<std::size_t>>;  // plans of each family

  /// The family with the largest blocks first: it takes longest, and most memory while a process still has few others.
  Waiting families_of(const std::vector<std::size_t>& some) const {
    std::map<Family, std::deque<std::size_t>> families;
    for (const std::size_t i : some) families[family_of(plans_[i].job)].push_back(i);
    Waiting out;
    for (auto& [family, members] : families) out.push_back(std::move(members));
    std::ranges::stable_sort(out, std::greater{}, [&](const std::deque<std::size_t>& members) {
      return size_of(family_of(plans_[members.front()].job));
    });
    return out;
  }

  void run(const std::vector<std::size_t>& some, bool settles) {
    const base::HoldInterrupts hold;  // children end with this process
    constexpr std::chrono::milliseconds kPoll{200};
    Waiting waiting = families_of(some);
    for (std::size_t done = 0; done < some.size();) {
      if (base::interrupted())
        throw Error{Fault::kUsage, kName, "was interrupted", "let it finish, or try fewer `nnodes`"};
      for (std::size_t slot = 0; slot < slots_; ++slot)
        if (const auto next = pool_.busy_with(slot) ? std::nullopt : next_for(slot, waiting))
          pool_.order(2 * *next + (settles ? 1 : 0), slot);
      for (const base::ProcessPool::Answer& answer : pool_.wait(kPoll)) take(answer), ++done;
      if (watch_ && !settles) watch_(done, some.size());
    }
  }

  /// A plan of a family of this process, or of none yet; else of another process that has many left.
  std::optional<std::size_t> next_for(std::size_t slot, Waiting& waiting) {
    constexpr std::size_t kMany = 4;  // as long as it takes to compile the blocks again
    std::deque<std::size_t>*own = nullptr, *fresh = nullptr, *others = nullptr;
    for (std::deque<std::size_t>& family : waiting) {
      if (family.empty()) continue;
      const auto owner = owner_.find(family_of(plans_[family.front()].job));
      auto& kind = owner == owner_.end() ? fresh : owner->second == slot ? own : others;
      if (!kind || (kind == others && family.size() > kind->size())) kind = &family;
    }
    if (own || fresh) {
      std::deque<std::size_t>& family = own ? *own : *fresh;
      const std::size_t i = family.front();
      owner_.try_emplace(family_of(plans_[i].job), slot);
      family.pop_front();
      return i;
    }
    if (!others || others->size() < kMany) return {};
    const std::size_t i = others->back();  // its recomputation is another, and so are most of its blocks
    others->pop_back();
    return i;
  }

  void take(const base::ProcessPool::Answer& answer) {
    TriedPlan& plan = plans_[answer.item / 2];
    if (answer.error) throw *answer.error;
    if (!answer.death.empty())
      throw Error{Fault::kEnvironment, kName, "the process that timed " + describe(plan.job) + " " + answer.death,
                  "use fewer `host_threads`, or free memory"};
    base::ArchiveReader archive{answer.bytes, {Fault::kInternal, kName, "an answer is incomplete", "report it"}};
    Found found;
    archive(found);
    note(plan, found, answer.item % 2 == 0);
  }

  static void note(TriedPlan& plan, const Found& found, bool is_time) {
    plan.memory = found.memory;
    if (found.fits || !is_time) plan.by_kind = found.by_kind;
    if (found.fits && is_time) plan.seconds = found.seconds, plan.mfu = found.mfu, plan.total = found.total;
    if (found.fits) return;
    plan.too_large = true;
    plan.refused = plan.memory == 0 ? "a tile does not fit in SBUF" : too_large(plan.memory, plan.job).text;
  }

  std::vector<TriedPlan>& plans_;
  const analysis::SweepWatch& watch_;
  std::map<Family, std::size_t> owner_;  // the process that compiles it
  const std::size_t slots_;
  base::ProcessPool pool_;
};

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

void time_plans(std::vector<TriedPlan>& plans, const TimePlans& options) {
  if (by_time(plans).empty()) return;
  if (options.processes < 1) throw Error{Fault::kUsage, "`processes`", "is below 1", "give a whole number from 1"};
  PlanTimes times{plans, options};
  times.time();
  times.settle(options.settled);
}

}  // namespace trnsim
