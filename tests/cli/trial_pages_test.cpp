// Defects of pages that a buyer met when trnsim was tried as a new user would; the others are in
// trial_defects_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <regex>

#include "tests/cli/run_binary.h"

namespace {

using cli_test::run;

class TrialPages : public cli_test::Runs {};

/// The plane of the roofline begins near its marks or its bend: nine tenths of it were empty.
TEST_F(TrialPages, D25TheRooflineHasNoEmptyPlane) {
  ASSERT_EQ(run("run bert_tweets --mode timed --suggestions 0 --output_dir " + at("a")).code, 0);
  const std::string page = cli_test::slurp(folder_ / "a/report.html");
  const std::string chart = page.substr(page.find("matmul rate of each op"));
  const std::regex tick{"<text class=\"tick mid\"[^>]*>([0-9.e-]+)</text>"};
  std::smatch first;
  ASSERT_TRUE(std::regex_search(chart, first, tick));
  EXPECT_GE(std::stod(first[1]), 0.5);
}

TEST_F(TrialPages, D25ASweepsPageHasFewColumnsTimeAndDollarsFirst) {
  ASSERT_EQ(run("sweep --workload bert_tweets --set per_device_train_batch_size=4,8 --output_dir " + at("points")).code,
            0);
  const std::string page = cli_test::slurp(folder_ / "points/sweep.html");
  const std::string head =
      page.substr(page.find("every point"), page.find("<tbody>", page.find("every point")) - page.find("every point"));
  const std::regex column{"<th "};
  EXPECT_LE(std::distance(std::sregex_iterator{head.begin(), head.end(), column}, std::sregex_iterator{}), 16);
  EXPECT_LT(head.find("dollars"), head.find("per device train batch size"));
}

}  // namespace
