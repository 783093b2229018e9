// How expressions of tokenizer.json cut texts; whole tokenizers are held against their originals in
// causal_tokenizer_test.cpp.
#include "workloads/text/bpe_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fails.h"

namespace workloads {
namespace {

using testing::ElementsAre;

std::vector<std::string_view> split(std::string_view regex, std::string_view text) {
  return split_by({split_pattern(regex)}, text);
}

TEST(BpeSplit, Gpt2sWordsTakeTheBlankBeforeThem) {
  EXPECT_THAT(split(kGpt2Split, "I'll pay  3.50€\n\nnow "),
              ElementsAre("I", "'ll", " pay", " ", " 3", ".", "50", "€", "\n", "\n", "now", " "));
}

/// Qwen 2's: digits one by one, contractions in any case; U+017F is an "s" there.
TEST(BpeSplit, Qwen2sDigitsStandAlone) {
  constexpr std::string_view kQwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_THAT(split(kQwen2, "He'S 42!\n  x'\u017f"),
              ElementsAre("He", "'S", " ", "4", "2", "!\n", " ", " x", "'\u017f"));
}

/// GPT-4o's: capitals begin a word.
TEST(BpeSplit, AnExpressionByCategoriesOfLetters) {
  constexpr std::string_view kCamel = R"([\p{Lu}\p{Lt}]*[\p{Ll}\p{M}]+|\p{N}{1,3})";
  EXPECT_THAT(split(kCamel, "camelCase1234 École"), ElementsAre("camel", "Case", "123", "4", " ", "École"));
}

TEST(BpeSplit, UnmatchedTextIsAPieceToo) { EXPECT_THAT(split("b", "abca"), ElementsAre("a", "b", "ca")); }

TEST(BpeSplit, AnEmptyMatchCutsNothing) { EXPECT_THAT(split("x*", "äxß"), ElementsAre("ä", "x", "ß")); }

/// DeepSeek-V3's order: digits by threes first, then the rest.
TEST(BpeSplit, TheNextPatternCutsThePiecesOfTheOneBefore) {
  EXPECT_THAT(split_by({split_pattern(R"(\p{N}{1,3})"), split_pattern(R"(\p{L}+)")}, "ab1234cd-"),
              ElementsAre("ab", "123", "4", "cd", "-"));
}

/// White space as Oniguruma has it: U+180E is not included, a no-break space is.
TEST(BpeSplit, WhiteSpaceIsUnicodes) {
  EXPECT_THAT(split(R"(\s+)", "a\u180eb\u00a0c"), ElementsAre("a\u180eb", "\u00a0", "c"));
  EXPECT_THAT(split(R"([^\s]+)", "a\u180eb\u00a0c"), ElementsAre("a\u180eb", "\u00a0", "c"));
  EXPECT_THAT(split(R"(\\s)", R"(a\sb)"), ElementsAre("a", R"(\s)", "b"));  // a backslash and an s
}

TEST(BpeSplit, InvalidExpressionsAreRefused) {
  EXPECT_TRUE(tests::fails(base::Fault::kData, [] { split_pattern("[a", "t.json"); }, {"t.json", "[a"}));
}

}  // namespace
}  // namespace workloads
