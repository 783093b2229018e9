// A job on instances that may be taken away: its expected time, and the best interval between checkpoints.
#pragma once

#include <optional>

namespace analysis {

/// Seconds. Interruptions come at random, independent of each other: a Poisson process.
struct Interruptions {
  double every = 0;       // on average
  double checkpoint = 0;  // that the job waits for one
  double restart = 0;     // after an interruption, until it works where the last checkpoint was
  double background = 0;  // in which a checkpoint is then written while the job goes on; until then it is of no use

  /// Seconds that the job waits for each checkpoint: also until the one before is written.
  double wait(double interval) const;
};

/// Expected seconds of `work` seconds with a checkpoint after each `interval` of work; work since the last one
/// is done again. One that is written in the background is older by that time when it is needed, and the last one is
/// waited for. Source: J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps,
/// Future Generation Computer Systems 22 (2006), eq. 20.
double expected_seconds(const Interruptions& interruptions, double work, double interval);

/// A job whose instances are taken away now and then, with the best interval between checkpoints. Expected figures.
struct InterruptedTime {
  double seconds = 0;
  double save_steps = 0;             // from checkpoint to checkpoint
  double checkpoint = 0;             // seconds that the job waits for each
  std::optional<double> dollars{};   // as bought_when_interrupted() says
  std::optional<double> as_saved{};  // seconds with the job's own interval, if it has one
};

/// The interval from `least` to `work` with the least expected time.
double best_interval(const Interruptions& interruptions, double work, double least);

}  // namespace analysis
