// Checks a record that was read, so that no view of it indexes outside of a list.
#pragma once

#include <string_view>

#include "analysis/record/record.h"

namespace analysis {

/// Errors: Fault::kData naming `file` and the first defect: an index out of range, a queue or ring
/// that no core has, a time that ends before it begins, an engine whose times do not add up to the whole.
void check_record(const Record& record, std::string_view file);

}  // namespace analysis
