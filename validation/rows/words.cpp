// parse_words(): cells of a name and settings.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/text.h"
#include "validation/rows/rows.h"

namespace validation {

std::string Words::text(std::string_view key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second;
}

std::optional<std::int64_t> Words::number(std::string_view key) const {
  const std::string digits = text(key);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string Words::unknown(std::string_view keys) const {
  const std::vector<std::string> known = base::split(keys, ' ');
  for (const auto& [key, value] : settings)
    if (std::ranges::find(known, key) == known.end()) return key;
  return "";
}

Words parse_words(std::string_view cell) {
  Words words;
  std::istringstream stream{std::string{cell}};
  base::throw_when_bad(stream);
  for (std::string word; stream >> word;) {
    const bool names_a_file = word.starts_with("script=") || word.starts_with("function=");
    if (!names_a_file) word = base::lower(word);
    const auto equals = word.find('=');
    if (words.name.empty() && words.settings.empty() && equals == std::string::npos)
      words.name = word;
    else if (equals == std::string::npos)
      words.settings[word] = "";
    else
      words.settings[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return words;
}

}  // namespace validation
