// The model of a training row.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "validation/rows/rows.h"
#include "workloads/models/model.h"

namespace validation {

/// The preset that the row's model is, or the model that its column `like` names, in the sizes of the row. Or the
/// reason for its absence: no family here computes it, or a size is missing. Errors: Fault::kUsage when sizes
/// contradict each other.
std::variant<workloads::ModelPtr, std::string> model_of_row(const Row& row, std::vector<std::string>& assumed);

/// The value of the column `like` for rows that are not a whole model, but transformer blocks from the middle of one.
inline constexpr std::string_view kBlocks = "blocks";

}  // namespace validation
