// A signature has everything that decides a block: each member of each op's attributes, the tensors, and their readers.
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>

#include "base/fields.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/program_cache.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;

std::vector<runtime::Shape> like_first(const runtime::Contract& c) {
  return {{c.in(0).rows, c.in(0).cols, c.result_type()}};
}

/// x -> y by an op that takes `attrs`.
struct OneNode {
  Op op;
  Graph graph{runtime::numerics("fp32")};
  ValueId y;

  explicit OneNode(Attrs attrs, std::int64_t rows = 4)
      : op{.name = "op", .text = "op", .attrs = attrs, .infer = like_first, .forward = nullptr} {
    const ValueId x = graph.tensor("x", rows, 6, Dtype::kFp32, Kind::kInput);
    graph.enter({.name = "scope"});
    y = graph.add1(op, "label", {x}, attrs);
  }
  std::string signature() const { return signature_of(graph, {0}).text; }
  std::uint64_t program_key() const { return runtime::program_key(graph, trn1_target(), {.name = "one"}); }
};

/// Another value of the member's type than the one it has.
template <class T>
T other(const T& value) {
  if constexpr (std::is_same_v<T, runtime::OptionalType>)
    return value == Dtype::kBf16 ? Dtype::kFp16 : Dtype::kBf16;
  else if constexpr (std::is_same_v<T, bool>)
    return !value;
  else if constexpr (std::is_enum_v<T>)
    return static_cast<T>(static_cast<int>(value) + 1);
  else if constexpr (requires(T & list) { list.push_back(0); }) {
    T more = value;
    more.push_back(1);
    return more;
  } else
    return static_cast<T>(value + 1);
}

/// Calls `changed` with one member of `x` after the other changed, those of its members among them.
template <class T, class F>
void change_each(T& x, const F& changed) {
  if constexpr (base::Plainly<T>) {
    std::apply([&](auto&... member) { (change_each(member, changed), ...); }, base::fields(x));
  } else {
    const T before = std::exchange(x, other(x));
    changed();
    x = before;
  }
}

template <class T>
class AttributesOf : public testing::Test {};

template <class Variant>
struct AsTypes;
template <class... T>
struct AsTypes<std::variant<T...>> {
  using Type = testing::Types<T...>;
};
TYPED_TEST_SUITE(AttributesOf, AsTypes<runtime::AnyAttrs>::Type);

TYPED_TEST(AttributesOf, EachMemberDecidesTheBlockTheProgramAndEquality) {
  const OneNode plain{Attrs{TypeParam{}}};
  std::set<std::string> signatures{plain.signature()};
  std::set<std::uint64_t> keys{plain.program_key()};
  TypeParam changed;
  std::size_t members = 0;
  change_each(changed, [&] {
    EXPECT_FALSE(Attrs{changed} == Attrs{TypeParam{}}) << "member " << members;
    const OneNode node{Attrs{changed}};
    EXPECT_TRUE(signatures.insert(node.signature()).second) << "member " << members;
    EXPECT_TRUE(keys.insert(node.program_key()).second) << "member " << members;
    ++members;
  });
  EXPECT_GE(members, base::kFieldCount<TypeParam>);
}

TEST(Signature, KnowsAttributesOfEqualBytesApart) {
  // Both have one member, an optional type.
  EXPECT_NE(OneNode{runtime::StrideAttrs{.stride = 3}}.signature(),
            OneNode{runtime::EmbeddingGradAttrs{.rows = 3}}.signature());
}

TEST(Signature, KnowsSizesScopesAndResultsThatLeave) {
  const std::string plain = OneNode{Attrs{}}.signature();
  EXPECT_EQ(plain, OneNode{Attrs{}}.signature());
  EXPECT_NE(plain, (OneNode{Attrs{}, 5}.signature()));
  OneNode leaves{Attrs{}};
  leaves.graph.output(leaves.y, "y");
  EXPECT_NE(plain, leaves.signature());
  OneNode narrow{Attrs{}};
  narrow.graph.set_dtype(narrow.y, Dtype::kBf16);
  EXPECT_NE(plain, narrow.signature());
}

TEST(Signature, RefusesAttributesOfAnotherOp) {
  EXPECT_TRUE(fails(base::Fault::kInternal,
                    [] {
                      Graph g{runtime::numerics("fp32")};
                      const ValueId x = g.tensor("x", 4, 6, Dtype::kFp32, Kind::kInput);
                      g.add1(runtime::kAdd, "sum", {x, x}, NormAttrs{.eps = 1});
                    },
                    {"sum", "has attributes that add does not take"}));
  EXPECT_TRUE(fails(base::Fault::kInternal, [] { Attrs{NormAttrs{}}.as<MatmulAttrs>(); }, {"another op"}));
}

}  // namespace
