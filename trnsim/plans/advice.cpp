#include "trnsim/plans/advice.h"

#include <algorithm>

#include "analysis/cost/prices.h"
#include "analysis/host/stack.h"
#include "base/error.h"
#include "hw/params.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

constexpr double kWorthSaying = 0.02;  // less is below the resolution of a prediction
constexpr std::int64_t kShown = 2;     // micro-batches of a stage that show the time of the others
constexpr double kSlower = -0.005;     // of samples per second that still counts as no slower
constexpr double kMuchSlower = -0.1;   // too slow to suggest, however cheap
constexpr double kHalfPrice = 1;       // of samples per dollar: worth to be slower
constexpr double kDearer = 1.005;      // dollars of a sample over today's that still count as no dearer

void set(Settings& settings, const std::string& name, const std::string& value) {
  set_option(settings, find_setting(name, "a change"), value);
  settings.given.insert(name);
}

/// Changes that are worth a try, from the present job.
class Candidates {
 public:
  Candidates(const Settings& settings, const Job& job) : settings_{settings}, job_{job}, plan_{job.step.plan} {
    if (job.generation) {
      generation();
      return;
    }
    batches();
    lengths();
    stacks();
    if (job.model->splits()) plans();
    passes();
    cores();
    logs();
    instances();
  }

  std::vector<Change> take() { return std::move(out_); }

 private:
  using Values = std::vector<std::pair<std::string, std::string>>;

  void add(Values values, std::string text) {
    out_.push_back({.settings = std::move(values), .text = std::move(text)});
  }

  /// More or fewer cores, more sequences at once.
  void generation() {
    for (const std::int64_t factor : {4, 2})
      add({{"batch_size", std::to_string(plan_.micro_batch * factor)}}, "more sequences side by side");
    if (job_.generation->new_tokens > 0 && 2 * plan_.tensor <= job_.machine.instance_cores())
      add({{"tensor_parallel_size", std::to_string(2 * plan_.tensor)}}, "more cores share a layer");
    instances();
  }

  void batches() {
    for (const std::int64_t factor : {4, 2}) {
      const std::string batch = std::to_string(plan_.micro_batch * factor);
      if (plan_.micro_batches % factor == 0)
        add({{"per_device_train_batch_size", batch},
             {"gradient_accumulation_steps", std::to_string(plan_.micro_batches / factor)}},
            "fewer and larger micro-batches, the same batch for the optimizer");
      else
        add({{"per_device_train_batch_size", batch}}, "a larger batch, also for the optimizer");
    }
  }

  /// Only for the user's own data: a published job does not say whose lengths its data has.
  void lengths() {
    const bool texts = job_.model->task() != workloads::Task::kNextToken && !job_.model->image();
    if (texts && settings_.data.buckets.empty() && !settings_.data.dataset_path.empty())
      add({{"buckets", "auto"}}, "pads a text to a length near its own, compiles a program of each");
  }

  void stacks() {
    for (const std::string& name : analysis::stack_names()) {
      const analysis::Stack stack = analysis::load_stack(name, job_.stack_changes);
      const bool loop = stack.per_op.value > 0;  // the others stand for no host, or for inference
      if (name != job_.stack && loop && (job_.model->splits() || stack.splits_models != "yes"))
        add({{"stack", name}}, "needs " + stack.needs);
    }
  }

  /// `factor` times the data parallelism for the same batch of the optimizer.
  bool share_data(Values& values, std::int64_t more, std::int64_t less) const {
    const std::int64_t accumulated = plan_.micro_batches * less;
    if (accumulated % more != 0) return false;
    values.emplace_back("gradient_accumulation_steps", std::to_string(accumulated / more));
    return true;
  }

  void add_plans(const PlanMoves& moves, const char* text) {
    for (const Job& other : plans_near(job_, moves)) add(plan_changes(job_, other), text);
  }

  void plans() {
    using runtime::Recompute;
    if (plan_.recompute != Recompute::kNone)
      add_plans({.recompute = {Recompute::kNone}}, "keeps all, computes nothing twice");
    if (plan_.recompute == Recompute::kFull)
      add_plans({.recompute = {Recompute::kSelective}}, "keeps more, computes less twice");
    if (!plan_.zero1) add_plans({.zero1 = {true}}, "shards the optimizer's state");
    if (plan_.tensor % 2 == 0)
      add_plans({.degrees = {{plan_.tensor / 2, plan_.pipeline}}}, "fewer cores share a layer");
    if (plan_.data % 2 == 0) add_plans({.degrees = {{2 * plan_.tensor, plan_.pipeline}}}, "more cores share a layer");
  }

  void passes() {
    if (!job_.passes.flash_attention) return;
    const std::string before = settings_.machine.passes.empty() ? "" : settings_.machine.passes + ",";
    add({{"passes", before + "-flash_attention"}}, "keeps the attention's scores instead of computing them twice");
  }

  /// Idle cores of an instance that is paid as a whole.
  void cores() {
    const std::int64_t all = job_.machine.instance_cores(), used = job_.cores() / job_.instances();
    if (used == all || all % used != 0) return;
    Values values{{"nproc_per_node", std::to_string(all)}};
    if (share_data(values, all / used, 1))
      add(values, "all cores of the instance, the same batch for the optimizer");
    else
      add(values, "all cores of the instance, a larger batch for the optimizer");
  }

  void logs() {
    const std::int64_t few = OutputSettings{}.logging_steps;
    if (settings_.output.logging_steps > 0 && settings_.output.logging_steps < few)
      add({{"logging_steps", std::to_string(few)}}, "the host waits for the device at fewer logs");
  }

  /// With as many cores, or cheaper ones that have all that the job uses.
  void instances() {
    const std::int64_t used = job_.cores() / job_.instances();
    const auto price = [&](const std::string& name) {
      return analysis::price_per_hour(name, {.purchase = job_.purchase, .set = settings_.machine.set});
    };
    for (const std::string& name : hw::machine_names()) {
      const auto machine = machine_with(name, settings_.machine.set);
      const std::int64_t cores = machine ? machine->instance_cores() : 0;
      if (name == job_.machine.name || cores < used) continue;
      const bool cheaper = settings_.machine.nproc_per_node > 0 && price(name) && job_.price_per_hour &&
                           *price(name) < *job_.price_per_hour;
      if (cheaper)
        add({{"instance_type", name}}, "a cheaper instance with as many cores as the job has");
      else if (cores == job_.machine.instance_cores())
        add({{"instance_type", name}}, "another type of instance, with as many cores");
    }
  }

  const Settings& settings_;
  const Job& job_;
  const runtime::Plan& plan_;
  std::vector<Change> out_;
};

/// Nothing when the job cannot be.
std::optional<Projection> try_job(const Job& job, const Job& before, const Projection& now,
                                  const ProjectOptions& options) {
  std::optional<Projection> out;
  const auto problem = problem_of([&] {
    if (same_on_the_device(job, before))
      out = with_host_of(job, now);
    else if (least_memory(job).fits())
      out = project_if_it_fits(job, options);
  });
  if (problem || !out || !out->memory.fits()) return {};
  return out;
}

std::optional<double> dollars_of_sample(const Projection& p) {
  if (!p.dollars) return {};
  return *p.dollars / p.samples;
}

bool dearer(const Projection& p, const Projection& now) {
  const auto before = dollars_of_sample(now), after = dollars_of_sample(p);
  return before && (!after || *after > *before * kDearer);
}

/// Samples per dollar over those of `now`, less 1.
double saving(const Projection& p, const Projection& now) {
  const auto before = dollars_of_sample(now), after = dollars_of_sample(p);
  return before && after ? *before / *after - 1 : 0;
}

double gain_of(const Change& change) { return std::max(change.speed_up, change.saving); }

/// Projects changes of one job.
class Scales {
 public:
  Scales(const Settings& settings, const JobOf& job_of, const Projection& now)
      : settings_{settings}, job_of_{job_of}, now_{now}, before_{job_of(settings)}, shared_{before_.machine.target()} {}

  const Job& before() const { return before_; }

  /// Fills the change's gain, from this many micro-batches of each stage (0: all). False: it does not help.
  bool weigh(Change& change, std::int64_t micro_batches) {
    std::optional<Job> job;
    if (problem_of([&] { job = job_of_(changed(settings_, change)); })) return false;
    const auto p = try_job(*job, before_, now_,
                           {.micro_batches = micro_batches * job->step.plan.pipeline,
                            .shared = job->machine.hash == before_.machine.hash ? &shared_ : nullptr,
                            .give_up = true});
    if (!p || dearer(*p, now_)) return false;
    change.speed_up = p->samples_per_second() / now_.samples_per_second() - 1;
    change.saving = saving(*p, now_);
    change.seconds = p->time.total, change.dollars = p->dollars;
    change.amount = p->generation ? p->samples * p->steps : p->samples;
    const double least = change.saving > kHalfPrice ? kMuchSlower : kSlower;
    return change.speed_up > least && gain_of(change) > kWorthSaying;
  }

 private:
  const Settings& settings_;
  const JobOf& job_of_;
  const Projection& now_;
  const Job before_;
  SharedBlocks shared_;
};

}  // namespace

Settings changed(Settings settings, const Change& change) {
  for (const auto& [name, value] : change.settings) set(settings, name, value);
  return settings;
}

std::vector<Change> advise(const Settings& settings, const JobOf& job_of, const Projection& now, std::size_t most) {
  Scales scales{settings, job_of, now};
  std::vector<Change> good;
  for (Change& change : Candidates{settings, scales.before()}.take()) {
    const std::string& kind = change.settings.front().first;
    const auto same = std::ranges::find_if(good, [&](const Change& c) { return c.settings.front().first == kind; });
    const bool ordered = kind != "stack" && kind != "instance_type";
    if ((ordered && same != good.end()) || !scales.weigh(change, kShown)) continue;
    if (same == good.end())
      good.push_back(std::move(change));
    else if (gain_of(change) > gain_of(*same))
      *same = std::move(change);
  }
  std::ranges::stable_sort(good, std::greater{}, gain_of);
  // Promise only projections of the whole step.
  std::vector<Change> sure;
  for (Change& change : good)
    if (sure.size() < most && scales.weigh(change, 0)) sure.push_back(std::move(change));
  std::ranges::stable_sort(sure, std::greater{}, gain_of);
  return sure;
}

}  // namespace trnsim
