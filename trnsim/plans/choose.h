// The choice of instances, plan and batch for a job: the fewest dollars, the shortest time, and all between them that
// no other choice beats in both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "trnsim/plans/advice.h"

namespace trnsim {

/// Values to try.
struct ChoiceSpace {
  std::vector<std::string> instance_types{};  // empty: every machine that has a price
  std::vector<std::int64_t> nnodes{1};
  std::vector<std::int64_t> batches{};  // sequences of an optimizer step, over all cores
  std::vector<std::int64_t> micro_batches{1, 2, 4, 8, 16};
};

/// A job on instances of one kind, with a plan and a batch.
struct Choice {
  Change change;  // the settings that make it from the user's; its seconds and dollars once it is projected
  Job job;
  bool projected = false;    // its memory is known, and its time if it fits
  bool fits = false;         // it has a time
  std::string refused{};     // why it is not possible, or not worth a projection
  std::uint64_t memory = 0;  // of a core
  double step_seconds = 0;
  double least_seconds = 0;  // no projection is shorter
  std::string binds{};       // the part of a step that would shorten it most
};

/// All choices of the space whose jobs may be possible. Cores that share data alone have every number of cores that
/// shares the batch evenly; plans of others use all cores. Each is asked for with the least recomputation first.
std::vector<Choice> choices_of(const Settings& settings, const JobOf& job_of, const ChoiceSpace& space);

/// Projects the choices in `processes` child processes, except those that cannot be the cheapest, the fastest or
/// between them: a choice whose least time and least dollars another one undercuts, and one that recomputes more than
/// another one of the same plan that fits. Errors: Fault::kUsage after Ctrl-C, Fault::kEnvironment when a process
/// dies.
void project_choices(std::vector<Choice>& choices, int processes, const analysis::SweepWatch& watch = {});

/// Numbers of the choices that no other one beats in time and dollars, the cheapest first, the fastest last.
std::vector<std::size_t> front_of(const std::vector<Choice>& choices);
/// The cheapest within so many seconds, and the fastest under so many dollars; nothing when there is none.
std::optional<std::size_t> cheapest_of(const std::vector<Choice>& choices, double within = 0);
std::optional<std::size_t> fastest_of(const std::vector<Choice>& choices, double under = 0);

}  // namespace trnsim
