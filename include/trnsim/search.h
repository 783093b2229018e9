// The plans of a model's training on given cores: the impossible ones with a reason, the others with a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "trnsim/job.h"
#include "trnsim/settings.h"

namespace trnsim {

struct PlanSpace {
  std::int64_t batch = 256;                    // sequences of an optimizer step, over all cores
  std::vector<std::int64_t> micro_batches{1};  // sequences of a micro-batch to try
};

struct TriedPlan {
  Job job;
  std::string refused{};                           // why it is excluded; empty: it has a time
  bool too_large = false;                          // the reason is memory
  std::uint64_t memory = 0;                        // of the fullest core; for one far too large, the least it needs
  std::map<std::string, std::uint64_t> by_kind{};  // of a timed plan, as in Memory
  double seconds = 0;                              // per step; of a generation, per token
  double total = 0;                                // of a generation: until its last token
  double mfu = 0;                                  // of the device's time
};

/// The sizes of a micro-batch to try for an optimizer's step of `batch` sequences, where the settings name none: as
/// `trnsim estimate` has them, 1 of a decoder. A core takes up to 8 texts or pictures of other models at once: powers
/// of two up to that, without those smaller than its share of the step.
std::vector<std::int64_t> default_micro_batches(const Settings& settings, const Job& job, std::int64_t batch);

/// All combinations of degrees, ZeRO, recomputation and micro-batches that use all of the job's cores and make up the
/// batch; of its own plan only the chunks per stage are read. Plans that the model or the machine does not allow, or
/// that cannot fit, have a reason at once and are not compiled. For a generation: the degrees of tensor parallelism,
/// and micro-batches are sequences side by side. Errors: Fault::kUsage for a program, whose plan is as it is written.
std::vector<TriedPlan> plans_of(const Job& job, const PlanSpace& space);

struct TimePlans {
  int processes = 1;  // children that work at the same time
  bool exact = false;
  /// The number of the fastest plans whose memory is that of all their micro-batches, of which some tell the time.
  /// Those that do not fit after all get a reason, and the next ones take their place.
  std::size_t settled = 0;
  analysis::SweepWatch watch{};  // plans that are timed
};

/// Times the plans without a reason, or gives them one; all stages of a pipeline are simulated. Plans whose cores run
/// the same blocks compile them once. Errors: Fault::kUsage after Ctrl-C; Fault::kEnvironment when a process dies.
void time_plans(std::vector<TriedPlan>& plans, const TimePlans& options = {});

/// Numbers of the plans that have a time, the fastest first. On one and the same cluster it is the cheapest too.
std::vector<std::size_t> by_time(const std::vector<TriedPlan>& plans);

}  // namespace trnsim
