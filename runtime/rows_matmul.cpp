// The operands of matmuls inside row groups: both with the contracted axis on the partitions.
#include <algorithm>

#include "runtime/rows.h"

namespace runtime {
namespace {

constexpr std::int64_t kSide = isa::kPartitions;

}  // namespace

Rows::Panels Rows::weights(const Node& node, Span span) {
  const NodeId id = graph_.value(node.out[0]).producer;
  const auto make = [&] {
    const Dtype type = operand_type(graph_, node);
    return node.attrs.trans_b ? transposed_weights(node, span, type) : natural_weights(node, span, type);
  };
  if (!resident_) return make();
  auto [place, added] = resident_weights_.try_emplace({id, span.begin});
  if (added) place->second = make();
  return place->second;
}

/// w [K, N]: rows are the contracted axis as they lie. DMA converts when the type differs.
Rows::Panels Rows::natural_weights(const Node& node, Span span, Dtype type) {
  const std::int64_t k = cols_of(node.in[0]);
  Panels panels;
  for (std::int64_t row = 0; row < k; row += kSide)
    panels.push_back(emitter_.loaded(
        type, emitter_.hbm(node.in[1], row, std::min(kSide, k - row), span.begin, span.size, 1)));
  return panels;
}

/// w [N, K]: TensorE transposes it, 128 x 128 at a time; four such squares fill a PSUM bank and are moved at once.
Rows::Panels Rows::transposed_weights(const Node& node, Span span, Dtype type) {
  const std::int64_t k = cols_of(node.in[0]);
  Panels panels;
  for (std::int64_t row = 0; row < k; row += kSide)
    panels.push_back(emitter_.sbuf(type, std::min(kSide, k - row), span.size));
  for (std::int64_t n = 0; n < span.size; n += kChunk) {
    const std::int64_t width = std::min(kChunk, span.size - n);
    std::vector<Tile> rows;
    for (std::int64_t s = 0; s < width; s += kSide)
      rows.push_back(emitter_.loaded(
          type, emitter_.hbm(node.in[1], span.begin + n + s, std::min(kSide, width - s))));
    for (std::size_t p = 0; p < panels.size(); ++p) {
      const std::int64_t depth = panels[p].partitions;
      const Tile bank = emitter_.psum(depth, width, type);
      for (std::size_t s = 0; s < rows.size(); ++s)
        emitter_.transpose(columns(bank, static_cast<std::int64_t>(s) * kSide, rows[s].partitions),
                           columns(rows[s], static_cast<std::int64_t>(p) * kSide, depth));
      emitter_.copy(columns(panels[p], n, width), bank);
    }
  }
  return panels;
}

/// The first operand of the current tile, [K, rows of the tile] in K tiles; shared by all matmuls that read it.
const Rows::Panels& Rows::transposed(const Node& node) {
  const Dtype type = operand_type(graph_, node);
  auto [place, added] =
      transposed_[static_cast<std::size_t>(tile_ - block_first_)].try_emplace({node.in[0], type});
  if (!added) return place->second;
  Tile rows = in(node, 0);
  const std::int64_t k = rows.cols();
  if (rows.dtype != type && isa::size_of(type) == 1) {  // fp8 is rounded before, as the array would get it
    const Tile cast = scratch(type, k);
    emitter_.copy(cast, rows);
    rows = cast;
  }
  const std::int64_t per_bank = kChunk / kSide;
  for (std::int64_t first = 0; first < k; first += per_bank * kSide) {
    const std::int64_t pieces = std::min(per_bank, ceil_div(k - first, kSide));
    const std::int64_t depth = std::min(kSide, k - first);
    const Tile bank = emitter_.psum(depth, pieces * parts_, rows.dtype);
    const Tile panel = emitter_.sbuf(type, depth, pieces * parts_);
    std::int64_t moved = 0;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const std::int64_t here = std::min(kSide, k - first - p * kSide);
      emitter_.transpose(columns(partitions(bank, here), p * parts_, parts_),
                         columns(rows, first + p * kSide, here));
      if (here == depth) moved = (p + 1) * parts_;
      place->second.push_back(columns(partitions(panel, here), p * parts_, parts_));
    }
    emitter_.copy(columns(panel, 0, moved), columns(bank, 0, moved));
    if (moved < pieces * parts_) {  // a last piece that is not as deep
      const std::int64_t here = k - first - (pieces - 1) * kSide;
      emitter_.copy(columns(partitions(panel, here), moved, parts_), columns(partitions(bank, here), moved, parts_));
    }
  }
  return place->second;
}

}  // namespace runtime
