// Small programs whose profiles are published: the times of single instructions and descriptors.
#include <algorithm>

#include "base/error.h"
#include "validation/kernels/micro.h"
#include "validation/kernels/micro_kernel.h"

namespace validation {
namespace {

using isa::Dtype;
using isa::Fn;
using isa::Tile;
using runtime::Emitter;
using runtime::ValueId;

void require_matmul(const Gemm& g) {
  const bool fits = g.k >= 1 && g.k <= isa::kPartitions && g.m >= 1 && g.m <= isa::kPartitions && g.n >= 1 &&
                    g.n <= isa::kMovingColumns && g.batch == 1;
  if (!fits)
    throw base::Error{base::Fault::kUsage, "profile", "its matmul is not a single instruction",
                      "use at most 128 x 128 stationary and 512 moving columns"};
}

}  // namespace

isa::Program profiled_matmul(const Gemm& g, const isa::Target& target) {
  require_matmul(g);
  HandKernel kernel{"profile", target};
  const ValueId lhs_t = kernel.input("lhs_t", g.k, g.m, g.dtype), rhs = kernel.input("rhs", g.k, g.n, g.dtype);
  const ValueId out = kernel.output("out", g.m, g.n, g.dtype);
  kernel.call(kernel.block("profile", [&](Emitter& e) {
    const Tile left = e.loaded(g.dtype, e.hbm(lhs_t, 0, g.k)), right = e.loaded(g.dtype, e.hbm(rhs, 0, g.k));
    const Tile bank = e.psum(g.m, g.n), result = e.sbuf(g.dtype, g.m, g.n);
    e.matmul(bank, left, right, false);
    e.activation(result, Fn::kCopy, bank);
    e.store(e.hbm(out, 0, g.m), result);
  }));
  return kernel.finish(flops(g));
}

isa::Program matmul_stream(const Gemm& g, int count, const isa::Target& target) {
  require_matmul(g);
  HandKernel kernel{"profile", target};
  kernel.call(kernel.block("profile", [&](Emitter& e) {
    const Tile left[] = {e.sbuf(g.dtype, g.k, g.m), e.sbuf(g.dtype, g.k, g.m)}, right = e.sbuf(g.dtype, g.k, g.n);
    for (const Tile& tile : {left[0], left[1], right}) e.fill(tile, 1);
    e.label("stream");
    for (int i = 0; i < count; ++i) e.matmul(e.psum(g.m, g.n), left[i % 2], right, false);
  }));
  return kernel.finish(flops(g) * count);
}

isa::Program activation_stream(const ActivationStream& stream, const isa::Target& target) {
  HandKernel kernel{"profile", target};
  kernel.call(kernel.block("profile", [&](Emitter& e) {
    const Tile from =
        stream.psum ? e.psum(isa::kPartitions, stream.cols) : e.sbuf(Dtype::kFp32, isa::kPartitions, stream.cols);
    const Tile to = e.sbuf(stream.dtype, isa::kPartitions, stream.cols);
    e.fill(from, 1);
    e.label("stream");
    for (int i = 0; i < stream.count; ++i) e.activation(to, i % 2 == 0 ? stream.first : stream.second, from);
  }));
  return kernel.finish();
}

isa::Program descriptor(std::int64_t bytes, const isa::Target& target) {
  HandKernel kernel{"profile", target};
  const ValueId data = kernel.input("data", 1, std::max<std::int64_t>(bytes, 1), Dtype::kUint8);
  kernel.call(kernel.block("profile", [&](Emitter& e) { e.loaded(Dtype::kUint8, e.hbm(data, 0, 1)); }));
  return kernel.finish();
}

}  // namespace validation
