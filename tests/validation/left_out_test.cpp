// Errors with each publisher left out of the fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "validation/report/left_out.h"

namespace validation {
namespace {

/// A row that is off by `error` per cent.
Comparison row(const std::string& id, const std::string& publisher, double error) {
  Comparison out;
  out.id = id, out.kind = out.regime = "gemm", out.metric = "ms", out.publisher = publisher, out.published = 100;
  out.predicted = 100 + error, out.error_percent = error;
  return out;
}

/// A study of one constant, in proportion to which every prediction changes.
struct OneConstant {
  ValidationReport report;
  Influence influence;

  OneConstant(std::vector<Comparison> rows, std::vector<std::string> fitted_on) {
    report.rows = std::move(rows);
    influence.parameters.constants = {
        {.name = "c", .value = "1 s", .rows = std::move(fitted_on), .factor = 1.1, .variation = {}}};
    influence.change_percent.assign(report.rows.size(), {10.0});
  }
};

TEST(LeftOut, ARowIsPredictedWithWhatTheOthersAskFor) {
  const OneConstant study{{row("a", "x", 10), row("b", "y", -10)}, {"a", "b"}};
  const LeftOut out = leave_out(study.report, study.influence);
  // Without x the constant is the one that b asks for, 1 / 0.9 as large,
  // beside the geometric mean of both that the fit is.
  const double both = -(std::log(1.1) + std::log(0.9)) / 2;
  EXPECT_NEAR(*out.error_percent[0], (1.1 * std::exp(-std::log(0.9) - both) - 1) * 100, 0.01);
  EXPECT_NEAR(*out.error_percent[1], (0.9 * std::exp(-std::log(1.1) - both) - 1) * 100, 0.01);
  EXPECT_TRUE(out.untold.empty());
}

TEST(LeftOut, AConstantOfOnePublisherKeepsItsValueAndIsNamed) {
  const OneConstant study{{row("a", "x", 10), row("b", "y", -10)}, {"a"}};
  const LeftOut out = leave_out(study.report, study.influence);
  EXPECT_NEAR(*out.error_percent[0], 10, 1e-9);
  EXPECT_THAT(out.untold, testing::ElementsAre("x: c"));
}

TEST(LeftOut, ARegimeSaysHowManyRowsLieInsideAndWhyItIsNotKnown) {
  const OneConstant study{{row("a", "x", 4), row("b", "x", -8)}, {"a", "b"}};
  const auto regimes = regime_errors(study.report, leave_out(study.report, study.influence));
  ASSERT_EQ(regimes.size(), 1u);
  EXPECT_NEAR(regimes[0].left_out, 6, 1e-9);
  EXPECT_EQ(regimes[0].inside, 1);
  EXPECT_THAT(regimes[0].why, testing::HasSubstr("one publisher"));
}

}  // namespace
}  // namespace validation
