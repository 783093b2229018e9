// Several processes that sweep into one database: no point is computed twice, and dead processes cost their points
// only.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "analysis/record/sqlite.h"
#include "analysis/sweep/sweep.h"
#include "analysis/sweep/sweep_store.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::SweepStore;
using analysis::SweepTeam;

constexpr const char* kJob = "job 1";

std::vector<analysis::SweepPoint> row_of_points(int count) {
  std::vector<analysis::SweepPoint> points;
  for (int i = 0; i < count; ++i) points.push_back({{"a", std::to_string(i)}});
  return points;
}

/// Every computation leaves a line in `log`; the point 13 kills its process.
analysis::SweepModel logging_model(const std::filesystem::path& log) {
  return {.hash = [](const analysis::SweepPoint& point) { return base::hash64(point[0].second); },
          .evaluate =
              [log](const analysis::SweepPoint& point) {
                std::ofstream{log, std::ios::app} << point[0].second + "\n";
                std::this_thread::sleep_for(std::chrono::milliseconds{2});
                if (point[0].second == "13") ::raise(SIGKILL);
                return analysis::Metrics{{"seconds", std::stod(point[0].second)}};
              }};
}

SweepTeam rank_of(std::size_t rank, std::size_t size) {
  return {.job = kJob, .rank = rank, .size = size, .waits = rank == 0};
}

/// A process that sweeps as a rank.
pid_t launched(const std::vector<analysis::SweepPoint>& points, const std::filesystem::path& folder, SweepTeam team) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  run_sweep(points, logging_model(folder / "log"), folder / "team.sqlite", 1, team);
  ::_exit(0);
}

std::string csv_of(const analysis::SweepRun& run) { return sweep_table(run).render(base::Format::kCsv); }

std::ptrdiff_t lines_of(const std::filesystem::path& file) {
  const std::string text = base::read_file(file);
  return std::ranges::count(text, '\n');
}

TEST(SweepTeam, ThreeProcessesShareThePointsAndGiveTheResultOfOne) {
  const auto folder = recorded::folder();
  const auto points = row_of_points(90);
  const pid_t one = launched(points, folder, rank_of(1, 3)), two = launched(points, folder, rank_of(2, 3));
  const auto team = run_sweep(points, logging_model(folder / "log"), folder / "team.sqlite", 1, rank_of(0, 3));
  for (const pid_t child : {one, two}) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(team.known(), 90u);
  EXPECT_EQ(team.results[13].error, "its process died");
  EXPECT_EQ(lines_of(folder / "log"), 90);  // point 13 too: its death is known to all of the job
  const auto alone = run_sweep(points, logging_model(folder / "alone"), folder / "alone.sqlite", 2);
  EXPECT_EQ(csv_of(team), csv_of(alone));
  const auto again = run_sweep(points, logging_model(folder / "log"), folder / "team.sqlite", 1);
  EXPECT_EQ(again.computed, 1u);  // another sweep tries point 13 again
}

TEST(SweepTeam, ContinuesTheWorkOfAnEarlierProcess) {
  const auto folder = recorded::folder();
  run_sweep(row_of_points(10), logging_model(folder / "log"), folder / "team.sqlite", 1);
  const auto points = row_of_points(20);
  const pid_t one = launched(points, folder, rank_of(1, 3)), two = launched(points, folder, rank_of(2, 3));
  const auto team = run_sweep(points, logging_model(folder / "log"), folder / "team.sqlite", 1, rank_of(0, 3));
  for (const pid_t child : {one, two}) ::waitpid(child, nullptr, 0);
  EXPECT_EQ(team.known(), 20u);
  EXPECT_EQ(lines_of(folder / "log"), 20);
}

TEST(SweepTeam, AProcessThatDiesCostsItsPointOnly) {
  const auto folder = recorded::folder();
  const auto points = row_of_points(60);
  const pid_t doomed = launched(points, folder, rank_of(1, 2));
  std::this_thread::sleep_for(std::chrono::milliseconds{30});
  ::kill(doomed, SIGKILL);
  ::waitpid(doomed, nullptr, 0);
  const auto team = run_sweep(points, logging_model(folder / "log"), folder / "team.sqlite", 1, rank_of(0, 2));
  EXPECT_EQ(team.known(), 60u);
  EXPECT_LE(lines_of(folder / "log"), 61);
  for (std::size_t i = 14; i < 60; ++i) EXPECT_EQ(team.results[i].metrics.at("seconds"), static_cast<double>(i));
}

TEST(SweepTeam, AnOwnerOnAnotherHostIsDeadWhenItGivesNoSignOfLife) {
  const auto database = recorded::folder() / "team.sqlite";
  const auto points = row_of_points(3);
  const auto model = logging_model(recorded::folder() / "log");
  SweepStore far{database, kJob, "elsewhere 1 0", true};
  ASSERT_TRUE(far.claim(model.hash(points[1]), std::nullopt));
  SweepTeam impatient = rank_of(0, 2);
  impatient.patience_s = 0.2;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  auto last = begin;
  const auto living = [&](std::size_t done, std::size_t) {  // a sign between any two looks, however slow the host is
    if (Clock::now() - begin > std::chrono::milliseconds{500}) return;
    EXPECT_LT(done, 3u);
    far.beat();
    last = Clock::now();
  };
  const auto team = run_sweep(points, model, database, 1, impatient, living);
  EXPECT_EQ(team.results[1].metrics.at("seconds"), 1);
  EXPECT_GE(last - begin, std::chrono::milliseconds{200});  // each sign restarted the wait
  EXPECT_GE(Clock::now() - last, std::chrono::milliseconds{200});
}

TEST(SweepTeam, WithoutWaitingPointsOfOthersAreLeft) {
  const auto database = recorded::folder() / "team.sqlite";
  const auto points = row_of_points(3);
  const auto model = logging_model(recorded::folder() / "log");
  SweepStore far{database, kJob, "elsewhere 1 0", true};
  ASSERT_TRUE(far.claim(model.hash(points[1]), std::nullopt));
  const auto shard = run_sweep(points, model, database, 1, rank_of(1, 2));
  EXPECT_EQ(shard.known(), 2u);
  EXPECT_FALSE(shard.results[1].done);
}

TEST(SweepStoreClaims, HaveOneOwner) {
  const auto database = recorded::folder() / "s.sqlite";
  SweepStore a{database, "a", "host 1 a", false}, b{database, "b", "host 2 b", false};
  EXPECT_TRUE(a.claim(7, std::nullopt));
  EXPECT_FALSE(b.claim(7, std::nullopt));
  const auto seen = b.claim_of(7);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->owner, "host 1 a");
  a.beat();
  EXPECT_FALSE(b.claim(7, seen));  // it lives
  EXPECT_TRUE(b.claim(7, b.claim_of(7)));
  a.beat();
  EXPECT_EQ(b.claim_of(7)->beats, 0);  // no longer a's
  b.put({.point = {{"x", "1"}}, .hash = 7, .metrics = {{"seconds", 1}}});
  EXPECT_FALSE(b.claim_of(7));
  EXPECT_FALSE(a.claim(7, std::nullopt));  // it is done
}

TEST(SweepStoreClaims, EndWithTheirOwner) {
  const auto database = recorded::folder() / "s.sqlite";
  SweepStore b{database, "b", "host 2 b", false};
  {
    SweepStore a{database, "a", "host 1 a", false};
    EXPECT_TRUE(a.claim(7, std::nullopt));
  }
  EXPECT_FALSE(b.claim_of(7));
}

}  // namespace
