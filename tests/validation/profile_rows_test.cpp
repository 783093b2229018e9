// Figures of a profile of the device as rows, each with the run's figure.
#include "validation/rows/profile_rows.h"

#include <gtest/gtest.h>

#include "validation/report/report.h"

namespace {

TEST(ProfileRows, EachFigureThatBothHaveIsPredicted) {
  const validation::ProfileRows rows_of =
      validation::profile_rows({{"total", "total_time", 2e-3, 3e-3, "s"}, {"op", "iota", 0, 1e-6, "s"}});
  ASSERT_EQ(rows_of.rows.size(), 1u);
  const auto report = validation::validate(rows_of.rows, [&](const validation::Row& row) {
    return validation::Prediction{
        .value = rows_of.predicted.at(row.id), .skip_reason = {}, .assumptions = {}, .time = {}};
  });
  EXPECT_EQ(report.rows.at(0).id, "total.total_time");
  EXPECT_NEAR(*report.rows.at(0).error_percent, -100.0 / 3, 1e-6);
}

}  // namespace
