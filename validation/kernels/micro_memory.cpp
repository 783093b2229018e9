// Traffic between HBM and SBUF, and the kernels that are little else.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "validation/kernels/micro.h"
#include "validation/kernels/micro_kernel.h"

namespace validation {
namespace {

using base::Error;
using base::Fault;
using isa::Dtype;
using isa::Tile;
using runtime::Emitter;
using runtime::ValueId;

/// Bytes of HBM that the test goes over again and again: longer tests need no more memory.
constexpr std::uint64_t kSpan = std::uint64_t{1} << 32;
constexpr std::int64_t kTilesPerBlock = 1024;

class Mover {
 public:
  Mover(const MemoryTest& test, ValueId data, ValueId copy) : test_{test}, data_{data}, copy_{copy} {}

  /// Rows [0, rows) of the data, counted from where the call begins.
  void run(Emitter& e, std::int64_t rows) const {
    Tile source;
    if (test_.traffic == Traffic::kWrite) e.fill(source = e.sbuf(Dtype::kUint8, isa::kPartitions, test_.row_bytes), 1);
    for (std::int64_t row = 0; row < rows; row += isa::kPartitions) {
      const std::int64_t count = std::min<std::int64_t>(isa::kPartitions, rows - row);
      const Tile here = e.hbm(data_, row, count);
      switch (test_.traffic) {
        case Traffic::kRead: e.loaded(Dtype::kUint8, here); break;
        case Traffic::kWrite: e.store(here, runtime::partitions(source, count)); break;
        case Traffic::kCopy: e.load(e.hbm(copy_, row, count), here); break;
      }
    }
  }

 private:
  const MemoryTest& test_;
  const ValueId data_, copy_;
};

}  // namespace

isa::Program memory_test(const MemoryTest& test, const isa::Target& target) {
  const std::int64_t row = test.row_bytes;
  const std::int64_t widest = target.geometry.sbuf_partition_bytes / 4;
  if (row < 1 || row > widest || test.bytes < static_cast<std::uint64_t>(row))
    throw Error{Fault::kUsage, "memory test", fmt::format("{} bytes in rows of {}", test.bytes, row),
                fmt::format("use rows of 1 to {} bytes, and at least one", widest)};
  const auto rows = static_cast<std::int64_t>(test.bytes) / row;
  const std::int64_t most = std::min(kTilesPerBlock * isa::kPartitions,
                                     static_cast<std::int64_t>(kSpan) / row / isa::kPartitions * isa::kPartitions);
  const std::int64_t span = std::min(rows, static_cast<std::int64_t>(kSpan) / row / most * most);
  HandKernel kernel{"memory", target};
  const ValueId data = kernel.input("data", span, row, Dtype::kUint8);
  const ValueId copy = test.traffic == Traffic::kCopy ? kernel.output("copy", span, row, Dtype::kUint8) : data;
  const Mover mover{test, data, copy};
  const auto add = [&](std::int64_t count) { return kernel.block("move", [&](Emitter& e) { mover.run(e, count); }); };
  std::uint32_t whole = 0;
  if (rows >= most) whole = add(most);
  std::int64_t done = 0;
  for (; done + most <= rows; done += most) {
    const auto offset = static_cast<std::uint64_t>(done % span * row);
    kernel.call(whole, {{data, offset}, {copy, offset}});
  }
  if (done < rows) kernel.call(add(rows - done));
  return kernel.finish();
}

isa::Program vector_add_kernel(std::int64_t elements, std::int64_t parts, std::int64_t cols, Dtype dtype,
                               const isa::Target& target) {
  if (parts < 1 || parts > isa::kPartitions || cols < 1 || elements % (parts * cols) != 0)
    throw Error{Fault::kUsage, "vector add", fmt::format("{} elements in tiles of {} x {}", elements, parts, cols),
                fmt::format("use tiles of at most {} partitions that divide the elements", isa::kPartitions)};
  HandKernel kernel{"vector_add", target};
  const std::int64_t rows = elements / cols;
  const ValueId a = kernel.input("a", rows, cols, dtype), b = kernel.input("b", rows, cols, dtype);
  const ValueId out = kernel.output("out", rows, cols, dtype);
  kernel.call(kernel.block("vector_add", [&](Emitter& e) {
    for (std::int64_t row = 0; row < rows; row += parts) {
      const Tile left = e.loaded(dtype, e.hbm(a, row, parts)), right = e.loaded(dtype, e.hbm(b, row, parts));
      const Tile sum = e.sbuf(dtype, parts, cols);
      e.tensor_tensor(sum, left, isa::Alu::kAdd, right);
      e.store(e.hbm(out, row, parts), sum);
    }
  }));
  return kernel.finish();
}

}  // namespace validation
