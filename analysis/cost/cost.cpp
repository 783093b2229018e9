#include "analysis/cost/cost.h"

#include "base/error.h"

namespace analysis {

Cost cost_of(double seconds, double per_hour, int instances, double epochs, double samples) {
  if (!(seconds >= 0) || !(per_hour >= 0) || instances < 1 || !(epochs >= 0) || !(samples >= 0)) {
    throw base::Error{base::Fault::kUsage, "cost",
                      "needs a time, a price and at least one instance, none of them negative",
                      "check the price and `nnodes`"};
  }
  const double run = dollars_of(seconds, per_hour, instances);
  return {
      .run = run, .per_epoch = epochs > 0 ? run / epochs : 0, .per_1k_samples = samples > 0 ? run / samples * 1000 : 0};
}

}  // namespace analysis
