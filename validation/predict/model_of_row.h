// The model that a row of a whole job names.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "validation/rows/rows.h"
#include "workloads/models/model.h"

namespace trnsim {

/// By the name, the notes and the columns of its sizes, or why there is none; as workloads::published_model().
std::variant<workloads::ModelPtr, std::string> model_of_row(const analysis::Row& row,
                                                            std::vector<std::string>& assumed);

}  // namespace trnsim
