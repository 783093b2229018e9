#include "base/error.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Error, TextHasFaultPlaceProblemAndFix) {
  const Error error{Fault::kData, "train.csv:3", "has 4 fields", "quote the comma"};
  EXPECT_STREQ(error.what(), "data error: train.csv:3: has 4 fields\n  fix: quote the comma");
}

TEST(Error, ItsPartsAreMembersWhateverTheirText) {
  const Error error{Fault::kUsage, "a: b", "is c: d\n  fix: none", ""};
  EXPECT_EQ(error.where(), "a: b");
  EXPECT_EQ(error.problem(), "is c: d\n  fix: none");
  EXPECT_EQ(error.fix(), "");
  EXPECT_EQ(error.reason(), "a: b: is c: d\n  fix: none");
  const Error copy = error;
  EXPECT_EQ(copy.where(), error.where());
}

TEST(Error, ExitCodesAreThePublishedOnes) {
  EXPECT_EQ(exit_code(Fault::kUsage), 2);
  EXPECT_EQ(exit_code(Fault::kData), 2);
  EXPECT_EQ(exit_code(Fault::kProgram), 2);
  EXPECT_EQ(exit_code(Fault::kEnvironment), 2);
  EXPECT_EQ(exit_code(Fault::kCapacity), 3);
  EXPECT_EQ(exit_code(Fault::kNumerics), 4);
  EXPECT_EQ(exit_code(Fault::kCheck), 1);
  EXPECT_EQ(exit_code(Fault::kInternal), 1);
}

TEST(Error, EnsureIsAboutOurOwnBugs) {
  EXPECT_NO_THROW(ensure(true, "x", "y"));
  try {
    ensure(false, "x", "y");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kInternal);
  }
}

}  // namespace
}  // namespace base
