// The price of a job's instances, as its settings say how they are bought.
#pragma once

#include <string>

#include "trnsim/job.h"
#include "trnsim/settings.h"

namespace trnsim {

/// Fills how the job is bought, the price of an instance, and the price of one that may be taken away. The machine and
/// the sizes must be set. Errors: Fault::kUsage for a way to buy it that the machine has no price for.
void set_price(Job& job, const Settings& s);

/// A sentence on the prices among the settings that this job is not bought at; empty: there is none.
std::string unread_prices(const Job& job, const Settings& s);

}  // namespace trnsim
