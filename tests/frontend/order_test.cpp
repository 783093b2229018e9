// The order of nodes, and values that a program computes again to keep less.
#include "frontend/lower/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "runtime/compiler/calls.h"
#include "runtime/compiler/memory_plan.h"
#include "runtime/graph/passes.h"

namespace trnsim::frontend {
namespace {

Module ordered(const std::string& lines) {
  return hlo::graph_of(hlo::read_text("HloModule m\nENTRY main {\n" + lines + "}\n", "m"), "m");
}

std::string text_line(const std::string& name, const std::string& type, const std::string& of) {
  return name + " = " + type + " " + of + "\n";
}

constexpr int kLayers = 4;
const std::string kTall = "f32[4096,64]", kSmallSquare = "f32[64,64]";

/// Layers of products, their backward passes, and the weights' gradients behind all of these, as frameworks write them.
std::string layers() {
  std::string out = text_line("h0", kTall, "parameter(0)");
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    out += text_line("w" + n, kSmallSquare, "parameter(" + next + ")");
    out += text_line("p" + n, kTall, "dot(h" + n + ", w" + n + "), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
    out += text_line("h" + next, kTall, "tanh(p" + n + ")");
  }
  const std::string last = std::to_string(kLayers);
  out += text_line("d" + last, kTall, "multiply(h" + last + ", h" + last + ")");
  for (int i = kLayers; i-- > 0;) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    out += text_line("e" + n, kTall, "multiply(d" + next + ", h" + next + ")");
    out += text_line("d" + n, kTall, "dot(e" + n + ", w" + n + "), lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  }
  std::string types, names;
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i);
    out += text_line("g" + n, kSmallSquare,
                     "dot(h" + n + ", e" + n + "), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
    types += (i > 0 ? "," : "") + kSmallSquare, names += (i > 0 ? ",g" : "g") + n;
  }
  return out + "ROOT out = (" + types + ") tuple(" + names + ")\n";
}

std::size_t place_of(const Module& module, const std::string& name) {
  const auto& nodes = module.entry_function().nodes;
  return static_cast<std::size_t>(std::ranges::find(nodes, name, &Node::name) - nodes.begin());
}

/// The activations that a module's calls leave each other.
std::uint64_t activations(const Module& module) {
  const runtime::Graph graph = lower(module).graph;
  runtime::Calls calls;
  for (runtime::NodeId n = 0; n < graph.node_count(); ++n) calls.push_back({n});
  return runtime::plan_memory(graph, calls, std::vector<bool>(graph.value_count(), true))
      .bytes_by_kind.at("activations");
}

TEST(Order, AGradientIsComputedWhenItsOperandHasNoOtherReader) {
  Module module = ordered(layers());
  verify(module);
  EXPECT_GT(place_of(module, "g3"), place_of(module, "e0"));
  order_for_memory(module);
  verify(module);  // values are there before they are read
  for (int i = 1; i < kLayers; ++i)
    EXPECT_LT(place_of(module, "g" + std::to_string(i)), place_of(module, "e" + std::to_string(i - 1))) << i;
  EXPECT_LT(place_of(module, "h1"), place_of(module, "h2"));  // the others keep their order
}

TEST(Order, LayersKeepNoOperandsOfGradientsThatAreThere) {
  constexpr std::uint64_t kOne = 4096 * 64 * 4;
  // All h and a few of the backward pass; in the order of the text all e would be alive beside them.
  EXPECT_LE(activations(ordered(layers())), (kLayers + 5) * kOne);
}

TEST(Order, TheNumbersStay) {
  Module module = ordered(layers());
  std::vector<Value> inputs;
  for (const Type& type : module.entry_function().parameter_types()) {
    Reals numbers(static_cast<std::size_t>(element_count(type.dims)));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 17) / 64 - 0.1;
    inputs.push_back(value_of(type, std::move(numbers)));
  }
  const std::vector<Value> before = Interpreter{module}.run(module.entry, inputs);
  order_for_memory(module);
  const std::vector<Value> after = Interpreter{module}.run(module.entry, inputs);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].reals(), after[i].reals());
}

TEST(Order, WhatAProgramComputesAgainIsNotKept) {
  const auto twice = [](const std::string& again) {
    return ordered(text_line("x", kTall, "parameter(0)") + text_line("y", kTall, "sine(x)") +
                   text_line("b", kTall, again) + text_line("z", kTall, "sine(b)") + "ROOT out = (" + kTall + "," +
                   kTall + ") tuple(y, z)\n");
  };
  const auto removed = [](const Module& module) {
    runtime::Graph graph = lower(module).graph;
    return runtime::eliminate_common_subexpressions(graph) + (graph.remove_dead() > 0 ? 1 : 0);
  };
  const Module behind = twice("opt-barrier(x)");
  EXPECT_TRUE(std::ranges::any_of(behind.entry_function().nodes,
                                  [](const Node& node) { return node.op->name == "optimization_barrier"; }));
  EXPECT_EQ(removed(behind), 0U);
}

}  // namespace
}  // namespace trnsim::frontend
