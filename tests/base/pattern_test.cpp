#include "base/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fails.h"

namespace base {
namespace {

TEST(Pattern, FindsTheFirstMatchFromAPlaceOn) {
  const Pattern word{R"(\w+)"};
  const std::string text = "où, là";
  EXPECT_EQ(word.search(text), "où");
  EXPECT_EQ(word.search(text, 3), "là");
  EXPECT_EQ(word.search(text, text.size()), std::nullopt);
  EXPECT_EQ(word.search(text)->data(), text.data());  // a view into the text
}

TEST(Pattern, LookbehindSeesTheTextBeforeThePlace) { EXPECT_EQ(Pattern{R"(\bb)"}.search("ab b", 1)->size(), 1u); }

TEST(Pattern, AnInvalidExpressionNamesThePlace) {
  EXPECT_TRUE(tests::fails(Fault::kData, [] { Pattern{"a(b"}; }, {"a(b", "byte 3", "parenthes"}));
}

/// The compiled code has 32 KiB of stack; a recursion goes deeper here, and the interpreter takes over.
TEST(Pattern, DeepRecursionIsMatched) {
  const std::string text = std::string(20000, '(') + std::string(20000, ')');
  EXPECT_EQ(Pattern{R"(\((?R)?\))"}.search(text)->size(), text.size());
}

TEST(Pattern, BacktrackingWithoutEndIsAnError) {
  EXPECT_TRUE(tests::fails(Fault::kData, [] { Pattern{"^(a+)+$"}.search(std::string(40, 'a') + "b"); }, {"limit"}));
}

}  // namespace
}  // namespace base
