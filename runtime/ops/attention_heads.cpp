// Shared by attention, its gradient and attention with a cache: heads as tiles.
#include "runtime/ops/attention.h"

namespace runtime {

Heads::Heads(const Graph& graph, const Node& node) : Heads{graph, node, node.attrs.as<AttentionAttrs>()} {}

Heads::Heads(const Graph& graph, const Node& node, const AttentionAttrs& a)
    : batch{a.batch},
      seq{a.seq},
      keys{graph.value(node.in[1]).rows / a.batch},
      heads{a.heads},
      kv_heads{a.kv_heads},
      size{graph.value(node.in[0]).cols / a.heads},
      value_size{graph.value(node.in[2]).cols / a.kv_heads},
      type{operand_type(graph, node)},
      score{a.softmax.value_or(graph.value(node.in[0]).dtype)},
      skips{a.causal && a.flash},
      window{a.window},
      tile_keys{a.tile_keys} {}

double heads_and_sequences(const Node& node) {
  const auto& a = node.attrs.as<AttentionAttrs>();
  return static_cast<double>(a.batch * a.heads);
}

double Heads::pairs() const {
  double pairs = 0;
  for (std::int64_t t = 0; t < tiles(); ++t) {
    std::int64_t seen = tile_keys > 0 ? 0 : visible(t);
    for (std::int64_t k = 0; tile_keys > 0 && k < keys; k += tile_keys)
      seen += block(k, std::min(tile_keys, keys - k)).visible(t);
    pairs += static_cast<double>(tile_rows(t)) * static_cast<double>(seen);
  }
  return pairs * static_cast<double>(batch * heads);
}

void hide_later(Emitter& e, const Tile& dst, std::int64_t t, std::int64_t first, float value) {
  // Query p of the tile, key i of dst: kept where t * 128 + p - first - i >= 0.
  e.affine_select(dst, static_cast<float>(t * kPartitions - first), 1, -1, value);
}

void hide_earlier(Emitter& e, const Tile& dst, std::int64_t t, std::int64_t window, float value, std::int64_t first) {
  // Kept where first + i + window - 1 - (t * 128 + p) >= 0.
  e.affine_select(dst, static_cast<float>(first + window - 1 - t * kPartitions), -1, 1, value);
}

namespace {

/// SBUF that attention and its gradient want for whole rows, bytes per partition: the larger of both.
std::int64_t whole_row_bytes(const Heads& h) {
  const std::int64_t type = isa::size_of(h.type), score = isa::size_of(h.score);
  const std::int64_t group = h.group(), kv_group = group * h.kv_heads / h.heads;
  const std::int64_t halves = ceil_div(h.size, kPartitions);  // of a head: tiles of its transposed rows
  const std::int64_t halves_too = halves + ceil_div(h.value_size, kPartitions), sizes = h.size + h.value_size;
  // Queries and context, keys and values; both transposed; scores, exponentials, probabilities and their panels.
  const std::int64_t forward = (h.tiles() * group + h.key_tiles() * kv_group) * sizes * type +
                               (h.seq + h.keys) * halves * type + h.keys * (2 * score + 2 * type);
  // Keys and values, and the sums of their gradients; both transposed; p, what TensorE takes of it, ds and its panels.
  const std::int64_t backward =
      h.key_tiles() * kv_group * sizes * (type + 4) + h.keys * halves_too * type + h.keys * (2 * score + 3 * type);
  return std::max(forward, backward);
}

}  // namespace

bool rows_are_long(const Heads& h, const AttentionAttrs& a, const isa::Geometry& geometry) {
  // Frameworks keep probabilities, so rows of them may spill half as much again before they are given up.
  const std::int64_t room = geometry.sbuf_partition_bytes * (a.flash ? 2 : 3) / 2;
  if (a.tile_keys == AttentionAttrs::kByKernel) return h.keys > kTileKeys;
  return !a.biased() && !a.slopes() && !scale_is_data(a) && a.tile_keys == 0 && whole_row_bytes(h) > room;
}

std::int64_t segment_of(const Heads& h, const AttentionAttrs& a) {
  // 128 queries of a head and a block of keys take some 50 instructions, and some 100 in the gradient. A pair of
  // segments has as many as a part of a long operation should have (LongCalls).
  constexpr double kPart = 25'000, kEach = 75;
  if (!a.causal || a.p > 0) return 0;  // dropout's bits depend on the place in the whole
  const auto pairs = static_cast<double>(a.tile_keys / kPartitions * h.heads);  // in a square of a block of keys
  const std::int64_t blocks = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(kPart / (kEach * pairs))));
  return blocks * a.tile_keys < h.seq ? blocks * a.tile_keys : 0;
}

std::int64_t Heads::group() const {
  const std::int64_t ratio = heads / kv_heads;
  const std::int64_t budget =
      12 * 1024 / (std::max(tiles(), key_tiles()) * std::max(size, value_size) * isa::size_of(type));
  std::int64_t best = ratio;
  for (std::int64_t g = ratio; g <= heads; g += ratio)
    if (heads % g == 0 && g <= budget) best = g;
  return best;
}

RowTiles load_rows(Emitter& e, const Heads& h, ValueId v, std::int64_t b, std::int64_t col, std::int64_t cols) {
  return load_some_rows(e, h, v, b, {0, e.value(v).rows / h.batch}, {col, cols});
}

RowTiles load_some_rows(Emitter& e, const Heads& h, ValueId v, std::int64_t b, Span of, Span cols) {
  RowTiles out;
  const std::int64_t length = e.value(v).rows / h.batch;
  for (std::int64_t at = of.begin; at < of.begin + of.size; at += kPartitions) {
    const std::int64_t row = b * length + at, rows = std::min(kPartitions, of.begin + of.size - at);
    const Tile* kept = e.kept(v, row, rows);
    const bool fits = kept && kept->dtype == h.type;
    out.push_back(fits ? columns(*kept, cols.begin, cols.size)
                       : e.loaded(h.type, e.hbm(v, row, rows, cols.begin, cols.size, 1)));
  }
  return out;
}

Scalar scale_of(Emitter& e, const Node& node, std::int64_t b) {
  const auto& a = node.attrs.as<AttentionAttrs>();
  if (!scale_is_data(a)) return static_cast<float>(a.scale);
  const ValueId v = node.in.back();
  return e.loaded(Dtype::kFp32, e.hbm_row(v, b % e.value(v).rows, kPartitions, 0, 1));
}

Scalar on_partitions(const Scalar& scale, std::int64_t parts) {
  const Tile* tile = std::get_if<Tile>(&scale);
  return tile ? Scalar{partitions(*tile, parts)} : scale;
}

HeadPanels transpose_rows(Emitter& e, const Heads& h, const RowTiles& rows, Span cols, Scalar scale) {
  HeadPanels out;
  const std::int64_t length = std::ssize(rows) * kPartitions - kPartitions + rows.back().partitions;
  for (std::int64_t part = 0; part < cols.size; part += kPartitions) {
    const std::int64_t depth = std::min(kPartitions, cols.size - part);
    out.push_back(e.sbuf(h.type, depth, length));
    for (std::int64_t first = 0; first < length; first += kChunk) {
      const std::int64_t width = std::min(kChunk, length - first);
      const Tile bank = e.psum(depth, width, h.type);
      for (std::int64_t c = 0; c < width; c += kPartitions) {
        const Tile& tile = rows[static_cast<std::size_t>((first + c) / kPartitions)];
        e.transpose(columns(bank, c, tile.partitions), columns(tile, cols.begin + part, depth));
      }
      e.copy(columns(out.back(), first, width), bank, on_partitions(scale, depth));
    }
  }
  return out;
}

void contract_heads(Emitter& e, const Tile& sum, const HeadPanels& weights, const HeadPanels& moving, std::int64_t c) {
  for (std::size_t i = 0; i < weights.size(); ++i) e.matmul(sum, weights[i], columns(moving[i], c, sum.cols()), i > 0);
}

std::vector<Tile> transpose_tile(Emitter& e, const Tile& tile, Dtype type) {
  std::vector<Tile> panels;
  const std::int64_t parts = tile.partitions, per_bank = kChunk / kPartitions;
  for (std::int64_t first = 0; first < tile.cols(); first += per_bank * kPartitions) {
    const std::int64_t width = std::min(per_bank * kPartitions, tile.cols() - first);
    const std::int64_t depth = std::min(kPartitions, width), whole = width / depth;
    const Tile bank = e.psum(depth, ceil_div(width, kPartitions) * parts, tile.dtype);
    const Tile panel = e.sbuf(type, depth, ceil_div(width, kPartitions) * parts);
    for (std::int64_t c = 0; c < width; c += kPartitions) {
      const std::int64_t here = std::min(kPartitions, width - c);
      e.transpose(columns(partitions(bank, here), c / kPartitions * parts, parts), columns(tile, first + c, here));
      panels.push_back(columns(partitions(panel, here), c / kPartitions * parts, parts));
    }
    e.copy(columns(panel, 0, whole * parts), columns(bank, 0, whole * parts));
    if (whole * depth < width) {
      const std::int64_t here = width - whole * depth;
      e.copy(columns(partitions(panel, here), whole * parts, parts),
             columns(partitions(bank, here), whole * parts, parts));
    }
  }
  return panels;
}

}  // namespace runtime
