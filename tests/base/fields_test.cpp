// The members of structs as lists.
#include "base/fields.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace base {
namespace {

enum class Colour { kRed, kBlue };
struct Nothing {};
struct Mixed {
  double x = 1;
  bool yes = false;
  std::optional<Colour> colour{};
  std::string name;
  std::vector<int> list;
  std::map<int, int> map;
  Colour other = Colour::kBlue;
};
struct Twelve {
  int a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, i = 8, j = 9, k = 10, l = 11;
};

static_assert(kFieldCount<Nothing> == 0);
static_assert(kFieldCount<Mixed> == 7);
static_assert(kFieldCount<Twelve> == 12);

TEST(Fields, AreReferencesToAllMembersInOrder) {
  Mixed mixed;
  auto all = fields(mixed);
  std::get<0>(all) = 2;
  std::get<2>(all) = Colour::kBlue;
  std::get<3>(all) = "n";
  std::get<6>(all) = Colour::kRed;
  EXPECT_EQ(mixed.x, 2);
  EXPECT_EQ(mixed.colour, Colour::kBlue);
  EXPECT_EQ(mixed.name, "n");
  EXPECT_EQ(mixed.other, Colour::kRed);
}

TEST(Fields, AreAsManyAsThereAre) {
  const Twelve twelve;
  const auto seen = std::apply([](const auto&... member) { return std::vector<int>{member...}; }, fields(twelve));
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(std::tuple_size_v<decltype(fields(std::declval<Nothing&>()))>, 0u);
}

}  // namespace
}  // namespace base
