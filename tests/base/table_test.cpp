#include "base/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace base {
namespace {

Table sample() {
  Table table{{{"key", "", Align::kLeft}, {"value", "value in use", Align::kRight}, {"note", "", Align::kLeft}}};
  table.add_row({"clock", Cell{2.8e9, "2.8 GHz"}, "plain"});
  table.add_row({"größe|深さ", 16, "a, \"b\"\nc"});
  table.add_row({"flag", true, {}});
  return table;
}

TEST(Table, TextIsAlignedByWhatTheTerminalShows) {
  EXPECT_EQ(sample().render(Format::kTable),
            "key         value in use  note\n"
            "clock            2.8 GHz  plain\n"
            "größe|深さ            16  a, \"b\" c\n"
            "flag                true\n");
}

TEST(Table, CsvQuotesAsRfc4180AndGivesPlainValues) {
  EXPECT_EQ(sample().render(Format::kCsv),
            "key,value,note\n"
            "clock,2800000000,plain\n"
            "größe|深さ,16,\"a, \"\"b\"\"\nc\"\n"
            "flag,true,\n");
}

TEST(Table, JsonKeepsTypesAndOrder) {
  const auto json = nlohmann::ordered_json::parse(sample().render(Format::kJson));
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0].dump(), R"({"key":"clock","value":2800000000.0,"note":"plain"})");
  EXPECT_EQ(json[1]["value"], 16);
  EXPECT_EQ(json[1]["note"], "a, \"b\"\nc");
  EXPECT_EQ(json[2]["value"], true);
  EXPECT_TRUE(json[2]["note"].is_null());
}

TEST(Table, MarkdownEscapesBars) {
  EXPECT_EQ(sample().render(Format::kMarkdown),
            "| key | value in use | note |\n"
            "|---|---:|---|\n"
            "| clock | 2.8 GHz | plain |\n"
            "| größe\\|深さ | 16 | a, \"b\" c |\n"
            "| flag | true |  |\n");
}

TEST(Table, NonFiniteNumbersAreNullInJsonAndEmptyInCsv) {
  Table table{{{"x", "", Align::kLeft}}};
  table.add_row({std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(nlohmann::json::parse(table.render(Format::kJson))[0]["x"], nullptr);
  EXPECT_EQ(table.render(Format::kCsv), "x\n\n");
}

TEST(Table, BrokenUtf8DoesNotBreakJson) {
  Table table{{{"x", "", Align::kLeft}}};
  table.add_row({"\xff"});
  EXPECT_EQ(nlohmann::json::parse(table.render(Format::kJson))[0]["x"], "\xEF\xBF\xBD");
}

TEST(Table, ControlCharactersAreShownNotSent) {
  Table table{{{.key = "x", .title = "x", .align = Align::kLeft}}};
  table.add_row({"\x1b]0;title\x07\xc2\x9b"});
  EXPECT_EQ(table.render(Format::kTable), "x\n\\x1b]0;title\\x07\\x9b\n");
  EXPECT_EQ(nlohmann::json::parse(table.render(Format::kJson))[0]["x"], "\x1b]0;title\x07\xc2\x9b");
}

TEST(Table, ANumberPrintsShortestAndReadsBack) {
  Table table{{{"x", "", Align::kLeft}}};
  table.add_row({0.1});
  EXPECT_EQ(table.render(Format::kCsv), "x\n0.1\n");
}

TEST(Table, ARowOfAnotherLengthIsOurBug) { EXPECT_THROW(sample().add_row({"one"}), Error); }

TEST(Table, AnUnknownFormatIsAnErrorWithASuggestion) {
  EXPECT_EQ(parse_format("md"), Format::kMarkdown);
  try {
    parse_format("jsn");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("write \"json\""));
  }
}

}  // namespace
}  // namespace base
