#include "trnsim/job/save_plan.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"

namespace trnsim {

using base::Error;
using base::Fault;

SavePlan save_plan(const OutputSettings& s) {
  constexpr const char *kDisk = "`save_bandwidth`", *kEvery = "`interrupted_every`";
  const auto positive = [](double value, const std::string& text, const char* name) {
    if (value > 0) return value;
    throw Error{Fault::kUsage, name, fmt::format("'{}' is not above 0", text), "give a larger one, or leave it out"};
  };
  return {.every = s.save_steps,
          .disk_rate =
              positive(base::parse_as(s.save_bandwidth, base::Dimension::kBandwidth, kDisk), s.save_bandwidth, kDisk),
          .in_background = s.async_save,
          .interrupted_every = s.interrupted_every.empty() ? 0
                                                           : positive(base::parse_duration(s.interrupted_every, kEvery),
                                                                      s.interrupted_every, kEvery)};
}

}  // namespace trnsim
