// Lowers a group of row-local nodes: tile by tile of 128 rows, without a way through HBM between them.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/compiler/budgets.h"
#include "runtime/compiler/emitter.h"
#include "runtime/graph/op.h"

namespace runtime {

inline constexpr std::int64_t kShortRow =
    std::int64_t{8} * 1024;                                  // rows of a matmul's result up to here are kept whole
inline constexpr std::int64_t kChunk = isa::kMovingColumns;  // columns of a sum

class RowTiler {
 public:
  /// `escapes`: values that nodes outside of the group read.
  RowTiler(Emitter& emitter, std::vector<NodeId> nodes, const std::set<ValueId>& escapes);
  void run();

  // For ops while they are lowered.
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
  /// Columns `span` of operand i of the current tile: in a group that streams, no others are loaded for it.
  Tile piece(const Node& node, std::size_t i, Span span);
  /// PSUM (or SBUF) that sums up over all row tiles of the group; chunk c of the first result.
  Tile accumulator(const Node& node, std::int64_t chunk, std::int64_t parts, std::int64_t cols, bool sbuf = false);

  // For RowProduct::lower().

  /// An operand in pieces of its contracted axis.
  using Panels = std::vector<Tile>;
  /// The row tiles to compute now: the first one, and how many.
  Span block() const { return {block_first_, static_cast<std::int64_t>(buffers_.size())}; }
  /// Makes `tile` the current one.
  void at(std::int64_t tile);
  /// Whether the operands that row tiles share stay in SBUF for all of them; else they pass by once for each block.
  bool shared_resident() const { return resident_; }
  /// Panels of the node's shared operand, for all row tiles; empty until its lowering fills them.
  Panels& shared(const Node& node) { return shared_[graph_.value(node.out[0]).producer]; }
  /// Panels of `v` in `type` as TensorE takes them, for all nodes that multiply the current tile; empty until one fills
  /// them.
  Panels& staged(ValueId v, Dtype type) { return staged_[static_cast<std::size_t>(tile_ - block_first_)][{v, type}]; }
  /// Columns `span` of the node's result, times `scale`, leave PSUM, and the chain of nodes that read them is computed.
  void take_chunk(const Node& node, Span span, const Tile& sum, float scale);

 private:
  using Tiles = std::unordered_map<ValueId, Tile>;

  void plan_chains();
  void plan_block();
  std::int64_t bytes_per_tile() const;
  void run_block(std::int64_t first, std::int64_t count);
  void run_product(const Node& node, std::int64_t first, std::int64_t count);
  void run_columns(const Node& node, Span span);
  bool only_elementwise() const;
  void run_pieces(std::int64_t first, std::int64_t count);
  void finish_chunk();
  void store_rows(const Node& node);
  Tile vector(ValueId v, Span span);
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
  std::unordered_map<NodeId, std::vector<NodeId>> chains_;  // product -> element-wise nodes that read its PSUM
  std::set<NodeId> chained_;
  std::set<ValueId> produced_;

  std::int64_t tile_ = 0, parts_ = 0, block_first_ = 0;
  std::vector<Tiles> buffers_;                                       // of each tile of the block
  std::vector<std::map<std::pair<ValueId, Dtype>, Panels>> staged_;  // the same
  Tiles chunk_;                                                      // values of the current chunk alone
  Span chunk_span_;
  std::map<std::pair<ValueId, std::int64_t>, Tile> vectors_;
  std::map<NodeId, Panels> shared_;
  std::map<std::pair<NodeId, std::int64_t>, Tile> accumulators_;
};

}  // namespace runtime
