// What an op is: one file in runtime/ops/ with its contract, reference semantics, gradient and lowering.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/graph.h"
#include "runtime/tensor.h"

namespace runtime {

class Emitter;
class RowTiler;
class Backward;

struct Shape {
  std::int64_t rows = 0, cols = 0;
  Dtype dtype = Dtype::kFp32;
  ValueId alias = kNoValue;
};

/// Columns [begin, begin + size) of a row.
struct Span {
  std::int64_t begin = 0, size = 0;
};

/// What ops check and infer from.
struct Contract {
  const Graph& graph;
  const Node& node;

  const Value& in(std::size_t i) const { return graph.value(node.in[i]); }
  std::size_t inputs() const { return node.in.size(); }
  /// Errors: Fault::kProgram naming the node, what it is and what it must be.
  void need(std::size_t i, std::int64_t rows, std::int64_t cols, std::string_view what) const;
  [[noreturn]] void fail(std::string_view what, std::string_view fix) const;
  Dtype result_type() const { return node.attrs.dtype.value_or(in(0).dtype); }
};

/// What an op has to do with other ranks. One that has, has a scope of its own.
enum class Collective : std::uint8_t {
  kNone,
  kInStep,  // on activations: later calls wait for it
  kAhead,   // on activations: asked for early, where the graph has it; who reads its results waits
  kBeside,  // on gradients and parameters: it runs beside the compute, and only who reads its results waits
};

struct Op {
  std::string_view name;
  std::string_view text;  // one line for `trnsim list ops`
  std::vector<Shape> (*infer)(const Contract&);
  Tensors (*forward)(const Attrs&, std::span<const Tensor>);
  void (*backward)(Backward&, const Node&) = nullptr;  // null: no gradient flows through it
  // Exactly one of the three. Which one also says what may be fused with what.
  void (*lower_columns)(RowTiler&, const Node&, Span) = nullptr;  // element by element: any columns of any rows
  void (*lower_rows)(RowTiler&, const Node&) = nullptr;           // row by row: whole rows of one tile
  void (*lower_whole)(Emitter&, const Node&) = nullptr;           // its own loops, HBM to HBM
  double (*matmul_flops)(const Graph&, const Node&) = nullptr;    // analytic: 2 x multiply-adds of the mathematics
  Collective collective = Collective::kNone;
  /// It acts on another rank: no pass removes it or joins it with one like it. Without operands its operand lies there,
  /// and gradients go there.
  bool reaches_out = false;
};

/// Errors: Fault::kProgram naming both shapes.
void require_shape(std::string_view where, const Tensor& tensor, std::int64_t rows, std::int64_t cols);

}  // namespace runtime
