#include "trnsim/job/unread.h"

#include <string_view>

#include "trnsim/job/job_price.h"
#include "trnsim/job/settings.h"

namespace trnsim {
namespace {

/// An option of the cores that share something, and how many there are.
struct SharedBy {
  std::string_view setting, cores;
  bool given = false;
  std::int64_t degree = 1;
};

}  // namespace

void tell_unread(const Job& job, const Settings& s, const std::function<void(const std::string&)>& note) {
  if (!note) return;
  if (const std::string prices = unread_prices(job, s); !prices.empty()) note(prices);
  if (job.generation) return;  // these are refused there
  const runtime::Plan& plan = job.step.plan;
  const SharedBy options[] = {
      {"zero_1", "data-parallel core: no other shares the optimizer's state", s.plan.zero_1, plan.data},
      {"disable_sequence_parallel", "tensor-parallel core: no other shares a sequence",
       s.plan.disable_sequence_parallel, plan.tensor}};
  for (const SharedBy& one : options)
    if (one.given && one.degree == 1 && s.given.contains(std::string{one.setting}))
      note("`" + std::string{one.setting} + "` has no effect on one " + std::string{one.cores});
}

}  // namespace trnsim
