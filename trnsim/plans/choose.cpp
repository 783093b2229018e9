#include "trnsim/plans/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cost/prices.h"
#include "analysis/figures/figures.h"
#include "analysis/profile/stats.h"
#include "base/error.h"
#include "base/hash.h"
#include "hw/params.h"
#include "trnsim/plans/placement.h"
#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/point_metrics.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/least_time.h"
#include "trnsim/project/same_device.h"
#include "trnsim/project/stages.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using runtime::Recompute;
using Values = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t kMostStages = 8;
constexpr const char* kBeaten = "another one is cheaper and faster than this one can be";

/// Plans of a job that uses all its cores.
PlanMoves moves_of(const Job& job, const std::vector<std::int64_t>& micro_batches) {
  PlanMoves moves{.micro_batch = micro_batches};
  if (!job.model->splits()) return moves;
  moves.zero1 = {true, false};
  moves.recompute = {Recompute::kNone, Recompute::kSelective, Recompute::kFull};
  for (std::int64_t tensor = 1; tensor <= job.machine.instance_cores(); tensor *= 2)
    for (std::int64_t stages = 1; stages <= kMostStages; stages *= 2)
      if (job.model->sizes().layers % stages == 0) moves.degrees.push_back({tensor, stages});
  return moves;
}

/// The search of one instance type and number.
class ChoiceSearch {
 public:
  ChoiceSearch(const Settings& settings, const JobOf& job_of, const ChoiceSpace& space)
      : settings_{settings}, job_of_{job_of}, space_{space} {}

  void add(const std::string& machine, std::int64_t nodes) {
    const auto params = machine_with(machine, settings_.machine.set);
    if (!params || params->training.value <= 0) return;  // for inference alone
    const std::int64_t all = params->instance_cores();
    bool splits = true;
    for (std::int64_t cores = all; cores > 0; --cores) {
      Change change{.settings = {{"instance_type", machine},
                                 {"nnodes", std::to_string(nodes)},
                                 {"nproc_per_node", std::to_string(cores)},
                                 {"tensor_parallel_size", "1"},
                                 {"pipeline_parallel_size", "1"},
                                 {"gradient_accumulation_steps", "1"},
                                 {"per_device_train_batch_size", "1"}},
                    .text = ""};
      if (cores == all) {
        const auto problem = problem_of([&] { splits = job_of_(changed(settings_, change)).model->splits(); });
        if (problem) return;  // these instances cannot be joined
      }
      if (!splits) change.settings.erase(change.settings.begin() + 3, change.settings.begin() + 5);
      if (cores < all && splits) return;
      for (const std::int64_t batch : space_.batches) add(change, cores * nodes, batch);
    }
  }

  std::vector<Choice> take() { return std::move(out_); }

 private:
  void add(const Change& place, std::int64_t cores, std::int64_t batch) {
    std::optional<Job> base;
    if (problem_of([&] { base = job_of_(changed(settings_, place)); })) return;
    runtime::Plan& plan = base->step.plan;
    plan.zero1 = false;
    if (base->model->splits()) {  // one sequence at a time on all cores: the plans near it share them otherwise
      plan.tensor = cores, plan.data = 1, plan.micro_batches = batch;
      plan.sequence = !settings_.plan.disable_sequence_parallel;
    } else {
      if (batch % cores != 0) return;
      plan.micro_batches = batch / cores;
    }
    for (Job& job : plans_near(*base, moves_of(*base, space_.micro_batches))) {
      if (job.step.plan.sequences_per_step() != batch) continue;
      if (job.step.plan.micro_batches < job.step.plan.pipeline || possible(job)) continue;
      Choice choice{.change = place, .job = std::move(job)};
      for (auto& [name, value] : plan_settings(choice.job)) set(choice.change, name, value.empty() ? "true" : value);
      out_.push_back(std::move(choice));
    }
  }

  static void set(Change& change, const std::string& name, const std::string& value) {
    if (name.starts_with("lora_")) return;  // the user's own
    const auto found = std::ranges::find(change.settings, name, &std::pair<std::string, std::string>::first);
    if (found == change.settings.end())
      change.settings.emplace_back(name, value);
    else
      found->second = value;
  }

  const Settings& settings_;
  const JobOf& job_of_;
  const ChoiceSpace& space_;
  std::vector<Choice> out_;
};

/// Choices that are projected together, from this many micro-batches of a step; 0: all.
struct Some {
  std::vector<std::size_t> numbers;
  std::int64_t micro_batches = kTimedMicroBatches;
};

void project_into(const Choice& choice, std::size_t i, std::int64_t micro_batches, SharedBlocks& shared,
                  analysis::Metrics& out) {
  out[name_of(i, kMemory)] = 0;
  const auto problem = problem_of([&] {
    const Projection p = project_if_it_fits(
        choice.job, {.in_child = false, .micro_batches = micro_batches, .shared = &shared, .give_up = true});
    out[name_of(i, kMemory)] = static_cast<double>(p.memory.total);
    if (!p.memory.fits()) return;
    out[name_of(i, kSeconds)] = p.time.total, out[name_of(i, kStep)] = p.time.step;
    if (p.dollars) out[name_of(i, kDollars)] = *p.dollars;
    out[name_of(i, kBinds + analysis::binding_of(p.time.step, p.time.host_step, p.time.device_step,
                                                 analysis::resources(p.stage().device()))
                                .name)] = 1;
  });
  if (problem && !problem->too_large) out[name_of(i, "refused")] = 1;
}

void note(Choice& choice, std::size_t i, const analysis::Metrics& metrics) {
  if (!metrics.contains(name_of(i, kMemory))) {  // beaten by one of its own family, or of an earlier one
    choice.refused = kBeaten;
    return;
  }
  choice.fits = false, choice.projected = true;  // all of its micro-batches may need more memory than some of them
  choice.memory = static_cast<std::uint64_t>(metrics.at(name_of(i, kMemory)));
  const auto found = metrics.find(name_of(i, kSeconds));
  if (found == metrics.end()) {
    choice.refused = choice.memory > 0 ? too_large(choice.memory, choice.job).text : "its compiler finds no tile";
    return;
  }
  choice.fits = true, choice.change.seconds = found->second, choice.step_seconds = metrics.at(name_of(i, kStep));
  if (const auto dollars = metrics.find(name_of(i, kDollars)); dollars != metrics.end())
    choice.change.dollars = dollars->second;
  const std::string binds = name_of(i, kBinds);
  if (const auto at = metrics.lower_bound(binds); at != metrics.end() && at->first.starts_with(binds))
    choice.binds = at->first.substr(binds.size());
}

double dollars_of(const Choice& choice, double seconds) {
  return seconds / 3600 * choice.job.price_per_hour.value_or(0) * static_cast<double>(choice.job.instances());
}

/// Some micro-batches tell the time of all of them to less than this.
constexpr double kNear = 1.01;

/// Whether a projected choice is faster and cheaper than this one can be. Equals are all kept: the order of projections
/// depends on the processes, the answer does not.
bool beaten(const Choice& choice, const std::vector<Choice>& all) {
  const double dollars = dollars_of(choice, choice.least_seconds);
  return std::ranges::any_of(all, [&](const Choice& other) {
    const double near = other.job.step.plan.micro_batches > kTimedMicroBatches ? kNear : 1;
    return other.fits && other.change.dollars && other.change.seconds * near < choice.least_seconds &&
           *other.change.dollars * near < dollars;
  });
}

/// Choices that differ in recomputation alone.
std::uint64_t apart_from_recomputing(const Choice& choice) {
  Job job = choice.job;
  job.step.plan.recompute = Recompute::kNone;
  return hash_of(job);
}

/// The least that a choice can cost, in dollars and time: those with little are projected first, and beat the others.
double least_of(const Choice& choice) { return dollars_of(choice, choice.least_seconds) * choice.least_seconds; }

/// Choices of one kind of core and one size of blocks are computed by one process, which compiles the blocks once.
using Family = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;
Family family_of(const Choice& choice) {
  const runtime::Plan& plan = choice.job.step.plan;
  return {base::hash64(text_of(choice.job.machine.target())), plan.micro_batch, plan.tensor};
}

std::vector<std::vector<std::size_t>> families_of(const std::vector<Choice>& choices,
                                                  const std::vector<std::size_t>& some) {
  std::map<Family, std::vector<std::size_t>> families;
  for (const std::size_t i : some) families[family_of(choices[i])].push_back(i);
  std::vector<std::vector<std::size_t>> out;
  const auto least = [&](std::size_t i) { return least_of(choices[i]); };
  for (auto& [key, members] : families) {
    std::ranges::stable_sort(members, {}, least);
    out.push_back(std::move(members));
  }
  std::ranges::stable_sort(out, {}, [&](const std::vector<std::size_t>& family) { return least(family.front()); });
  return out;
}

void project_some(std::vector<Choice>& choices, const Some& some, int processes, const analysis::SweepWatch& watch) {
  const std::vector<std::vector<std::size_t>> families = families_of(choices, some.numbers);
  if (families.empty()) return;
  std::vector<analysis::SweepPoint> points;
  for (std::size_t f = 0; f < families.size(); ++f) points.push_back({{"family", std::to_string(f)}});
  const auto number = [](const analysis::SweepPoint& point) { return std::stoull(point.front().second); };
  const auto evaluate = [&](const analysis::SweepPoint& point) {
    analysis::Metrics metrics;
    const std::vector<std::size_t>& family = families[number(point)];
    SharedBlocks shared{choices[family.front()].job.machine.target()};
    for (const std::size_t i : family) {
      // Earlier projections of this process are known to it: its copy of the choices is its own.
      if (some.micro_batches > 0 && beaten(choices[i], choices)) continue;
      project_into(choices[i], i, some.micro_batches, shared, metrics);
      note(choices[i], i, metrics);
    }
    return metrics;
  };
  const analysis::SweepRun run =
      analysis::run_sweep(points, {.hash = number, .evaluate = evaluate}, ":memory:", processes, {}, watch);
  if (run.interrupted)
    throw Error{Fault::kUsage, "trnsim choose", "was interrupted", "let it end, or name fewer `instance_types`"};
  for (std::size_t f = 0; f < families.size(); ++f)
    for (const std::size_t i : families[f]) {
      if (run.results[f].error.empty())
        note(choices[i], i, run.results[f].metrics);
      else
        choices[i].refused = run.results[f].error;
    }
}

}  // namespace

namespace {

struct Offer {
  std::string name;
  std::optional<hw::MachineParams> machine;
  std::optional<double> price;  // of an hour
};

std::vector<Offer> offers_of(const std::vector<std::string>& machines, const Settings& settings) {
  const analysis::PriceTerms terms{.purchase = analysis::parse_purchase(settings.machine.price, "`price`"),
                                   .set = settings.machine.set};
  std::vector<Offer> out;
  for (const std::string& name : machines)
    out.push_back({name, machine_with(name, settings.machine.set), analysis::price_per_hour(name, terms)});
  return out;
}

/// Whether another machine does alone all that this one does, for less money.
bool has_cheaper_twin(const Offer& one, const std::vector<Offer>& all) {
  if (!one.machine || !one.price) return false;
  const hw::MachineParams& own = *one.machine;
  return std::ranges::any_of(all, [&](const Offer& other) {
    return other.machine && other.price && *other.price < *one.price &&
           other.machine->instance_cores() == own.instance_cores() &&
           other.machine->training.value == own.training.value && other.machine->vcpus.value == own.vcpus.value &&
           other.machine->host_memory.value == own.host_memory.value &&
           same_device(*other.machine, own, own.instance_cores());
  });
}

}  // namespace

std::vector<Choice> choices_of(const Settings& settings, const JobOf& job_of, const ChoiceSpace& space) {
  ChoiceSearch candidates{settings, job_of, space};
  const std::vector<Offer> offers =
      offers_of(space.instance_types.empty() ? priced_machines() : space.instance_types, settings);
  for (const Offer& offer : offers)
    for (const std::int64_t nodes : space.nnodes)
      if (nodes > 1 || !has_cheaper_twin(offer, offers)) candidates.add(offer.name, nodes);
  std::vector<Choice> out = candidates.take();
  std::ranges::stable_sort(out, {}, [](const Choice& c) { return c.job.step.plan.recompute; });
  return out;
}

namespace {

/// Choices that may be on the front once all their micro-batches are simulated: a few of them tell the time of the
/// others to less than a per cent.
std::vector<std::size_t> near_front(const std::vector<Choice>& choices) {
  std::vector<std::size_t> out;
  const std::vector<std::size_t> front = front_of(choices);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice& c = choices[i];
    const bool beaten = std::ranges::any_of(front, [&](std::size_t f) {
      return choices[f].change.seconds * kNear < c.change.seconds &&
             *choices[f].change.dollars * kNear < *c.change.dollars;
    });
    if (c.fits && c.change.dollars && !beaten && c.job.step.plan.micro_batches > kTimedMicroBatches) out.push_back(i);
  }
  return out;
}

/// Whether the same plan with smaller micro-batches, as many of which are in flight, does not fit.
bool outgrown(const Choice& choice, const std::vector<Choice>& all) {
  const runtime::Plan& plan = choice.job.step.plan;
  return std::ranges::any_of(all, [&](const Choice& other) {
    if (!other.projected || other.fits || other.memory == 0) return false;
    runtime::Plan smaller = other.job.step.plan;
    const bool accumulates = (smaller.micro_batches > 1) == (plan.micro_batches > 1);
    if (smaller.micro_batch >= plan.micro_batch || !accumulates) return false;
    smaller.micro_batch = plan.micro_batch, smaller.micro_batches = plan.micro_batches;
    return smaller == plan && other.job.machine.hash == choice.job.machine.hash;
  });
}

/// Choices of one level of recomputation and one micro-batch that are worth a projection; the others have the reason
/// why not.
std::vector<std::size_t> worth_projecting(std::vector<Choice>& choices, Recompute level, std::int64_t micro_batch) {
  std::map<std::uint64_t, bool> fits;
  for (const Choice& choice : choices) fits[apart_from_recomputing(choice)] |= choice.fits;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Choice& choice = choices[i];
    const runtime::Plan& plan = choice.job.step.plan;
    if (plan.recompute != level || plan.micro_batch != micro_batch || choice.projected) continue;
    if (fits.at(apart_from_recomputing(choice)))
      choice.refused = "the same plan fits with less recomputation";
    else if (beaten(choice, choices))
      choice.refused = kBeaten;
    else if (outgrown(choice, choices))
      choice.refused = "the same plan with smaller micro-batches does not fit";
    else
      some.push_back(i);
  }
  return some;
}

}  // namespace

void project_choices(std::vector<Choice>& choices, int processes, const analysis::SweepWatch& watch) {
  for (Choice& choice : choices) choice.least_seconds = least_seconds(choice.job);
  std::set<std::size_t> whole;
  std::set<std::int64_t> micro_batches;
  for (const Choice& choice : choices) micro_batches.insert(choice.job.step.plan.micro_batch);
  for (bool more = true; more;) {  // a choice that does not fit as a whole makes room for those that it beat
    for (const Recompute level : {Recompute::kNone, Recompute::kSelective, Recompute::kFull})
      for (const std::int64_t micro_batch : micro_batches)
        project_some(choices, {.numbers = worth_projecting(choices, level, micro_batch)}, processes, watch);
    std::vector<std::size_t> near = near_front(choices);
    std::erase_if(near, [&](std::size_t i) { return whole.contains(i); });
    more = !near.empty();
    whole.insert(near.begin(), near.end());
    project_some(choices, {.numbers = std::move(near), .micro_batches = 0}, processes, watch);
  }
}

std::vector<std::size_t> front_of(const std::vector<Choice>& choices) {
  std::vector<std::size_t> order, front;
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (choices[i].fits && choices[i].change.dollars) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair{*choices[i].change.dollars, choices[i].change.seconds};
  });
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (choices[i].change.seconds >= fastest) continue;
    fastest = choices[i].change.seconds;
    front.push_back(i);
  }
  return front;
}

std::optional<std::size_t> cheapest_of(const std::vector<Choice>& choices, double within) {
  for (const std::size_t i : front_of(choices))
    if (within <= 0 || choices[i].change.seconds <= within) return i;
  return {};
}

std::optional<std::size_t> fastest_of(const std::vector<Choice>& choices, double under) {
  std::optional<std::size_t> best;
  for (const std::size_t i : front_of(choices))
    if (under <= 0 || *choices[i].change.dollars <= under) best = i;
  return best;
}

}  // namespace trnsim
