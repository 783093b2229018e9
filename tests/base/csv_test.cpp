#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"

namespace base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(std::string_view text) {
  try {
    parse_csv(text, "t.csv");
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kData);
    return error.what();
  }
  return "";
}

TEST(Csv, QuotedCellsKeepCommasQuotesAndLineBreaks) {
  const auto table = parse_csv("a,b\n\"x,y\",\"say \"\"no\"\"\"\n\"two\nlines\",z\n", "t.csv");
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  ASSERT_EQ(table.records.size(), 2u);
  EXPECT_THAT(table.records[0].cells, ElementsAre("x,y", "say \"no\""));
  EXPECT_THAT(table.records[1].cells, ElementsAre("two\nlines", "z"));
}

TEST(Csv, RecordsKnowTheLineWhereTheyBegin) {
  const auto table = parse_csv("a\n\n\"one\ntwo\"\nlast", "t.csv");
  ASSERT_EQ(table.records.size(), 2u);
  EXPECT_EQ(table.records[0].line, 3);
  EXPECT_EQ(table.records[1].line, 5);
  EXPECT_EQ(table.where(table.records[1]), "t.csv:5");
}

TEST(Csv, AByteOrderMarkAndCarriageReturnsAreNoContent) {
  const auto table = parse_csv("\xEF\xBB\xBFid,v\r\n1,2\r\n", "t.csv");
  EXPECT_THAT(table.header, ElementsAre("id", "v"));
  EXPECT_THAT(table.records.at(0).cells, ElementsAre("1", "2"));
}

TEST(Csv, ARecordWithAnotherNumberOfCellsIsAnErrorWithItsLine) {
  EXPECT_THAT(refusal_of("a,b\n1,2\n1,2,3\n"), HasSubstr("t.csv:3: has 3 cells but the header has 2"));
}

TEST(Csv, BrokenQuotingIsAnErrorWithItsLine) {
  EXPECT_THAT(refusal_of("a,b\n1,2\n\"1,2\n"), HasSubstr("t.csv:3: opens a quote that is never closed"));
  EXPECT_THAT(refusal_of("a,b\nx\"y,2\n"), HasSubstr("t.csv:2: has a quote inside an unquoted field"));
}

TEST(Csv, AnEmptyFileIsAnError) { EXPECT_THAT(refusal_of(""), HasSubstr("is empty")); }

TEST(Csv, AMissingFileAndAFolderAreErrors) {
  EXPECT_THROW(read_csv("/nowhere/t.csv"), base::Error);
  EXPECT_THROW(read_csv("/"), base::Error);
}

TEST(Csv, WrittenCellsReadBack) {
  const std::vector<std::string> cells = {"plain", "a,b", "say \"no\"", "", "two\nlines"};
  std::string line = "a,b,c,d,e\n";
  for (const std::string& cell : cells) line += csv_cell(cell) + (&cell == &cells.back() ? "\n" : ",");
  EXPECT_EQ(parse_csv(line, "t.csv").records.at(0).cells, cells);
}

std::vector<CsvRecord> records_of(const std::string& text, CsvOptions options) {
  std::istringstream in{text};
  CsvReader reader{in, options};
  std::vector<CsvRecord> records;
  for (CsvRecord record; reader.next(record);) records.push_back(record);
  return records;
}

TEST(Csv, BlanksAndBackslashesAreReadAsConfigured) {
  EXPECT_THAT(records_of(" a ,b\n", {}).at(0).cells, ElementsAre("a", "b"));
  EXPECT_THAT(records_of(" a ,b\n", {.keep_blanks = true}).at(0).cells, ElementsAre(" a ", "b"));
  EXPECT_THAT(records_of(R"("say \"no\"","c:\\d")", {.backslash_escapes = true}).at(0).cells,
              ElementsAre("say \"no\"", "c:\\d"));
}

TEST(Csv, ABrokenRecordCostsNoOther) {
  const auto records = records_of("a,b\nx\"y,2\nc,d\n\"e\nf", {});
  ASSERT_EQ(records.size(), 4u);
  EXPECT_FALSE(records[1].problem.empty());
  EXPECT_FALSE(records[1].open);
  EXPECT_THAT(records[2].cells, ElementsAre("c", "d"));
  EXPECT_TRUE(records[3].open);
  EXPECT_EQ(records[3].line, 4u);
}

}  // namespace
}  // namespace base
