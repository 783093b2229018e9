#include "validation/rows/profile_rows.h"

#include <fmt/format.h>

namespace validation {

ProfileRows profile_rows(const std::vector<analysis::Difference>& differences) {
  ProfileRows out;
  for (const analysis::Difference& d : differences) {
    if (!(d.after > 0) || !(d.before > 0)) continue;
    Row row;
    row.id = fmt::format("{}.{}", d.part == "op" ? "opcode" : d.part, d.name), row.kind = "profile";
    row.published = row.low = row.high = d.after;
    row.metric = d.unit == "1" ? "count" : d.unit, row.job = MicroRow{};
    out.predicted[row.id] = d.before;
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace validation
