// run_sweep(): points are claimed in the store, handed out to child processes, and their results kept.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <thread>

#include "analysis/sweep/sweep.h"
#include "analysis/sweep/sweep_store.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/process_pool.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{200};  // how late Ctrl-C may be noticed
constexpr std::chrono::milliseconds kLook{20};   // between checks of the other processes
constexpr const char* kDied = "its process died";

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// "host pid token": the first two tell neighbours on the host whether it lives, the last makes it unique.
std::string owner_name() {
  std::random_device random;
  return fmt::format("{} {} {:08x}{:08x}", host_name(), ::getpid(), random(), random());
}

/// Certain only on this host; elsewhere its signs of life count.
bool owner_has_died(const std::string& owner) {
  const std::string host = host_name() + " ";
  if (!owner.starts_with(host)) return false;
  const auto pid = static_cast<pid_t>(std::strtol(owner.c_str() + host.size(), nullptr, 10));
  return pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
}

std::string packed(const Metrics& metrics) {
  base::ArchiveWriter archive;
  archive(metrics);
  return archive.take();
}

Metrics unpacked(std::string_view bytes) {
  base::ArchiveReader archive{bytes, {Fault::kInternal, "sweep", "metrics are incomplete", "please report this"}};
  Metrics metrics;
  archive(metrics);
  return metrics;
}

/// Whether an error would come again on any host: programs that a machine refuses or cannot hold. A host that lacks
/// memory, disk or threads says nothing of the point, and neither does a bug of ours that the next version may not
/// have.
bool belongs_to_point(Fault fault) { return fault != Fault::kEnvironment && fault != Fault::kInternal; }

/// Works on the points in `waiting` until all are done, by us or by others.
class Shift {
 public:
  Shift(SweepRun& run, const SweepModel& model, SweepStore& store, const SweepTeam& team, const SweepWatch& watch,
        std::deque<std::size_t> waiting)
      : run_{run}, model_{model}, store_{store}, team_{team}, watch_{watch}, waiting_{std::move(waiting)} {
    if (model_.affinity) group_by_affinity();
  }

  void work(std::size_t processes) {
    const base::HoldInterrupts hold;  // finished points are kept, and their table printed
    const std::size_t all = waiting_.size();
    base::ProcessPool pool{std::min(processes, all), "sweep",
                           [this](std::size_t i) { return packed(model_.evaluate(run_.results[i].point)); }};
    for (;;) {
      if (base::interrupted()) {
        run_.interrupted = true;
        break;
      }
      order(pool);
      if (pool.busy() == 0 && (others_.empty() || !team_.waits)) break;
      if (pool.busy() == 0) std::this_thread::sleep_for(kLook);
      for (base::ProcessPool::Answer& answer : pool.wait(kPoll)) take(answer);
      beat();
      look();
      if (watch_) watch_(run_.computed, all);
    }
  }

 private:
  /// A point that another process has claimed, and when the claim was last seen to change.
  struct Watched {
    Claim claim;
    SteadyClock::time_point changed;
  };

  void finish(std::size_t index, std::string error = {}) {
    SweepResult& result = run_.results[index];
    if (!error.empty()) result.error = std::move(error);
    result.done = true;
    ++run_.computed;
    others_.erase(index);
  }

  /// Keeps the processes busy with points that are not claimed by others.
  void order(base::ProcessPool& pool) {
    while (pool.has_room() && !waiting_.empty()) {
      const auto at = next(pool);
      const std::size_t index = *at;
      waiting_.erase(at);
      if (try_claim(index)) pool.order(index, affinity_of(index));
    }
  }

  std::uint64_t affinity_of(std::size_t index) const { return affinities_.empty() ? 0 : affinities_[index]; }

  /// Moves points of one affinity behind the first of them.
  void group_by_affinity() {
    std::map<std::uint64_t, std::size_t> first;
    for (const SweepResult& result : run_.results) affinities_.push_back(model_.affinity(result.point));
    for (const std::size_t index : waiting_) first.emplace(affinities_[index], first.size());
    std::ranges::stable_sort(waiting_, {}, [&](std::size_t index) { return first.at(affinities_[index]); });
  }

  /// The next point whose affinity no process is busy with; the first when all are busy.
  std::deque<std::size_t>::iterator next(const base::ProcessPool& pool) {
    constexpr std::ptrdiff_t kLookAt = 1000;
    if (affinities_.empty()) return waiting_.begin();
    const auto end = waiting_.begin() + std::min<std::ptrdiff_t>(kLookAt, std::ssize(waiting_));
    const auto free =
        std::find_if(waiting_.begin(), end, [&](std::size_t i) { return !pool.busy_with(affinities_[i]); });
    return free == end ? waiting_.begin() : free;
  }

  /// Claims a point; one that is done or that others work on is put aside.
  bool try_claim(std::size_t index) {
    SweepResult& result = run_.results[index];
    const auto held = store_.claim_of(result.hash);
    if (held && held->died && held->job == team_.job) {
      finish(index, kDied);
    } else if ((!held || held->died || dead(index, *held)) && store_.claim(result.hash, held)) {
      others_.erase(index);
      return true;
    } else if (store_.find(result)) {
      finish(index);
    } else if (!others_.contains(index)) {
      others_[index] = {held.value_or(Claim{}), SteadyClock::now()};
    }
    return false;
  }

  bool dead(std::size_t index, const Claim& claim) {
    if (owner_has_died(claim.owner)) return true;
    const auto seen = others_.find(index);
    if (seen == others_.end()) return false;
    Watched& watched = seen->second;
    if (claim.owner != watched.claim.owner || claim.beats != watched.claim.beats) watched = {claim, SteadyClock::now()};
    return SteadyClock::now() - watched.changed > std::chrono::duration<double>{team_.patience_s};
  }

  void take(base::ProcessPool::Answer& answer) {
    SweepResult& result = run_.results[answer.item];
    if (!answer.death.empty() || (answer.error && !belongs_to_point(answer.error->fault()))) {
      store_.mark_failed(result.hash);  // the point is tried again by the next sweep
      return finish(answer.item, answer.error ? answer.error->what() : kDied);
    }
    if (answer.error)
      result.error = answer.error->what();
    else
      result.metrics = unpacked(answer.bytes);
    store_.put(result);
    finish(answer.item);
  }

  void beat() {
    const auto now = SteadyClock::now();
    if (now - beaten_ < std::chrono::duration<double>{team_.patience_s / 10}) return;
    beaten_ = now;
    store_.beat();
  }

  /// Fetches results of other processes, and takes over points of dead ones.
  void look() {
    const auto now = SteadyClock::now();
    if (!team_.waits || !waiting_.empty() || now - looked_ < kLook) return;
    looked_ = now;
    for (const auto& [index, watched] : others_) {
      const auto held = store_.claim_of(run_.results[index].hash);
      if (!held || held->died || dead(index, *held)) waiting_.push_back(index);
    }
  }

  SweepRun& run_;
  const SweepModel& model_;
  SweepStore& store_;
  const SweepTeam& team_;
  const SweepWatch& watch_;
  std::deque<std::size_t> waiting_;
  std::vector<std::uint64_t> affinities_;  // per point; empty: each is on its own
  std::map<std::size_t, Watched> others_;
  SteadyClock::time_point beaten_ = SteadyClock::now(), looked_ = beaten_;
};

}  // namespace

std::size_t SweepRun::known() const {
  return static_cast<std::size_t>(std::ranges::count(results, true, &SweepResult::done));
}

SweepRun run_sweep(const std::vector<SweepPoint>& points, const SweepModel& model,
                   const std::filesystem::path& database, int processes, const SweepTeam& team,
                   const SweepWatch& watch) {
  if (points.empty()) throw Error{Fault::kUsage, "sweep", "has no points", "give `set` KEY=VALUE,VALUE"};
  if (processes < 1) throw Error{Fault::kUsage, "`processes`", "is below 1", "give a whole number from 1"};
  SweepRun run;
  for (const SweepPoint& point : points) run.results.push_back({.point = point, .hash = model.hash(point)});
  const std::string owner = owner_name();
  SweepTeam own = team;
  if (own.job.empty()) own.job = owner;
  SweepStore store{database, own.job, owner, own.size > 1};
  std::map<std::uint64_t, std::size_t> first;  // points that are the same machine are computed once
  std::deque<std::size_t> waiting;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (store.find(run.results[i]) || !first.emplace(run.results[i].hash, i).second) continue;
    waiting.push_back(i);
  }
  // The processes of a team begin apart, so that they seldom want the same point.
  const auto begin = waiting.begin() + static_cast<std::ptrdiff_t>(waiting.size() * own.rank / own.size);
  std::rotate(waiting.begin(), begin, waiting.end());  // clang 14, which lints, cannot read std::ranges::rotate
  if (!waiting.empty())
    Shift{run, model, store, own, watch, std::move(waiting)}.work(static_cast<std::size_t>(processes));
  for (SweepResult& result : run.results) {
    const auto same = first.find(result.hash);
    if (result.done || same == first.end()) continue;
    const SweepResult& computed = run.results[same->second];
    result.done = computed.done;
    result.error = computed.error;
    result.metrics = computed.metrics;
  }
  return run;
}

}  // namespace analysis
