#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace base {

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string money_text(double dollars) {
  const char* sign = dollars < 0 ? "-" : "";
  const double size = std::abs(dollars);
  if (size == 0) return "$0";
  if (size >= 0.1) return fmt::format("{}${:.{}f}", sign, size, size < 10 ? 3 : 2);
  const int digits = 2 - static_cast<int>(std::floor(std::log10(size)));
  const std::string out = fmt::format("{}${:.{}f}", sign, size, digits);
  return out.substr(0, out.find_last_not_of('0') + 1);
}

std::vector<std::string> split(std::string_view text, char delimiter) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(delimiter, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string counted(std::int64_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  const auto ends = [noun](auto... with) { return (noun.ends_with(with) || ...); };
  if (ends("s", "x", "ch", "sh")) return fmt::format("{} {}es", count, noun);
  if (ends("y") && !ends("ay", "ey", "oy", "uy"))
    return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", count, noun);
}

bool is_shallow_json(std::string_view json) {
  constexpr int kDeepest = 200;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '\0') {
      return false;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

void require_shallow_json(std::string_view json, std::string_view where) {
  if (is_shallow_json(json)) return;
  throw Error{Fault::kData, where,
              json.find('\0') == std::string_view::npos ? "is JSON with more than 200 levels" : "has a zero byte",
              "check that its content matches its name"};
}

void throw_when_bad(std::ios& stream) { stream.exceptions(stream.exceptions() | std::ios::badbit); }

bool LineReader::next(std::string& line) {
  if (!std::getline(in_, line)) return false;
  ++number_;
  if (line.ends_with('\r')) line.pop_back();
  if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  return true;
}

}  // namespace base
