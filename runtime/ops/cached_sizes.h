// The sizes of attention to caches, and the views of its tiles.
#pragma once

#include <algorithm>

#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/attention.h"

namespace runtime::cached {

inline constexpr std::int64_t kScoreCols = 4096;      // fp32 scores that a group of sequences keeps in each partition
inline constexpr std::int64_t kLoadBytes = 8 * 1024;  // of a cache in each partition per transfer: two DMA packets

/// Columns first + i * a.step + j * b.step of a tile, i < a.size, j < b.size.
inline Tile view(const Tile& tile, std::int64_t first, isa::Dim a, isa::Dim b) {
  Tile out = columns(tile, first, 1);
  out.rank = 2;
  out.free[0] = a, out.free[1] = b;
  return out;
}
inline isa::Dim dim(std::int64_t step, std::int64_t size) {
  return {.step = static_cast<std::int32_t>(step), .size = static_cast<std::uint32_t>(size)};
}

/// The elements of a head's queries and keys, or of its values, in panels of 128.
struct Elements {
  std::int64_t count;

  std::size_t panels() const { return static_cast<std::size_t>(ceil_div(count, kPartitions)); }
  std::int64_t depth(std::size_t panel) const {
    return std::min(kPartitions, count - static_cast<std::int64_t>(panel) * kPartitions);
  }
  /// Panel `part` of head `head` in rows of heads side by side.
  Tile panel_of(const Tile& rows, std::int64_t head, std::size_t part) const {
    return columns(rows, head * count + static_cast<std::int64_t>(part) * kPartitions, depth(part));
  }
};

/// Sizes, as the contract names them; `length` rows of a cache are read, `keys` in each of `tiles` tiles.
struct Sizes {
  std::int64_t batch, rows_there, length, heads, groups;
  Elements key, value;
  std::int64_t ratio, keys, tiles;
  bool beside;
  Dtype type;  // of TensorE's operands

  Sizes(const Graph& graph, const Node& node) : Sizes{graph, node, node.attrs.as<CachedAttentionAttrs>()} {}
  Sizes(const Graph& graph, const Node& node, const CachedAttentionAttrs& a)
      : batch{a.batch},
        rows_there{graph.value(node.in[3]).rows / batch},
        length{a.seq},
        heads{a.heads},
        groups{a.kv_heads},
        key{graph.value(node.in[0]).cols / heads},
        value{graph.value(node.in[2]).cols / groups},
        ratio{heads / groups},
        keys{std::min(kPartitions, length)},
        tiles{length / keys},
        beside{a.beside},
        type{operand_type(graph, node)} {}

  /// Partitions that sums over keys need: the new tokens' keys are one tile more.
  std::int64_t rows() const { return std::max(keys, batch); }
  /// Sequences whose scores are worked on together.
  std::int64_t together() const {
    return std::clamp<std::int64_t>(std::min(kPartitions / heads, kScoreCols / (heads * tiles)), 1, batch);
  }
  /// The sequences among `count` whose rows one transfer reads.
  std::int64_t at_once(std::int64_t count) const { return beside ? count : 1; }
  /// Tiles of the caches of `count` sequences in one transfer: their scores fit in a PSUM bank.
  std::int64_t step(const Elements& of, Dtype cache, std::int64_t count) const {
    const std::int64_t bytes = count * groups * of.count * isa::size_of(cache);
    return std::max<std::int64_t>(1, std::min({tiles, kChunk / ratio, kLoadBytes / bytes}));
  }

  /// [P, sequences and groups, tiles, heads of a group]; `tile_cols` columns of the operand for each head, `step` from
  /// one tile to the next.
  Tile by_tile(Tile tile, std::int64_t tile_cols, std::int64_t step) const {
    const std::int64_t outer = tile.cols() / (tile_cols * ratio);
    tile.rank = 3;
    tile.free[0] = dim(tile_cols * ratio, outer), tile.free[1] = dim(step, tiles), tile.free[2] = dim(1, ratio);
    return tile;
  }
  /// The same view with the tiles innermost.
  Tile by_head(Tile tile) const {
    tile = by_tile(tile, tiles, ratio);
    std::swap(tile.free[1], tile.free[2]);
    return tile;
  }
  /// The heads that read group g of `count` sequences, of a tile with a column for each sequence and head.
  Tile of_group(const Tile& tile, std::int64_t g, std::int64_t count) const {
    return view(tile, g * ratio, dim(heads, count), dim(1, ratio));
  }
};

}  // namespace runtime::cached
