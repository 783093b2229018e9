// Ways to share a model's training between cores: which there are, which cannot be, and how long the others take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "trnsim/job.h"

namespace trnsim {

struct PlanSpace {
  std::int64_t batch = 256;                    // sequences of an optimizer step, over all cores
  std::vector<std::int64_t> micro_batches{1};  // sequences of a micro-batch to try
};

struct TriedPlan {
  Job job;
  std::string refused{};                           // why it is out; empty: it has a time
  bool too_large = false;                          // that is why
  std::uint64_t memory = 0;                        // of the fullest core; for one far too large, the least it needs
  std::map<std::string, std::uint64_t> by_kind{};  // of one that was timed, as Memory has it
  double seconds = 0;                              // a step
  double mfu = 0;                                  // of the device's time
};

/// All mixes of degrees, ZeRO, recomputation and micro-batches that use all of the job's cores and make the batch; of
/// its own plan only the chunks per stage are read. Those that the model or the machine does not allow, and those that
/// cannot fit, have a reason already: nothing compiles them. Errors: Fault::kUsage for a model whose cores share
/// nothing but data; of a generation the degrees of tensor parallelism, and micro-batches are sequences side by side.
std::vector<TriedPlan> plans_of(const Job& job, const PlanSpace& space);

/// Gives each that has no reason a time or a reason, in `processes` child processes: pipelines with all of their stages
/// on the clock. Plans whose cores run the same blocks compile them once. Errors: Fault::kUsage after Ctrl-C.
void time_plans(std::vector<TriedPlan>& plans, int processes, bool exact = false,
                const analysis::SweepWatch& watch = {});

}  // namespace trnsim
