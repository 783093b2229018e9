// How many samples a core's memory holds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hw/params.h"
#include "runtime/compiler/compile.h"
#include "trnsim/plans/ablate.h"
#include "trnsim/project/stages.h"

namespace trnsim {
namespace {

constexpr std::int64_t kLeap = 16;         // times what is known to fit
constexpr std::size_t kOrdered = 300'000;  // instructions that are put in order in a few seconds
constexpr double kSpills = 1.01;           // what the order may add to a larger program; measured: 0.7 %
constexpr auto kUnknown = std::numeric_limits<std::int64_t>::max();

struct Need {
  double bytes = 0;  // of a core's HBM
  std::size_t instructions = 0;
};

Need need_of(const Job& job, std::int64_t batch, bool reorder) {
  Job other = job;
  other.passes.reorder = reorder;
  other.step.plan.micro_batch = batch;
  // More micro-batches need no more memory than keep all stages at work.
  const std::int64_t enough = job.step.plan.pipeline > 1 ? job.step.plan.micro_batches : 2;
  other.step.plan.micro_batches = std::min(job.step.plan.micro_batches, enough);
  SharedBlocks shared{job.machine.target()};
  const CompiledStages compiled = compile_stages(other, shared);
  Need need{static_cast<double>(compiled.memory.total), 0};
  for (const Stage& stage : compiled.stages)
    for (const isa::Block& block : stage.compiled().program.blocks) need.instructions += block.instrs.size();
  return need;
}

/// Memory grows with the batch almost evenly, so the line through two batches is the best guess of where it ends. What
/// is large takes long to compile: nothing much larger than the answer is tried. The order of instructions moves no
/// tensor but spills; left out it makes the search several times as fast.
class Search {
 public:
  Search(const Job& job, double capacity) : job_{job}, capacity_{capacity} {
    look_at(1);
    if (fits_ == 1) look_at(2);
    while (too_large_ - fits_ > 1) look_at(guess());
  }

  std::int64_t fits() const { return fits_; }
  const Need& need() const { return known_.at(fits_); }
  /// The batch that fits into `capacity`, by the line.
  std::int64_t fits_into(double capacity) const {
    const auto [batch, above] = *known_.find(too_large_);
    const double slope = (above.bytes - need().bytes) / static_cast<double>(batch - fits_);
    const double over = std::max(0.0, need().bytes - capacity);
    return fits_ - static_cast<std::int64_t>(std::ceil(over / slope));
  }

 private:
  void look_at(std::int64_t batch) {
    const Need& need = known_[batch] = need_of(job_, batch, false);
    (need.bytes <= capacity_ ? fits_ : too_large_) = batch;
  }

  /// By the last that fits and the first that does not, or as long as all fit by the last two.
  std::int64_t guess() const {
    const auto above = known_.contains(too_large_) ? known_.find(too_large_) : std::prev(known_.end());
    const auto below = std::prev(above);
    const double slope = (above->second.bytes - below->second.bytes) / static_cast<double>(above->first - below->first);
    const double ends = static_cast<double>(below->first) + (capacity_ - below->second.bytes) / std::max(slope, 1.0);
    const std::int64_t highest = std::min(too_large_ - 1, kLeap * fits_);  // two batches may give an unusual line
    return static_cast<std::int64_t>(
        std::clamp(ends, static_cast<double>(fits_ + 1), static_cast<double>(std::max(fits_ + 1, highest))));
  }

  const Job& job_;
  const double capacity_;
  std::map<std::int64_t, Need> known_{{0, {}}};
  std::int64_t fits_ = 0, too_large_ = kUnknown;
};

}  // namespace

std::int64_t largest_batch(const Job& job) {
  const auto capacity = static_cast<double>(job.machine.hbm_bytes_per_core());
  const Search found{job, capacity};
  std::int64_t fits = found.fits();
  if (!job.passes.reorder || fits == 0) return fits;
  if (found.need().instructions > kOrdered) return found.fits_into(capacity / kSpills);
  while (fits > 0 && need_of(job, fits, true).bytes > capacity) --fits;
  return fits;
}

}  // namespace trnsim
