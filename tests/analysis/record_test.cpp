#include "analysis/record/record.h"

#include <gmock/gmock.h>

#include <fstream>

#include "analysis/record/sqlite.h"
#include "base/error.h"
#include "tests/analysis/recorded.h"
#include "tests/cpu_time.h"

namespace {

using analysis::By;
using analysis::Database;
using analysis::Statement;
using testing::HasSubstr;

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Record, ComesBackToTheLastFemtosecond) {
  const auto folder = recorded::folder();
  const isa::Program program = recorded::layers();
  const hw::SimResult result = recorded::simulated(program);
  analysis::write_record(folder, result, program, recorded::info());
  const analysis::Record back = analysis::read_record(folder);
  EXPECT_TRUE(back.result == result);
  EXPECT_TRUE(back.info == recorded::info());
  EXPECT_FALSE(result.events.empty());
  for (const By by : {By::kOp, By::kPart, By::kSource, By::kEngine, By::kOpcode, By::kLayer, By::kPhase, By::kBlock}) {
    const auto want = time_by(by, result, program), got = time_by(by, back.result, back.program);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].key, want[i].key);
      EXPECT_EQ(got[i].busy, want[i].busy);
    }
  }
}

TEST(Record, KeepsFactsOfTheProgram) {
  const auto folder = recorded::folder();
  const isa::Program program = recorded::layers();
  const hw::SimResult result = recorded::simulated(program);
  write_record(folder, result, program, recorded::info());
  const analysis::Record back = analysis::read_record(folder);
  EXPECT_EQ(back.utilisation.hfu, analysis::utilisation(result, program).hfu);
  EXPECT_EQ(back.utilisation.mfu, analysis::utilisation(result, program).mfu);
  const auto points = analysis::roofline(result, program);
  ASSERT_EQ(back.roofline.size(), points.size());
  EXPECT_EQ(back.roofline[0].op, points[0].op);
  EXPECT_EQ(back.roofline[0].achieved, points[0].achieved);
  EXPECT_EQ(back.stats.size(), analysis::summary_stats(result, program).size());
  const isa::Instrs &read = back.program.blocks[0].instrs, &written = program.blocks[0].instrs;
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < written.size(); ++i) EXPECT_EQ(read[i].waits, written[i].waits);
  for (std::size_t c = 0; c < program.calls.size(); ++c) EXPECT_EQ(back.program.calls[c].await, program.calls[c].await);
}

TEST(Record, RegionsLiveFromTheirFirstToTheirLastUse) {
  const analysis::Record record = recorded::record(false);
  ASSERT_EQ(record.regions.size(), 4u);
  const auto lives = [&](int i) { return std::pair{record.regions[i].first_call, record.regions[i].last_call}; };
  EXPECT_EQ(lives(0), (std::pair<std::int64_t, std::int64_t>{0, 1}));    // weights: read by both layers
  EXPECT_EQ(lives(1), (std::pair<std::int64_t, std::int64_t>{0, 1}));    // activations: written by both
  EXPECT_EQ(lives(2), (std::pair<std::int64_t, std::int64_t>{2, 2}));    // gradients: reduced by the optimizer
  EXPECT_EQ(lives(3), (std::pair<std::int64_t, std::int64_t>{-1, -1}));  // never used
}

TEST(Record, DamagedCellsAreDataErrors) {
  const auto folder = recorded::folder();
  for (const char* damage :
       {"update events set lane=255", "update events set call=99", "update events set end_fs=0",
        "update collectives set queue=255", "update collectives set call=99", "update engines set busy_fs=busy_fs+1",
        "update waits set semaphore=200", "update instrs set queue=77", "update calls set begin_fs=end_fs+1",
        "update regions set last_call=1000", "update calls set block=-1"}) {
    std::filesystem::remove(folder / analysis::kRecordFile);
    write_record(folder, recorded::record());
    Database{folder / analysis::kRecordFile, Database::Mode::kUpdate}.execute(damage);
    EXPECT_THAT(message_of([&] { analysis::read_record(folder); }), HasSubstr("data error")) << damage;
  }
}

/// Replaces a table by something else, without the guard of our own databases.
void replace_table(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database{file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(sql);
}

// A stranger's record: a schema that deceives costs no more time than one that does not.
TEST(Record, TablesThatAreProgramsAreRefusedAtOnce) {
  const std::string endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT ";
  const std::string fields = "hex(n) AS key, n AS value FROM r";
  for (const std::string& lie :
       {"DROP TABLE meta; CREATE VIEW meta AS " + endless + fields,
        "DROP TABLE events; CREATE VIEW events AS " + endless + "* FROM r",
        std::string{"DROP TABLE meta; CREATE VIEW meta AS SELECT hex(a.rowid) AS key, b.rowid AS value FROM instrs a, "
                    "instrs b, instrs c, instrs d"},
        std::string{"DROP TABLE meta; CREATE TABLE meta(key TEXT, value AS (hex(zeroblob(1000))));"
                    "INSERT INTO meta(key) VALUES('trnsim')"},
        std::string{"DROP TABLE meta; CREATE VIRTUAL TABLE meta USING fts5(key, value)"}}) {
    const auto folder = recorded::folder();
    std::filesystem::remove(folder / analysis::kRecordFile);
    write_record(folder, recorded::record());
    replace_table(folder / analysis::kRecordFile, lie);
    const tests::CpuTime took;
    EXPECT_THAT(message_of([&] { analysis::read_record(folder); }), HasSubstr("data error")) << lie;
    EXPECT_LT(took.seconds(), 1) << lie;
  }
}

// A page that is its own child gives rows for ever; the size of the file says how many there can be.
TEST(Record, ReadingEndsAfterTheStepsThatItsSizeHas) {
  const auto folder = recorded::folder();
  write_record(folder, recorded::record());
  Database db{folder / analysis::kRecordFile, Database::Mode::kRead};
  Statement rows = db.prepare("SELECT count(*) FROM events a, events b, events c, events d, events e, events f");
  EXPECT_THAT(message_of([&] { rows.step(); }), HasSubstr("takes more steps"));
}

TEST(Record, ATriggerOfAStrangersSweepDoesNotRun) {
  const auto file = recorded::folder() / "sweep.sqlite";
  std::filesystem::remove(file);
  replace_table(
      file, "CREATE TABLE points(hash TEXT); CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM points; END");
  EXPECT_THAT(message_of([&] { Database(file, Database::Mode::kUpdate); }), HasSubstr("has the trigger 't'"));
}

TEST(Record, AUserCanQueryIt) {
  const auto folder = recorded::folder();
  const analysis::Record record = recorded::record();
  write_record(folder, record);
  const SQLite::Database db{(folder / analysis::kRecordFile).string()};
  const auto prepare = [&db](const char* sql) { return Statement{db, "run.sqlite", sql}; };
  auto rows = prepare("SELECT op, sum(busy_s) FROM op_times WHERE engine = ? GROUP BY op");
  rows.query("tensor");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.text(0), "layer.mlp.matmul");
  EXPECT_NEAR(rows.real(1), hw::seconds(record.result.engines[0].busy), 1e-15);
  auto events = prepare("SELECT count(*), sum(seconds) FROM event_times WHERE track = 'engine' AND rank = 0");
  ASSERT_TRUE(events.step());
  EXPECT_GT(events.whole(0), 0);
  auto calls = prepare("SELECT max(begin_s + seconds) FROM call_times");
  ASSERT_TRUE(calls.step());
  EXPECT_LE(calls.real(0), hw::seconds(record.result.total) * (1 + 1e-12));
}

TEST(Record, WithoutEventsItHoldsNoInstructions) {
  const auto folder = recorded::folder();
  write_record(folder, recorded::record(false));
  const analysis::Record back = analysis::read_record(folder);
  EXPECT_TRUE(back.result.events.empty());
  EXPECT_TRUE(back.program.blocks[0].instrs.empty());
  EXPECT_EQ(back.program.blocks[0].labels.size(), 4u);
}

TEST(Record, AMissingNewerOrBrokenFileIsAnErrorWithAFix) {
  const auto folder = recorded::folder();
  EXPECT_THAT(message_of([&] { analysis::read_record(folder); }), HasSubstr("is missing"));
  write_record(folder, recorded::record(false));
  {
    Database db{folder / analysis::kRecordFile, Database::Mode::kUpdate};
    db.execute("UPDATE meta SET value = 99 WHERE key = 'record_schema'");
  }
  EXPECT_THAT(message_of([&] { analysis::read_record(folder); }), HasSubstr("has schema 99"));
  std::ofstream{folder / analysis::kRecordFile, std::ios::trunc} << "not a database at all, just text";
  EXPECT_THAT(message_of([&] { analysis::read_record(folder); }), HasSubstr("fix: write the file again"));
  std::ofstream{folder / analysis::kRecordFile, std::ios::trunc};  // no table at all
  EXPECT_THAT(message_of([&] { analysis::read_record(folder); }), HasSubstr("fix: write the file again"));
}

TEST(Record, AFolderThatCannotBeWrittenKeepsNothing) {
  EXPECT_THROW(write_record("/proc/self/no_such_folder", recorded::record(false)), base::Error);
  const auto folder = recorded::folder();
  write_record(folder, recorded::record(false));
  write_record(folder, recorded::record(true));  // replaces
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) files += entry.is_regular_file();
  EXPECT_EQ(files, 1);
}

TEST(Record, AResultOfAnotherProgramIsRefused) {
  const hw::SimResult result = recorded::simulated(recorded::layers(2), false);
  EXPECT_THROW(analysis::make_record(result, recorded::layers(3), recorded::info()), base::Error);
}

}  // namespace
