#include "cli/largest_batch.h"

#include <algorithm>

namespace cli {
namespace {

/// Bytes of a core's HBM that the step needs with this batch.
double bytes_at(const StepTarget& target, std::int64_t batch, const runtime::Passes& passes) {
  StepTarget other = target;
  other.job.step.batch = batch;
  return static_cast<double>(compiled_with(other, passes).memory.total);
}

}  // namespace

// Memory grows with the batch almost evenly, so the line through a batch that fits and one that does not is the best
// guess of what lies between them.
std::int64_t largest_batch(const StepTarget& target, const runtime::Passes& passes) {
  const auto capacity = static_cast<double>(target.machine.hbm_bytes_per_core());
  // The order of instructions moves no tensor but spills; left out it makes the search three times as fast.
  runtime::Passes search = passes;
  search.reorder = false;
  std::int64_t fits = 0, too_large = 1;
  double bytes = 0, bytes_too_large = 0;
  while ((bytes_too_large = bytes_at(target, too_large, search)) <= capacity) {
    fits = too_large, bytes = bytes_too_large;
    too_large *= 2;
  }
  while (too_large - fits > 1) {
    const double share = (capacity - bytes) / (bytes_too_large - bytes);
    const auto guess = fits + static_cast<std::int64_t>(share * static_cast<double>(too_large - fits));
    const std::int64_t batch = std::clamp(guess, fits + 1, too_large - 1);
    const double needed = bytes_at(target, batch, search);
    if (needed <= capacity)
      fits = batch, bytes = needed;
    else
      too_large = batch, bytes_too_large = needed;
  }
  while (fits > 0 && passes.reorder && bytes_at(target, fits, passes) > capacity) --fits;
  return fits;
}

}  // namespace cli
