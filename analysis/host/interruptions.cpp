#include "analysis/host/interruptions.h"

#include <algorithm>
#include <cmath>

namespace analysis {

double Interruptions::wait(double interval) const { return checkpoint + std::max(0.0, background - interval); }

double expected_seconds(const Interruptions& i, double work, double interval) {
  const double lost = i.restart + i.background, last = std::min(i.background, interval);
  return i.every * std::exp(lost / i.every) * std::expm1((interval + i.wait(interval)) / i.every) * work / interval +
         last;
}

double best_interval(const Interruptions& i, double work, double least) {
  constexpr int kHalvings = 200;
  double low = std::log(std::min(least, work)), high = std::log(work);
  for (int n = 0; n < kHalvings; ++n) {  // one minimum: a longer interval saves checkpoints and loses more work
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (expected_seconds(i, work, std::exp(a)) < expected_seconds(i, work, std::exp(b)) ? high : low) =
        expected_seconds(i, work, std::exp(a)) < expected_seconds(i, work, std::exp(b)) ? b : a;
  }
  return std::exp((low + high) / 2);
}

}  // namespace analysis
