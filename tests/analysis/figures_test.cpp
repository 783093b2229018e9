// The table of figures, and result.json: written files are read back, and those of earlier versions too.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "analysis/figures/figure_table.h"
#include "base/error.h"
#include "base/files.h"

namespace {

using analysis::Figure;
using analysis::Figures;
using Ordered = nlohmann::ordered_json;
using testing::HasSubstr;

/// Each held figure has another value.
Figures every_figure() {
  Figures f;
  double next = 1;
  for (const Figure& figure : analysis::figure_table())
    if (figure.set) figure.set(f, next += 0.5);
  return f;
}

std::string refusal(const Ordered& body) {
  try {
    analysis::figures_from(body, 2, "result.json");
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(FigureTable, NoTwoFiguresHaveAName) {
  std::set<std::string_view> names;
  for (const Figure& figure : analysis::figure_table()) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    EXPECT_FALSE(figure.text.empty()) << figure.name;
    EXPECT_EQ(analysis::find_figure(figure.name), &figure);
  }
}

TEST(FigureTable, EachFigureIsAMemberOfItsOwn) {
  const Figures f = every_figure();
  std::set<double> values;
  for (const Figure& figure : analysis::figure_table()) {
    if (!figure.set) continue;
    ASSERT_TRUE(figure.of(f)) << figure.name;
    EXPECT_TRUE(values.insert(*figure.of(f)).second) << figure.name << " is the member of another one";
  }
}

TEST(FigureTable, EarlierNamesAreUnderstood) {
  EXPECT_EQ(analysis::find_figure("samples_per_second")->name, "train_samples_per_second");
  EXPECT_EQ(analysis::find_figure("cost")->name, "dollars");
  EXPECT_EQ(analysis::find_figure("no such"), nullptr);
}

TEST(FigureTable, FiguresFollowFromOthers) {
  Figures f;
  const Figure& tokens = *analysis::find_figure("tokens_per_second");
  EXPECT_FALSE(tokens.of(f));
  f.work.tokens = 100, f.time.train_runtime = 4;
  EXPECT_EQ(tokens.of(f), 25);
}

TEST(FiguresJson, WrittenFiguresReadBack) {
  Figures f = every_figure();
  f.plan.pipeline = 2, f.plan.slowest_stage = 1, f.plan.stage_seconds = {1.5, 2.5};
  f.workload.name = "job", f.seed = 7, f.time.stack = "bare", f.time.overlapped = true;
  f.time.parts = {{"device", 2.5}}, f.time.other_instances = {{"trn1.32xlarge", 4.5}};
  f.memory.kinds = {{"weights", 10}}, f.memory.compiler = {{"spills", 3}}, f.memory.verdict = "fits";
  f.answer.emplace().changes.emplace().push_back({.settings = {{"zero_1", "true"}},
                                                  .text = "t",
                                                  .command = "",
                                                  .speed_up_percent = 3,
                                                  .runtime = 2,
                                                  .dollars = {}});
  f.engines.push_back({.engine = "tensor", .busy = 1, .waiting = {{"dma", 2.5}}, .idle = 3, .instructions = 9});
  f.training.emplace().epochs.push_back(
      {.split = "eval", .epoch = 1, .loss = 0.5, .samples = 8, .scores = {{"accuracy", 0.9}}});
  f.training->scores = {{"eval_accuracy", 0.9}};
  const Ordered body = to_json(f);
  const Ordered back = to_json(analysis::figures_from(body, 2, "result.json"));
  EXPECT_EQ(back.dump(1), body.dump(1));
  for (const Figure& figure : analysis::figure_table()) {
    const Ordered::json_pointer place{"/" + std::string{figure.section} + "/" + std::string{figure.name}};
    EXPECT_TRUE(!figure.set || body.contains(place)) << figure.name;
  }
}

TEST(FiguresJson, SchemaOneHadOtherNames) {
  const Ordered body{{"job", {{"train_runtime", 100.0}, {"mfu_percent", 12.5}, {"model_flops", 5e15}}},
                     {"cost", {{"run", 0.5}, {"per_epoch", 0.25}}},
                     {"utilisation", {{"mfu", 40.0}, {"model_flops", 3e9}}},
                     {"memory", {{"weights", 3}, {"peak", 99}, {"capacity", 200}}}};
  const Figures f = analysis::figures_from(body, 1, "result.json");
  EXPECT_EQ(f.work.job_mfu_percent, 12.5);
  EXPECT_EQ(f.work.job_model_flops, 5e15);
  EXPECT_EQ(f.cost.dollars, 0.5);
  EXPECT_EQ(f.cost.dollars_per_epoch, 0.25);
  EXPECT_EQ(f.core.mfu_estimated_percent, 40);
  EXPECT_EQ(f.core.core_model_flops, 3e9);
  EXPECT_EQ(f.memory.hbm_bytes, 99);
  EXPECT_EQ(f.memory.hbm_capacity_bytes, 200);
  EXPECT_EQ(f.memory.kinds.size(), 1u);
}

TEST(FiguresJson, AWrongTypeIsNamed) {
  EXPECT_THAT(refusal({{"job", {{"step_seconds", "long"}}}}), HasSubstr("job.step_seconds is not a number"));
  EXPECT_THAT(refusal({{"engines", {{{"engine", "tensor"}, {"busy", "very"}}}}}),
              HasSubstr("engines.0.busy is not a number"));
  EXPECT_THAT(refusal({{"memory", {{"verdict", 3}}}}), HasSubstr("memory.verdict is not a text"));
  EXPECT_THAT(refusal({{"metrics", 3}}), HasSubstr("metrics is not an object"));
  EXPECT_EQ(refusal({{"job", {{"step_seconds", nullptr}, {"new key", "any"}}}}), "");
}

}  // namespace
