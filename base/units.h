// Quantities with units: every number that a person writes in a file or on the command line passes through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// The dimension of a number. In the code a value is always in the base unit named here, as a double.
enum class Dimension : std::uint8_t {
  kTime,              // seconds
  kFrequency,         // hertz
  kBytes,             // bytes
  kBandwidth,         // bytes per second ("25 GB/s", also "800 Gbit/s")
  kPower,             // watts
  kEnergy,            // joules
  kMoney,             // US dollars
  kPrice,             // US dollars per hour
  kFlops,             // floating-point operations per second
  kFlopCount,         // floating-point operations
  kRate,              // events per second ("/s", "samples/s", "tokens/s")
  kCycles,            // cycles of the engine in question
  kBytesPerCycle,     // bytes per cycle
  kElementsPerCycle,  // elements per cycle
  kRatio,             // a plain number or per cent ("0.76", "76 %")
  kCount,             // a whole number without a unit
  kRelative,          // "0.5x": a multiple of the value there was; only an override may use it
};
inline constexpr std::size_t kDimensionCount = 17;

/// The dimension's name and an example: "a bandwidth, for example 410 GB/s".
std::string describe(Dimension dimension);
/// The example alone: "410 GB/s".
std::string_view example(Dimension dimension);

struct Quantity {
  double value = 0;  // in the base unit of `dimension`
  Dimension dimension = Dimension::kRatio;
  bool operator==(const Quantity&) const = default;
};

/// Reads "2.8 GHz", "1.6TB/s", "16 GiB", "1.3 us", "64 cycles", "$1.34/h", "0.76", "50 %", "0.5x". Decimal prefixes
/// (f p n u m k M G T P E) shift the decimal point, binary ones (Ki Mi Gi Ti Pi) multiply by a power of two: the result
/// is the double nearest to the text. A number without a unit is a ratio. `where` names the place in the error.
/// Errors: Fault::kUsage for text that is not a number, a number that is not finite, an unknown unit.
Quantity parse_quantity(std::string_view text, std::string_view where = "quantity");

/// The same without an error: nothing when the text is not a quantity ("bert-base", "fast").
std::optional<Quantity> try_quantity(std::string_view text);

/// The same, and the dimension must be `expected` (a plain whole number is also a count; a plain number is a ratio).
/// Returns the value in the base unit. Errors: Fault::kUsage naming the unit expected.
double parse_as(std::string_view text, Dimension expected, std::string_view where = "quantity");

/// Seconds of a job's time: "8:30", "2:14:09", or a number and its unit ("510 s", "90m", "6h", "2d"; "m" is minutes).
/// Errors: Fault::kUsage at `where`.
double parse_duration(std::string_view text, std::string_view where);

/// The shortest text that parse_quantity reads back to the same value, with a readable prefix: "2.8 GHz", "16 GiB".
std::string exact_text(const Quantity& quantity);

/// For people: `digits` significant digits and a readable prefix ("1.31 us", "15.9 GiB", "$0.20").
std::string readable(const Quantity& quantity, int digits = 4);
inline std::string readable(double value, Dimension dimension, int digits = 4) {
  return readable(Quantity{value, dimension}, digits);
}

}  // namespace base
