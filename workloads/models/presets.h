// Published models by name, so that a projection needs no file. They are data: the presets/*.toml of this folder, and
// of the same folder in TRNSIM_HOME, with the keys of config.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include "workloads/models/config.h"

namespace workloads {

struct Preset {
  std::string name;
  std::string source;  // where its sizes are published
  ModelPtr model;
};

/// "bert-large", "llama2-7b", "gpt3-23b", ... Errors: Fault::kUsage with the nearest name; Fault::kData for a file of
/// presets that is wrong, naming the preset.
ModelPtr model_preset(std::string_view name);
/// The same, or null for a name that is none.
ModelPtr find_model_preset(std::string_view name);
bool is_model_preset(std::string_view name);
/// The same of a name that a user gave: a path is written with a slash, so that no answer depends on the files of a
/// folder. Warns where a file or folder here has this name too.
bool names_preset(const std::string& name);
/// That warning; `thing`: "model".
void warn_of_files_named(const std::string& name, std::string_view thing);

/// Family by family in the registry's order, each in the order of its files.
std::vector<Preset> model_presets();
/// Those of one "model_type".
std::vector<Preset> model_presets(std::string_view type);
std::vector<std::string> model_preset_names();
/// The `fix` sentence of an Error for a name that is no preset, such as a model's name on a hub: the preset with its
/// sizes, a near one, or those of its family.
std::string preset_fix(std::string_view name);

}  // namespace workloads
