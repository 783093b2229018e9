// Collectives beside computation: where they begin, and where their readers come.
#include "frontend/lower/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"

namespace trnsim::frontend::overlap_tests {
namespace {

constexpr int kLayers = 3;
const std::string kRows = "f32[256,64]", kPart = "f32[16,64]", kWhole = "f32[64,64]", kAdd = R"(sum {
a = f32[] parameter(0)
b = f32[] parameter(1)
ROOT c = f32[] add(a, b)
}
)";

std::string line(const std::string& name, const std::string& type, const std::string& of) {
  return name + " = " + type + " " + of + "\n";
}

std::string gather_of(const std::string& part) {
  return "all-gather(" + part + "), replica_groups={{0,1,2,3}}, dimensions={0}";
}

std::string product_of(const std::string& a, const std::string& b, int of_a = 1, int of_b = 0) {
  return "dot(" + a + ", " + b + "), lhs_contracting_dims={" + std::to_string(of_a) + "}, rhs_contracting_dims={" +
         std::to_string(of_b) + "}";
}

Module overlapped(const std::string& lines) {
  Module module = hlo::graph_of(
      hlo::read_text("HloModule m, replica_count=4\n" + kAdd + "ENTRY main {\n" + lines + "}\n", "m"), "m");
  overlap_collectives(module);
  verify(module);  // values are there before they are read
  return module;
}

std::size_t place_of(const Module& module, const std::string& name) {
  const auto& nodes = module.entry_function().nodes;
  return static_cast<std::size_t>(std::ranges::find(nodes, name, &Node::name) - nodes.begin());
}

/// Layers whose weights ranks share, each with its gather in front of its product, as frameworks write them; the weight
/// of layer `barrier` comes through a barrier that waits for the layer before it.
std::string layers(const std::string& barrier = "") {
  std::string out = line("h0", kRows, "parameter(0)");
  for (int i = 0; i < kLayers; ++i)
    out += line("w" + std::to_string(i), "bf16[16,64]", "parameter(" + std::to_string(i + 1) + ")");
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    std::string w = "w" + n;
    if (barrier == n) {
      const std::string type = "(bf16[16,64], " + kRows + ")";
      out += line("t", type, "tuple(" + w + ", h" + n + ")") + line("r", type, "opt-barrier(t)") +
             line("v", "bf16[16,64]", "get-tuple-element(r), index=0");
      w = "v";
    }
    out += line("c" + n, kPart, "convert(" + w + ")") + line("g" + n, kWhole, gather_of("c" + n)) +
           line("p" + n, kRows, product_of("h" + n, "g" + n)) + line("h" + next, kRows, "tanh(p" + n + ")");
  }
  return out + line("ROOT out", kRows, "negate(h" + std::to_string(kLayers) + ")");
}

TEST(Overlap, AWeightIsOnItsWayWhileTheOneBeforeItIsMultiplied) {
  const Module module = overlapped(layers());
  EXPECT_LT(place_of(module, "g1"), place_of(module, "p0"));
  EXPECT_LT(place_of(module, "g2"), place_of(module, "p1"));
  EXPECT_GT(place_of(module, "g2"), place_of(module, "p0"));  // and no more than one
}

TEST(Overlap, AParameterBehindABarrierIsTheParameter) {
  EXPECT_LT(place_of(overlapped(layers("2")), "g2"), place_of(overlapped(layers("2")), "p1"));
}

TEST(Overlap, GathersThatComeFirstStayThere) {
  const std::string h = line("h0", kRows, "parameter(0)") + line("w0", kPart, "parameter(1)") +
                        line("w1", kPart, "parameter(2)") + line("g0", kWhole, gather_of("w0")) +
                        line("g1", kWhole, gather_of("w1")) + line("p0", kRows, product_of("h0", "g0")) +
                        line("ROOT p1", kRows, product_of("p0", "g1"));
  const Module module = overlapped(h);
  EXPECT_LT(place_of(module, "g1"), place_of(module, "p0"));
}

TEST(Overlap, AGatherOfSomethingComputedStays) {
  const Module module =
      overlapped(line("x", kRows, "parameter(0)") + line("w", kWhole, "parameter(1)") +
                 line("p", kRows, product_of("x", "w")) + line("g", "f32[1024,64]", gather_of("p")) +
                 line("q", "f32[1024,64]", product_of("g", "w")) + line("ROOT out", "f32[1024,64]", "negate(q)"));
  EXPECT_GT(place_of(module, "g"), place_of(module, "p"));
  EXPECT_LT(place_of(module, "g"), place_of(module, "q"));
}

/// Two products, and a sum over ranks that the first one's result goes to, last in the text.
std::string gradients() {
  return line("x", kRows, "parameter(0)") + line("y", kRows, "parameter(1)") +
         line("p", kWhole, product_of("x", "y", 0, 0)) + line("q", kWhole, product_of("y", "x", 0, 0)) +
         line("k", kWhole, "tanh(q)") +
         line("s", kPart, "reduce-scatter(p), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=sum") +
         line("n", kPart, "multiply(s, s)") + line("o", kWhole, product_of("k", "q")) +
         line("ROOT out", "(" + kPart + "," + kWhole + ")", "tuple(n, o)");
}

TEST(Overlap, ASumBeginsWhenItsOperandIsThere) {
  const Module module = overlapped(gradients());
  EXPECT_LT(place_of(module, "s"), place_of(module, "q"));
}

TEST(Overlap, ItsReaderComesBehindAProductThatDoesNotNeedIt) {
  const Module module = overlapped(gradients());
  EXPECT_GT(place_of(module, "n"), place_of(module, "q"));
  EXPECT_EQ(place_of(module, "k"), place_of(module, "q") + 1);  // and what is computed with the product stays with it
}

TEST(Overlap, AReaderThatEverythingNeedsStays) {
  const Module module = overlapped(
      line("x", kRows, "parameter(0)") + line("w", kWhole, "parameter(1)") + line("p", kRows, product_of("x", "w")) +
      line("s", kRows, "all-reduce(p), replica_groups={{0,1,2,3}}, to_apply=sum") + line("t", kRows, "tanh(s)") +
      line("q", kRows, product_of("t", "w")) + line("ROOT out", kRows, "negate(q)"));
  EXPECT_EQ(place_of(module, "t"), place_of(module, "s") + 1);
  EXPECT_LT(place_of(module, "t"), place_of(module, "q"));
}

}  // namespace
}  // namespace trnsim::frontend::overlap_tests
