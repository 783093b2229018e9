// The effect of each compiler pass on a job: time, memory, the largest batch, the numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trnsim/plans/advice.h"
#include "trnsim/projection.h"
#include "workloads/jobs/workload.h"

namespace trnsim {

/// A job's step compiled with some passes.
struct PassFigures {
  double seconds = 0;              // of the device, a step
  double hbm_bytes = 0;            // of the core that needs most
  double traffic = 0;              // bytes at HBM in a step, of the slowest stage's core
  std::uint64_t instructions = 0;  // per step, over the stages
};
/// The program may be larger than the machine's memory.
PassFigures pass_figures(const Job& job, bool exact);

/// The job as given, with each pass switched to the opposite, and without any.
struct PassVariant {
  std::string name;  // as the setting `passes` would switch it: "-fusion"
  std::string text;  // the effect of the pass
  Job job;
};
/// Errors: Fault::kUsage for a generation, which is always compiled with all passes.
std::vector<PassVariant> pass_variants(const Job& job);

/// The largest micro-batch of one core that its HBM holds; 0 when not even one sample fits. Found by compiling; for
/// programs that take long to schedule, 1 % of the memory is kept free instead.
std::int64_t largest_batch(const Job& job);

/// `job_of` with each job at its largest batch, at most `most` (0: no limit), found by a search. Jobs that are the
/// same on the device as `known` have its batch without one.
JobOf at_largest_batch(JobOf job_of, const Job& known, std::int64_t most);

/// Loss and gradient norm of each of the first steps of a workload's small model, trained with these passes: numbers
/// that distinguish two ways to compute. On made-up data, rounded to nearest: stochastic rounding draws its numbers by
/// the order in which instructions are written, so that each one more or less would show. Errors: as the trainers.
using SmallTraining = std::function<std::vector<double>(const runtime::Passes&)>;
SmallTraining small_training(const workloads::Workload& workload, const Settings& given);

/// One way to train.
struct CompilerCase {
  std::string name;
  Job job;
  Projection projection;
  double learning_rate = 0;

  /// Samples per second of training, over all cores.
  double samples_per_second() const { return job.sequences_per_step() / projection.time.step; }
};
/// The same training without passes, with them, and with them at the largest batch that fits.
struct CompilerGain {
  std::vector<CompilerCase> cases;
  double speed_up() const { return cases.back().samples_per_second() / cases.front().samples_per_second() - 1; }
};
/// `job` is the one without passes: its batch, and the learning rate for that batch, which grows with the batch.
/// Errors: Fault::kCapacity when even that does not fit.
/// `most`: limit of the batch; 0: none.
CompilerGain compiler_gain(const Job& job, double learning_rate, const TraceWindow& trace, std::int64_t most = 0);

}  // namespace trnsim
