#include "trnsim/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace trnsim {

base::Table parameter_table(const base::ParamFile& machine, std::string_view prefix) {
  const std::vector<std::string> keys = machine.keys(prefix);
  if (keys.empty())
    throw base::Error{base::Fault::kUsage, "`prefix`", fmt::format("no parameter begins with '{}'", prefix),
                      "list all of them without it"};
  base::Table table{{{"key", ""}, {"value", ""}, {"source", ""}, {"fitted_on", ""}, {"read_off", ""}, {"text", ""}}};
  for (const std::string& key : keys) {
    const base::Parameter& p = machine.parameter(key);
    table.add_row({p.key, fmt::format("{}", fmt::join(p.values, ", ")), p.source,
                   fmt::format("{}", fmt::join(p.fitted_on, ", ")), fmt::format("{}", fmt::join(p.read_off, ", ")),
                   p.text});
  }
  return table;
}

}  // namespace trnsim
