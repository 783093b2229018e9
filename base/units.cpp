#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace base {
namespace {

using enum Dimension;

/// The number written before a unit is scaled by 10^decimal, then by `factor`.
struct Unit {
  std::string_view symbol;
  Dimension dimension;
  bool decimal_prefix = false;  // k, M, G... may precede the symbol
  bool binary_prefix = false;   // Ki, Mi, Gi...
  int decimal = 0;
  double factor = 1;
};

// The first unit of a dimension is the one that is printed.
constexpr auto kUnits = std::to_array<Unit>({
    {"s", kTime, true},
    {"min", kTime, false, false, 0, 60},
    {"h", kTime, false, false, 0, 3600},
    {"Hz", kFrequency, true},
    {"B", kBytes, true, true},
    {"B/s", kBandwidth, true, true},
    {"bit/s", kBandwidth, true, false, 0, 0.125},
    {"bps", kBandwidth, true, false, 0, 0.125},
    {"W", kPower, true},
    {"J", kEnergy, true},
    {"$", kMoney},
    {"USD", kMoney},
    {"$/h", kPrice},
    {"USD/h", kPrice},
    {"FLOP/s", kFlops, true},
    {"flop/s", kFlops, true},
    {"FLOPS", kFlops, true},
    {"FLOP", kFlopCount, true},
    {"flop", kFlopCount, true},
    {"/s", kRate},
    {"samples/s", kRate},
    {"tokens/s", kRate},
    {"steps/s", kRate},
    {"sentences/s", kRate},
    {"cycles", kCycles},
    {"cycle", kCycles},
    {"B/cycle", kBytesPerCycle},
    {"elements/cycle", kElementsPerCycle},
    {"%", kRatio, false, false, -2},
    {"x", kRelative},
});

struct Prefix {
  std::string_view symbol;
  int decimal = 0;
  double factor = 1;
};
constexpr std::array kDecimalPrefixes = {Prefix{"f", -15}, Prefix{"p", -12}, Prefix{"n", -9}, Prefix{"u", -6},
                                         Prefix{"µ", -6},  Prefix{"m", -3},  Prefix{"k", 3},  Prefix{"M", 6},
                                         Prefix{"G", 9},   Prefix{"T", 12},  Prefix{"P", 15}, Prefix{"E", 18}};
constexpr std::array kBinaryPrefixes = {Prefix{"Ki", 0, 0x1p10}, Prefix{"Mi", 0, 0x1p20}, Prefix{"Gi", 0, 0x1p30},
                                        Prefix{"Ti", 0, 0x1p40}, Prefix{"Pi", 0, 0x1p50}};

struct Description {
  std::string_view noun;
  std::string_view example;
};
constexpr std::array<Description, kDimensionCount> kDescriptions = {{
    {"a time", "1.3 us"},
    {"a frequency", "2.8 GHz"},
    {"a number of bytes", "16 GiB"},
    {"a bandwidth", "410 GB/s"},
    {"a power", "180 W"},
    {"an energy", "1.5 pJ"},
    {"an amount of money", "$0.20"},
    {"a price per hour", "$1.34/h"},
    {"a computing rate", "91.75 TFLOP/s"},
    {"a number of operations", "64.4 GFLOP"},
    {"a rate", "96.3 samples/s"},
    {"a number of cycles", "64 cycles"},
    {"bytes per cycle", "128 B/cycle"},
    {"elements per cycle", "128 elements/cycle"},
    {"a ratio", "0.76"},
    {"a whole number without a unit", "16"},
    {"a multiple of another value", "0.5x"},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How many leading characters are the number's sign, digits and point; its exponent is not included.
std::size_t mantissa_length(std::string_view text) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  std::size_t digits = 0;
  for (bool point = false; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
    point = point || text[i] == '.';
    digits += is_digit(text[i]);
  }
  return digits > 0 ? i : 0;
}

struct Number {
  std::string mantissa;
  int exponent = 0;
  std::string_view rest;  // the remaining text
};

std::optional<Number> split_number(std::string_view text) {
  const std::size_t length = mantissa_length(text);
  if (length == 0) return std::nullopt;
  Number number{std::string{text.substr(text[0] == '+' ? 1 : 0, length - (text[0] == '+' ? 1 : 0))}, 0, {}};
  std::string_view rest = text.substr(length);
  if (!rest.empty() && (rest[0] == 'e' || rest[0] == 'E')) {  // "1e9", but "1 EB" and "1 E" are prefixes
    std::string_view digits = rest.substr(1);
    if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number.exponent);
    if (error == std::errc{}) rest = digits.substr(static_cast<std::size_t>(end - digits.data()));
  }
  number.rest = trim(rest);
  return number;
}

struct Scale {
  Dimension dimension;
  int decimal;
  double factor;
};

std::optional<Scale> find_unit(std::string_view text) {
  if (text.empty()) return Scale{kRatio, 0, 1};
  for (const Unit& unit : kUnits) {
    if (text == unit.symbol) return Scale{unit.dimension, unit.decimal, unit.factor};
  }
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.symbol)) continue;
    const std::string_view prefix = text.substr(0, text.size() - unit.symbol.size());
    for (const Prefix& p : kDecimalPrefixes) {
      if (unit.decimal_prefix && p.symbol == prefix) return Scale{unit.dimension, p.decimal, unit.factor};
    }
    for (const Prefix& p : kBinaryPrefixes) {
      if (unit.binary_prefix && p.symbol == prefix) return Scale{unit.dimension, 0, p.factor * unit.factor};
    }
  }
  return std::nullopt;
}

/// The error in the text, or the quantity.
struct Parsed {
  std::optional<Quantity> quantity;
  std::string problem;
};

Parsed parse(std::string_view whole) {
  std::string_view text = trim(whole);
  const bool minus = text.starts_with("-$");
  const bool dollar = minus || text.starts_with('$');
  if (dollar) text.remove_prefix(minus ? 2 : 1);
  const auto number = split_number(text);
  if (!number) return {std::nullopt, fmt::format("\"{}\" does not begin with a number", whole)};
  std::string symbol{number->rest};
  if (dollar) symbol = symbol == "/hour" ? "$/h" : "$" + symbol;
  const auto scale = find_unit(symbol);
  if (!scale) return {std::nullopt, fmt::format("\"{}\" has the unknown unit \"{}\"", whole, symbol)};
  // The decimal point is shifted in the text, so that the one rounding is the one to the nearest double.
  const std::string digits = fmt::format("{}e{}", number->mantissa, number->exponent + scale->decimal);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  value *= minus ? -scale->factor : scale->factor;
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
    return {std::nullopt, fmt::format("\"{}\" is too large or too small", whole)};
  }
  return {Quantity{value, scale->dimension}, {}};
}

/// Digits and decimal exponent of a positive number: 2.8e+09 is {"28", 9}.
struct Decimal {
  std::string digits;
  int exponent;
};

Decimal decimal_of(std::string_view scientific) {
  const std::size_t e = scientific.find('e');
  Decimal result{std::string{scientific.substr(0, e)}, 0};
  std::erase(result.digits, '.');
  const std::string_view exponent = scientific.substr(e + 1);
  std::from_chars(exponent.data() + (exponent[0] == '+' ? 1 : 0), exponent.data() + exponent.size(), result.exponent);
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  return result;
}

std::string place_point(const Decimal& number, int shift) {
  const int whole = number.exponent - shift + 1;  // digits before the point
  const int count = static_cast<int>(number.digits.size());
  if (whole > 18 || whole < -6) {
    return fmt::format("{}{}{}e{}", number.digits.substr(0, 1), count > 1 ? "." : "", number.digits.substr(1),
                       whole - 1);
  }
  if (whole <= 0) return "0." + std::string(static_cast<std::size_t>(-whole), '0') + number.digits;
  if (count <= whole) return number.digits + std::string(static_cast<std::size_t>(whole - count), '0');
  return number.digits.substr(0, static_cast<std::size_t>(whole)) + "." +
         number.digits.substr(static_cast<std::size_t>(whole));
}

const Unit* printed_unit(Dimension dimension) {
  const auto it = std::ranges::find(kUnits, dimension, &Unit::dimension);
  return dimension == kRatio || dimension == kCount || it == kUnits.end() ? nullptr : &*it;
}

/// The decimal exponent of the prefix that leaves one to three digits before the point.
int choose_shift(const Unit& unit, int exponent) {
  if (!unit.decimal_prefix) return 0;
  const int most = unit.dimension == kTime ? 0 : 18;  // kiloseconds are not in use
  return std::clamp(static_cast<int>(std::floor(exponent / 3.0)) * 3, -15, most);
}

std::string_view prefix_symbol(int shift) {
  if (shift == 0) return "";
  return std::ranges::find(kDecimalPrefixes, shift, &Prefix::decimal)->symbol;
}

/// `number` and the unit: "$1.34/h", "0.5x", "64 cycles".
std::string attach(std::string_view sign, std::string_view number, std::string_view prefix, const Unit* unit) {
  if (unit == nullptr) return fmt::format("{}{}", sign, number);
  if (unit->symbol.starts_with('$')) return fmt::format("{}${}{}", sign, number, unit->symbol.substr(1));
  if (unit->dimension == kRelative) return fmt::format("{}{}x", sign, number);
  return fmt::format("{}{} {}{}", sign, number, prefix, unit->symbol);
}

std::string shortest_scientific(double value) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  return {buffer.data(), end};
}

std::string with_decimal_prefix(double value, const Unit* unit, const std::string& scientific) {
  const Decimal number = decimal_of(scientific);
  const int shift = unit == nullptr ? 0 : choose_shift(*unit, number.exponent);
  return attach(value < 0 ? "-" : "", place_point(number, shift), prefix_symbol(shift), unit);
}

/// The largest binary prefix that does not exceed the value.
const Prefix* binary_prefix(double magnitude) {
  const Prefix* best = nullptr;
  for (const Prefix& p : kBinaryPrefixes) best = magnitude >= p.factor ? &p : best;
  return best;
}

std::string money(double value, Dimension dimension, int digits) {
  const double magnitude = std::abs(value);
  const int decimals =
      magnitude >= 0.1 || magnitude == 0 ? 2 : digits - 1 - static_cast<int>(std::floor(std::log10(magnitude)));
  return attach(value < 0 ? "-" : "", fmt::format("{:.{}f}", magnitude, decimals), "", printed_unit(dimension));
}

}  // namespace

std::string describe(Dimension dimension) {
  const Description& d = kDescriptions[static_cast<std::size_t>(dimension)];
  return fmt::format("{}, for example {}", d.noun, d.example);
}

std::string_view example(Dimension dimension) { return kDescriptions[static_cast<std::size_t>(dimension)].example; }

std::optional<Quantity> try_quantity(std::string_view text) { return parse(text).quantity; }

Quantity parse_quantity(std::string_view text, std::string_view where) {
  Parsed parsed = parse(text);
  if (parsed.quantity) return *parsed.quantity;
  throw Error{Fault::kUsage, where, parsed.problem,
              "write a number and its unit, such as 2.8 GHz, 1.3 us, 16 GiB, 410 GB/s, 64 cycles or 76 %"};
}

double parse_as(std::string_view text, Dimension expected, std::string_view where) {
  const Parsed parsed = parse(text);
  const std::string fix = fmt::format("write {}", describe(expected));
  if (!parsed.quantity) throw Error{Fault::kUsage, where, parsed.problem, fix};
  const Quantity q = *parsed.quantity;
  if (q.dimension == expected) return q.value;
  if (expected == kCount && q.dimension == kRatio && q.value == std::floor(q.value)) return q.value;
  const std::string_view got =
      q.dimension == kRatio ? "a plain number" : kDescriptions[static_cast<std::size_t>(q.dimension)].noun;
  const std::string_view want = kDescriptions[static_cast<std::size_t>(expected)].noun;
  throw Error{Fault::kUsage, where, fmt::format("\"{}\" is {} but must be {}", text, got, want), fix};
}

double parse_duration(std::string_view text, std::string_view where) {
  const auto refuse = [&] {
    return Error{Fault::kUsage, where, fmt::format("'{}' is not a time", text),
                 "write 8:30, 2:14:09, 510 s, 90m or 6h"};
  };
  if (text.find(':') == std::string_view::npos) {
    const std::optional<Number> number = split_number(text);
    if (!number) throw refuse();
    const double unit = number->rest == "m" ? 60 : number->rest == "d" ? 86400 : 0;
    if (unit > 0) return unit * parse_as(text.substr(0, text.find(number->rest)), kRatio, where);
    const std::optional<Quantity> quantity = try_quantity(text);
    if (!quantity || quantity->dimension != kTime) throw refuse();
    return quantity->value;
  }
  double seconds = 0;
  int parts = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++parts) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    double part = -1;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, part);
    const bool whole = error == std::errc{} && rest == text.data() + end && part >= 0 && (parts == 0 || part < 60);
    if (!whole || parts > 2) throw refuse();
    seconds = seconds * 60 + part;
    begin = end + 1;
  }
  return seconds;
}

std::string exact_text(const Quantity& quantity) {
  const Unit* unit = printed_unit(quantity.dimension);
  const double magnitude = std::abs(quantity.value);
  if (!std::isfinite(magnitude) || magnitude == 0) return attach("", fmt::format("{}", quantity.value), "", unit);
  const Prefix* binary = quantity.dimension == kBytes ? binary_prefix(magnitude) : nullptr;
  if (binary != nullptr && std::fmod(magnitude, binary->factor) == 0) {
    return attach(quantity.value < 0 ? "-" : "", fmt::format("{}", magnitude / binary->factor), binary->symbol, unit);
  }
  return with_decimal_prefix(quantity.value, unit, shortest_scientific(magnitude));
}

std::string readable(const Quantity& quantity, int digits) {
  const Unit* unit = printed_unit(quantity.dimension);
  const double magnitude = std::abs(quantity.value);
  if (!std::isfinite(magnitude)) return attach("", fmt::format("{}", quantity.value), "", unit);
  if (quantity.dimension == kMoney || quantity.dimension == kPrice)
    return money(quantity.value, quantity.dimension, digits);
  if (magnitude == 0) return attach("", "0", "", unit);
  const Prefix* binary = quantity.dimension == kBytes ? binary_prefix(magnitude) : nullptr;
  if (binary != nullptr) {
    const double scaled = magnitude / binary->factor;
    return attach(quantity.value < 0 ? "-" : "", fmt::format("{:.{}g}", scaled, digits), binary->symbol, unit);
  }
  return with_decimal_prefix(quantity.value, unit, fmt::format("{:.{}e}", magnitude, digits - 1));
}

}  // namespace base
