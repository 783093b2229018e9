// The tuned matmul of the NKI tutorial.
#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "validation/kernels/micro.h"
#include "validation/kernels/micro_kernel.h"

namespace validation {
namespace {

using isa::Dtype;
using isa::Tile;
using runtime::Emitter;
using runtime::ValueId;

constexpr std::int64_t kMoving = isa::kMovingColumns;

class TunedGemm {
 public:
  TunedGemm(Emitter& e, const Gemm& g, ValueId lhs_t, ValueId rhs, ValueId out)
      : e_{e},
        g_{g},
        lhs_t_{lhs_t},
        rhs_{rhs},
        out_{out},
        block_m_{16 * isa::kPartitions * 2 / std::max(2, isa::size_of(g.dtype))} {}  // two sets of operands share SBUF

  void run() {
    for (std::int64_t n = 0; n < g_.n; n += kBlockN)
      for (std::int64_t m = 0; m < g_.m; m += block_m_)
        result_block(m, std::min(block_m_, g_.m - m), n, std::min(kBlockN, g_.n - n));
  }

 private:
  static constexpr std::int64_t kBlockN = 2 * kMoving, kBlockK = std::int64_t{8} * isa::kPartitions;

  void result_block(std::int64_t m0, std::int64_t m_size, std::int64_t n0, std::int64_t n_size) {
    std::map<std::int64_t, Tile> sums;
    for (std::int64_t k0 = 0; k0 < g_.k; k0 += kBlockK) {
      std::vector<Tile> left, right;
      for (std::int64_t k = k0; k < std::min(k0 + kBlockK, g_.k); k += isa::kPartitions) {
        const std::int64_t depth = std::min<std::int64_t>(isa::kPartitions, g_.k - k);
        right.push_back(e_.loaded(g_.dtype, e_.hbm(rhs_, k, depth, n0, n_size, 1)));
        left.push_back(e_.loaded(g_.dtype, e_.hbm(lhs_t_, k, depth, m0, m_size, 1)));
      }
      const bool first = k0 == 0, last = k0 + kBlockK >= g_.k;
      for (std::int64_t m = 0; m < m_size; m += isa::kPartitions) {
        const std::int64_t parts = std::min<std::int64_t>(isa::kPartitions, m_size - m);
        if (first && !last) sums[m] = e_.sbuf(Dtype::kFp32, parts, n_size);
        Tile result;
        if (last) result = e_.sbuf(g_.dtype, parts, n_size);
        for (std::int64_t n = 0; n < n_size; n += kMoving) {
          const std::int64_t cols = std::min(kMoving, n_size - n);
          const Tile bank = e_.psum(parts, cols);
          for (std::size_t k = 0; k < left.size(); ++k)
            e_.matmul(bank, runtime::columns(left[k], m, parts), runtime::columns(right[k], n, cols), k > 0);
          const Tile to = runtime::columns(last ? result : sums[m], n, cols);
          if (first)
            e_.copy(to, bank);
          else
            e_.tensor_tensor(to, runtime::columns(sums[m], n, cols), isa::Alu::kAdd, bank);
        }
        if (last) e_.store(e_.hbm(out_, m0 + m, parts, n0, n_size, 1), result);
      }
    }
  }

  Emitter& e_;
  const Gemm& g_;
  const ValueId lhs_t_, rhs_, out_;
  const std::int64_t block_m_;
};

}  // namespace

isa::Program tuned_gemm(const Gemm& gemm, const isa::Target& target) {
  base::ensure(gemm.batch == 1, "tuned_gemm", "it multiplies one pair of matrices");
  HandKernel kernel{"gemm", target};
  const ValueId lhs_t = kernel.input("lhs_t", gemm.k, gemm.m, gemm.dtype);
  const ValueId rhs = kernel.input("rhs", gemm.k, gemm.n, gemm.dtype);
  const ValueId out = kernel.output("out", gemm.m, gemm.n, gemm.dtype);
  kernel.call(kernel.block("gemm", [&](Emitter& e) { TunedGemm{e, gemm, lhs_t, rhs, out}.run(); }));
  return kernel.finish(flops(gemm));
}

}  // namespace validation
