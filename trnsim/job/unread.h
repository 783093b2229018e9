// Settings that were given, and that change nothing in the job that was asked for.
#pragma once

#include <functional>
#include <string>

#include "trnsim/job.h"

namespace trnsim {

/// Calls `note`, if there is one, with a sentence on each setting of `s.given` that `job` does not depend on: a price
/// of another way to buy, and a degree's option where the degree is 1.
void tell_unread(const Job& job, const Settings& s, const std::function<void(const std::string&)>& note);

}  // namespace trnsim
