// A matrix transposed by TensorE.
#include <algorithm>
#include <vector>

#include "validation/kernels/micro.h"
#include "validation/kernels/micro_kernel.h"

namespace validation {
namespace {

using isa::Tile;
using runtime::columns;
using runtime::Emitter;
using runtime::ValueId;

constexpr std::int64_t kSquare = isa::kPartitions, kBankSquares = 4;  // squares of fp32 in a PSUM bank
constexpr std::int64_t kPanel = 2048;                                 // columns in one load

/// 512 rows of x, all columns: each square comes out with its rows on the partitions, four side by side, so that a row
/// of the result is written 512 elements at a time.
void transpose_rows(Emitter& e, ValueId x, ValueId out, std::int64_t row, std::int64_t rows) {
  const isa::Dtype type = e.value(x).dtype;
  const std::int64_t cols = e.value(x).cols;
  for (std::int64_t begin = 0; begin < cols; begin += kPanel) {
    const std::int64_t width = std::min(kPanel, cols - begin);
    std::vector<Tile> tiles;
    for (std::int64_t r = 0; r < rows; r += kSquare)
      tiles.push_back(e.loaded(type, e.hbm(x, row + r, std::min(kSquare, rows - r), begin, width, 1)));
    for (std::int64_t c = 0; c < width; c += kSquare) {
      const std::int64_t parts = std::min(kSquare, width - c);
      const Tile bank = e.psum(parts, rows, type), result = e.sbuf(type, parts, rows);
      for (std::size_t t = 0; t < tiles.size(); ++t)
        e.transpose(columns(bank, static_cast<std::int64_t>(t) * kSquare, tiles[t].partitions),
                    columns(tiles[t], c, parts));
      e.copy(result, bank);
      e.store(e.hbm(out, begin + c, parts, row, rows, 1), result);
    }
  }
}

}  // namespace

isa::Program transpose_kernel(std::int64_t rows, std::int64_t cols, isa::Dtype dtype, const isa::Target& target) {
  HandKernel kernel{"transpose", target};
  const ValueId x = kernel.input("x", rows, cols, dtype), out = kernel.output("out", cols, rows, dtype);
  kernel.call(kernel.block("transpose", [&](Emitter& e) {
    e.label("transpose");
    for (std::int64_t row = 0; row < rows; row += kBankSquares * kSquare)
      transpose_rows(e, x, out, row, std::min(kBankSquares * kSquare, rows - row));
  }));
  return kernel.finish();
}

}  // namespace validation
