#include "workloads/models/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bundled_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/text.h"
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
std::vector<PresetEntry> entries_in(json all, const std::string& file) {
  const json list = all.value("preset", json::array());
  all.erase("preset");
  if (!list.is_array() || list.empty())
    throw Error{Fault::kData, file, "has no presets", "begin each with the line [[preset]]"};
  std::vector<PresetEntry> out;
  for (const json& own : list) {
    if (!own.is_object()) throw Error{Fault::kData, file, "has a preset without keys", "begin it with [[preset]]"};
    PresetEntry entry;
    entry.file = file, entry.config = all;
    entry.config.update(own);
    entry.name = preset_text(entry.config, "name", file);
    entry.type = preset_text(entry.config, "model_type", file);
    entry.source = preset_text(entry.config, "source", file);
    entry.config.erase("name"), entry.config.erase("source");
    out.push_back(std::move(entry));
  }
  return out;
}

using Wanted = std::function<bool(const PresetEntry&)>;

/// The presets that are `wanted`. Only files that contain `text` need to be parsed; empty: all of them.
std::vector<PresetEntry> preset_entries(std::string_view text = {}, const Wanted& wanted = {}) {
  std::vector<PresetEntry> out;
  for (const auto& path : base::data_files("workloads/models/presets", ".toml")) {
    const std::string file = base::read_file(path);
    if (file.find(text) == std::string::npos) continue;
    std::ranges::copy_if(entries_in(*base::parsed_once(path, file), path.string()), std::back_inserter(out),
                         [&](const PresetEntry& entry) { return !wanted || wanted(entry); });
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

std::optional<PresetEntry> find_entry(std::string_view name) {
  std::vector<PresetEntry> found = preset_entries(name, [name](const PresetEntry& e) { return e.name == name; });
  if (found.empty()) return {};
  if (found.size() > 1)
    throw Error{Fault::kData, found[1].file, fmt::format("preset \"{}\" is also in {}", name, found[0].file),
                "give one of them another name"};
  return std::move(found.front());
}

std::vector<PresetEntry> in_order(std::vector<PresetEntry> all) {
  const std::vector<std::string_view> types = model_types();
  std::ranges::stable_sort(all, {}, [&types](const PresetEntry& e) { return std::ranges::find(types, e.type); });
  return all;
}

/// A name without its publisher.
std::string without_publisher(std::string_view name) {
  return base::lower(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
}

/// A model's name without what its publishers add: "meta-llama/Llama-2-7b-chat-hf" and "llama2-7b" are both "llama27b".
std::string plain_name(std::string_view name) {
  std::string lowered = without_publisher(name);
  if (lowered.starts_with("meta-llama-")) lowered.erase(0, std::string_view{"meta-"}.size());
  std::string out;
  for (const std::string& word : base::split(lowered, '-')) {
    constexpr std::array<std::string_view, 7> kVariants{"hf", "chat", "instruct", "it", "base", "pt", "text"};
    if (std::ranges::find(kVariants, word) != kVariants.end()) continue;
    std::ranges::copy_if(word, std::back_inserter(out), [](char c) { return c != '.' && c != '_'; });
  }
  return out;
}

/// The numbers in a name, which tell versions and sizes apart: "2.5 7" of "qwen2.5-7b".
std::string numbers_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if ((c >= '0' && c <= '9') || (c == '.' && !out.empty() && out.back() != ' '))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return std::string{base::trim(out)};
}

/// Whether each word of `part` is one of `name`: "whisper-turbo" and "whisper-large-v3-turbo".
bool has_words(std::string_view name, std::string_view part) {
  const std::vector<std::string> words = base::split(name, '-');
  return std::ranges::all_of(base::split(part, '-'),
                             [&](const std::string& word) { return std::ranges::find(words, word) != words.end(); });
}

/// The letters that a name begins with.
std::string_view letters_of(std::string_view name) {
  return name.substr(0, std::ranges::find_if_not(name, [](char c) { return c >= 'a' && c <= 'z'; }) - name.begin());
}

}  // namespace

std::string preset_fix(std::string_view name) {
  const std::vector<std::string> all = model_preset_names();
  const std::string plain = plain_name(name), typed = without_publisher(name);
  if (std::ranges::find(all, typed) != all.end()) return fmt::format("write \"{}\", which has its sizes", typed);
  std::vector<std::string> longer;  // of a name that leaves its size open, such as "whisper-large"
  std::ranges::copy_if(all, std::back_inserter(longer),
                       [&](const std::string& preset) { return !typed.empty() && preset.starts_with(typed); });
  if (longer.size() > 1) return fmt::format("choose one of {}", fmt::join(longer, ", "));
  for (const std::string& preset : all)
    if (plain_name(preset) == plain) return fmt::format("write \"{}\", which has its sizes", preset);
  std::vector<std::string> worded, alike, family;  // a model of another size is not what a slip of the keys meant
  std::ranges::copy_if(all, std::back_inserter(worded), [&](const std::string& p) { return has_words(p, typed); });
  if (worded.size() == 1) return fmt::format("write \"{}\"", worded.front());
  if (worded.size() > 1) return fmt::format("choose one of {}", fmt::join(worded, ", "));
  const bool copied = name.find('/') != std::string_view::npos;  // with its publisher: no slip of the keys
  std::ranges::copy_if(all, std::back_inserter(alike), [&](const std::string& preset) {
    return !copied && numbers_of(preset) == numbers_of(base::lower(name));
  });
  if (const auto near = base::closest(name, alike)) return fmt::format("write \"{}\"", *near);
  std::ranges::copy_if(all, std::back_inserter(family), [&](const std::string& preset) {
    return letters_of(preset) == letters_of(typed) && !letters_of(typed).empty();
  });
  constexpr const char* kFolder = "give a folder with the model's config.json";
  if (family.empty()) return fmt::format("{}, or a name of trnsim list models", kFolder);
  return fmt::format("{}, or one of {}", kFolder, fmt::join(family, ", "));
}

ModelPtr find_model_preset(std::string_view name) {
  auto entry = find_entry(name);
  return entry ? preset_of(std::move(*entry)).model : nullptr;
}

ModelPtr model_preset(std::string_view name) {
  if (ModelPtr model = find_model_preset(name)) return model;
  throw Error{Fault::kUsage, "model preset", fmt::format("\"{}\" is unknown", name), preset_fix(name)};
}

bool is_model_preset(std::string_view name) { return find_entry(name).has_value(); }

void warn_of_files_named(const std::string& name, std::string_view thing) {
  std::error_code unreadable;
  if (!std::filesystem::exists(name, unreadable)) return;
  base::warn_once(fmt::format("{0} is the name of a {1} that is built in; write ./{0} for the {2} here", name, thing,
                              std::filesystem::is_directory(name, unreadable) ? "folder" : "file"));
}

bool names_preset(const std::string& name) {
  if (!is_model_preset(name)) return false;
  warn_of_files_named(name, "model");
  return true;
}

std::vector<Preset> model_presets() {
  std::vector<Preset> out;
  for (PresetEntry& entry : in_order(preset_entries())) out.push_back(preset_of(std::move(entry)));
  return out;
}

std::vector<Preset> model_presets(std::string_view type) {
  std::vector<Preset> out;
  for (PresetEntry& entry : preset_entries(type, [type](const PresetEntry& e) { return e.type == type; }))
    out.push_back(preset_of(std::move(entry)));
  return out;
}

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (PresetEntry& entry : in_order(preset_entries())) names.push_back(std::move(entry.name));
  return names;
}

}  // namespace workloads
