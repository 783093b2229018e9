// What the compiler's passes are worth to a job: the same training without them, and with them and the batch they
// allow.
#pragma once

#include <vector>

#include "base/table.h"
#include "trnsim/project.h"

namespace trnsim {

/// One way to train.
struct CompilerCase {
  std::string name;
  ProjectedJob job;
  Projection projection;
  double learning_rate = 0;

  /// Samples of all cores in a second of training alone.
  double samples_per_second() const {
    return static_cast<double>(job.step.plan.micro_batch * job.step.plan.micro_batches * job.step.plan.data) /
           projection.time.step;
  }
};

struct CompilerGain {
  std::vector<CompilerCase> cases;  // without passes, with them, with them at the largest batch that fits

  double speed_up() const { return cases.back().samples_per_second() / cases.front().samples_per_second() - 1; }
};

/// `job` is the one without passes: its batch, and the learning rate for that batch, which grows with the batch.
/// Errors: Fault::kCapacity when even that does not fit.
CompilerGain compiler_gain(const ProjectedJob& job, double learning_rate, const hw::MachineParams& machine);

base::Table compiler_table(const CompilerGain& gain);

}  // namespace trnsim
