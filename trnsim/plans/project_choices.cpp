// project_choices(): which choices are projected, in which order, and by which process.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/cost/cost.h"
#include "analysis/figures/figures.h"
#include "analysis/profile/stats.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/process_pool.h"
#include "hw/params.h"
#include "trnsim/plans/choose.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/plans/point_metrics.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/least_time.h"
#include "trnsim/project/stages.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using runtime::Recompute;

constexpr std::size_t kOpenOfChoices = 500'000;  // instructions that a process does not pack: 0.2 GB

/// A choice as a process projected it.
struct ChoiceFigures {
  bool refused = false;  // by the model or the machine
  std::uint64_t memory = 0;
  bool fits = false;
  double seconds = 0, step_seconds = 0;
  bool priced = false;
  double dollars = 0;
  std::string binds{};
  double pass_seconds = 0;  // as the function of that name says
};

ChoiceFigures project_choice(const Choice& choice, std::int64_t micro_batches, KnownBlocks& known) {
  ChoiceFigures out;
  const auto problem = problem_of([&] {
    SharedBlocks& shared = known.of(choice.job.machine);
    const Projection p = project_if_it_fits(
        choice.job, {.in_child = false, .micro_batches = micro_batches, .shared = &shared, .give_up = true});
    out.memory = p.memory.total, out.fits = p.memory.fits();
    if (!out.fits) return;
    out.seconds = p.time.total, out.step_seconds = p.time.step, out.priced = p.dollars.has_value(),
    out.dollars = p.dollars.value_or(0);
    out.binds =
        analysis::binding_of(p.time.step, p.time.host_step, p.time.device_step, analysis::resources(p.stage().device()))
            .name;
    out.pass_seconds = pass_seconds(p, choice.job.machine, shared.times);
  });
  out.refused = problem && !problem->too_large;
  return out;
}

double dollars_of(const Choice& choice, double seconds) {
  return analysis::dollars_of(seconds, choice.job.price_per_hour.value_or(0),
                              static_cast<double>(choice.job.instances()));
}

/// The least that a choice can cost, in dollars and time: those with little are projected first, and beat the others.
double least_of(const Choice& choice) { return dollars_of(choice, choice.least_seconds) * choice.least_seconds; }

/// Some micro-batches tell the time of all of them to less than this.
constexpr double kNear = 1.01;

/// Recomputation, stages that hand on activations, gradients that are added up, fewer tokens for each core and more
/// cores that share a layer make the passes of a sequence take more of the cores' time; their blocks are others,
/// though, which a compiler may order better by chance.
constexpr double kAtLeast = 0.95;

/// The place of a choice among those that it is compared with: numbers of such with something in common.
struct Kinship {
  std::uint64_t core = 0;    // choices of one kind of core
  std::uint64_t family = 0;  // choices of one kind of core and one size of blocks: one process compiles them once
  std::uint64_t passes = 0;  // choices whose passes through the model are the same work
  std::uint64_t layers = 0;  // those that also differ in recomputation, stages and in whether gradients are added up
  std::uint64_t same_but_recomputing = 0;
  std::uint64_t same_but_micro_batch = 0;  // and with accumulation, or without
};

template <class... T>
std::uint64_t number_of(const T&... parts) {
  base::ArchiveWriter key;
  key(parts...);
  return base::hash64(key.take());
}

Kinship kinship_of(const Choice& choice) {
  const runtime::Plan& plan = choice.job.step.plan;
  const std::string core = text_of(choice.job.machine.target());
  Kinship out{.core = number_of(core),
              .family = number_of(core, plan.micro_batch, plan.tensor),
              .passes = number_of(core, plan.micro_batch, plan.tensor, plan.sequence, plan.recompute,
                                  plan.micro_batches > 1, plan.data > 1, plan.pipeline > 1),
              .layers = number_of(core, plan.micro_batch, plan.tensor, plan.sequence, plan.data > 1)};
  Job other = choice.job;
  other.step.plan.recompute = Recompute::kNone;
  out.same_but_recomputing = hash_of(other);
  other = choice.job;
  other.step.plan.micro_batch = 1, other.step.plan.micro_batches = plan.micro_batches > 1 ? 2 : 1;
  out.same_but_micro_batch = hash_of(other);
  return out;
}

/// Projects choices by one process for each family, the most promising first. Equals are all kept: the order of
/// projections depends on the processes, the answer does not.
class ChoiceProjections {
 public:
  ChoiceProjections(std::vector<Choice>& choices, int processes, const analysis::SweepWatch& watch)
      : choices_{choices},
        state_(choices.size(), State::kOpen),
        whole_(choices.size()),
        watch_{watch},
        slots_{static_cast<std::size_t>(std::max(processes, 1))},
        pool_{slots_, "trnsim choose", [this, known = std::make_shared<KnownBlocks>(kOpenOfChoices)](std::size_t item) {
                base::ArchiveWriter archive;
                archive(project_choice(choices_[item / 2], item % 2 == 0 ? kTimedMicroBatches : 0, *known));
                return archive.take();
              }} {
    KnownFacts known;
    for (Choice& choice : choices_) {
      choice.least_seconds = least_.emplace_back(choice.job, known).seconds();
      kin_.push_back(kinship_of(choice));
    }
    for (std::size_t i = 0; i < choices_.size(); ++i) same_but_recomputing_[kin_[i].same_but_recomputing].push_back(i);
  }

  void run() {
    const base::HoldInterrupts hold;  // children end with this process
    constexpr std::chrono::milliseconds kPoll{200};
    for (;;) {
      if (base::interrupted())
        throw Error{Fault::kUsage, "trnsim choose", "was interrupted", "let it finish, or name fewer `instance_types`"};
      order();
      if (pool_.busy() == 0) break;
      for (const base::ProcessPool::Answer& answer : pool_.wait(kPoll)) take(answer);
      if (watch_) watch_(choices_.size() - count(State::kOpen) - count(State::kUnderWay), choices_.size());
    }
  }

 private:
  /// kRefused: not worth a projection, as far as is known.
  enum class State : std::uint8_t { kOpen, kRefused, kUnderWay, kProjected };

  std::size_t count(State state) const { return static_cast<std::size_t>(std::ranges::count(state_, state)); }

  /// Gives each idle process a choice. When none is left that some micro-batches can judge, those near the front are
  /// projected whole; one that then does not fit makes room for choices that it beat.
  void order() {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      if (pool_.busy_with(slot)) continue;
      screen();
      if (const auto next = best_for(slot, [&](std::size_t i) { return ready(i); })) {
        state_[*next] = State::kUnderWay;
        send(slot, *next, false);
      } else if (count(State::kUnderWay) == 0) {
        const std::vector<bool> near = near_front();
        const auto all = best_for(slot, [&](std::size_t i) { return near[i]; });
        if (!all) continue;
        whole_[*all] = true;
        send(slot, *all, true);
      }
    }
  }

  void send(std::size_t slot, std::size_t choice, bool whole) {
    owner_.try_emplace(kin_[choice].family, slot);
    pool_.order(2 * choice + (whole ? 1 : 0), slot);
  }

  /// The least of the most promising choice with these layers, by layers that have no time yet.
  std::map<std::uint64_t, double> least_of_layers() const {
    std::map<std::uint64_t, double> out;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (state_[i] != State::kOpen || known_layers_.contains(kin_[i].layers)) continue;
      const auto [place, added] = out.try_emplace(kin_[i].layers, least_of(choices_[i]));
      if (!added) place->second = std::min(place->second, least_of(choices_[i]));
    }
    return out;
  }

  /// The most promising choice of the families of this process, or of none yet; else of the others'. Among those with
  /// equal layers that have no time yet, the one with the fewest stages and micro-batches comes first: it is the
  /// soonest projected, and its time is a bound for the others.
  template <class Wanted>
  std::optional<std::size_t> best_for(std::size_t slot, const Wanted& wanted) const {
    const std::map<std::uint64_t, double> unknown = least_of_layers();
    std::optional<std::size_t> best;
    std::tuple<bool, double, std::int64_t, std::int64_t> least{};
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (!wanted(i)) continue;
      const auto owner = owner_.find(kin_[i].family);
      const auto alike = unknown.find(kin_[i].layers);
      const runtime::Plan& plan = choices_[i].job.step.plan;
      const std::tuple rank{owner != owner_.end() && owner->second != slot,
                            alike == unknown.end() ? least_of(choices_[i]) : alike->second, plan.pipeline,
                            plan.micro_batches};
      if (!best || rank < least) best = i, least = rank;
    }
    return best;
  }

  /// Refuses choices that need no projection.
  void screen() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (state_[i] != State::kOpen && state_[i] != State::kRefused) continue;
      const char* reason = refusal(i);
      state_[i] = reason ? State::kRefused : State::kOpen;
      choices_[i].refused = reason ? reason : "";
    }
  }

  /// Why a choice is not worth a projection; null: it is.
  const char* refusal(std::size_t i) const {
    if (std::ranges::any_of(same_but_recomputing_.at(kin_[i].same_but_recomputing),
                            [&](std::size_t other) { return choices_[other].fits; }))
      return "the same plan fits with less recomputation";
    if (beaten(choices_[i])) return "another plan is cheaper and faster than this one can be";
    if (outgrown(i)) return "the same plan with smaller micro-batches does not fit";
    return nullptr;
  }

  /// Whether nothing is left to be learnt about the same plan with less recomputation.
  bool ready(std::size_t i) const {
    const auto level = [&](std::size_t k) { return choices_[k].job.step.plan.recompute; };
    return state_[i] == State::kOpen &&
           std::ranges::none_of(same_but_recomputing_.at(kin_[i].same_but_recomputing), [&](std::size_t other) {
             return level(other) < level(i) && (state_[other] == State::kOpen || state_[other] == State::kUnderWay);
           });
  }

  /// Whether a projected choice is faster and cheaper than this one can be.
  bool beaten(const Choice& choice) const {
    const double dollars = dollars_of(choice, choice.least_seconds);
    return std::ranges::any_of(fitting_, [&](std::size_t i) {
      const Choice& other = choices_[i];
      const double near = other.job.step.plan.micro_batches > kTimedMicroBatches && !whole_[i] ? kNear : 1;
      return other.fits && other.change.dollars && other.change.seconds * near < choice.least_seconds &&
             *other.change.dollars * near < dollars;
    });
  }

  /// Whether the same plan with smaller micro-batches, as many of which are in flight, does not fit.
  bool outgrown(std::size_t i) const {
    return std::ranges::any_of(too_large_, [&](std::size_t other) {
      return kin_[other].same_but_micro_batch == kin_[i].same_but_micro_batch &&
             choices_[other].job.step.plan.micro_batch < choices_[i].job.step.plan.micro_batch;
    });
  }

  /// Choices that may be on the front once all their micro-batches are simulated: a few of them tell the time of the
  /// others to less than a per cent.
  std::vector<bool> near_front() const {
    std::vector<bool> out(choices_.size());
    const std::vector<std::size_t> front = front_of(choices_);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const Choice& c = choices_[i];
      if (!c.fits || !c.change.dollars || whole_[i] || c.job.step.plan.micro_batches <= kTimedMicroBatches) continue;
      out[i] = std::ranges::none_of(front, [&](std::size_t f) {
        return choices_[f].change.seconds * kNear < c.change.seconds &&
               *choices_[f].change.dollars * kNear < *c.change.dollars;
      });
    }
    return out;
  }

  void take(const base::ProcessPool::Answer& answer) {
    const std::size_t i = answer.item / 2;
    state_[i] = State::kProjected;
    if (answer.error) throw *answer.error;
    if (!answer.death.empty())
      throw Error{Fault::kEnvironment, "trnsim choose",
                  "the process that projected " + describe(choices_[i].job) + " " + answer.death,
                  "use fewer `processes`, or free memory"};
    base::ArchiveReader archive{answer.bytes, {Fault::kInternal, "trnsim choose", "an answer is incomplete", "report"}};
    ChoiceFigures figures;
    archive(figures);
    note(i, figures);
    if (figures.pass_seconds > 0) learn(i, figures.pass_seconds);
  }

  void note(std::size_t i, const ChoiceFigures& figures) {
    Choice& choice = choices_[i];
    choice.projected = true, choice.fits = figures.fits;  // all of its micro-batches may need more than some of them
    choice.memory = figures.memory;
    if (!figures.fits) {
      std::erase(fitting_, i);
      if (choice.memory > 0) too_large_.push_back(i);
      choice.refused = choice.memory > 0 ? too_large(choice.memory, choice.job).text
                                         : "the compiler finds no tile that fits in SBUF";
      return;
    }
    if (std::ranges::find(fitting_, i) == fitting_.end()) fitting_.push_back(i);
    choice.change.seconds = figures.seconds;
    if (figures.priced) choice.change.dollars = figures.dollars;
    choice.step_seconds = figures.step_seconds, choice.binds = figures.binds;
  }

  /// Other choices with these passes take as long for them at least, and nearly so those that have more to do.
  void learn(std::size_t from, double pass_seconds) {
    known_layers_.insert(kin_[from].layers);
    const runtime::Plan& known = choices_[from].job.step.plan;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (state_[i] != State::kOpen && state_[i] != State::kRefused) continue;
      const bool same = kin_[i].passes == kin_[from].passes;
      const runtime::Plan& plan = choices_[i].job.step.plan;
      if (!same && (kin_[i].core != kin_[from].core || !does_more(plan, known))) continue;
      const double work =
          static_cast<double>(plan.micro_batch * known.tensor) / static_cast<double>(known.micro_batch * plan.tensor);
      Choice& choice = choices_[i];
      choice.least_seconds =
          std::max(choice.least_seconds, least_[i].seconds((same ? 1 : kAtLeast) * work * pass_seconds));
    }
  }

  /// Whether the passes of a sequence take cores at least as long as those of the other plan: as kAtLeast says.
  static bool does_more(const runtime::Plan& plan, const runtime::Plan& other) {
    return plan.tensor >= other.tensor && plan.micro_batch * other.tensor <= other.micro_batch * plan.tensor &&
           plan.pipeline >= other.pipeline && plan.recompute >= other.recompute &&
           (plan.micro_batches > 1) >= (other.micro_batches > 1) &&
           (other.tensor == 1 || plan.sequence == other.sequence);
  }

  std::vector<Choice>& choices_;
  std::vector<State> state_;
  std::vector<bool> whole_;  // projected with all of its micro-batches
  const analysis::SweepWatch& watch_;
  std::vector<LeastTime> least_;
  std::vector<Kinship> kin_;
  std::map<std::uint64_t, std::vector<std::size_t>> same_but_recomputing_;
  std::map<std::uint64_t, std::size_t> owner_;  // of a family: the process that compiles it
  std::set<std::uint64_t> known_layers_;
  std::vector<std::size_t> fitting_, too_large_;
  std::size_t slots_;
  base::ProcessPool pool_;
};

}  // namespace

void project_choices(std::vector<Choice>& choices, int processes, const analysis::SweepWatch& watch) {
  ChoiceProjections{choices, processes, watch}.run();
}

}  // namespace trnsim
