// Published models by name, so that a projection needs no file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/model.h"

namespace workloads {

/// "bert-large", "llama2-7b", "gpt3-23b", ... Errors: Fault::kUsage with the nearest name.
ModelPtr model_preset(std::string_view name);
bool is_model_preset(std::string_view name);
/// A model of the family with that model_type (of config.json), without sizes; null for another type.
ModelPtr blank_model(std::string_view model_type);

struct PresetRow {
  std::string_view name;
  std::string_view source;
};
/// In the order of the list, family by family.
std::vector<PresetRow> model_presets();
std::vector<std::string> model_preset_names();

}  // namespace workloads
