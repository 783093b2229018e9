#include "analysis/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace {

using analysis::csv_line;
using analysis::parse_csv;
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
  EXPECT_THAT(refusal_of("a,b\n1,2\n\"1,2\n"), HasSubstr("t.csv:3: broken quoting"));
  EXPECT_THAT(refusal_of("a,b\nx\"y,2\n"), HasSubstr("t.csv:2: broken quoting"));
}

TEST(Csv, AnEmptyFileIsAnError) { EXPECT_THAT(refusal_of(""), HasSubstr("is empty")); }

TEST(Csv, AMissingFileAndAFolderAreErrors) {
  EXPECT_THROW(analysis::read_csv("/nowhere/t.csv"), base::Error);
  EXPECT_THROW(analysis::read_csv("/"), base::Error);
}

TEST(Csv, WrittenLinesReadBack) {
  const std::vector<std::string> cells = {"plain", "a,b", "say \"no\"", "", "two\nlines"};
  const auto table = parse_csv("a,b,c,d,e\n" + csv_line(cells), "t.csv");
  EXPECT_EQ(table.records.at(0).cells, cells);
}

TEST(Csv, AnEmptyFirstCellIsWrittenAsACell) {
  const std::vector<std::string> cells = {"", "b"};
  EXPECT_EQ(csv_line(cells), ",b\n");
}

}  // namespace
