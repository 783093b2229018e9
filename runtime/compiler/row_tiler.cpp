#include "runtime/compiler/row_tiler.h"

#include <algorithm>

#include "base/error.h"

namespace runtime {

RowTiler::RowTiler(Emitter& emitter, std::vector<NodeId> nodes, const std::set<ValueId>& escapes)
    : emitter_{emitter},
      budgets_{emitter.target().geometry},
      graph_{emitter.graph()},
      nodes_{std::move(nodes)},
      escapes_{escapes} {
  for (const NodeId n : nodes_)
    for (const ValueId v : graph_.node(n).out) {
      produced_.insert(v);
      rows_ = std::max(rows_, graph_.value(v).rows);
    }
  // A group of sums over rows alone has results of one row: its operands say how many there are.
  for (const NodeId n : nodes_)
    if (graph_.node(n).op->row_sums) rows_ = std::max(rows_, graph_.value(graph_.node(n).in[0]).rows);
  elementwise_ = only_elementwise();
  plan_chains();
  plan_block();
}

/// An element-wise node joins the latest matmul that it depends on when it has the same columns, and all else that it
/// reads is there before. One that reads nothing of the group joins the latest matmul of all where its rows are so long
/// that they would crowd SBUF.
void RowTiler::plan_chains() {
  std::unordered_map<ValueId, NodeId> home;  // value -> matmul whose chunk it is computed in
  std::unordered_map<ValueId, std::size_t> place;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const ValueId v : graph_.node(nodes_[i]).out) place[v] = i;
  NodeId last = kNoNode;  // matmul
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeId n = nodes_[i];
    const Node& node = graph_.node(n);
    if (node.op->row_product) {
      home[node.out[0]] = last = n;
      chains_.try_emplace(n);
      continue;
    }
    if (!node.op->lower_columns) continue;
    NodeId latest = kNoNode;
    for (const ValueId v : node.in)
      if (home.contains(v) && (latest == kNoNode || home[v] > latest)) latest = home[v];
    const Value& out = graph_.value(node.out[0]);
    if (std::ranges::none_of(node.in, [&](ValueId v) { return place.contains(v); }) &&
        out.cols * isa::size_of(out.dtype) > budgets_.group_rows)
      latest = last;
    if (latest == kNoNode || cols_of(node.out[0]) != cols_of(graph_.node(latest).out[0])) continue;
    const std::size_t begin = place[graph_.node(latest).out[0]];
    const bool ready = std::ranges::all_of(node.in, [&](ValueId v) {
      return !place.contains(v) || (home.contains(v) && home[v] == latest) || place[v] < begin;
    });
    if (!ready) continue;
    chains_[latest].push_back(n);
    chained_.insert(n);
    for (const ValueId v : node.out) home[v] = latest;
  }
}

void RowTiler::plan_block() {
  std::int64_t weights = 0, fixed = 0, deepest = 0;
  for (const NodeId n : nodes_) {
    const Node& node = graph_.node(n);
    if (node.op->row_product) {
      weights += node.op->row_product.shared_bytes(graph_, node);
      deepest = std::max(deepest, cols_of(node.in[0]) * isa::size_of(graph_.value(node.in[0]).dtype));
    }
    for (const ValueId v : node.in)
      if (graph_.value(v).rows == 1) fixed += cols_of(v) * isa::size_of(graph_.value(v).dtype);
  }
  resident_ = weights <= budgets_.resident_weights && deepest <= budgets_.row_block;
  if (resident_) return;
  const std::int64_t room = budgets_.row_block - std::min(fixed, budgets_.row_block / 4);
  block_tiles_ =
      std::clamp<std::int64_t>(room / std::max<std::int64_t>(bytes_per_tile(), 1), 1, budgets_.streamed_tiles);
}

/// The most that a row tile of a streamed group holds in SBUF, bytes per partition.
std::int64_t RowTiler::bytes_per_tile() const {
  const auto bytes = [&](ValueId v) { return cols_of(v) * isa::size_of(graph_.value(v).dtype); };
  std::unordered_map<ValueId, std::size_t> last;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const ValueId v : graph_.node(nodes_[i]).in) last[v] = i;
  std::unordered_map<ValueId, std::int64_t> live;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = graph_.node(nodes_[i]);
    for (std::size_t o = 0; o < node.in.size(); ++o) {
      const ValueId v = node.in[o];
      if (node.op->row_product && o == 1) continue;  // it passes by, however many rows it has
      if (chained_.contains(nodes_[i])) continue;    // chains read HBM in chunks
      if (graph_.value(v).rows == rows_) live.try_emplace(v, bytes(v));
    }
    if (node.op->row_product) {
      const ValueId x = node.in[0];
      const std::int64_t staged = node.op->row_product.staged_bytes(graph_, node);
      live[x] = last[x] > i ? bytes(x) + staged : std::max(produced_.contains(x) ? bytes(x) : 0, staged);
    }
    for (const ValueId v : node.out)
      if (in_row_buffer(v)) live[v] = bytes(v);
    const auto gone = [&](const auto& entry) {
      const auto found = last.find(entry.first);
      return found == last.end() || found->second <= i;
    };
    // Other nodes finish one tile before they begin the next: their own tiles exist once.
    if (!node.op->row_product) std::erase_if(live, gone);
    std::int64_t sum = 0;
    for (const auto& [v, size] : live) sum += size;
    most = std::max(most, sum);
    if (node.op->row_product) std::erase_if(live, gone);
  }
  return most;
}

void RowTiler::run() {
  const std::int64_t tiles = ceil_div(rows_, kPartitions);
  const bool sums = std::ranges::any_of(nodes_, [&](NodeId n) { return graph_.node(n).op->row_sums != nullptr; });
  LoopPart part{.inner_count = ceil_div(tiles, block_tiles_)};
  if (!sums) part = emitter_.part_of({.inner = part.inner_count});  // sums over rows need all tiles
  for (std::int64_t b = part.inner; b < part.inner + part.inner_count; ++b)
    run_block(b * block_tiles_, std::min(block_tiles_, tiles - b * block_tiles_));
}

void RowTiler::at(std::int64_t tile) {
  tile_ = tile;
  parts_ = std::min(kPartitions, rows_ - tile * kPartitions);
}

/// Whether all nodes are element-wise and equally wide.
bool RowTiler::only_elementwise() const {
  return std::ranges::all_of(nodes_, [&](NodeId n) {
    const Node& node = graph_.node(n);
    return node.op->lower_columns && cols_of(node.out[0]) == cols_of(graph_.node(nodes_[0]).out[0]);
  });
}

/// Pieces of rows, so that loads, work and stores overlap also when whole rows would fill SBUF.
void RowTiler::run_pieces(std::int64_t first, std::int64_t count) {
  // Columns: a DMA packet in two bytes each.
  const auto piece = static_cast<std::int64_t>(emitter_.target().timing.dma.packet) / 2;
  const std::int64_t cols = cols_of(graph_.node(nodes_[0]).out[0]);
  for (std::int64_t t = first; t < first + count; ++t)
    for (std::int64_t c = 0; c < cols; c += piece) {
      at(t);
      chunk_span_ = {c, std::min(piece, cols - c)};
      for (const NodeId n : nodes_) {
        emitter_.label(graph_.node(n).label);
        run_columns(graph_.node(n), chunk_span_);
      }
      finish_chunk();
    }
}

void RowTiler::run_block(std::int64_t first, std::int64_t count) {
  block_first_ = first;
  buffers_.assign(static_cast<std::size_t>(count), {});
  staged_.assign(static_cast<std::size_t>(count), {});
  if (elementwise_) return run_pieces(first, count);
  for (const NodeId n : nodes_) {
    if (chained_.contains(n)) continue;
    const Node& node = graph_.node(n);
    emitter_.label(node.label);
    if (node.op->row_product) {
      run_product(node, first, count);
      continue;
    }
    for (std::int64_t t = first; t < first + count; ++t) {
      at(t);
      emitter_.label(node.label);
      if (node.op->lower_columns) {
        constexpr std::int64_t kWidest = 4096;  // columns in one instruction
        const std::int64_t cols = cols_of(node.out[0]);
        for (std::int64_t c = 0; c < cols; c += kWidest) run_columns(node, {c, std::min(kWidest, cols - c)});
      } else {
        node.op->lower_rows(*this, node);
      }
      store_rows(node);
    }
  }
}

void RowTiler::run_columns(const Node& node, Span span) { node.op->lower_columns(*this, node, span); }

void RowTiler::run_product(const Node& node, std::int64_t first, std::int64_t count) {
  node.op->row_product.lower(*this, node);
  for (std::int64_t t = first; t < first + count; ++t) {
    at(t);
    store_rows(node);
    for (const NodeId n : chains_[graph_.value(node.out[0]).producer]) {
      emitter_.label(graph_.node(n).label);
      store_rows(graph_.node(n));
    }
  }
}

void RowTiler::take_chunk(const Node& node, Span span, const Tile& sum, float scale) {
  chunk_span_ = span;
  const ValueId v = node.out[0];
  const auto& chain = chains_[graph_.value(v).producer];
  const auto& users = graph_.users(v);
  const bool leaves_chain = escapes_.contains(v) || !std::ranges::all_of(users, [&](NodeId u) {
                              return std::ranges::find(chain, u) != chain.end();
                            });
  if (leaves_chain || scale != 1.0F) {
    emitter_.copy(out(node, 0, chunk_span_), sum, scale);
  } else {
    chunk_[v] = sum;
  }
  for (const NodeId n : chain) {
    emitter_.label(graph_.node(n).label);
    run_columns(graph_.node(n), chunk_span_);
  }
  finish_chunk();
}

/// Whether all columns of `v` are kept together: a node reads whole rows, they are few, or another group is to find
/// them.
bool RowTiler::in_row_buffer(ValueId v) const {
  if (elementwise_) return false;
  const Value& value = graph_.value(v);
  if (resident_ && value.cols * isa::size_of(value.dtype) <= kShortRow) return true;
  const NodeId producer = value.producer;
  NodeId home = graph_.node(producer).op->row_product ? producer : kNoNode;
  for (const auto& [matmul, chain] : chains_)
    if (std::ranges::find(chain, producer) != chain.end()) home = matmul;
  if (home == kNoNode) return true;
  if (escapes_.contains(v) && emitter_.keeps(v)) return true;  // a later group reads it where it is
  const auto& chain = chains_.at(home);
  const auto& users = graph_.users(v);
  return std::ranges::any_of(users, [&](NodeId u) {
    return std::ranges::find(nodes_, u) != nodes_.end() && std::ranges::find(chain, u) == chain.end();
  });
}

/// Stores values that live in this chunk only.
void RowTiler::finish_chunk() {
  for (const auto& [v, tile] : std::map<ValueId, Tile>{chunk_.begin(), chunk_.end()}) {
    if (tile.space == isa::Space::kSbuf && escapes_.contains(v))
      emitter_.store(emitter_.hbm(v, first_row(), parts_, chunk_span_.begin, chunk_span_.size, 1), tile);
  }
  chunk_.clear();
}

void RowTiler::store_rows(const Node& node) {
  for (const ValueId v : node.out) {
    if (!escapes_.contains(v)) continue;
    const Tiles& tiles = buffers_[static_cast<std::size_t>(tile_ - block_first_)];
    const auto found = tiles.find(v);
    if (found == tiles.end()) continue;
    emitter_.store(emitter_.hbm(v, first_row(), parts_), found->second);
    emitter_.keep(v, first_row(), found->second);
  }
}

Tile RowTiler::in(const Node& node, std::size_t i, Span span) {
  const ValueId v = node.in[i];
  const Value& value = graph_.value(v);
  if (value.rows == 1 && rows_ != 1) return vector(v, value.cols == 1 ? Span{0, 1} : span);
  const bool column = value.cols == 1 && cols_of(node.out[0]) != 1;  // whatever the size of the last span
  if (const auto here = chunk_.find(v); here != chunk_.end() && span.begin == chunk_span_.begin) return here->second;
  Tiles& tiles = buffers_[static_cast<std::size_t>(tile_ - block_first_)];
  auto found = tiles.find(v);
  if (found == tiles.end()) {
    base::ensure(!produced_.contains(v), node.label, "reads a tile that is not there yet: " + value.name);
    const bool is_long = value.cols * isa::size_of(value.dtype) > budgets_.group_rows;  // it would crowd SBUF
    const bool in_chain = (!resident_ || is_long) && chained_.contains(graph_.value(node.out[0]).producer);
    if (!column && (elementwise_ || in_chain)) {
      const Tile piece = emitter_.loaded(value.dtype, emitter_.hbm(v, first_row(), parts_, span.begin, span.size, 1));
      return chunk_.emplace(v, piece).first->second;
    }
    const Tile* kept = emitter_.kept(v, first_row(), parts_);
    found = tiles.emplace(v, kept ? *kept : emitter_.loaded(value.dtype, emitter_.hbm(v, first_row(), parts_))).first;
  }
  return column ? found->second : columns(found->second, span.begin, span.size);
}

Tile RowTiler::piece(const Node& node, std::size_t i, Span span) {
  const ValueId v = node.in[i];
  const bool whole = produced_.contains(v) || resident_ || graph_.value(v).rows != rows_ ||
                     buffers_[static_cast<std::size_t>(tile_ - block_first_)].contains(v);
  if (whole) return in(node, i, span);
  return emitter_.loaded(graph_.value(v).dtype, emitter_.hbm(v, first_row(), parts_, span.begin, span.size, 1));
}

Tile RowTiler::out(const Node& node, std::size_t o, Span span) {
  const ValueId v = node.out[o];
  const Value& value = graph_.value(v);
  if (!in_row_buffer(v)) {
    auto [place, added] = chunk_.try_emplace(v);
    if (added) place->second = emitter_.sbuf(value.dtype, parts_, span.size);
    return place->second;
  }
  auto [place, added] = buffers_[static_cast<std::size_t>(tile_ - block_first_)].try_emplace(v);
  if (added) place->second = emitter_.sbuf(value.dtype, parts_, value.cols);
  return columns(place->second, span.begin, span.size);
}

Tile RowTiler::vector(ValueId v, Span span) {
  // Whole vectors stay for all tiles when they are short; pieces of long ones are loaded where they are needed.
  constexpr std::int64_t kShort = 4096;
  const Value& value = graph_.value(v);
  const bool whole = value.cols <= kShort;
  const Span part = whole ? Span{0, value.cols} : span;
  auto [place, added] = vectors_.try_emplace({v, part.begin});
  if (added || !whole) place->second = emitter_.broadcast(v, std::min(rows_, kPartitions), part.begin, part.size);
  return columns(partitions(place->second, parts_), span.begin - part.begin, span.size);
}

Tile RowTiler::accumulator(const Node& node, std::int64_t chunk, std::int64_t parts, std::int64_t cols, bool sbuf) {
  auto [place, added] = accumulators_.try_emplace({graph_.value(node.out[0]).producer, chunk});
  if (added) place->second = sbuf ? emitter_.sbuf(Dtype::kFp32, parts, cols) : emitter_.psum(parts, cols);
  return place->second;
}

}  // namespace runtime
