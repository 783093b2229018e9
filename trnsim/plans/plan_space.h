// The plans near a job's own: search, advice and fitting changes all look there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trnsim/job.h"

namespace trnsim {

struct SharedBlocks;  // trnsim/project/stages.h

/// Values to try; an empty list means the job's own.
struct PlanMoves {
  struct Degrees {
    std::int64_t tensor = 1, pipeline = 1;
  };
  std::vector<std::int64_t> micro_batch{};  // sequences of a micro-batch
  std::vector<Degrees> degrees{};
  std::vector<std::int64_t> chunks{};  // of layers on a stage, of plans with stages
  std::vector<bool> zero1{};
  std::vector<runtime::Recompute> recompute{};
  bool any_batch = false;  // also plans whose micro-batches do not make the job's batch of the optimizer
};

/// All combinations on the job's cores with its batch of the optimizer, in the lists' order, the last list fastest;
/// without those that leave cores idle, or shard an optimizer's state over a single data-parallel rank.
std::vector<Job> plans_near(const Job& job, const PlanMoves& moves);

/// As nearest_that_fits(job), with blocks that projections of such jobs have in common, and so many sequences in an
/// optimizer step, or as near above as the plan allows.
std::optional<Job> nearest_that_fits(const Job& job, std::int64_t sequences, SharedBlocks& shared);

/// The settings of `after`'s plan that are not those of `before`, in the order of plan_settings().
std::vector<std::pair<std::string, std::string>> plan_changes(const Job& before, const Job& after);

}  // namespace trnsim
