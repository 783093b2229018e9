// An op: one file in runtime/ops/ with its contract, reference semantics, gradient and lowering.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "isa/target.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace runtime {

struct Budgets;
class Emitter;
class RowTiler;
class Backward;

struct Shape {
  std::int64_t rows = 0, cols = 0;
  Dtype dtype = Dtype::kFp32;
  ValueId alias = kNoValue;
  std::int64_t first = 0;  // element of the alias at which it begins
};

/// Columns [begin, begin + size) of a row.
struct Span {
  std::int64_t begin = 0, size = 0;
};

/// The inputs of an op's check and shape inference.
struct Contract {
  const Graph& graph;
  const Node& node;

  const Value& in(std::size_t i) const { return graph.value(node.in[i]); }
  std::size_t inputs() const { return node.in.size(); }
  /// Errors: Fault::kProgram naming the node, the actual and the required shape.
  void need(std::size_t i, std::int64_t rows, std::int64_t cols, std::string_view what) const;
  [[noreturn]] void fail(std::string_view what, std::string_view fix) const;
  Dtype result_type() const { return node.attrs.dtype().value_or(in(0).dtype); }
};

/// An op's communication with other ranks. An op that communicates has a scope of its own.
enum class Collective : std::uint8_t {
  kNone,
  kInStep,  // on activations: later calls wait for it
  kAhead,   // on activations: requested early, where the graph has it; readers of its results wait
  kBeside,  // on gradients and parameters: it runs alongside the compute, and only readers of its results wait
};

/// A set of operands, by number.
class Operands {
 public:
  constexpr Operands() = default;
  constexpr Operands(std::initializer_list<unsigned> numbers) {
    for (const unsigned i : numbers) bits_ |= 1U << i;
  }
  static constexpr Operands all() {
    Operands out;
    out.bits_ = ~0U;
    return out;
  }
  constexpr bool contains(std::size_t i) const { return i < 32 ? (bits_ >> i & 1U) != 0 : bits_ == ~0U; }

 private:
  unsigned bits_ = 0;
};

/// The lowering of an op that multiplies each row tile of operand 0 by operand 1, which all row tiles share. Its result
/// leaves PSUM in chunks of columns; element-wise nodes that read it are computed on each chunk.
struct RowProduct {
  /// Computes RowTiler::block(): loads operand 1, stages each tile, gives each chunk to RowTiler::take_chunk().
  void (*lower)(RowTiler&, const Node&) = nullptr;
  /// SBUF of operand 1 if it stays for all row tiles, bytes per partition.
  std::int64_t (*shared_bytes)(const Graph&, const Node&) = nullptr;
  /// SBUF of one tile of operand 0 as TensorE takes it, bytes per partition.
  std::int64_t (*staged_bytes)(const Graph&, const Node&) = nullptr;
  explicit operator bool() const { return lower != nullptr; }
};

/// The on-chip space of a sum over all row tiles of a group.
struct RowSums {
  std::int64_t banks = 0;  // of PSUM
  std::int64_t bytes = 0;  // of SBUF, per partition
};

struct Op {
  std::string_view name;
  std::string_view text;  // one line for `trnsim list ops`
  Attrs attrs{};          // the struct of its settings, with their defaults
  std::vector<Shape> (*infer)(const Contract&);
  Tensors (*forward)(const Attrs&, std::span<const Tensor>);
  void (*backward)(Backward&, const Node&) = nullptr;  // null: no gradient flows through it
  // Exactly one of the four. The choice also decides which ops may be fused.
  void (*lower_columns)(RowTiler&, const Node&, Span) = nullptr;  // element by element: any columns of any rows
  void (*lower_rows)(RowTiler&, const Node&) = nullptr;           // row by row: whole rows of one tile
  RowProduct row_product{};                                       // row tiles times an operand that they share
  void (*lower_whole)(Emitter&, const Node&) = nullptr;           // its own loops, HBM to HBM
  double (*matmul_flops)(const Graph&, const Node&) = nullptr;    // analytic: 2 x multiply-adds of the mathematics
  /// The part of these that is not the model's: sums as products with ones or with an identity, recomputed
  /// scores. Null: 0.
  double (*extra_flops)(const Graph&, const Node&) = nullptr;
  Collective collective = Collective::kNone;
  /// The op acts on another rank: no pass removes it or joins it with an equal one. An op without operands has its
  /// operand on that rank, and its gradient goes there.
  bool reaches_out = false;
  /// Its result is its operand's memory, and nothing is written; any other op with such a result writes to it.
  bool looks_on = false;

  // Traits for the passes; no pass checks which op it is.

  /// Operands of which a row tile reads rows other than its own: by index, or all. Fusion cannot pass such an operand
  /// tile by tile.
  Operands not_by_row{};
  /// It takes its picture from SBUF where an earlier group of the block has left it there, however many rows it has.
  bool reads_kept = false;
  /// Operands that only TensorE reads: the pass `narrow` may store them in operand_type().
  Operands tensor_operands{};
  /// Set when the result is the sum over all rows of operand 0, which are therefore the rows of its work.
  RowSums (*row_sums)(const Graph&, const Node&, const Budgets&) = nullptr;
  /// Makes the node return the sums over the rows of its operand `of` as its last result, nearly for free since it
  /// reads that operand anyway: the pass `bias_gradient`. Returns false, and changes nothing, when the node cannot.
  bool (*absorb_row_sums)(Node&, ValueId of) = nullptr;
  /// Turns the node into its variant for the pass `flash_attention`. Returns whether it now keeps less for its
  /// gradient, which recomputes the rest.
  bool (*use_flash)(Graph&, NodeId) = nullptr;
  /// Turns the node into its variant for rows that SBUF does not hold, if its rows are such. Returns whether they are.
  bool (*tile_long_rows)(Graph&, NodeId, const isa::Geometry&) = nullptr;
  /// Independent units of work besides row tiles, such as the heads of all sequences. Null: none.
  double (*pieces)(const Node&) = nullptr;
  /// Operands from this one on are adjacent in HBM: a bucket of a collective. -1: none do.
  int bucket_from = -1;
  /// The op that recomputes its result in the backward pass, ahead of the reader, when it is not kept. Null: none.
  const Op* repeated_ahead_by = nullptr;
  /// Its results take much memory for little work, so that selective recomputation repeats it instead of keeping them.
  /// Source: Korthikanti et al., arXiv:2205.05198, section 5.
  bool recomputed_selectively = false;
};

/// The part of its operands that an op takes at once: "elements", "rows" or "whole".
std::string_view form_of(const Op& op);
/// The type of a node's operands in TensorE: attrs.operand(), by default that of operand 0.
Dtype operand_type(const Graph& graph, const Node& node);

/// Errors: Fault::kProgram naming both shapes.
void require_shape(std::string_view where, const Tensor& tensor, std::int64_t rows, std::int64_t cols);

}  // namespace runtime
