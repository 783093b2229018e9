// Finds a family by the model_type of config.json.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/models/config.h"

namespace workloads {

class Keys;  // workloads/models/config/keys.h

/// As read_config() of a file. Errors: the same.
ModelPtr read_config(const Keys& keys);
/// Every "model_type", in the order of the families.
std::vector<std::string_view> model_types();
/// A model of that family without sizes; null for another type.
ModelPtr blank_model(std::string_view model_type);

}  // namespace workloads
