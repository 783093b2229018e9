#include "trnsim/plans/choose.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/cost/prices.h"
#include "base/error.h"
#include "hw/params.h"
#include "trnsim/plans/placement.h"
#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/known_facts.h"
#include "trnsim/project/same_device.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using runtime::Recompute;

constexpr std::int64_t kMostStages = 8;

/// Plans of a job that uses all its cores.
PlanMoves moves_of(const Job& job, const std::vector<std::int64_t>& micro_batches) {
  PlanMoves moves{.micro_batch = micro_batches};
  moves.zero1 = {true, false};
  const bool splits = job.model->splits();
  moves.recompute = {Recompute::kNone, Recompute::kFull};
  if (splits) moves.recompute.insert(moves.recompute.begin() + 1, Recompute::kSelective);
  const bool shares = job.model->shares_tensors() && job.cores() % job.machine.instance_cores() == 0;
  for (std::int64_t tensor = 1; tensor <= (shares ? job.machine.instance_cores() : 1); tensor *= 2)
    for (std::int64_t stages = 1; stages <= (splits ? kMostStages : 1); stages *= 2)
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
    if (!params || params->training.value <= 0) return note(machine, "is for inference only");
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
        if (problem) return note(machine, problem->text);  // these instances cannot be joined
      }
      if (!splits) change.settings.erase(change.settings.begin() + 3, change.settings.begin() + 5);
      if (cores < all && splits) return;
      for (const std::int64_t batch : space_.batches) add(change, cores * nodes, batch);
    }
  }

  std::vector<Choice> take() { return std::move(out_); }
  /// Why the first instances that have no choice have none.
  const std::optional<base::Error>& problem() const { return problem_; }

 private:
  void note(const std::string& machine, const std::string& text) {
    if (!problem_)
      problem_ = base::Error{base::Fault::kUsage, machine, text, "name other `instance_types`, or fewer `instances`"};
  }

  void add(const Change& place, std::int64_t cores, std::int64_t batch) {
    std::optional<Job> base;
    if (problem_of([&] { base = job_of_(changed(settings_, place)); })) return;
    runtime::Plan& plan = base->step.plan;
    plan.zero1 = false;
    // One sequence at a time on all cores: the plans near it share them otherwise.
    plan.tensor = cores, plan.data = 1, plan.micro_batches = batch;
    plan.sequence = base->model->splits() && !settings_.plan.disable_sequence_parallel;
    for (Job& job : plans_near(*base, moves_of(*base, space_.micro_batches))) {
      if (job.step.plan.sequences_per_step() != batch) continue;
      if (job.step.plan.micro_batches < job.step.plan.pipeline || !is_possible(job, known_)) continue;
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
  KnownFacts known_;
  std::optional<base::Error> problem_;
  std::vector<Choice> out_;
};

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
  if (const auto& problem = candidates.problem(); out.empty() && problem) throw base::Error{*problem};
  std::ranges::stable_sort(out, {}, [](const Choice& c) { return c.job.step.plan.recompute; });
  return out;
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
