#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <string>

#include "base/error.h"

namespace base {
namespace {

using enum Dimension;
using testing::HasSubstr;

std::string unit_error_of(auto call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    return error.what();
  }
  return "no error";
}

struct Reading {
  std::string text;
  Quantity expected;

  friend void PrintTo(const Reading& reading, std::ostream* out) { *out << reading.text; }
};

class ReadsQuantity : public testing::TestWithParam<Reading> {};

TEST_P(ReadsQuantity, ToTheNearestDouble) {
  EXPECT_EQ(parse_quantity(GetParam().text), GetParam().expected) << GetParam().text;
}

// The right-hand sides are the compiler's own decimal literals: the nearest double, by the same rule.
INSTANTIATE_TEST_SUITE_P(
    Units, ReadsQuantity,
    testing::Values(
        Reading{"2.8 GHz", {2.8e9, kFrequency}}, Reading{"1.6TB/s", {1.6e12, kBandwidth}},
        Reading{"16 GiB", {17179869184.0, kBytes}}, Reading{"1.3 us", {1.3e-6, kTime}},
        Reading{"1.3 µs", {1.3e-6, kTime}}, Reading{"0.11ms", {0.11e-3, kTime}}, Reading{"5 min", {300, kTime}},
        Reading{"0.5x", {0.5, kRelative}}, Reading{"64 cycles", {64, kCycles}}, Reading{"1 cycle", {1, kCycles}},
        Reading{"27.2 GB/s", {27.2e9, kBandwidth}}, Reading{"800 Gbit/s", {100e9, kBandwidth}},
        Reading{"100 Gbps", {12.5e9, kBandwidth}}, Reading{"0.76", {0.76, kRatio}}, Reading{"76 %", {0.76, kRatio}},
        Reading{"$1.34/h", {1.34, kPrice}}, Reading{"1.34 USD/h", {1.34, kPrice}}, Reading{"$0.20", {0.2, kMoney}},
        Reading{"-$2", {-2, kMoney}}, Reading{"91.75 TFLOP/s", {91.75e12, kFlops}},
        Reading{"190 TFLOPS", {190e12, kFlops}}, Reading{"64.4 GFLOP", {64.4e9, kFlopCount}},
        Reading{"512 B", {512, kBytes}}, Reading{"2 kB", {2000, kBytes}}, Reading{"192KiB", {196608, kBytes}},
        Reading{"128 elements/cycle", {128, kElementsPerCycle}}, Reading{"96.337 samples/s", {96.337, kRate}},
        Reading{"1.5 pJ", {1.5e-12, kEnergy}}, Reading{"-3", {-3, kRatio}}, Reading{"+2.5e-3", {0.0025, kRatio}},
        Reading{"1e9 B", {1e9, kBytes}}, Reading{"1 EB", {1e18, kBytes}}, Reading{"  7 W ", {7, kPower}}));

class RefusesQuantity : public testing::TestWithParam<std::string> {};

TEST_P(RefusesQuantity, WithAFix) {
  const std::string message = unit_error_of([] { parse_quantity(GetParam(), "here"); });
  EXPECT_THAT(message, HasSubstr("usage error: here: "));
  EXPECT_THAT(message, HasSubstr("fix: write a number and its unit"));
  EXPECT_FALSE(try_quantity(GetParam()).has_value());
}

INSTANTIATE_TEST_SUITE_P(Units, RefusesQuantity,
                         testing::Values("", " ", "GHz", "fast", "2.8 GHZ", "2 KB", "1.2.3 s", "nan", "inf", "1e999",
                                         "1 kcycles", "3 Kis", "0x10", "5 s s", "--5", "$", "$5/min", "$-", "-$-2 s",
                                         "1 µ"));

TEST(Units, AWrongUnitNamesTheOneExpected) {
  const std::string message = unit_error_of([] { parse_as("64 cycles", kBandwidth, "trn1.toml:12: hbm.bandwidth"); });
  EXPECT_EQ(message,
            "usage error: trn1.toml:12: hbm.bandwidth: \"64 cycles\" is a number of cycles but must be a bandwidth\n"
            "  fix: write a bandwidth, for example 410 GB/s");
}

TEST(Units, AMissingUnitIsAnError) {
  EXPECT_THAT(unit_error_of([] { parse_as("2.8", kFrequency); }), HasSubstr("a plain number but must be a frequency"));
}

TEST(Units, ACountIsWhole) {
  EXPECT_EQ(parse_as("128", kCount), 128);
  EXPECT_THAT(unit_error_of([] { parse_as("1.5", kCount); }), HasSubstr("must be a whole number"));
  EXPECT_THAT(unit_error_of([] { parse_as("16 B", kCount); }), HasSubstr("must be a whole number"));
}

TEST(Units, ExactTextIsReadable) {
  EXPECT_EQ(exact_text({2.8e9, kFrequency}), "2.8 GHz");
  EXPECT_EQ(exact_text({1.3e-6, kTime}), "1.3 us");
  EXPECT_EQ(exact_text({16.0 * 1024 * 1024 * 1024, kBytes}), "16 GiB");
  EXPECT_EQ(exact_text({1000, kBytes}), "1 kB");
  EXPECT_EQ(exact_text({0.5, kRelative}), "0.5x");
  EXPECT_EQ(exact_text({1.34375, kPrice}), "$1.34375/h");
  EXPECT_EQ(exact_text({64, kCycles}), "64 cycles");
  EXPECT_EQ(exact_text({300, kTime}), "300 s");
  EXPECT_EQ(exact_text({0, kBandwidth}), "0 B/s");
  EXPECT_EQ(exact_text({-0.0015, kTime}), "-1.5 ms");
}

TEST(Units, ExactTextReadsBackToTheSameBitsInEveryDimension) {
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> exponent{-20, 22};
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    for (int i = 0; i < 2000; ++i) {
      double value = std::pow(10.0, exponent(random)) * (i % 2 == 0 ? 1 : -1);
      if (dimension == kCount) value = std::floor(value);
      EXPECT_EQ(parse_as(exact_text({value, dimension}), dimension), value) << exact_text({value, dimension});
    }
  }
}

TEST(Units, ReadableRoundsToTheRequestedDigits) {
  EXPECT_EQ(readable(1.3149e-6, kTime), "1.315 us");
  EXPECT_EQ(readable(1.3149e-6, kTime, 2), "1.3 us");
  EXPECT_EQ(readable(9.9999e-7, kTime, 3), "1 us");  // the rounding changes the prefix
  EXPECT_EQ(readable(17079869184.0, kBytes, 3), "15.9 GiB");
  EXPECT_EQ(readable(0.2, kMoney), "$0.20");
  EXPECT_EQ(readable(1234.5, kMoney), "$1234.50");
  EXPECT_EQ(readable(0.00012345, kMoney), "$0.0001234");
  EXPECT_EQ(readable(1.34375, kPrice), "$1.34/h");
  EXPECT_EQ(readable(std::numeric_limits<double>::quiet_NaN(), kTime), "nan s");
}

TEST(Units, TimesOfJobsAreReadAsPeopleWriteThem) {
  const auto seconds = [](const char* text) { return parse_duration(text, "--within"); };
  EXPECT_EQ(seconds("8:30"), 510);
  EXPECT_EQ(seconds("2:14:09"), 8049);
  EXPECT_EQ(seconds("510 s"), 510);
  EXPECT_EQ(seconds("1.5h"), 5400);
  EXPECT_EQ(seconds("90m"), seconds("90 min"));
  EXPECT_EQ(seconds("2d"), 48 * 3600);
  for (const char* text : {"", "abc", "5", "5 GHz", "1:75", "1:2:3:4", ":30", "m", "3 weeks"})
    EXPECT_THROW(seconds(text), Error) << text;
}

TEST(Units, EveryExampleHasItsOwnDimension) {
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    EXPECT_NO_THROW(parse_as(example(dimension), dimension)) << example(dimension);
  }
}

}  // namespace
}  // namespace base
