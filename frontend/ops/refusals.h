// Programs that neuronx-cc refuses, by its documented codes. Source: AWS Neuron SDK, "Neuron Compiler
// Error Codes" (compiler/error-codes), each code's page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/ops/contract.h"

namespace trnsim::frontend {

/// A documented reason to refuse an operation.
struct RefusalRule {
  std::string_view code;  // "EVRF004"
  std::string_view what;  // one sentence
  std::string_view fix;
  bool (*breaks)(const Contract&);
  bool (*breaks_v3)(const Contract&) = nullptr;  // refused from NeuronCore-v3 on
};
std::span<const RefusalRule> refusal_rules();

/// An operation that breaks one.
struct Refusal {
  const RefusalRule* rule = nullptr;
  std::string where;  // "FILE:12"
  std::string op;
};
/// The first `most` of a module, on a generation of the NeuronCore.
std::vector<Refusal> refusals(const Module& module, std::size_t most = 1, std::int64_t generation = 2);

}  // namespace trnsim::frontend
