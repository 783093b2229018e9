#include "analysis/host/interruptions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using analysis::best_interval;
using analysis::expected_seconds;
using analysis::Interruptions;

/// The same by drawing: after each interruption the job restarts, which may be interrupted too, and repeats a segment.
double drawn_seconds(const Interruptions& at, double work, double interval, int trials) {
  std::mt19937_64 random{7};
  std::exponential_distribution<double> next{1 / at.every};
  double sum = 0;
  for (int trial = 0; trial < trials; ++trial) {
    double now = 0, stop = next(random);
    for (double done = 0; done < work; done += interval) {
      double needed = interval + at.checkpoint;
      while (now + needed > stop) {
        now = stop, stop = now + next(random);
        needed = at.restart + interval + at.checkpoint;
      }
      now += needed;
    }
    sum += now;
  }
  return sum / trials;
}

TEST(Interruptions, TheExpectedTimeIsThatOfDrawnOnes) {
  const Interruptions at{.every = 21600, .checkpoint = 120, .restart = 300};
  for (const double interval : {600.0, 1800.0, 7200.0}) {
    const double drawn = drawn_seconds(at, 72000, interval, 4000);
    EXPECT_NEAR(expected_seconds(at, 72000, interval), drawn, 0.02 * drawn) << interval;  // 3 deviations of the mean
  }
}

/// By drawing, of checkpoints that are written in the background, one after the other: an interruption goes back to the
/// last that is written.
double drawn_with_background(const Interruptions& at, int segments, double interval, int trials) {
  std::mt19937_64 random{7};
  std::exponential_distribution<double> next{1 / at.every};
  double sum = 0;
  for (int trial = 0; trial < trials; ++trial) {
    double now = 0, stop = next(random), ready = 0;  // when the newest copy is written
    int done = 0, written = 0;
    while (written < segments) {
      const double reached = done < segments ? std::max(now + interval, ready) + at.checkpoint : ready;
      if (reached > stop) {
        if (ready <= stop) written = done;
        done = written, now = ready = stop + at.restart, stop += next(random);
        for (; stop < now; stop += next(random)) now = ready = stop + at.restart;
        continue;
      }
      written = done;  // the copy before is written first
      now = reached;
      if (done < segments) ++done, ready = now + at.background;
    }
    sum += now;
  }
  return sum / trials;
}

// An interruption while a checkpoint is being written costs the work since the one before.
TEST(Interruptions, CheckpointsInTheBackgroundAreThoseOfDrawnOnes) {
  const Interruptions at{.every = 21600, .checkpoint = 20, .restart = 300, .background = 900};
  for (const double interval : {600.0, 1800.0, 7200.0}) {
    const double work = 72000, drawn = drawn_with_background(at, static_cast<int>(work / interval), interval, 4000);
    EXPECT_NEAR(expected_seconds(at, work, interval), drawn, 0.02 * drawn) << interval;
  }
}

TEST(Interruptions, TheBestIntervalIsNearYoungsAndBeatsOthers) {
  const Interruptions at{.every = 21600, .checkpoint = 20, .restart = 60};
  const double best = best_interval(at, 72000, 1);
  EXPECT_NEAR(best, std::sqrt(2.0 * 20 * 21600), 0.03 * best);  // Young 1974, for short checkpoints
  for (const double other : {0.5, 0.9, 1.1, 2.0})
    EXPECT_LT(expected_seconds(at, 72000, best), expected_seconds(at, 72000, best * other)) << other;
}

TEST(Interruptions, RareOnesCostNothing) {
  const Interruptions at{.every = 1e12, .checkpoint = 0, .restart = 60};
  EXPECT_NEAR(expected_seconds(at, 3600, 3600), 3600, 1e-3);
}

}  // namespace
