// The operands of matmuls inside row groups: both with the contracted axis on the partitions.
#include <algorithm>

#include "runtime/compiler/row_tiler.h"

namespace runtime {
namespace {}  // namespace

RowTiler::Panels RowTiler::weights(const Node& node, Span span) {
  auto [place, added] = resident_weights_.try_emplace({graph_.value(node.out[0]).producer, span.begin});
  if (added) place->second = load_weights(node, span, {0, cols_of(node.in[0])});
  return place->second;
}

RowTiler::Panels RowTiler::load_weights(const Node& node, Span span, Span depth) {
  const Dtype type = operand_type(graph_, node);
  return node.attrs.trans_b ? transposed_weights(node, span, depth, type) : natural_weights(node, span, depth, type);
}

/// w [K, N]: rows are the contracted axis, in blocks of 128. DMA converts when the type differs.
RowTiler::Panels RowTiler::natural_weights(const Node& node, Span span, Span depth, Dtype type) {
  Panels panels;
  const std::int64_t all = graph_.value(node.in[1]).rows;
  for (std::int64_t row = 0; row < depth.size; row += kPartitions) {
    const std::int64_t first = depth.begin + row, count = std::min(kPartitions, depth.size - row);
    const bool blocked = node.attrs.blocked && count == kPartitions;
    const std::int64_t at = blocked ? blocked_row(first, all) : first, stride = blocked ? all / kPartitions : 1;
    panels.push_back(emitter_.loaded(type, emitter_.hbm(node.in[1], at, count, span.begin, span.size, stride)));
  }
  return panels;
}

/// w [N, K]: TensorE transposes it, 128 x 128 at a time; four such squares fill a PSUM bank and are moved at once.
RowTiler::Panels RowTiler::transposed_weights(const Node& node, Span span, Span depth, Dtype type) {
  Panels panels;
  for (std::int64_t row = 0; row < depth.size; row += kPartitions)
    panels.push_back(emitter_.sbuf(type, std::min(kPartitions, depth.size - row), span.size));
  for (std::int64_t n = 0; n < span.size; n += kChunk) {
    const std::int64_t width = std::min(kChunk, span.size - n);
    std::vector<Tile> rows;
    for (std::int64_t s = 0; s < width; s += kPartitions)
      rows.push_back(emitter_.loaded(type, emitter_.hbm(node.in[1], span.begin + n + s,
                                                        std::min(kPartitions, width - s), depth.begin, depth.size, 1)));
    for (std::size_t p = 0; p < panels.size(); ++p) {
      const Tile bank = emitter_.psum(panels[p].partitions, width, type);
      for (std::size_t s = 0; s < rows.size(); ++s)
        emitter_.transpose(columns(bank, static_cast<std::int64_t>(s) * kPartitions, rows[s].partitions),
                           columns(rows[s], static_cast<std::int64_t>(p) * kPartitions, panels[p].partitions));
      emitter_.copy(columns(panels[p], n, width), bank);
    }
  }
  return panels;
}

/// Columns of a matmul's first operand, natural, in a type that TensorE can transpose.
Tile RowTiler::operand_piece(const Node& node, std::int64_t first, std::int64_t size, Dtype type) {
  const ValueId v = node.in[0];
  const bool here = produced_.contains(v) || resident_ || graph_.value(v).rows != rows_ ||
                    buffers_[static_cast<std::size_t>(tile_ - block_first_)].contains(v);
  const Tile rows = here ? in(node, 0, {first, size})
                         : emitter_.loaded(graph_.value(v).dtype, emitter_.hbm(v, first_row(), parts_, first, size, 1));
  if (rows.dtype == type || isa::size_of(type) != 1) return rows;
  const Tile cast = scratch(type, size);  // fp8 is rounded before, as the array would get it
  emitter_.copy(cast, rows);
  return cast;
}

/// Appends the transposed 128-column squares of [rows, up to 512].
void RowTiler::transpose_bank(const Tile& rows, Dtype type, Panels& panels) {
  const std::int64_t k = rows.cols(), pieces = ceil_div(k, kPartitions), depth = std::min(kPartitions, k);
  const Tile bank = emitter_.psum(depth, pieces * parts_, rows.dtype);
  const Tile panel = emitter_.sbuf(type, depth, pieces * parts_);
  std::int64_t moved = 0;
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::int64_t here = std::min(kPartitions, k - p * kPartitions);
    emitter_.transpose(columns(partitions(bank, here), p * parts_, parts_), columns(rows, p * kPartitions, here));
    if (here == depth) moved = (p + 1) * parts_;
    panels.push_back(columns(partitions(panel, here), p * parts_, parts_));
  }
  emitter_.copy(columns(panel, 0, moved), columns(bank, 0, moved));
  if (moved == pieces * parts_) return;
  const std::int64_t here = k - (pieces - 1) * kPartitions;  // a last piece that is not as deep
  emitter_.copy(columns(partitions(panel, here), moved, parts_), columns(partitions(bank, here), moved, parts_));
}

/// The first operand of the current tile, [K, rows of the tile] in K tiles; shared by all matmuls that read it.
const RowTiler::Panels& RowTiler::transposed(const Node& node) {
  const Dtype type = operand_type(graph_, node);
  auto [place, added] = transposed_[static_cast<std::size_t>(tile_ - block_first_)].try_emplace({node.in[0], type});
  if (!added) return place->second;
  const std::int64_t k = cols_of(node.in[0]);
  constexpr std::int64_t kBank = kChunk;                // columns whose squares fill a PSUM bank
  const std::int64_t wide = resident_ ? k : 4 * kBank;  // columns in one load
  for (std::int64_t begin = 0; begin < k; begin += wide) {
    const Tile rows = operand_piece(node, begin, std::min(wide, k - begin), type);
    for (std::int64_t first = 0; first < rows.cols(); first += kBank)
      transpose_bank(columns(rows, first, std::min(kBank, rows.cols() - first)), type, place->second);
  }
  return place->second;
}

}  // namespace runtime
