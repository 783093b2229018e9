#include "analysis/sweep/sweep.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "analysis/record/sqlite.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/units.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::Design;
using analysis::design_points;
using analysis::Metrics;
using analysis::SweepModel;
using analysis::SweepPoint;
using analysis::SweepRun;
using analysis::SweepSpec;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

SweepSpec spec(Design design, std::vector<analysis::SweepAxis> axes) {
  SweepSpec s;
  s.design = design;
  s.axes = std::move(axes);
  return s;
}

/// train_runtime = a + b, dollars = 1 / (a + b); the point a = 7 does not fit, a = 13 kills its process.
SweepModel model() {
  return {.hash =
              [](const SweepPoint& point) {
                std::string text;
                for (const auto& [key, value] : point) text += key + "=" + value + ";";
                return base::hash64(text);
              },
          .evaluate = [](const SweepPoint& point) -> Metrics {
            double sum = 0;
            for (const auto& [key, value] : point) {
              if (key == "a" && value == "7") throw base::Error{base::Fault::kCapacity, "a", "is 7", "choose another"};
              if (key == "a" && value == "13") ::raise(SIGKILL);
              sum += std::stod(value);
            }
            return {{"train_runtime", sum}, {"dollars", 1 / (1 + sum)}, {"busy.hbm", 40}, {"busy.tensor", sum}};
          }};
}

std::vector<std::string> numbers(int count) {
  std::vector<std::string> list;
  for (int i = 0; i < count; ++i) list.push_back(std::to_string(i));
  return list;
}

TEST(SweepDesign, CartesianListOneAtATime) {
  const std::vector<analysis::SweepAxis> axes = {{"a", {"1", "2"}}, {"b", {"3", "4"}}};
  EXPECT_THAT(design_points(spec(Design::kCartesian, axes)),
              ElementsAre(ElementsAre(Pair("a", "1"), Pair("b", "3")), ElementsAre(Pair("a", "1"), Pair("b", "4")),
                          ElementsAre(Pair("a", "2"), Pair("b", "3")), ElementsAre(Pair("a", "2"), Pair("b", "4"))));
  EXPECT_THAT(design_points(spec(Design::kList, axes)),
              ElementsAre(ElementsAre(Pair("a", "1"), Pair("b", "3")), ElementsAre(Pair("a", "2"), Pair("b", "4"))));
  const auto single = design_points(spec(Design::kOneAtATime, axes));
  ASSERT_EQ(single.size(), 5u);
  EXPECT_TRUE(single[0].empty());
  EXPECT_THAT(single[4], ElementsAre(Pair("b", "4")));
}

TEST(SweepDesign, RangesAreSpacedOnALogarithmicScale) {
  const auto points = design_points(spec(Design::kCartesian, {{"f", {"1 GHz..4 GHz:3"}}}));
  ASSERT_EQ(points.size(), 3u);
  const double want[] = {1e9, 2e9, 4e9};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(base::parse_quantity(points[static_cast<std::size_t>(i)][0].second).value, want[i], want[i] * 1e-12);
  EXPECT_EQ(base::parse_quantity(design_points(spec(Design::kCartesian, {{"f", {"0.5x..2x:3"}}}))[0][0].second),
            (base::Quantity{0.5, base::Dimension::kRelative}));
}

TEST(SweepDesign, RandomDrawsRepeatBySeedAndStayInRange) {
  SweepSpec s = spec(Design::kRandom, {{"f", {"1 GHz..4 GHz"}}, {"b", {"x", "y"}}});
  s.samples = 200;
  s.seed = 7;
  const auto points = design_points(s);
  EXPECT_EQ(points, design_points(s));
  s.seed = 8;
  EXPECT_NE(points, design_points(s));
  int below = 0, x = 0;
  for (const SweepPoint& point : points) {
    const double f = base::parse_quantity(point[0].second).value;
    EXPECT_TRUE(f >= 1e9 && f <= 4e9);
    below += f < 2e9;  // half of the draws on a logarithmic scale
    x += point[1].second == "x";
  }
  EXPECT_NEAR(below, 100, 40);  // 200 fair draws: sigma 7
  EXPECT_NEAR(x, 100, 40);
}

TEST(SweepDesign, UnknownDesignsAreRefused) {
  const auto refused = [](SweepSpec s) { EXPECT_THROW(design_points(s), base::Error); };
  refused(spec(Design::kCartesian, {}));
  refused(spec(Design::kCartesian, {{"a", {}}}));
  refused(spec(Design::kCartesian, {{"a", {"1"}}, {"a", {"2"}}}));
  refused(spec(Design::kList, {{"a", {"1", "2"}}, {"b", {"1"}}}));
  refused(spec(Design::kRandom, {{"a", {"1"}}}));          // no number of samples
  refused(spec(Design::kCartesian, {{"a", {"1x..2x"}}}));  // no number of values
  refused(spec(Design::kCartesian, {{"a", {"2x..1x:3"}}}));
  refused(spec(Design::kCartesian, {{"a", {"1 GHz..2 s:3"}}}));
  refused(spec(Design::kCartesian, {{"a", numbers(2000)}, {"b", numbers(2000)}}));
  for (const char* text : {"a", "=1", "a=", "a=1,,2"}) EXPECT_THROW(analysis::parse_axis(text), base::Error) << text;
  EXPECT_THROW(analysis::parse_design("cartesan"), base::Error);
}

TEST(SweepDesign, AFileNamesProgramMachineAndValues) {
  const auto folder = recorded::folder();
  std::ofstream{folder / "s.toml"} << "program = \"step.asm\"\nmachine = \"trn1.32xlarge\"\ndesign = \"random\"\n"
                                      "samples = \"10\"\n[set]\nhbm.bandwidth = [\"0.5x\", \"2x\"]\n";
  const SweepSpec s = analysis::load_sweep(folder / "s.toml");
  EXPECT_EQ(s.program, (folder / "step.asm").string());
  EXPECT_EQ(s.machine, "trn1.32xlarge");
  EXPECT_EQ(s.samples, 10u);
  ASSERT_EQ(s.axes.size(), 1u);
  EXPECT_EQ(s.axes[0].key, "hbm.bandwidth");
  std::ofstream{folder / "t.toml"} << "programm = \"step.asm\"\n";
  EXPECT_THROW(analysis::load_sweep(folder / "t.toml"), base::Error);
}

std::string csv(const SweepRun& run) { return sweep_table(run).render(base::Format::kCsv); }

TEST(Sweep, TheResultDoesNotDependOnTheNumberOfProcesses) {
  const auto folder = recorded::folder();
  const auto points = design_points(spec(Design::kCartesian, {{"a", numbers(6)}, {"b", numbers(6)}}));
  const SweepRun one = run_sweep(points, model(), folder / "one.sqlite", 1);
  const SweepRun three = run_sweep(points, model(), folder / "three.sqlite", 3);
  EXPECT_EQ(one.computed, 36u);
  EXPECT_EQ(csv(one), csv(three));
  EXPECT_DOUBLE_EQ(one.results[8].metrics.at("train_runtime"), 1 + 2);
}

TEST(Sweep, OnlyNewPointsAreComputed) {
  const auto database = recorded::folder() / "sweep.sqlite";
  std::filesystem::remove(database);
  const auto few = design_points(spec(Design::kCartesian, {{"a", {"1", "2"}}, {"b", {"1"}}}));
  const auto more = design_points(spec(Design::kCartesian, {{"a", {"1", "2", "3"}}, {"b", {"1"}}}));
  EXPECT_EQ(run_sweep(few, model(), database, 2).computed, 2u);
  EXPECT_EQ(run_sweep(few, model(), database, 2).computed, 0u);
  const SweepRun wide = run_sweep(more, model(), database, 2);
  EXPECT_EQ(wide.computed, 1u);
  EXPECT_DOUBLE_EQ(wide.results[0].metrics.at("train_runtime"), 2);
}

TEST(Sweep, EqualPointsAreComputedOnce) {
  SweepModel same = model();
  same.hash = [](const SweepPoint&) { return 1; };
  const auto points = design_points(spec(Design::kCartesian, {{"a", {"1", "1"}}}));
  const SweepRun run = run_sweep(points, same, recorded::folder() / "sweep.sqlite", 2);
  EXPECT_EQ(run.computed, 1u);
  EXPECT_EQ(run.results[0].metrics, run.results[1].metrics);
}

// A child sees a kin anew when the one before it was another's: once each, although two children work on two kin by
// turns.
TEST(Sweep, PointsOfOneAffinityAreComputedInARowByOneProcess) {
  SweepModel grouped = model();
  grouped.affinity = [](const SweepPoint& point) { return base::hash64(point.at(1).second); };
  grouped.evaluate = [last = std::make_shared<std::string>()](const SweepPoint& point) -> Metrics {
    const bool anew = std::exchange(*last, point.at(1).second) != point.at(1).second;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    return {{"anew", anew ? 1.0 : 0.0}};
  };
  const auto points = design_points(spec(Design::kCartesian, {{"a", numbers(8)}, {"b", numbers(4)}}));
  const SweepRun run = run_sweep(points, grouped, recorded::folder() / "affinity.sqlite", 2);
  EXPECT_EQ(run.computed, 32u);
  double anew = 0;
  for (const auto& result : run.results) anew += result.metrics.at("anew");
  EXPECT_GE(anew, 4);
  EXPECT_LE(anew, 5);  // the last group may have both children when the others are done
}

TEST(Sweep, AFailureCostsItsPointOnly) {
  const auto database = recorded::folder() / "sweep.sqlite";
  const auto points = design_points(spec(Design::kCartesian, {{"a", numbers(20)}}));
  const SweepRun run = run_sweep(points, model(), database, 3);
  EXPECT_THAT(run.results[7].error, HasSubstr("choose another"));
  EXPECT_EQ(run.results[13].error, "its process died");
  for (const auto& result : run.results) {
    if (result.error.empty()) {
      EXPECT_EQ(result.metrics.size(), 4u);
    }
  }
  EXPECT_EQ(run_sweep(points, model(), database, 3).computed, 1u);  // the process that died is tried again
}

TEST(Sweep, FailuresOfTheHostAreNotResults) {
  const auto database = recorded::folder() / "sweep.sqlite";
  const auto points = design_points(spec(Design::kCartesian, {{"a", {"1", "2", "3"}}}));
  SweepModel poor = model();
  poor.evaluate = [](const SweepPoint& point) -> Metrics {
    if (point[0].second == "1") throw std::bad_alloc{};
    if (point[0].second == "2") throw base::Error{base::Fault::kEnvironment, "disk", "is full", "free some"};
    return {{"train_runtime", 3}};
  };
  const SweepRun first = run_sweep(points, poor, database, 1);
  EXPECT_THAT(first.results[0].error, HasSubstr("no memory left"));
  EXPECT_THAT(first.results[1].error, HasSubstr("is full"));
  const SweepRun second = run_sweep(points, model(), database, 1);
  EXPECT_EQ(second.computed, 2u);
  for (const auto& result : second.results) EXPECT_EQ(result.error, "");
}

TEST(Sweep, AnUnknownKeyEndsItBeforeItBegins) {
  SweepModel strict = model();
  strict.hash = [](const SweepPoint& point) -> std::uint64_t {
    throw base::Error{base::Fault::kUsage, point[0].first, "is not a key", "write another"};
  };
  const auto database = recorded::folder() / "sweep.sqlite";
  EXPECT_THROW(run_sweep({{{"a", "1"}}}, strict, database, 1), base::Error);
  EXPECT_FALSE(std::filesystem::exists(database));
  EXPECT_THROW(run_sweep({}, model(), database, 1), base::Error);
  EXPECT_THROW(run_sweep({{{"a", "1"}}}, model(), database, 0), base::Error);
}

/// A number that children share with us.
class SharedCount {
 public:
  SharedCount()
      : at_{static_cast<std::atomic<int>*>(
            ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))} {}
  ~SharedCount() { ::munmap(at_, sizeof(std::atomic<int>)); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  std::atomic<int>& operator*() const { return *at_; }

 private:
  std::atomic<int>* at_;
};

/// A child that sweeps and is killed in the middle of its work: `ms` after `points_begun` further points were begun.
void sweep_and_kill(const std::vector<SweepPoint>& points, const SweepModel& slow,
                    const std::filesystem::path& database, const std::atomic<int>& begun, int points_begun, int ms) {
  const int enough = begun + points_begun;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run_sweep(points, slow, database, 2);
    ::_exit(0);
  }
  while (begun < enough) std::this_thread::sleep_for(std::chrono::microseconds{100});
  std::this_thread::sleep_for(std::chrono::milliseconds{ms});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(Sweep, KilledTenTimesItEndsCompleteWithNoPointTwice) {
  const auto database = recorded::folder() / "sweep.sqlite";
  std::filesystem::remove(database);
  SweepModel slow = model();
  const SharedCount begun;
  slow.evaluate = [&begun](const SweepPoint& point) {
    ++*begun;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    return Metrics{{"train_runtime", std::stod(point[0].second)}};
  };
  const auto points = design_points(spec(Design::kCartesian, {{"a", numbers(300)}}));
  for (int kill = 0; kill < 10; ++kill) sweep_and_kill(points, slow, database, *begun, 1 + kill, 7 * kill % 5);
  const SweepRun run = run_sweep(points, slow, database, 2);
  EXPECT_LT(run.computed, points.size());  // finished points were kept
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(run.results[i].metrics.at("train_runtime"), static_cast<double>(i));
  analysis::Database db{database, analysis::Database::Mode::kRead};
  auto rows = db.prepare("SELECT count(*), count(DISTINCT settings) FROM points");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.whole(0), 300);
  EXPECT_EQ(rows.whole(1), 300);
}

SweepRun swept(Design design, std::vector<analysis::SweepAxis> axes) {
  return run_sweep(design_points(spec(design, std::move(axes))), model(), recorded::folder() / "s.sqlite", 2);
}

TEST(Sweep, FindsTheBestPointUnderConditions) {
  const SweepRun run = swept(Design::kCartesian, {{"a", numbers(6)}});
  const auto best = [&](const char* metric, std::vector<analysis::Condition> conditions) {
    return best_result(run, metric, conditions).point[0].second;
  };
  EXPECT_EQ(best("seconds", {}), "0");
  EXPECT_EQ(best("dollars", {}), "5");
  EXPECT_EQ(best("dollars", {analysis::parse_condition("seconds <= 3 s")}), "3");
  EXPECT_EQ(best("seconds", {analysis::parse_condition("seconds>=2")}), "2");
  EXPECT_THROW(best("seconds", {analysis::parse_condition("seconds>=99")}), base::Error);
  EXPECT_EQ(best("cost", {analysis::parse_condition("time<=3 s")}), "3");
  EXPECT_THROW(best("secs", {}), base::Error);
  EXPECT_THROW(analysis::parse_condition("seconds<3"), base::Error);
}

TEST(Sweep, SensitivityAndParetoFront) {
  const SweepRun run = swept(Design::kOneAtATime, {{"a", {"1", "4"}}, {"b", {"2"}}});
  const auto list = sensitivities(run, "train_runtime");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].key, "a");
  EXPECT_EQ(list[0].at_most, "4");
  EXPECT_EQ(list[0].most, 4);
  EXPECT_EQ(list[0].least, 0);
  const auto front = pareto_front(run, "train_runtime", "dollars");
  EXPECT_EQ(front.size(), 4u);  // more time always costs less here
  EXPECT_TRUE(sensitivities(swept(Design::kList, {{"a", {"1"}}, {"b", {"1"}}}), "train_runtime").empty());
}

TEST(Sweep, ATableForATerminalHasTheMetricsThatPeopleLookAt) {
  const SweepRun run = swept(Design::kList, {{"a", {"1"}}});
  EXPECT_THAT(sweep_table(run).render(base::Format::kCsv), HasSubstr("busy.hbm"));
  const std::string brief = sweep_table(run, true).render(base::Format::kCsv);
  EXPECT_THAT(brief, testing::StartsWith("a,dollars,train_runtime,binds,error\n"));
}

TEST(Sweep, ThePageMapsTheBindingResourceOverTwoParameters) {
  const SweepRun grid = swept(Design::kCartesian, {{"a", {"1", "50"}}, {"b", {"0", "9"}}});
  const std::string page = sweep_html(grid, {"x"});
  EXPECT_THAT(page, HasSubstr("what binds, by a and b"));
  EXPECT_THAT(page, HasSubstr("<title>1, 0: hbm</title>"));
  EXPECT_THAT(page, HasSubstr("<title>50, 9: tensor</title>"));
  // A third parameter has a map for each of its values: a cell is one point.
  const SweepRun three = swept(Design::kCartesian, {{"a", {"1", "50"}}, {"b", {"0", "9"}}, {"c", {"3"}}});
  EXPECT_THAT(sweep_html(three, {"x"}), HasSubstr("what binds, by a and b, with c=3"));
  const SweepRun alone = swept(Design::kOneAtATime, {{"a", {"1", "50"}}, {"b", {"0", "9"}}});
  EXPECT_THAT(sweep_html(alone, {"x"}), testing::Not(HasSubstr("what binds, by")));
}

TEST(Sweep, ThePageShowsFrontSensitivityAndTheBindingResource) {
  const std::string page = sweep_html(swept(Design::kOneAtATime, {{"a", {"1", "50"}}}), {"<b>.asm"});
  EXPECT_THAT(page, HasSubstr("trnsim sweep: &lt;b&gt;.asm"));
  EXPECT_THAT(page, HasSubstr("hbm: 2"));     // the base and a = 1
  EXPECT_THAT(page, HasSubstr("tensor: 1"));  // a = 50
  EXPECT_THAT(page, testing::Not(HasSubstr("http")));
}

// A narrow screen shows the first columns; a name that is longer than its axis would be cut.
TEST(Sweep, ThePageHasTimeAndDollarsFirstWithTheirUnits) {
  const char* const key = "per_device_train_batch_size";
  const std::string page = sweep_html(swept(Design::kCartesian, {{"a", {"1", "50"}}, {key, {"0", "9"}}}), {"x"});
  const std::string points = page.substr(page.find("every point"));
  EXPECT_LT(points.find("train runtime"), points.find(">a<"));
  EXPECT_LT(points.find(">dollars<"), points.find(">a<"));
  EXPECT_THAT(points, HasSubstr(">$"));
  EXPECT_THAT(page, testing::Not(HasSubstr(std::string{"rotate(-90)\">"} + key)));
}

}  // namespace
