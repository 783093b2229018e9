// Figures of a profile of the real device, as rows of a table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/profile/views.h"
#include "validation/rows/rows.h"

namespace validation {

/// The differences that compare() found between a run and a profile, as rows of kind "profile", published by the
/// profile; `predicted` by id. Figures that the profile has as 0 are left out.
struct ProfileRows {
  std::vector<Row> rows;
  std::map<std::string, double> predicted;
};
ProfileRows profile_rows(const std::vector<analysis::Difference>& differences);

}  // namespace validation
