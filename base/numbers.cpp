#include "base/numbers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace base {
namespace {

struct Suffix {
  char letter;
  double factor;
};
constexpr std::array kSuffixes = {Suffix{'k', 1e3},    Suffix{'m', 1e6},       Suffix{'g', 1e9},
                                  Suffix{'K', 1024.0}, Suffix{'M', 1048576.0}, Suffix{'G', 1073741824.0}};

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::int64_t parse_count(std::string_view flag, std::string_view text) {
  double factor = 1;
  std::string_view digits = text;
  for (const Suffix& suffix : kSuffixes) {
    if (text.size() < 2 || text.back() != suffix.letter) continue;
    factor = suffix.factor;
    digits.remove_suffix(1);
  }
  const std::optional<double> value = real(digits);
  const double count = value.value_or(0.5) * factor;
  if (value && std::abs(count) > 9e15)
    throw base::Error{base::Fault::kUsage, flag, fmt::format("'{}' is too large", text), "give at most 9e15"};
  if (!value || count != std::floor(count)) {
    throw base::Error{base::Fault::kUsage, flag, fmt::format("'{}' is not an integer", text),
                      "give digits, with k, m, g (1000s) or K, M, G (1024s) after them if need be"};
  }
  return static_cast<std::int64_t>(count);
}

double parse_real(std::string_view flag, std::string_view text) {
  const std::optional<double> value = real(text);
  if (value) return *value;
  throw base::Error{base::Fault::kUsage, flag, fmt::format("'{}' is not a number", text), "write it like 5e-5 or 0.01"};
}

}  // namespace base
