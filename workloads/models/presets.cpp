#include "workloads/models/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/param_toml.h"
#include "base/suggest.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/model.h"
#include "workloads/models/registry.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

/// A preset as its file has it.
struct PresetEntry {
  std::string file, name, type, source;
  json config;
};

std::string preset_text(const json& table, const char* key, const std::string& where) {
  if (table.contains(key) && table.at(key).is_string()) return table.at(key).get<std::string>();
  throw Error{Fault::kData, where, fmt::format("a preset has no \"{}\"", key),
              fmt::format("write {} = \"...\" below its [[preset]], or above all", key)};
}

/// The keys above the first preset of a file hold for all of them.
std::vector<PresetEntry> entries_in(const std::string& text, const std::string& file) {
  const json all = base::parse_toml(text, file);
  const json list = all.value("preset", json::array());
  if (!list.is_array() || list.empty())
    throw Error{Fault::kData, file, "has no presets", "begin each with the line [[preset]]"};
  std::vector<PresetEntry> out;
  for (const json& own : list) {
    if (!own.is_object()) throw Error{Fault::kData, file, "has a preset without keys", "begin it with [[preset]]"};
    PresetEntry entry;
    entry.file = file, entry.config = all;
    entry.config.erase("preset");
    entry.config.update(own);
    entry.name = preset_text(entry.config, "name", file);
    entry.type = preset_text(entry.config, "model_type", file);
    entry.source = preset_text(entry.config, "source", file);
    entry.config.erase("name"), entry.config.erase("source");
    out.push_back(std::move(entry));
  }
  return out;
}

/// Only files that contain `text` need to be parsed; empty: all of them.
std::vector<PresetEntry> preset_entries(std::string_view text = {}) {
  std::vector<PresetEntry> out;
  for (const auto& path : base::data_files("workloads/models/presets", ".toml")) {
    const std::string file = base::read_file(path);
    if (file.find(text) == std::string::npos) continue;
    std::ranges::move(entries_in(file, path.string()), std::back_inserter(out));
  }
  return out;
}

/// A misspelt key would leave a default in its place.
Preset preset_of(PresetEntry entry) {
  const Keys keys{std::move(entry.config), fmt::format("{}: preset \"{}\"", entry.file, entry.name)};
  ModelPtr model = read_config(keys);
  if (const auto left = keys.unread(); !left.empty())
    keys.fail(fmt::format("\"{}\" is not a key of a {} model", left.front().key, model->family()),
              "remove it, or correct its name");
  return {std::move(entry.name), std::move(entry.source), std::move(model)};
}

const PresetEntry* find_entry(const std::vector<PresetEntry>& all, std::string_view name) {
  const auto at = std::ranges::find(all, name, &PresetEntry::name);
  if (at == all.end()) return nullptr;
  const auto again = std::ranges::find(at + 1, all.end(), name, &PresetEntry::name);
  if (again != all.end())
    throw Error{Fault::kData, again->file, fmt::format("preset \"{}\" is also in {}", name, at->file),
                "give one of them another name"};
  return &*at;
}

std::vector<PresetEntry> in_order(std::vector<PresetEntry> all) {
  const std::vector<std::string_view> types = model_types();
  std::ranges::stable_sort(all, {}, [&types](const PresetEntry& e) { return std::ranges::find(types, e.type); });
  return all;
}

}  // namespace

ModelPtr model_preset(std::string_view name) {
  const std::vector<PresetEntry> all = preset_entries(name);
  if (const PresetEntry* entry = find_entry(all, name)) return preset_of(*entry).model;
  throw Error{Fault::kUsage, "model preset", fmt::format("\"{}\" is unknown", name),
              base::suggest_fix(name, model_preset_names())};
}

bool is_model_preset(std::string_view name) { return find_entry(preset_entries(name), name) != nullptr; }

std::vector<Preset> model_presets() {
  std::vector<Preset> out;
  for (PresetEntry& entry : in_order(preset_entries())) out.push_back(preset_of(std::move(entry)));
  return out;
}

std::vector<Preset> model_presets(std::string_view type) {
  std::vector<Preset> out;
  for (PresetEntry& entry : preset_entries(type))
    if (entry.type == type) out.push_back(preset_of(std::move(entry)));
  return out;
}

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (PresetEntry& entry : in_order(preset_entries())) names.push_back(std::move(entry.name));
  return names;
}

}  // namespace workloads
