// A graph of any kind as the graph of matrices that the compiler takes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontend/graph/graph.h"
#include "frontend/rewrite/rewrite.h"
#include "runtime/graph/graph.h"

namespace trnsim::frontend {

struct LowerOptions {
  std::optional<runtime::Dtype> operand{};  // type of TensorE's operands; none: the program's own
  std::int64_t most_trips = 100'000;        // of a loop
  std::size_t most_operations = 400'000;    // of the program, with all trips of its loops
  /// From which on neuronx-cc, which unrolls loops, refuses the program ("EVRF007").
  double most_instructions = std::numeric_limits<double>::infinity();
  Rewrites rewrites{};
  /// Computed, too: the rank's number is there, and of branches that data chooses all are computed. A program that is
  /// only timed leaves out the first and has the largest of the second.
  bool computed = false;
};

/// A tensor of the program's that the host writes or reads, as a matrix.
struct Port {
  std::string name;  // of the tensor on the device; empty: it has no elements
  Type type;
};

/// A constant that the host writes before the first step.
struct ConstantPort {
  std::string name;
  LiteralPtr literal;
};

struct LoweredGraph {
  runtime::Graph graph;
  std::vector<Port> inputs{};   // the entry's parameters
  std::vector<Port> outputs{};  // its results
  std::vector<ConstantPort> constants{};
  std::int64_t ranks = 1;
  double flops = 0;  // of dot products and convolutions, of all trips of loops
  std::size_t operations = 0;
  std::vector<RewriteNote> rewrites{};  // how many operations each made
  /// The steps whose time does not depend on data but whose numbers do, such as slices at computed places: they are
  /// timed, and are not computed.
  std::vector<std::string> timed_only{};
};

/// A loop that neuronx-cc does not take: its condition is true for ever, or depends on data ("Dynamic loops
/// are not supported": JAX NeuronX, known issues).
struct RefusedLoop : base::Error {
  using Error::Error;
};

/// A program as it is lowered: rewritten, of operators that have a lowering, in the order of its work.
struct Lowerable {
  Module module;
  std::vector<RewriteNote> rewrites{};
};
/// It may be lowered with other options than these, but for `rewrites` and `computed`.
Lowerable lowerable(const Module& module, const LowerOptions& options = {});

/// Errors: base::Fault::kProgram at a node that has no lowering, with its name and line; RefusedLoop.
LoweredGraph lower(const Lowerable& program, const LowerOptions& options = {});
LoweredGraph lower(const Module& module, const LowerOptions& options = {});

/// The type of elements on the device. Errors: base::Fault::kProgram at `where`, with neuronx-cc's code, for those that
/// it has not.
runtime::Dtype device_type(Element element, const std::string& where);

}  // namespace trnsim::frontend
