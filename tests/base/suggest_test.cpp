#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace base {
namespace {

const std::vector<std::string> kKeys = {"hbm.bandwidth", "hbm.stacks", "tensor.clock", "vector.clock", "dma.start"};

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("clock", "clcok"), 1u);  // two neighbours exchanged
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);       // optimal string alignment: no edit inside an exchange
}

TEST(Suggest, FindsTheMisspelt) {
  EXPECT_EQ(closest("hbm.bandwith", kKeys), "hbm.bandwidth");
  EXPECT_EQ(closest("HBM.Stacks", kKeys), "hbm.stacks");
  EXPECT_EQ(closest("tensr.clokc", kKeys), "tensor.clock");
}

TEST(Suggest, FindsTheUnqualified) {
  EXPECT_EQ(closest("bandwidth", kKeys), "hbm.bandwidth");
  EXPECT_EQ(closest("dma", kKeys), "dma.start");
  EXPECT_EQ(closest("clock", kKeys), std::nullopt);  // two of them
}

TEST(Suggest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(closest("zzz", kKeys), std::nullopt);
  EXPECT_EQ(closest("x", {}), std::nullopt);
}

TEST(Suggest, TheFixIsTheNameOrTheChoices) {
  EXPECT_EQ(suggest_fix("dma.strat", kKeys), "write \"dma.start\"");
  EXPECT_EQ(suggest_fix("zzz", std::vector<std::string>{"alpha", "beta"}), "choose one of alpha, beta");
  std::vector<std::string> many;
  for (int i = 0; i < 15; ++i) many.push_back("choice" + std::to_string(i));
  EXPECT_TRUE(suggest_fix("zzz", many).ends_with("choice11 and 3 more"));
}

}  // namespace
}  // namespace base
