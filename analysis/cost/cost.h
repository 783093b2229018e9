// Dollars from seconds and the price per hour of an instance.
#pragma once

namespace analysis {

/// Dollars of some seconds on so many instances: one order of the factors, so that all answers have the same bits.
inline double dollars_of(double seconds, double per_hour, double instances) {
  return seconds / 3600 * per_hour * instances;
}
inline double per_million(double dollars, double tokens) { return dollars / (tokens * 1e-6); }

/// Dollars of a job on `instances` machines at `per_hour` dollars each.
struct Cost {
  double run = 0;             // the whole job
  double per_epoch = 0;       // 0 when the number of epochs is unknown
  double per_1k_samples = 0;  // 0 when the number of samples is unknown
};

/// Billed by the second, as on-demand instances are. Errors: Fault::kUsage for a negative figure.
Cost cost_of(double seconds, double per_hour, int instances, double epochs, double samples);

}  // namespace analysis
