#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace base {
namespace {

constexpr std::size_t kChoicesShown = 12;

/// True when `part` is the first or the last dotted part (or parts) of `name`.
bool is_end_of(std::string_view part, std::string_view name) {
  if (part.empty() || part.size() >= name.size()) return false;
  return (name.starts_with(part) && name[part.size()] == '.') ||
         (name.ends_with(part) && name[name.size() - part.size() - 1] == '.');
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_ago(b.size() + 1), ago(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_ago.swap(ago);
    ago.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({ago[j] + 1, row[j - 1] + 1, ago[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], two_ago[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> closest(std::string_view typed, std::span<const std::string> names) {
  const std::string wanted = lower(typed);
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(typed.size() / 3, 1) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(wanted, lower(name));
    if (distance < best_distance) {
      best = &name;
      best_distance = distance;
    }
  }
  if (best != nullptr) return *best;
  const auto is_meant = [&](const std::string& name) { return is_end_of(wanted, lower(name)); };
  if (std::ranges::count_if(names, is_meant) == 1) return *std::ranges::find_if(names, is_meant);
  return std::nullopt;
}

std::string suggest_fix(std::string_view typed, std::span<const std::string> names) {
  if (const auto name = closest(typed, names)) return fmt::format("write \"{}\"", *name);
  if (names.empty()) return "leave it out";
  const auto shown = names.first(std::min(names.size(), kChoicesShown));
  const std::size_t hidden = names.size() - shown.size();
  return fmt::format("choose one of {}{}", fmt::join(shown, ", "),
                     hidden > 0 ? fmt::format(" and {} more", hidden) : "");
}

}  // namespace base
