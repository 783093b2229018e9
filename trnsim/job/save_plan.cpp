#include "trnsim/job/save_plan.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"

namespace trnsim {

using base::Error;
using base::Fault;

SavePlan save_plan(const OutputSettings& s) {
  const auto read = [](const std::string& text, base::Dimension dimension, const char* name) {
    const double value = base::parse_as(text, dimension, name);
    if (value > 0) return value;
    throw Error{Fault::kUsage, name, fmt::format("'{}' is not above 0", text), "give a larger one, or leave it out"};
  };
  return {.every = s.save_steps,
          .disk_rate = read(s.save_bandwidth, base::Dimension::kBandwidth, "`save_bandwidth`"),
          .in_background = s.async_save,
          .interrupted_every = s.interrupted_every.empty()
                                   ? 0
                                   : read(s.interrupted_every, base::Dimension::kTime, "`interrupted_every`")};
}

}  // namespace trnsim
