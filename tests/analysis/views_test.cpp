#include "analysis/profile/views.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "analysis/figures/figures.h"
#include "base/error.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::Difference;
using base::Format;
using testing::HasSubstr;

TEST(Views, TheSummaryHasEveryFigureOfTheRecord) {
  const analysis::Record record = recorded::record(false);
  const std::string csv = summary_table(record).render(Format::kCsv);
  for (const analysis::Stat& stat : record.stats) EXPECT_THAT(csv, HasSubstr(stat.name));
}

TEST(Views, GroupsAddUpToTheEngines) {
  const analysis::Record record = recorded::record(false);
  double busy = 0, ops = 0;
  for (const auto& engine : record.result.engines) busy += hw::seconds(engine.busy);
  for (const auto& group : time_by(analysis::By::kOp, record.result, record.program)) ops += group.busy;
  EXPECT_NEAR(ops, busy, busy * 1e-12);
  EXPECT_EQ(analysis::table_by("op", record).rows(), 6u);
  EXPECT_EQ(analysis::table_by("op", record, 2).rows(), 2u);
  EXPECT_EQ(analysis::table_by("layer", record).rows(), 5u);  // with the time between calls
}

TEST(Views, CollectivesAreGroupedByKind) {
  const analysis::Record record = recorded::record(false);
  const auto groups = analysis::collectives_by_kind(record.result);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].key, "all_reduce x2");
  EXPECT_EQ(groups[0].count, record.result.collectives.size());
  EXPECT_DOUBLE_EQ(groups[0].bytes, 65'536.0 * static_cast<double>(groups[0].count));
  EXPECT_GE(groups[0].active, 15e-6);  // the floor
  EXPECT_THAT(analysis::table_by("collective", record).render(Format::kTable), HasSubstr("64 KiB"));
}

TEST(Views, AnUnknownGroupingGetsASuggestion) {
  EXPECT_THROW(analysis::table_by("enginee", recorded::record(false)), base::Error);
}

TEST(Compare, ARunDoesNotDifferFromItself) {
  const analysis::Record record = recorded::record(false);
  for (const Difference& d : compare(record, record)) EXPECT_EQ(d.percent(), 0) << d.name;
}

TEST(Compare, FindsTheOpsThatASlowerMachineSlowsDown) {
  const isa::Program program = recorded::layers();
  const hw::MachineParams slow = tiny::trn1({"tensor.clock=0.5x"});
  const auto before = recorded::record(false);
  const auto after = make_record(recorded::simulated(program, false, slow), program, recorded::info(slow));
  const auto list = compare(before, after);
  EXPECT_EQ(list[0].name, "total_time");
  EXPECT_GT(list[0].percent(), 0);
  const auto engine = std::ranges::find_if(list, [](const Difference& d) { return d.part == "engine"; });
  EXPECT_EQ(engine->name, "tensor");          // the largest change first
  EXPECT_NEAR(engine->percent(), 100, 1e-3);  // durations are whole femtoseconds
  const auto op = std::ranges::find_if(list, [](const Difference& d) { return d.part == "op"; });
  EXPECT_EQ(op->name, "layer.mlp.matmul");
}

TEST(Compare, NewEntriesHaveNoPercentage) {
  const Difference d{"op", "new", 0, 1, "s"};
  EXPECT_TRUE(std::isnan(d.percent()));
  EXPECT_THAT(analysis::difference_table({d}, 0).render(Format::kJson), HasSubstr("null"));
}

TEST(Compare, LimitsTheOpsAloneAndLeavesOutThoseThatDidNotChange) {
  std::vector<Difference> list = {{"total", "total_time", 1, 1, "s"}};
  for (const char* name : {"a", "b", "c"}) list.push_back({"op", name, 1, 2, "s"});
  list.push_back({"op", "same", 1, 1, "s"});
  EXPECT_EQ(analysis::difference_table(list, 2).rows(), 3u);
  EXPECT_EQ(analysis::difference_table(list, 9).rows(), 4u);
  EXPECT_EQ(analysis::difference_table(list, 0).rows(), 5u);
}

TEST(Compare, NamesTheWaitsOfEngines) {
  const hw::MachineParams slow = tiny::trn1({"dma.start=20x"});
  const auto before = recorded::record(false);
  const auto list = compare(before, make_record(recorded::simulated(recorded::layers(), false, slow),
                                                recorded::layers(), recorded::info(slow)));
  const auto waiting = std::ranges::find_if(list, [](const Difference& d) { return d.part == "waiting"; });
  ASSERT_NE(waiting, list.end());
  EXPECT_GT(waiting->change(), 0);
}

TEST(Compare, JobsByTheFiguresThatBothHave) {
  analysis::Figures a, b;
  a.time.train_runtime = 100, a.cost.dollars = 1.5, a.cost.price_per_hour = 1, a.compile.compile_seconds = 3;
  b.time.train_runtime = 50, b.cost.dollars = 0.75, b.cost.price_per_hour = 1, b.time.step_seconds = 2;
  const auto list = analysis::compare_jobs(a, b);
  ASSERT_EQ(list.size(), 2u) << "the price is the same and has no title";
  EXPECT_EQ(list[0].name, "train_runtime");
  EXPECT_EQ(list[1].name, "dollars");
  EXPECT_EQ(list[1].percent(), -50);
  EXPECT_THAT(analysis::difference_table(list, 0).render(Format::kTable), HasSubstr("-$0.750"));
  EXPECT_TRUE(analysis::compare_jobs(a, {}).empty());
}

}  // namespace
