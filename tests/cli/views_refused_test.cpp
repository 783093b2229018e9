// report, stats, cost and sweep on unusable folders, files and disks: one error, a fix, nothing lost.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "analysis/record/result.h"
#include "analysis/record/sqlite.h"
#include "base/files.h"
#include "isa/asm.h"
#include "tests/analysis/recorded.h"
#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;

class ViewsRefused : public testing::Test {
 protected:
  void SetUp() override {
    write_record(folder_, recorded::record());
    analysis::write_result(
        folder_, {{"job", {{"train_runtime", 510.0}, {"train_steps_per_second", 5.9}, {"device_step_seconds", 0.1}}}});
    std::ofstream{folder_ / "step.asm"} << isa::print(recorded::layers());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path folder_ = recorded::folder();
};

/// Exactly one error with its fix.
void expect_refused(const Ran& ran, int code, const std::string& what) {
  EXPECT_EQ(ran.code, code) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(what));
  const auto fix = ran.err.find("  fix: ");
  ASSERT_NE(fix, std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("  fix: ", fix + 1), std::string::npos) << ran.err;
}

TEST_F(ViewsRefused, AnIncompleteRunFolder) {
  std::filesystem::remove(folder_ / "result.json");
  for (const char* verb : {"report ", "cost "}) expect_refused(run(verb + folder_.string()), 2, "result.json");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));
  EXPECT_EQ(run("stats " + folder_.string()).code, 0);  // what is there can be looked at
  std::filesystem::resize_file(folder_ / "run.sqlite", 5000);
  for (const char* verb : {"stats ", "trace ", "top ", "monitor "})
    expect_refused(run(verb + folder_.string()), 2, "run.sqlite");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.pftrace"));
}

TEST_F(ViewsRefused, ARunFolderOfANewerSchema) {
  const std::string good = slurp(at("result.json"));
  std::string newer = good;
  const std::string version = "\"schema_version\": 2";
  ASSERT_NE(newer.find(version), std::string::npos);
  newer.replace(newer.find(version), version.size(), "\"schema_version\": 99");
  std::ofstream{at("result.json")} << newer;
  expect_refused(run("report " + folder_.string()), 2, "99");
  std::ofstream{at("result.json")} << "[]";
  expect_refused(run("report " + folder_.string()), 2, "give the folder that 'trnsim run' wrote");
  std::ofstream{at("result.json")} << good;
  EXPECT_EQ(run("report " + folder_.string()).code, 0);
  analysis::Database{folder_ / "run.sqlite", analysis::Database::Mode::kUpdate}.execute(
      "UPDATE meta SET value = 99 WHERE key = 'record_schema'");
  for (const char* verb : {"report ", "stats ", "trace ", "cost "})
    expect_refused(run(verb + folder_.string()), 2, "99");
}

TEST_F(ViewsRefused, AStoreOfANewerSchema) {
  const std::string sweep = "sweep --program " + at("step.asm") + " --set hbm.bandwidth=1x,2x --output_dir " + at("s");
  ASSERT_EQ(run(sweep).code, 0);
  analysis::Database{folder_ / "s/sweep.sqlite", analysis::Database::Mode::kUpdate}.execute("PRAGMA user_version = 9");
  expect_refused(run(sweep), 2, "schema 9");
}

TEST_F(ViewsRefused, APriceFileWithoutADate) {
  const std::string prices = base::read_file(base::data_path("analysis/cost/prices/aws.toml"));
  std::string undated;
  for (std::size_t begin = 0; begin < prices.size();) {
    const std::size_t end = prices.find('\n', begin) + 1;
    if (prices.compare(begin, 4, "date") != 0) undated += prices.substr(begin, end - begin);
    begin = end;
  }
  ASSERT_LT(undated.size(), prices.size());
  std::ofstream{at("undated.toml")} << undated;
  for (const std::string& verb : {std::string{"cost --runtime 1h"}, "report " + folder_.string()})
    expect_refused(run(verb + " --prices " + at("undated.toml")), 2, "date");
  std::ofstream{at("dated.toml")} << prices;
  EXPECT_EQ(run("cost --runtime 1h --prices " + at("dated.toml")).code, 0);
}

/// No file may grow beyond so many blocks of 512 bytes: for a program the same as a disk that is full.
std::string full_after(int blocks) { return "trap '' XFSZ; ulimit -f " + std::to_string(blocks) + ";"; }

TEST_F(ViewsRefused, AFullDiskLeavesNoHalfReportAndKeepsTheOldOne) {
  ASSERT_EQ(run("report " + folder_.string()).code, 0);
  const std::string old = slurp(at("report.html"));
  expect_refused(run("report " + folder_.string(), full_after(8)), 2, "report.html");
  EXPECT_EQ(slurp(at("report.html")), old);
  expect_refused(run("trace " + folder_.string(), full_after(2)), 2, "trace.pftrace");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.pftrace"));
}

TEST_F(ViewsRefused, AFullStdoutIsAnError) {
  const std::string err = at("err");
  for (const std::string verb : {"stats ", "cost "}) {
    const std::string command = TRNSIM_BINARY " " + verb + folder_.string() + " >/dev/full 2>" + err;
    EXPECT_NE(std::system(command.c_str()), 0) << verb;
    EXPECT_THAT(slurp(err), HasSubstr("fix:")) << verb;
  }
}

TEST_F(ViewsRefused, ASweepOnAFullDiskKeepsFinishedPoints) {
  const std::string sweep = "sweep --program " + at("step.asm") + " --set hbm.bandwidth=0.5x..2x:100 --output_dir ";
  expect_refused(run(sweep + at("full"), full_after(400)), 2, "sweep.sqlite");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "full/results.csv"));
  const Ran rest = run(sweep + at("full"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  const auto at_now = rest.err.find("points, ");
  ASSERT_NE(at_now, std::string::npos) << rest.err;
  const int computed = std::stoi(rest.err.substr(at_now + 8));
  EXPECT_GT(computed, 0);
  EXPECT_LT(computed, 100);
  ASSERT_EQ(run(sweep + at("fresh")).code, 0);
  EXPECT_EQ(slurp(folder_ / "full/results.csv"), slurp(folder_ / "fresh/results.csv"));
}

}  // namespace
