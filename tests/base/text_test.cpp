#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <sstream>
#include <streambuf>

#include "base/error.h"

namespace base {
namespace {

using testing::ElementsAre;

TEST(Text, LowerLeavesNonAsciiAlone) { EXPECT_EQ(lower("BERT-\xC3\x84z[@`{"), "bert-\xC3\x84z[@`{"); }

TEST(Text, TrimTakesBlanksFromTheEndsOnly) {
  EXPECT_EQ(trim(" \ta b\t"), "a b");
  EXPECT_EQ(trim(" \t"), "");
}

TEST(Text, SplitGivesOnePartMoreThanThereAreDelimiters) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, ANumberHasItsNounInThePlural) {
  EXPECT_EQ(counted(1, "micro-batch"), "1 micro-batch");
  EXPECT_EQ(counted(2, "micro-batch"), "2 micro-batches");
  EXPECT_EQ(counted(0, "core"), "0 cores");
  EXPECT_EQ(counted(3, "entry"), "3 entries");
  EXPECT_EQ(counted(3, "key"), "3 keys");
  EXPECT_EQ(counted(-1, "pass"), "-1 passes");
}

TEST(Text, JsonIsShallowUpToTwoHundredLevels) {
  const std::string deep(200, '['), text = "\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"";
  EXPECT_TRUE(is_shallow_json(deep));
  EXPECT_FALSE(is_shallow_json(deep + "{"));
  EXPECT_TRUE(is_shallow_json(deep + "]]]" + text + "[{["));
  EXPECT_TRUE(is_shallow_json("\"\\"));
  EXPECT_FALSE(is_shallow_json(std::string_view{"{}\0x", 4}));
  EXPECT_THROW(require_shallow_json(deep + "[", "x"), Error);
}

TEST(Text, LinesAreCountedAndFreedOfMarkAndCarriageReturn) {
  std::istringstream in{"\xEF\xBB\xBFone\r\n\ntwo"};
  LineReader lines{in};
  std::string line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "two");
  EXPECT_EQ(lines.number(), 3u);
  EXPECT_FALSE(lines.next(line));
}

struct EndsEarly : std::streambuf {
  bool first = true;
  char text[9] = "a line\nb";
  int_type underflow() override {
    if (!first) throw std::bad_alloc{};  // as a file that cannot be read further, and as memory that ends
    first = false;
    setg(text, text, text + 8);
    return text[0];
  }
};

TEST(Text, AStreamThatFailsIsNotTheEndOfItsLines) {
  EndsEarly buffer;
  std::istream in{&buffer};
  LineReader lines{in};
  std::string line;
  EXPECT_TRUE(lines.next(line));
  EXPECT_EQ(line, "a line");
  EXPECT_THROW(lines.next(line), std::bad_alloc);
}

TEST(MoneyText, HasThreeDigitsAtLeastAndNoExponent) {
  for (const auto& [dollars, text] : {std::pair{11.937, "$11.94"},
                                      {6.4522, "$6.452"},
                                      {0.1829, "$0.183"},
                                      {0.00447, "$0.00447"},
                                      {1.2214e-05, "$0.0000122"},
                                      {-2.5, "-$2.500"},
                                      {0.0, "$0"}})
    EXPECT_EQ(money_text(dollars), text);
}

}  // namespace
}  // namespace base
