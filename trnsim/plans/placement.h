// A job on other instances, with the cores that they offer: the settings that place it there, and its projection.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trnsim/plans/advice.h"
#include "trnsim/plans/possible.h"

namespace trnsim {

/// A job as it is projected, and its projection: a search may have chosen its batch.
struct ProjectedJob {
  Job job;
  Projection projection;
};
/// As project_if_it_fits(), in a process of its own.
using ProjectOf = std::function<ProjectedJob(const Job&)>;

/// Figures of a job that is placed on instances of one kind.
struct PlacedJob {
  Change change;  // the settings that place it; its seconds and dollars once it is projected
  std::string instance_type;
  std::int64_t instances = 1, cores = 0;
  std::optional<Job> job{};          // none: it cannot be there
  std::optional<Problem> problem{};  // why not; of one that does not fit, its memory
  double sequences_per_step = 0, samples = 0, tokens = 0, steps = 0;
  double copies = 1;  // as analysis::Placement's
  std::optional<analysis::InterruptedTime> interrupted{};

  bool too_large() const { return problem && problem->too_large; }
};

struct PlacementSpace {
  std::vector<int> counts{1};  // of instances
  bool keeps_batch = true;     // also with the batch of the job's optimizer; false: a search chooses the batch
};

/// The machines that trnsim has and that have a price, by name.
std::vector<std::string> priced_machines();

/// The job of the settings on each machine that has a price and on each number of instances: on all cores with its
/// batch per core, where an optimizer step has more sequences and the job fewer steps; and, with its optimizer's batch,
/// on as many cores as can share that. The job itself is not among them, and none is there twice.
std::vector<PlacedJob> placements_of(const Settings& settings, const JobOf& job_of, const PlacementSpace& space);

/// Projects those that are possible in `processes` child processes. Errors: Fault::kUsage after Ctrl-C.
void project_placements(std::vector<PlacedJob>& placements, const ProjectOf& project, int processes);

}  // namespace trnsim
