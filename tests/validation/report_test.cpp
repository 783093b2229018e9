#include "validation/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "base/error.h"
#include "validation/rows/metric.h"

namespace {

using testing::HasSubstr;
using validation::Measured;
using validation::Prediction;
using validation::Row;
using Json = nlohmann::json;

Row make(std::string id, std::string kind, double published, double low, double high) {
  Row row;
  row.id = std::move(id);
  row.kind = std::move(kind);
  row.published = published;
  row.low = low;
  row.high = high;
  row.metric = "ms";
  return row;
}

/// Errors: a +10 %, b -20 % (inside its range), c +40 %, d skipped.
validation::ValidationReport sample() {
  std::vector<Row> rows = {make("a", "gemm", 10, 10, 10), make("b", "gemm", 10, 7, 11), make("c", "gemm", 10, 10, 10),
                           make("d", "launch", 10, 10, 10)};
  rows[3].defect = "line 5: cores: 'two' is not an integer";
  return validation::validate(rows, [](const Row& row) -> Prediction {
    const double value = row.id == "a" ? 11 : row.id == "b" ? 8 : 14;
    return {.value = value,
            .skip_reason = "",
            .assumptions = {"dropout 0.1", "warm"},
            .time = {{"tensor", 0.75}, {"dma", 0.25}}};
  });
}

TEST(ValidationReport, ErrorsAreSignedPerCentOfThePublishedValue) {
  const auto report = sample();
  EXPECT_DOUBLE_EQ(report.rows[0].error_percent.value(), 10);
  EXPECT_DOUBLE_EQ(report.rows[1].error_percent.value(), -20);
  EXPECT_FALSE(report.rows[0].in_range);
  EXPECT_TRUE(report.rows[1].in_range);
}

TEST(ValidationReport, TheSummaryHasMeanMedianWorstAndShareInRange) {
  const auto report = sample();
  ASSERT_EQ(report.summaries.size(), 3u);  // gemm, launch, all
  const auto& gemm = report.summaries[0];
  EXPECT_EQ(gemm.rows, 3);
  EXPECT_NEAR(gemm.mean, 70.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(gemm.median, 20);
  EXPECT_DOUBLE_EQ(gemm.worst, 40);
  EXPECT_EQ(gemm.worst_id, "c");
  EXPECT_EQ(gemm.ranged, 1);  // only b was published with a range
  EXPECT_EQ(gemm.in_range, 1);
  EXPECT_EQ(report.summaries[1].predicted, 0);
  EXPECT_EQ(report.summaries[2].kind, "all");
  EXPECT_EQ(report.summaries[2].rows, 4);
}

TEST(ValidationReport, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  const std::vector<Row> rows = {make("a", "k", 10, 10, 10), make("b", "k", 20, 20, 20)};
  const auto report = validation::validate(rows, [](const Row& r) {
    return Prediction{.value = r.id == "a" ? 11.0 : 26.0, .skip_reason = "", .assumptions = {}, .time = {}};
  });
  EXPECT_DOUBLE_EQ(report.summaries[0].median, 20);  // of 10 % and 30 %
}

TEST(ValidationReport, RowsWhoseJobWasNotAllPublishedAreNamed) {
  std::vector<Row> rows = {make("a", "train", 10, 10, 10), make("b", "train", 10, 10, 10),
                           make("c", "generate", 10, 10, 10)};
  rows[1].untold = true;
  const auto report = validation::validate(rows, [](const Row& row) {
    return Prediction{.value = row.id == "b" ? 5.0 : 11.0, .skip_reason = "", .assumptions = {}, .time = {}};
  });
  EXPECT_TRUE(report.rows[1].untold);
  EXPECT_FALSE(report.rows[0].untold);
  EXPECT_DOUBLE_EQ(report.summaries[0].mean, 30);
  const std::string page = to_text(report, "md");
  EXPECT_THAT(page, HasSubstr("`b` (-50.0 %). Mean of the other rows: training 10.0 %, all 10.0 %."));
  EXPECT_THAT(page, testing::Not(HasSubstr("Expect")));  // that needs every kind of row
}

TEST(ValidationReport, ThePageBeginsWithTheErrorsOfATraining) {
  std::vector<Row> rows;
  for (const char* kind : {"train", "infer", "generate", "generate", "gemm"})
    rows.push_back(make(kind, kind, 10, 10, 10));
  rows[2].metric = "ms TTFT p50", rows[3].metric = "ms TPOT p50", rows[4].job = validation::MicroRow{};
  double value = 10;
  const auto report = validation::validate(rows, [&](const Row&) {
    return Prediction{.value = value += 1, .skip_reason = "", .assumptions = {}, .time = {}};
  });
  EXPECT_THAT(to_text(report, "md"),
              testing::StartsWith("**Expect time and cost of a training job to be 10 % off on average and 10 % at the "
                                  "worst, an encoder's inference 20 %, a generated token 40 % and the first one 30 %, "
                                  "single kernels, matmuls and collectives 50 %."));
}

TEST(ValidationReport, AnErrorAboutOneRowSkipsThatRowOnly) {
  const std::vector<Row> rows = {make("a", "k", 10, 10, 10), make("b", "k", 10, 10, 10)};
  const auto report = validation::validate(rows, [](const Row& row) -> Prediction {
    if (row.id == "a") throw base::Error{base::Fault::kCapacity, "hbm", "needs 20 GiB", "use more cores"};
    return {.value = 10, .skip_reason = "", .assumptions = {}, .time = {}};
  });
  EXPECT_FALSE(report.rows[0].predicted);
  EXPECT_THAT(report.rows[0].skip_reason, HasSubstr("needs 20 GiB"));
  EXPECT_TRUE(report.rows[1].predicted);
}

TEST(ValidationReport, OurOwnBugsAreNotHiddenAsSkippedRows) {
  const std::vector<Row> rows = {make("a", "k", 10, 10, 10)};
  const auto validate = [&](Prediction answer) {
    return validation::validate(rows, [&](const Row&) { return answer; });
  };
  EXPECT_THROW(validate({.value = std::nan(""), .skip_reason = "", .assumptions = {}, .time = {}}), base::Error);
  EXPECT_THROW(validate({.value = -1, .skip_reason = "", .assumptions = {}, .time = {}}), base::Error);
  EXPECT_THROW(validate({.value = {}, .skip_reason = "", .assumptions = {}, .time = {}}), base::Error);
  EXPECT_THROW(validation::validate(rows,
                                    [](const Row&) -> Prediction {
                                      base::ensure(false, "x", "y");
                                      return {};
                                    }),
               base::Error);
}

TEST(ValidationReport, JsonIsAListOfObjectsWithNullForSkippedRows) {
  const Json list = Json::parse(to_text(sample(), "json"));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0]["id"], "a");
  EXPECT_EQ(list[0]["published"], 10.0);
  EXPECT_EQ(list[1]["low"], 7.0);
  EXPECT_EQ(list[1]["high"], 11.0);
  EXPECT_EQ(list[0]["predicted"], 11.0);
  EXPECT_EQ(list[0]["error_percent"], 10.0);
  EXPECT_EQ(list[0]["assumptions"], Json::array({"dropout 0.1", "warm"}));
  EXPECT_EQ(list[0]["time"][0]["share"], 0.75);
  EXPECT_TRUE(list[3]["predicted"].is_null());
  EXPECT_TRUE(list[3]["error_percent"].is_null());
  EXPECT_EQ(list[3]["skip_reason"], "line 5: cores: 'two' is not an integer");
}

TEST(ValidationReport, TheTableEndsWithAssumptionsAndTheSummary) {
  const std::string text = to_text(sample(), "table");
  EXPECT_THAT(text, HasSubstr("+10.0"));
  EXPECT_THAT(text, HasSubstr("tensor 75%, dma 25%"));
  EXPECT_THAT(text, HasSubstr("a, b, c: assumed dropout 0.1; warm"));
  EXPECT_THAT(text, HasSubstr("d: skipped: line 5"));
  EXPECT_THAT(text, HasSubstr("mean |error| %"));
}

TEST(ValidationReport, CsvHasTheRowsAlone) {
  const auto table = base::parse_csv(to_text(sample(), "csv"), "out");
  EXPECT_EQ(table.records.size(), 4u);
  EXPECT_EQ(table.records[3].cells.at(5), "");  // predicted
  EXPECT_EQ(table.records[3].cells.back(), "skipped: line 5: cores: 'two' is not an integer");
}

TEST(ValidationReport, MarkdownHasTwoTables) { EXPECT_THAT(to_text(sample(), "md"), HasSubstr("worst row")); }

TEST(ValidationReport, AnUnknownFormatIsAUsageError) { EXPECT_THROW(to_text(sample(), "xml"), base::Error); }

double figure(std::string_view metric, const Measured& measured) {
  const auto value = validation::in_metric(metric, measured);
  return std::holds_alternative<double>(value) ? std::get<double>(value) : -1;
}

TEST(Metric, EachUnitFollowsFromSecondsAndWork) {
  const Measured m{.seconds = 0.5,
                   .samples = 32,
                   .tokens = 8,
                   .flops = 1e12,
                   .bytes = 2e9,
                   .job_seconds = 1800,
                   .first_token = 0.07,
                   .token_interval = 0.01,
                   .clock = 1.4e9};
  const std::map<std::string, double> want{{"samples/s", 64},
                                           {"sequences/s", 64},
                                           {"inferences/s", 64},
                                           {"images/second", 64},
                                           {"output tokens/s", 16},
                                           {"steps/s", 2},
                                           {"graphs/s", 2},
                                           {"it/s", 2},
                                           {"TFLOPS", 2},
                                           {"GB/s", 4},
                                           {"ms", 500},
                                           {"ms per step", 500},
                                           {"ms/step", 500},
                                           {"ms latency p50", 500},
                                           {"us", 5e5},
                                           {"ns issue to issue", 5e8},
                                           {"s per iteration", -1},
                                           {"minutes for 3 epochs", 30},
                                           {"hours", 0.5},
                                           {"cycles", 7e8},
                                           {"ms TTFT p50", 70},
                                           {"ms TPOT (p50)", 10},
                                           {"tokens per sec", 16},
                                           {"GiB/s", 4e9 / (1 << 30)}};
  for (const auto& [metric, value] : want) EXPECT_NEAR(figure(metric, m), value, 1e-9 * std::abs(value)) << metric;
}

TEST(Metric, EveryPublishedMetricIsKnown) {
  const Measured m{.seconds = 1, .samples = 1, .tokens = 1, .flops = 1, .bytes = 1, .job_seconds = 1};
  for (const std::string file : {"training.csv", "micro.csv"}) {
    for (const Row& row : validation::load_validation(std::string{TRNSIM_SOURCE_DIR} + "/validation/tables/" + file)) {
      EXPECT_GE(figure(row.metric, m), 0) << row.id << ": " << row.metric;
    }
  }
}

TEST(Metric, MissingValuesHaveAReason) {
  EXPECT_THAT(std::get<std::string>(validation::in_metric("furlongs", {.seconds = 1})), HasSubstr("unknown"));
  EXPECT_THAT(std::get<std::string>(validation::in_metric("samples/s", {.seconds = 1})), HasSubstr("not published"));
}

}  // namespace
