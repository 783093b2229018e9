#include "trnsim/job/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/numbers.h"
#include "base/suggest.h"
#include "base/text.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void require_choice(std::string_view flag, std::string_view text, std::string_view choices) {
  const std::vector<std::string> list = split(choices, '|');
  if (std::ranges::find(list, text) != list.end()) return;
  throw Error{Fault::kUsage, flag, fmt::format("'{}' is not one of {}", text, choices), base::suggest_fix(text, list)};
}

void require_range(std::string_view flag, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw Error{Fault::kUsage, flag, fmt::format("{} is out of range", value),
              value < least ? fmt::format("give {} or more", least) : fmt::format("give {} or less", most)};
}

bool parse_bool(std::string_view flag, std::string_view text) {
  const std::string lower = base::lower(text);
  constexpr std::array<std::string_view, 4> kYes = {"true", "1", "yes", "on"}, kNo = {"false", "0", "no", "off"};
  if (std::ranges::find(kYes, lower) != kYes.end()) return true;
  if (std::ranges::find(kNo, lower) != kNo.end()) return false;
  throw Error{Fault::kUsage, flag, fmt::format("'{}' is not true or false", text), "write true or false"};
}

void parse_into(std::string& member, std::string_view, const std::string& text) { member = text; }
void parse_into(std::int64_t& member, std::string_view flag, const std::string& text) {
  member = base::parse_count(flag, text);
}
void parse_into(double& member, std::string_view flag, const std::string& text) {
  member = base::parse_real(flag, text);
}
void parse_into(bool& member, std::string_view flag, const std::string& text) { member = parse_bool(flag, text); }
void parse_into(std::vector<std::string>& member, std::string_view, const std::string& text) { member.push_back(text); }

std::string show(const std::string& value) { return value; }
std::string show(std::int64_t value) { return fmt::format("{}", value); }
std::string show(double value) { return fmt::format("{}", value); }
std::string show(bool value) { return value ? "true" : "false"; }
std::string show(const std::vector<std::string>& value) { return value.empty() ? "" : fmt::format("{}", value.size()); }

}  // namespace trnsim
