// Lowers a group of row-local nodes: tile by tile of 128 rows, without a way through HBM between them.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/compiler/budgets.h"
#include "runtime/emitter.h"
#include "runtime/op.h"

namespace runtime {

inline constexpr std::int64_t kShortRow = 8 * 1024;          // rows of a matmul's result up to here are kept whole
inline constexpr std::int64_t kChunk = isa::kMovingColumns;  // columns of a sum

/// Bytes per partition of a matmul's weight in SBUF.
std::int64_t resident_bytes(const Graph& graph, const Node& matmul);
/// The type in which TensorE gets the operands of a matmul.
Dtype operand_type(const Graph& graph, const Node& matmul);
bool is_matmul(const Node& node);

class RowTiler {
 public:
  /// `escapes`: values that somebody outside of the group reads.
  RowTiler(Emitter& emitter, std::vector<NodeId> nodes, const std::set<ValueId>& escapes);
  void run();

  // What ops ask while they are lowered.
  Emitter& e() { return emitter_; }
  const Budgets& budgets() const { return budgets_; }
  std::int64_t parts() const { return parts_; }
  std::int64_t first_row() const { return tile_ * kPartitions; }
  std::uint32_t tile() const { return static_cast<std::uint32_t>(tile_); }
  bool first_tile() const { return tile_ == 0; }
  bool last_tile() const { return first_row() + parts_ == rows_; }
  std::int64_t cols_of(ValueId v) const { return emitter_.value(v).cols; }
  /// Whether anybody does: results that are kept for a gradient have no reader where none follows.
  bool is_read(ValueId v) const { return graph_.value(v).kind != Kind::kActivation || !graph_.users(v).empty(); }
  /// Operand i, columns `span`: [parts, span.size], or one row seen by all partitions when the operand has one row.
  Tile in(const Node& node, std::size_t i, Span span);
  Tile in(const Node& node, std::size_t i) { return in(node, i, {0, cols_of(node.in[i])}); }
  Tile out(const Node& node, std::size_t o, Span span);
  Tile out(const Node& node, std::size_t o) { return out(node, o, {0, cols_of(node.out[o])}); }
  Tile scratch(Dtype dtype, std::int64_t cols) { return emitter_.sbuf(dtype, parts_, cols); }
  /// PSUM (or SBUF) that sums up over all row tiles of the group; chunk c of the first result.
  Tile accumulator(const Node& node, std::int64_t chunk, std::int64_t parts, std::int64_t cols, bool sbuf = false);

 private:
  using Tiles = std::unordered_map<ValueId, Tile>;
  /// A stationary or moving operand in K tiles.
  using Panels = std::vector<Tile>;

  void plan_chains();
  void plan_block();
  std::int64_t bytes_per_tile() const;
  void run_block(std::int64_t first, std::int64_t count);
  void run_matmul(const Node& node, std::int64_t first, std::int64_t count);
  void run_streamed(const Node& node, std::int64_t first, std::int64_t count);
  void run_resident_tile(const Node& node, const Panels& weights);
  void finish_sum(const Node& node, const Tile& sum);
  void run_columns(const Node& node, Span span);
  bool only_elementwise() const;
  void run_pieces(std::int64_t first, std::int64_t count);
  void finish_chunk();
  void store_rows(const Node& node);
  void at(std::int64_t tile);
  Tile vector(ValueId v, Span span);
  Panels weights(const Node& node, Span span);
  /// Rows `depth` of the contracted axis, in K tiles.
  Panels load_weights(const Node& node, Span span, Span depth);
  Panels natural_weights(const Node& node, Span span, Span depth, Dtype type);
  Panels transposed_weights(const Node& node, Span span, Span depth, Dtype type);
  Tile operand_piece(const Node& node, std::int64_t first, std::int64_t size, Dtype type);
  void transpose_bank(const Tile& rows, Dtype type, Panels& panels);
  const Panels& transposed(const Node& node);
  bool in_row_buffer(ValueId v) const;

  Emitter& emitter_;
  const Budgets budgets_;
  const Graph& graph_;
  std::vector<NodeId> nodes_;
  const std::set<ValueId>& escapes_;
  std::int64_t rows_ = 0;
  std::int64_t block_tiles_ = 1;
  bool resident_ = true;
  bool elementwise_ = false;                                // nothing but element-wise nodes: pieces of rows pass by
  std::unordered_map<NodeId, std::vector<NodeId>> chains_;  // matmul -> element-wise nodes that read its PSUM
  std::set<NodeId> chained_;
  std::set<ValueId> produced_;

  std::int64_t tile_ = 0, parts_ = 0, block_first_ = 0;
  std::vector<Tiles> buffers_;  // of each tile of the block
  std::vector<std::map<std::pair<ValueId, Dtype>, Panels>> transposed_;
  Tiles chunk_;  // values of the current chunk alone
  Span chunk_span_;
  std::map<std::pair<ValueId, std::int64_t>, Tile> vectors_;
  std::map<std::pair<NodeId, std::int64_t>, Panels> resident_weights_;
  std::map<std::pair<NodeId, std::int64_t>, Tile> accumulators_;
};

}  // namespace runtime
