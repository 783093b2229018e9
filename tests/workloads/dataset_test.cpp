#include "workloads/data/dataset.h"

#include <gtest/gtest.h>

#include "tests/workloads/support.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::Scratch;
using Names = std::vector<std::string>;

std::vector<std::string> texts(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const Sample& sample : dataset.samples) all.push_back(sample.text);
  return all;
}
std::vector<std::int32_t> labels(const Dataset& dataset) {
  std::vector<std::int32_t> all;
  for (const Sample& sample : dataset.samples) all.push_back(sample.label);
  return all;
}

TEST(Dataset, CsvWithQuotesAndNewlines) {
  const Scratch s;
  const auto file = s.write("d.csv",
                            "\xEF\xBB\xBFid,text,label\r\n"
                            "1,\"he said \"\"no\"\", then left\",0\r\n"
                            "2, kept blanks ,1\r\n\r\n"
                            "3,\"two\nlines\",1\r\n"
                            "4,last,0");
  const Dataset d = read_dataset(file);
  EXPECT_EQ(texts(d), (Names{"he said \"no\", then left", " kept blanks ", "two\nlines", "last"}));
  EXPECT_EQ(labels(d), (std::vector<std::int32_t>{0, 1, 1, 0}));
  EXPECT_EQ(d.label_names, (Names{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(d.skipped, 0u);
}

TEST(Dataset, MalformedCsvRowsAreCountedAndNamed) {
  const Scratch s;
  const auto file = s.write("d.csv",
                            "text,label\n"
                            "good,0\n"
                            "too,many,1\n"
                            "few\n"
                            "\"multi\nline\",1\n"
                            "a \"bare\" quote,0\n"
                            "\"behind\" it,0\n"
                            "latin \xE9,1\n"
                            ",1\n"
                            "no label,\n"
                            "huge,999999\n"
                            "negative,-1\n"
                            "word,happy\n"
                            "end,1\n");
  const Dataset d = read_dataset(file);
  EXPECT_EQ(texts(d), (Names{"good", "multi\nline", "end"}));
  EXPECT_EQ(d.skipped, 10u);
  const std::string report = describe_problems(d);
  for (const char* part :
       {"skipped 10 of 13 rows", "d.csv:3: has 3 fields instead of 2", "d.csv:4: has 1 field instead of 2",
        "d.csv:7: has a quote inside", "d.csv:8: has a quote", "d.csv:9: byte 6 of the text is not valid UTF-8",
        "d.csv:10: the text is empty", "d.csv:11: has no label", "d.csv:12: label 999999 is not in 0..1",
        "d.csv:13: label -1 is not in 0..1", "d.csv:14: unknown label \"happy\""})
    EXPECT_NE(report.find(part), std::string::npos) << part << "\nin\n" << report;
}

TEST(Dataset, StrictStopsAtTheFirstMalformedRow) {
  const Scratch s;
  const auto file = s.write("d.csv", "text,label\ngood,0\ntoo,many,1\n");
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(file, {.strict = true}); }, {"d.csv:3", "3 fields instead of 2"}));
}

TEST(Dataset, AQuoteThatNeverClosesIsAnError) {
  const Scratch s;
  const auto file = s.write("d.csv", "text,label\ngood,0\n\"open,1\nmore,0\n");
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(file); }, {"d.csv:3", "is never closed"}));
}

TEST(Dataset, BackslashEscapesAreAnOption) {
  const Scratch s;
  const auto file = s.write("d.csv", "text,label\n\"she \\\"waved\\\" and a \\\\ slash\",0\nplain,1\n");
  EXPECT_EQ(texts(read_dataset(file, {.backslash_escapes = true})), (Names{"she \"waved\" and a \\ slash", "plain"}));
  const Dataset without = read_dataset(file);
  EXPECT_EQ(without.skipped, 1u);
}

TEST(Dataset, SemicolonLinesSplitAtTheLastOne) {
  const Scratch s;
  const std::string rows =
      "i am sad; really;sadness\nhurray;joy\nno separator\nhm;love\nargh;anger\nboo;fear\nwow;surprise\n";
  for (const std::string header : {"sentence;label_name\n", "text;label\n", ""}) {
    const Dataset d = read_dataset(s.write("d.txt", header + rows));
    EXPECT_EQ(texts(d)[0], "i am sad; really");
    EXPECT_EQ(d.label_names, emotion_label_names());  // the order of Hugging Face, not of the alphabet
    EXPECT_EQ(labels(d), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(d.skipped, 1u);
  }
}

// The names of two columns may be any: labels recur, and a name is no label.
TEST(Dataset, FirstRowOfTwoUnusualColumnsIsNamesIfItsLabelIsNoOther) {
  const Scratch s;
  const auto count = [&](const char* file, const std::string& rows) {
    return read_dataset(s.write(file, rows)).samples.size();
  };
  EXPECT_EQ(count("a.csv", "comment,rating\nnice,good\nawful,bad\nlovely,good\n"), 3u);
  EXPECT_EQ(count("b.csv", "comment,stars\nnice,5\nawful,1\n"), 2u);
  EXPECT_EQ(count("c.tsv", "comment\trating\nnice\tgood\nawful\tbad\nlovely\tgood\n"), 3u);
  EXPECT_EQ(count("d.csv", "so so,good\nnice,bad\nawful,bad\nlovely,good\n"), 4u);
  EXPECT_EQ(count("e.csv", "nice,good\nawful,bad\n"), 2u);
  EXPECT_EQ(count("f.csv", "nice,1\nawful,0\n"), 2u);
  std::string many = "comment,rating\n";
  for (int i = 0; i < 3000; ++i) many += "text," + std::to_string(i % 7) + "\n";
  EXPECT_EQ(count("g.csv", many), 3000u);
}

TEST(Dataset, OtherNamesAreSorted) {
  const Scratch s;
  const auto file = s.write("d.tsv", "sentence\tlabel\na \"quote\"\tworld\nb\tart\nc\tworld\n");
  const Dataset d = read_dataset(file);
  EXPECT_EQ(d.label_names, (Names{"art", "world"}));
  EXPECT_EQ(labels(d), (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(texts(d)[0], "a \"quote\"");
  const Dataset ordered = read_dataset(file, {.label_names = {"world", "art"}});
  EXPECT_EQ(labels(ordered), (std::vector<std::int32_t>{0, 1, 0}));
  const Dataset partly = read_dataset(file, {.label_names = {"world", "sport"}});
  EXPECT_EQ(partly.samples.size(), 2u);
  EXPECT_NE(describe_problems(partly).find("unknown label \"art\"; known: world, sport"), std::string::npos);
}

TEST(Dataset, JsonLines) {
  const Scratch s;
  const auto file = s.write("d.jsonl",
                            "{\"text\": \"caf\\u00e9\", \"label\": 1}\n\n{\"text\": \"b\", \"label\": \"0\"}\n{broken\n"
                            "{\"text\": \"c\"}\n{\"text\": \"d\", \"label\": 1.5}\n[1]\n");
  const Dataset d = read_dataset(file);
  EXPECT_EQ(texts(d), (Names{"café", "b"}));
  EXPECT_EQ(labels(d), (std::vector<std::int32_t>{1, 0}));
  const std::string report = describe_problems(d);
  for (const char* part :
       {"d.jsonl:4: is not a JSON object", "d.jsonl:5: has no \"label\"",
        "d.jsonl:6: \"label\" is neither a string nor an integer", "d.jsonl:7: is not a JSON object"})
    EXPECT_NE(report.find(part), std::string::npos) << part << "\nin\n" << report;
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(s.write("a.json", "[{}]")); }, {"a.json:1", "array"}));
}

TEST(Dataset, ColumnsCanBeNamed) {
  const Scratch s;
  const auto file = s.write("d.csv", "label,title,body\nx,a,b\ny,c,d\n");
  EXPECT_EQ(texts(read_dataset(file, {.text_column = "body"})), (Names{"b", "d"}));
  EXPECT_EQ(labels(read_dataset(file, {.text_column = "label", .label_column = "title"})),
            (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(file, {.text_column = "boddy"}); }, {"boddy", "body"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(file); }, {"d.csv:1", "which of the 3 columns"}));
}

TEST(Dataset, NoHeaderMeansTextAndLabel) {
  const Scratch s;
  EXPECT_EQ(texts(read_dataset(s.write("d.csv", "one,0\ntwo,1\n"))), (Names{"one", "two"}));
}

TEST(Dataset, EmptyAndMissingFilesAreErrors) {
  const Scratch s;
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(s.write("e.csv", "")); }, {"e.csv", "no usable row"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(s.write("h.csv", "text,label\n")); }, {"no usable row"}));
  EXPECT_TRUE(
      fails(Fault::kData, [&] { read_dataset(s.write("b.csv", "text,label\na\n")); }, {"1 malformed", "b.csv:2"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(s / "none.csv"); }, {"none.csv"}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { read_dataset(s.write("d.parquet", "x")); }, {"d.parquet", ".csv"}));
}

TEST(Dataset, AFileThatCannotBeReadToItsEndIsNoShorterOne) {
  const Scratch s;
  std::filesystem::create_symlink("/proc/self/mem", s / "data.csv");  // reading its first byte is EIO
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(s / "data.csv"); }, {"data.csv", "to its end"}));
}

TEST(Dataset, WrongLabelColumnIsNoticed) {
  const Scratch s;
  std::string rows = "text,label\n";
  for (int i = 0; i < 1100; ++i) rows += "same,unique " + std::to_string(i) + "\n";
  EXPECT_TRUE(fails(Fault::kData, [&] { read_dataset(s.write("d.csv", rows)); }, {"more than 1000", "label_column"}));
}

TEST(Dataset, AFolderHoldsTheSplits) {
  const Scratch s;
  s.write("data/train.csv", "text,label\na,no\nb,yes\n");
  s.write("data/validation.csv", "text,label\nc,yes\nd,maybe\n");
  s.write("data/README.md", "not data");
  const Splits splits = read_splits(s / "data");
  EXPECT_EQ(splits.train.samples.size(), 2u);
  ASSERT_TRUE(splits.validation);
  EXPECT_FALSE(splits.test);
  EXPECT_EQ(labels(*splits.validation), (std::vector<std::int32_t>{1}));  // the meaning of the training split
  EXPECT_EQ(splits.validation->skipped, 1u);
  s.write("data/val.txt", "e;no\n");
  EXPECT_TRUE(fails(Fault::kData, [&] { read_splits(s / "data"); }, {"two files", "val.txt", "validation.csv"}));
  s.write("empty/notes.md", "");
  EXPECT_TRUE(fails(Fault::kData, [&] { read_splits(s / "empty"); }, {"no training file"}));
}

TEST(Dataset, MaxRowsStopsEarly) {
  const Scratch s;
  EXPECT_EQ(read_dataset(s.write("d.csv", "a,0\nb,1\nc,0\n"), {.max_rows = 2}).samples.size(), 2u);
}

}  // namespace
}  // namespace workloads
