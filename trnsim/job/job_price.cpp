#include "trnsim/job/job_price.h"

#include <fmt/format.h>

#include "analysis/cost/prices.h"
#include "base/error.h"

namespace trnsim {

using base::Error;
using base::Fault;

void set_price(Job& job, const Settings& s) {
  job.purchase = analysis::parse_purchase(s.machine.price, "`price`");
  const auto price = [&](analysis::Purchase purchase) {
    return analysis::price_per_hour(job.machine.name, {.purchase = purchase, .set = s.machine.set});
  };
  job.price_per_hour = price(job.purchase);
  if (job.sizes.save.interrupted_every > 0)
    job.sizes.save.interrupted_price = price(analysis::bought_when_interrupted(job.purchase));
  if (!job.price_per_hour && job.purchase != analysis::Purchase::kOnDemand)
    throw Error{Fault::kUsage, "`price`", fmt::format("{} has no {} price", job.machine.name, s.machine.price),
                "use `price` on_demand or another `instance_type`, or add it to analysis/cost/prices/aws.toml"};
}

std::string unread_prices(const Job& job, const Settings& s) {
  constexpr std::string_view kPrice = "price.";
  for (const std::string& one : s.machine.set) {
    if (!one.starts_with(kPrice)) continue;
    const std::string key = one.substr(0, one.find('='));
    const analysis::Purchase of = analysis::parse_purchase(key.substr(kPrice.size()), "`set` " + key);
    const bool interrupted =
        job.sizes.save.interrupted_every > 0 && of == analysis::bought_when_interrupted(job.purchase);
    if (of != job.purchase && !interrupted)
      return fmt::format("`set` {} has no effect: its instances are bought {}; give `price` {}", key,
                         analysis::bought_text(job.purchase), key.substr(kPrice.size()));
  }
  return "";
}

}  // namespace trnsim
