// The typed command, with a change applied.
#include <algorithm>
#include <string_view>

#include "trnsim/job/settings.h"
#include "trnsim/plans/advice.h"

namespace trnsim {
namespace {

/// The setting that a word of a command gives: "zero_1" of "--zero_1=true"; empty: none.
std::string_view flag_of(std::string_view word) {
  if (!word.starts_with("--")) return {};
  word.remove_prefix(2);
  return word.substr(0, word.find('='));
}

/// Whether the value of a setting is the next word.
bool value_follows(std::string_view word) {
  if (word.find('=') != std::string_view::npos) return false;
  const Setting* setting = find_setting(flag_of(word));
  return setting && !setting->is<bool>();
}

bool sets(const Change& change, std::string_view name) {
  return !name.empty() && std::ranges::any_of(change.settings, [&](const auto& one) { return one.first == name; });
}

/// As a shell reads it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

}  // namespace

bool replaces(const std::vector<std::string>& typed, const Change& change) {
  return std::ranges::any_of(typed, [&](const std::string& word) { return sets(change, flag_of(word)); });
}

std::string command_with(const std::vector<std::string>& typed, const Change& change, FolderIs folder) {
  if (typed.empty()) return "";
  const bool written_over =
      std::ranges::any_of(typed, [](const std::string& word) { return flag_of(word) == "overwrite_output_dir"; });
  std::string out;
  const auto add = [&](const std::string& word) { out += (out.empty() ? "" : " ") + quoted(word); };
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::string_view name = flag_of(typed[i]);
    const bool taken = name == "output_dir" && folder == FolderIs::kTaken && !written_over;
    if (!taken && !sets(change, name))
      add(typed[i]);
    else if (value_follows(typed[i]))
      ++i;
  }
  for (const auto& [name, value] : change.settings) {
    add(value.starts_with('-') ? "--" + name + "=" + value : "--" + name);
    if (!value.starts_with('-')) add(value);
  }
  return out;
}

}  // namespace trnsim
