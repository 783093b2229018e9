#include "trnsim/plans/weighing.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include "analysis/cost/cost.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "hw/params.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/least_time.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"

namespace trnsim {
namespace {

constexpr double kWorthSaying = 0.02;  // less is below the resolution of a prediction
constexpr std::int64_t kShown = 2;     // micro-batches of a stage that show the time of the others
constexpr double kSlower = -0.005;     // of samples per second that still counts as no slower
constexpr double kMuchSlower = -0.1;   // too slow to suggest, however cheap
constexpr double kHalfPrice = 1;       // of samples per dollar: worth to be slower
constexpr double kDearer = 1.005;      // dollars of a sample over today's that still count as no dearer

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

/// Whether of the changes of a kind the first that helps is the best: its candidates begin with the largest step.
bool is_ordered(const std::string& kind) { return kind != "stack" && kind != "instance_type"; }

std::size_t processes_of(const Settings& settings) {
  const std::int64_t threads = settings.machine.host_threads;
  return threads > 0 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

double gain_of(const Change& change) { return std::max(change.speed_up, change.saving); }

/// Projects changes of one job.
class Weighing::Scales {
 public:
  Scales(const Settings& settings, const JobOf& job_of, const Projection& now, KnownBlocks* known)
      : settings_{settings}, job_of_{job_of}, now_{now}, before_{job_of(settings)}, known_{known ? *known : own_} {}

  /// Fills the change's gain, from this many micro-batches of each stage (0: all). False: it does not help.
  bool weigh(Weighed& one, std::int64_t micro_batches) {
    Change& change = one.change;
    std::optional<Job> job;
    if (problem_of([&] { job = job_of_(changed(settings_, change)); })) return false;
    if (!may_help(*job)) return false;
    const auto p = try_job(*job, before_, now_,
                           {.in_child = false,  // this process is one already
                            .micro_batches = micro_batches * job->step.plan.pipeline,
                            .shared = &known_.of(job->machine),
                            .give_up = true});
    if (!p || dearer(*p, now_)) return false;
    one.whole = micro_batches == 0 || p->micro_batches == job->step.plan.micro_batches;
    change.speed_up = p->samples_per_second() / now_.samples_per_second() - 1;
    change.saving = saving(*p, now_);
    change.seconds = p->time.total, change.dollars = p->dollars;
    change.amount = p->generation ? p->samples * p->steps : p->samples;
    const double least = change.saving > kHalfPrice ? kMuchSlower : kSlower;
    return change.speed_up > least && gain_of(change) > kWorthSaying;
  }

 private:
  /// Whether the job would be worth a word if its device did nothing but its FLOPs at their peak.
  bool may_help(const Job& job) const {
    if (job.generation || same_on_the_device(job, before_)) return true;
    Projection best;
    best.samples = job.samples(), best.time.total = least_seconds(job, 0);
    if (best.time.total <= 0) return true;
    if (job.price_per_hour)
      best.dollars =
          analysis::cost_of(best.time.total, *job.price_per_hour, static_cast<int>(job.instances()), 0, 0).run;
    return best.samples_per_second() / now_.samples_per_second() - 1 > kWorthSaying ||
           saving(best, now_) > kWorthSaying;
  }

  const Settings& settings_;
  const JobOf& job_of_;
  const Projection& now_;
  const Job before_;
  KnownBlocks own_;
  KnownBlocks& known_;
};

Weighing::Weighing(const Settings& settings, const JobOf& job_of, const Projection& now, std::vector<Change> candidates,
                   KnownBlocks* known)
    : scales_{std::make_unique<Scales>(settings, job_of, now, known)},
      candidates_{std::move(candidates)},
      pool_{processes_of(settings), "suggestions", [this](std::size_t item) { return weigh(item); }} {
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const std::string& kind = kind_of(candidates_[i]);
    const auto same = std::ranges::find_if(
        turns_, [&](const auto& turn) { return is_ordered(kind) && kind_of(candidates_[turn.front()]) == kind; });
    (same == turns_.end() ? turns_.emplace_back() : *same).push_back(i);
  }
}
Weighing::~Weighing() = default;

std::vector<Weighing::Weighed> Weighing::some() {
  std::vector<std::size_t> items(turns_.size());
  std::iota(items.begin(), items.end(), std::size_t{0});
  return all_of(items);
}
std::vector<Weighing::Weighed> Weighing::whole(std::span<const Weighed> promising) {
  std::vector<std::size_t> items;
  for (const Weighed& one : promising) items.push_back(turns_.size() + one.number);
  return all_of(items);
}

/// In a child: the number and the gain of a candidate; nothing when none of the item's helps.
std::string Weighing::weigh(std::size_t item) {
  const bool of_turn = item < turns_.size();
  const std::vector<std::size_t> numbers = of_turn ? turns_[item] : std::vector{item - turns_.size()};
  for (const std::size_t number : numbers) {
    Weighed one{.number = number, .change = candidates_[number]};
    if (!scales_->weigh(one, of_turn ? kShown : 0)) continue;
    const Change& change = one.change;
    base::ArchiveWriter archive;
    archive(number, one.whole, change.speed_up, change.saving, change.seconds, change.dollars, change.amount);
    return archive.take();
  }
  return "";
}

Weighing::Weighed Weighing::read(const std::string& bytes) const {
  Weighed out;
  double dollars = 0;
  bool priced = false;
  base::ArchiveReader archive{bytes, {base::Fault::kInternal, "suggestions", "an answer is incomplete", "report it"}};
  double speed_up = 0, saving = 0, seconds = 0;
  archive(out.number, out.whole, speed_up, saving, seconds, priced);
  if (priced) archive(dollars);
  out.change = candidates_[out.number];
  archive(out.change.amount);
  out.change.speed_up = speed_up, out.change.saving = saving, out.change.seconds = seconds;
  if (priced) out.change.dollars = dollars;
  return out;
}

/// In the order of the items, whichever process is done first. After Ctrl-C nothing helps.
std::vector<Weighing::Weighed> Weighing::all_of(const std::vector<std::size_t>& items) {
  constexpr std::chrono::milliseconds kPoll{200};
  std::map<std::size_t, Weighed> found;
  std::size_t next = 0;
  while (next < items.size() || pool_.busy() > 0) {
    if (base::interrupted()) return {};
    for (; next < items.size() && pool_.has_room(); ++next) pool_.order(items[next]);
    for (const base::ProcessPool::Answer& answer : pool_.wait(kPoll)) {
      if (answer.error) throw *answer.error;
      base::ensure(answer.death.empty() || answer.killed, "suggestions", "a process " + answer.death);
      if (!answer.bytes.empty()) found.emplace(answer.item, read(answer.bytes));
    }
  }
  std::vector<Weighed> out;
  for (const std::size_t item : items)
    if (const auto at = found.find(item); at != found.end()) out.push_back(std::move(at->second));
  return out;
}

}  // namespace trnsim
