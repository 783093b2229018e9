// Shared by updates of parameters: tensors as flat rows of numbers, and the contract of those with moments.
#pragma once

#include <algorithm>
#include <cstdint>

#include "isa/dtype.h"
#include "isa/tile.h"
#include "runtime/compiler/emitter.h"
#include "runtime/graph/op.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {

/// Columns of a tile of parameters: a DMA packet from each partition, and no more, so that several are under way.
inline std::int64_t tile_cols(isa::Dtype dtype) { return 4096 / isa::size_of(dtype); }

/// A tensor as [parts, elements / parts], for work that does not care for its shape.
struct Flat {
  std::int64_t parts = 1, cols = 0;
  explicit Flat(std::int64_t elements) {
    for (std::int64_t p = std::min(kPartitions, elements); p > 1 && parts == 1; --p)
      if (elements % p == 0) parts = p;
    cols = elements / parts;
  }
  /// Columns [c, c + n) of such a tensor.
  Tile at(Emitter& e, ValueId v, std::int64_t c, std::int64_t n) const { return e.hbm_flat(v, c, parts, n, cols); }
};

template <class F>
void for_tiles(const Flat& flat, isa::Dtype dtype, const F& f) {
  const std::int64_t cols = tile_cols(dtype);
  for (std::int64_t c = 0; c < flat.cols; c += cols) f(c, std::min(cols, flat.cols - c));
}

/// Tiles of the tensors that an op walks together: those of its first operand's shape.
class FlatTiles {
 protected:
  FlatTiles(Emitter& e, const Node& node) : e_{e}, node_{node}, flat_{e.value(node.in[0]).elements()} {}

  Tile at(ValueId v, std::int64_t c, std::int64_t cols) { return flat_.at(e_, v, c, cols); }
  /// Operand i, loaded.
  Tile get(std::size_t i, std::int64_t c, std::int64_t cols) {
    return e_.loaded(e_.value(node_.in[i]).dtype, at(node_.in[i], c, cols));
  }
  Tile fp32(std::int64_t cols) { return e_.sbuf(isa::Dtype::kFp32, flat_.parts, cols); }

  Emitter& e_;
  const Node& node_;
  const Flat flat_;
};

/// w, g, m, v [R, C]; inputs [1, kOptimizerInputs]; clip [1, 1] -> w, m, v in place.
inline std::vector<Shape> moments_infer(const Contract& c) {
  const Value& w = c.in(0);
  for (std::size_t i = 1; i < 4; ++i) c.need(i, w.rows, w.cols, "gradient or moment");
  c.need(4, 1, kOptimizerInputs, "inputs");
  c.need(5, 1, 1, "clip");
  std::vector<Shape> out;
  for (const std::size_t i : {0u, 2u, 3u}) out.push_back({w.rows, w.cols, c.in(i).dtype, c.node.in[i]});
  return out;
}

}  // namespace runtime
