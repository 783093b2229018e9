// parse_shape(): the shape cell of a micro row.
#include <array>
#include <cctype>
#include <charconv>
#include <sstream>

#include "base/text.h"
#include "validation/rows/rows.h"

namespace validation {
namespace {

struct ByteUnit {
  std::string_view name;
  double bytes;
};
constexpr std::array kByteUnits = {
    ByteUnit{"B", 1},    ByteUnit{"KiB", 1024.0}, ByteUnit{"MiB", 1048576.0}, ByteUnit{"GiB", 1073741824.0},
    ByteUnit{"kB", 1e3}, ByteUnit{"KB", 1e3},     ByteUnit{"MB", 1e6},        ByteUnit{"GB", 1e9},
};

/// The numbers of "4096x7168" or "784-120-84"; empty when the token is anything else.
std::vector<double> sizes_of(std::string_view token) {
  std::vector<double> sizes;
  while (!token.empty()) {
    double value = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (status != std::errc{} || value < 0) return {};
    sizes.push_back(value);
    token.remove_prefix(static_cast<std::size_t>(end - token.data()));
    if (token.empty()) break;
    if ((token[0] != 'x' && token[0] != '-') || token.size() == 1) return {};
    token.remove_prefix(1);
  }
  return sizes;
}

/// "heads32", "kv_heads=8" -> name "heads", value 32; name "kvheads", value 8.
bool named_of(std::string_view token, std::string& name, double& value) {
  std::size_t letters = 0;
  const auto in_name = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  while (letters < token.size() && in_name(token[letters])) ++letters;
  if (letters == 0) return false;
  name = token.substr(0, letters);
  std::erase(name, '_');
  if (letters < token.size() && (token[letters] == '=' || token[letters] == ':')) ++letters;
  if (letters == token.size()) return false;
  const auto [end, status] = std::from_chars(token.data() + letters, token.data() + token.size(), value);
  return status == std::errc{} && end == token.data() + token.size();
}

const ByteUnit* byte_unit(std::string_view token) {
  for (const ByteUnit& unit : kByteUnits) {
    if (unit.name == token) return &unit;
  }
  return nullptr;
}

}  // namespace

Shape parse_shape(std::string_view text) {
  Shape shape;
  std::istringstream stream{std::string{text}};
  base::throw_when_bad(stream);
  std::string token, name;
  double value = 0;
  bool after_number = false;  // a unit follows its number
  while (stream >> token) {
    const std::vector<double> sizes = sizes_of(token);
    const ByteUnit* unit = byte_unit(token);
    if (after_number && unit) {
      shape.bytes = shape.sizes.back() * unit->bytes;
      shape.sizes.pop_back();
    } else if (sizes.size() == 1 && !shape.words.empty() && !after_number) {  // "batch 32"
      shape.named[shape.words.back()] = sizes[0];
      shape.words.pop_back();
    } else if (!sizes.empty()) {
      shape.sizes.insert(shape.sizes.end(), sizes.begin(), sizes.end());
    } else if (named_of(token, name, value)) {
      shape.named[name] = value;
    } else if (token != "-") {
      shape.words.push_back(token);
    }
    after_number = sizes.size() == 1 && !shape.sizes.empty();
  }
  return shape;
}

}  // namespace validation
