// Baselines, and the influences on a prediction: mechanisms and fitted constants.
#include "validation/report/influence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/host/stack.h"
#include "analysis/host/stack_file.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "validation/report/baseline.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using validation::Baseline;
using validation::Comparison;
using validation::Influence;
using validation::Prediction;
using validation::Row;
using validation::Variation;
using Json = nlohmann::json;

Row make_row(std::string id, std::string kind, double published, std::string metric, bool micro = false) {
  Row row;
  row.id = std::move(id);
  row.kind = std::move(kind);
  row.published = row.low = row.high = published;
  row.metric = std::move(metric);
  if (micro) row.job = validation::MicroRow{};
  return row;
}

/// A prediction of 10 ms, whose device could do it in `ideal` ms at its peaks, with engines busy for 4 and 5 ms.
Prediction ten_ms(double ideal) {
  return {.value = 10,
          .skip_reason = "",
          .assumptions = {},
          .time = {},
          .work = {.seconds = 10e-3, .ideal = ideal * 1e-3, .busy = {{"tensor", 4e-3}, {"dma engines", 5e-3}}}};
}

double error_of(const Comparison& row, Baseline which) {
  return row.baseline_error_percent[static_cast<std::size_t>(which)].value();
}

TEST(Baselines, SumAndBusiestEngineStandForTheTimeOfTheSameProgram) {
  const std::vector<Row> rows{make_row("a", "train", 12, "ms"), make_row("b", "train", 8, "ms")};
  const auto report = validation::validate(rows, [](const Row&) { return ten_ms(2); });
  EXPECT_NEAR(error_of(report.rows[0], Baseline::kSum), -25, 1e-9);             // 9 ms of 12
  EXPECT_NEAR(error_of(report.rows[0], Baseline::kBusiest), -700. / 12, 1e-9);  // 5 ms of 12
  EXPECT_NEAR(error_of(report.rows[1], Baseline::kSum), 12.5, 1e-9);
  const auto& summary = report.summaries.front();
  EXPECT_EQ(summary.with_work, 2);
  EXPECT_NEAR(summary.baseline_mean[static_cast<std::size_t>(Baseline::kSum)].value(), (25 + 12.5) / 2, 1e-9);
}

TEST(Baselines, ARateIsTheInverseOfItsTime) {
  Prediction rate = ten_ms(2);
  rate.value = 100;  // of 1 a repetition
  const auto report =
      validation::validate(std::vector{make_row("a", "train", 100, "steps/s")}, [&](const Row&) { return rate; });
  EXPECT_NEAR(error_of(report.rows[0], Baseline::kBusiest), 100, 1e-9);  // half the time, twice the rate
}

TEST(Baselines, OneUtilisationIsTheGeometricMeanOfTheRows) {
  // Ideal 2 and 8 ms, published 10 ms: utilisations 0.2 and 0.8, so that one of 0.4 is off by 2 up and down.
  const std::vector<Row> rows{make_row("a", "train", 10, "ms"), make_row("b", "train", 10, "ms")};
  const auto report = validation::validate(rows, [](const Row& row) { return ten_ms(row.id == "a" ? 2 : 8); });
  EXPECT_NEAR(report.summaries.front().utilisation.value(), 0.4, 1e-12);
  EXPECT_NEAR(error_of(report.rows[0], Baseline::kUtilisation), -50, 1e-9);
  EXPECT_NEAR(error_of(report.rows[1], Baseline::kUtilisation), 100, 1e-9);
}

TEST(Baselines, OneRowFitsItselfAndARowOfTheHostHasNoWork) {
  const std::vector<Row> rows{make_row("a", "train", 10, "ms"), make_row("b", "launch", 10, "ms")};
  const auto report = validation::validate(rows, [](const Row& row) {
    Prediction p = ten_ms(2);
    if (row.id == "b") p.work = {};
    return p;
  });
  EXPECT_FALSE(report.summaries[0].utilisation);
  EXPECT_FALSE(report.rows[0].baseline_error_percent[0]);
  EXPECT_TRUE(report.rows[0].baseline_error_percent[1]);
  EXPECT_FALSE(report.rows[1].baseline_error_percent[1]);
  EXPECT_EQ(report.summaries[1].with_work, 0);
}

TEST(Baselines, JsonTellsTheirErrorsAndSummariesHaveOneForAllMicroRows) {
  const std::vector<Row> rows{make_row("a", "gemm", 10, "ms", true), make_row("b", "memory", 10, "ms", true),
                              make_row("c", "train", 10, "ms")};
  const auto report = validation::validate(rows, [](const Row&) { return ten_ms(2); });
  ASSERT_EQ(report.summaries.size(), 5u);
  EXPECT_EQ(report.summaries[3].kind, "micro");
  EXPECT_EQ(report.summaries[3].rows, 2);
  EXPECT_NEAR(Json::parse(to_text(report, "json"))[0]["baselines"]["sum of engines"].get<double>(), -10, 1e-9);
}

std::vector<base::ParamFile> machine_files() {
  std::vector<base::ParamFile> files;
  for (const auto& entry : std::filesystem::directory_iterator{base::data_path("hw/params")})
    if (entry.path().extension() == ".toml") files.push_back(base::ParamFile::load(entry.path()));
  return files;
}

TEST(Influence, EveryTimeAndRateOfMachinesAndStacksBelongsToAMechanism) {
  const auto parameters = validation::influential_parameters(machine_files());  // throws for a number without a place
  for (const validation::Mechanism& mechanism : parameters.mechanisms)
    EXPECT_FALSE(mechanism.slower.machine.empty() && mechanism.slower.stacks.empty()) << mechanism.name;
}

TEST(Influence, AConstantNamesRowsThatExistAndIsThereOnce) {
  std::set<std::string> ids, names;
  for (const std::string file :
       {"training.csv", "micro.csv", "instructions.csv", "generation.csv", "memory.csv", "compile_time.csv",
        "compile_more.csv", "instructions_trn2.csv", "generation_inf2.csv", "generation_more.csv", "streams_trn2.csv"})
    for (const Row& row : validation::load_validation(std::string{TRNSIM_SOURCE_DIR} + "/validation/tables/" + file))
      ids.insert(row.id);
  // Tables that may not be copied here: their rows are those of the registered predictions.
  const std::string registered = std::string{TRNSIM_SOURCE_DIR} + "/validation/registered/trn2.csv";
  for (const auto& record : base::parse_csv(base::read_file(registered), registered).records)
    ids.insert(record.cells.at(1));
  for (const validation::Constant& constant : validation::influential_parameters(machine_files()).constants) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    for (const std::string& id : constant.rows) EXPECT_TRUE(ids.contains(id)) << constant.name << ": " << id;
  }
  EXPECT_FALSE(names.empty());
}

// With as many constants as rows anything can be fitted.
TEST(Influence, AtMostTwentyConstantsAreFitted) {
  int fitted = 0;
  for (const validation::Constant& constant : validation::influential_parameters(machine_files()).constants)
    fitted += constant.fitted;
  EXPECT_LE(fitted, 20);
  EXPECT_GT(fitted, 0);
}

TEST(Influence, AChangeOfAStackReachesThoseThatInheritTheNumberAndNoOther) {
  const double base_launch = analysis::load_stack("bare").per_launch.value;
  const double xla = analysis::load_stack("torch-xla").per_step.value;
  const double trainer = analysis::load_stack("hf-trainer").per_step.value;
  const std::vector<analysis::StackChange> changes{{"torch-xla", "host.per_step", "2x"},
                                                   {"bare", "launch.per_launch", "3x"}};
  EXPECT_DOUBLE_EQ(analysis::load_stack("torch-xla", changes).per_step.value, 2 * xla);
  EXPECT_DOUBLE_EQ(analysis::load_stack("hf-trainer", changes).per_step.value, 2 * trainer);
  EXPECT_DOUBLE_EQ(analysis::load_stack("bare", changes).per_launch.value, 3 * base_launch);
  EXPECT_DOUBLE_EQ(
      analysis::load_stack("torch-xla", changes).per_launch.value,
      analysis::file_of(analysis::stack_file("torch-xla").parameter("launch.per_launch")) == "torch-xla"
          ? base::parse_quantity(analysis::stack_file("torch-xla").parameter("launch.per_launch").values[0]).value
          : 3 * base_launch);
  EXPECT_DOUBLE_EQ(analysis::load_stack("torch-xla").per_step.value, xla);
  const std::vector<analysis::StackChange> misspelt{{"torch-lxa", "host.per_step", "2x"}};
  EXPECT_THROW(analysis::load_stack("bare", misspelt), base::Error);
}

/// Two mechanisms of one number each; the constants a, b of the first, c of the second, a switch s of the second.
validation::Parameters two_mechanisms() {
  const auto vary = [](const std::string& text) { return Variation{.machine = {text}, .stacks = {}}; };
  return {.mechanisms = {{"compute", vary("compute")}, {"transfer", vary("transfer")}},
          .constants = {{"a", "1 us", {"x", "y"}, true, 0, 1.1, vary("a")},
                        {"b", "1 us", {"x"}, true, 0, 1.1, vary("b")},
                        {"c", "1 GB/s", {"y", "z"}, true, 1, 1 / 1.1, vary("c")},
                        {"s", "0", {"y", "z"}, true, 1, 0, vary("s")}}};
}

/// x is computed alone and a rate; y half and half; z waits for a host. a and b are factors of the same time.
double evaluate_rows(std::size_t row, const Variation& variation) {
  const std::string& what = variation.machine.front();
  const double compute = what == "compute" || what == "a" || what == "b" ? 1.1 : 1;
  const double transfer = what == "transfer" ? 1.1 : what == "c" ? 1 / 1.1 : what == "s" ? 3 : 1;
  if (row == 0) return 100 / compute;
  if (row == 1) return 50 * compute + 50 * transfer;
  return 100 + (what == "s" ? 70 : 0);
}

validation::ValidationReport three_rows() {
  const std::vector<Row> rows{make_row("x", "gemm", 110, "steps/s", true), make_row("y", "train", 80, "ms"),
                              make_row("z", "train", 100, "ms"), make_row("skipped", "train", 1, "ms")};
  return validation::validate(rows, [](const Row& row) {
    if (row.id == "skipped") return Prediction::skip("no model");
    return Prediction{.value = 100, .skip_reason = "", .assumptions = {}, .time = {}};
  });
}

TEST(Influence, ReadOffConstantsAreNotFittedAndTheirRowsGiveNoCredit) {
  const auto report = three_rows();
  validation::Parameters parameters = two_mechanisms();
  parameters.constants[1].fitted = false;  // b, which x states
  const Influence out = study(report, parameters, {evaluate_rows}, 1);
  EXPECT_THAT(rows_read_off(report, out), testing::ElementsAre("x"));
  EXPECT_THAT(to_text(report, out, "md"), HasSubstr("3 fitted constants"));
  EXPECT_THAT(to_text(report, out, "md"), HasSubstr("| read off | x |"));
  EXPECT_NE(out.change_percent[0][1], 0);
  EXPECT_EQ(out.change_percent[1][1], 0);  // y is a job: b was not tried
}

TEST(Influence, SharesAreTheTimeThatAMechanismDecidesAndChangesAreInTheMetric) {
  const auto report = three_rows();
  const Influence out = study(report, two_mechanisms(), {evaluate_rows}, 2);
  EXPECT_NEAR(out.share[0][0], 1, 1e-9);
  EXPECT_NEAR(out.share[0][1], 0, 1e-9);
  EXPECT_NEAR(out.share[1][0], std::log(1.05) / std::log(1.1), 1e-9);
  EXPECT_NEAR(out.change_percent[0][0], (1 / 1.1 - 1) * 100, 1e-9);  // a rate falls
  EXPECT_NEAR(out.change_percent[1][0], 5, 1e-9);
  EXPECT_EQ(out.change_percent[2][0], 0);           // the mechanism has no share, so its constants were not tried
  EXPECT_NEAR(out.change_percent[2][3], 70, 1e-9);  // a switch is tried all the same
  EXPECT_TRUE(out.share[3].empty());
  // c was made smaller, as it must not be larger: the change is told for the other direction.
  EXPECT_NEAR(out.change_percent[1][2], (100 / (50 + 50 / 1.1) - 1) * 100, 1e-9);
}

TEST(Influence, WhatCannotTouchARowIsNotTriedAndRowsOfOneJobAreTriedTogether) {
  const auto report = three_rows();
  const Influence all = study(report, two_mechanisms(), {evaluate_rows}, 2);
  const validation::Evaluate some{
      .predict = evaluate_rows,
      .reads = [](std::size_t row,
                  std::string_view name) { return row != 1 || name != two_mechanisms().mechanisms[1].name; },
      .has = [](std::size_t row, const validation::Constant& c) { return row != 0 || c.name != "a"; },
      .same_job = [](std::size_t row) { return row == 2; }};
  const Influence out = study(report, two_mechanisms(), some, 2);
  EXPECT_EQ(out.share[1][1], 0);
  EXPECT_NE(all.share[1][1], 0);
  EXPECT_EQ(out.change_percent[1][2], 0);  // a constant of that mechanism
  EXPECT_EQ(out.change_percent[0][0], 0);
  EXPECT_NE(all.change_percent[0][0], 0);
  EXPECT_EQ(out.share[0], all.share[0]);
  EXPECT_EQ(out.share[2], all.share[2]);
  EXPECT_EQ(out.change_percent[2], all.change_percent[2]);
  EXPECT_EQ(out.change_percent[1][0], all.change_percent[1][0]);
}

TEST(Influence, AConstantIsIdentifiedByTwoRowsThatNoOtherMoves) {
  const auto report = three_rows();
  const auto ids = identify(report, study(report, two_mechanisms(), {evaluate_rows}, 1));
  EXPECT_EQ(ids[0].as, "b");  // a and b move the same rows alike
  EXPECT_FALSE(ids[0].identified());
  EXPECT_EQ(ids[1].rows, 1);
  EXPECT_EQ(ids[2].moved, 1);  // y alone
  EXPECT_FALSE(ids[2].identified());
  EXPECT_EQ(ids[3].moved, 2);
  EXPECT_TRUE(ids[3].identified());
  EXPECT_EQ(ids[3].strongest, "y");
}

TEST(Influence, TheBudgetBlamesAMechanismForItsOwnErrorOnMicroRows) {
  const auto report = three_rows();
  const Influence out = study(report, two_mechanisms(), {evaluate_rows}, 1);
  const auto errors = mechanism_errors(report, out);
  EXPECT_NEAR(errors[0].value(), 100. / 11, 1e-9);  // x: 100 for 110
  EXPECT_FALSE(errors[1]);                          // no micro row tells
  const std::string page = to_text(report, out, "md");
  for (const char* heading :
       {"## What decides the predicted time", "## Error budget", "## Fitted constants", "## Sensitivity"})
    EXPECT_THAT(page, HasSubstr(heading));
  EXPECT_THAT(page, HasSubstr("4 fitted constants, 1 of them identified"));
  EXPECT_THAT(page, HasSubstr("no: fitted on one row; changes the same rows as a"));
}

TEST(Influence, JsonHasTheStudyAndCsvIsRefused) {
  const auto report = three_rows();
  const Influence out = study(report, two_mechanisms(), {evaluate_rows}, 1);
  const Json json = Json::parse(to_text(report, out, "json"));
  EXPECT_NEAR(json["rows"][1]["change_percent"]["a"].get<double>(), 5, 1e-9);
  EXPECT_FALSE(json["rows"][3].contains("share"));
  EXPECT_EQ(json["constants"][3]["identified"], true);
  EXPECT_THROW(to_text(report, out, "csv"), base::Error);
}

TEST(Influence, ARowThatAVariationMakesImpossibleIsOurBug) {
  const auto report = three_rows();
  const auto impossible = [](std::size_t, const Variation&) -> double {
    throw base::Error{base::Fault::kCapacity, "hbm", "needs 20 GiB", "use more cores"};
  };
  EXPECT_THROW(study(report, two_mechanisms(), {impossible}, 1), base::Error);
}

}  // namespace
