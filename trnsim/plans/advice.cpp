#include "trnsim/plans/advice.h"

#include <algorithm>
#include <span>

#include "analysis/cost/prices.h"
#include "analysis/host/stack.h"
#include "hw/params.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/plan_space.h"
#include "trnsim/plans/possible.h"
#include "trnsim/plans/weighing.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

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
    batches();  // other blocks first: they take longest
    if (job.model->shares_tensors()) degrees();
    lengths();
    plans();
    passes();
    cores();
    instances();
    stacks();
    logs();
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
    const bool texts = job_.model->task() != workloads::Task::kNextToken && job_.model->fixed_length() == 0;
    if (texts && settings_.data.buckets.empty() && !settings_.data.dataset_path.empty())
      add({{"buckets", "auto"}}, "pads each text to a nearby length, compiles a program per length");
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
      add_plans({.recompute = {Recompute::kNone}}, "keeps all activations, recomputes none");
    if (plan_.recompute == Recompute::kFull)
      add_plans({.recompute = {Recompute::kSelective}}, "keeps more activations, recomputes fewer");
    if (!plan_.zero1) add_plans({.zero1 = {true}}, "shards the optimizer's state");
  }

  void degrees() {
    if (plan_.tensor % 2 == 0)
      add_plans({.degrees = {{plan_.tensor / 2, plan_.pipeline}}}, "fewer cores share a layer");
    if (plan_.data % 2 == 0) add_plans({.degrees = {{2 * plan_.tensor, plan_.pipeline}}}, "more cores share a layer");
  }

  void passes() {
    if (!job_.passes.flash_attention) return;
    const std::string before = settings_.machine.passes.empty() ? "" : settings_.machine.passes + ",";
    add({{"passes", before + "-flash_attention"}}, "keeps attention scores instead of recomputing them");
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
      add({{"logging_steps", std::to_string(few)}}, "reads back the loss less often");
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

}  // namespace

Settings changed(Settings settings, const Change& change) {
  for (const auto& [name, value] : change.settings) set(settings, name, value);
  return settings;
}

std::vector<Change> advise(const Settings& settings, const JobOf& job_of, const Projection& now, std::size_t most,
                           KnownBlocks* known) {
  using Weighed = Weighing::Weighed;
  const auto gain = [](const Weighed& one) { return gain_of(one.change); };
  const Job before = job_of(settings);
  Weighing weighing{settings, job_of, now, Candidates{settings, before}.take(), known};
  std::vector<Weighed> good;  // of each kind the best
  for (Weighed& one : weighing.some()) {
    const auto same =
        std::ranges::find_if(good, [&](const Weighed& other) { return kind_of(other.change) == kind_of(one.change); });
    if (same == good.end())
      good.push_back(std::move(one));
    else if (gain(one) > gain(*same))
      *same = std::move(one);
  }
  std::ranges::stable_sort(good, std::greater{}, gain);
  // Promise only projections of the whole step.
  std::vector<Change> sure;
  for (std::span<const Weighed> left{good}; !left.empty() && sure.size() < most;) {
    const std::size_t some = std::min(left.size(), most - sure.size());
    std::vector<Weighed> open;
    for (const Weighed& one : left.first(some)) one.whole ? sure.push_back(one.change) : open.push_back(one);
    for (Weighed& one : weighing.whole(open)) sure.push_back(std::move(one.change));
    left = left.subspan(some);
  }
  std::ranges::stable_sort(sure, std::greater{}, gain_of);
  return sure;
}

}  // namespace trnsim
