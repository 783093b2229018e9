// The selective scan of the fused Mamba tutorial, in its three steps of optimization.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "validation/kernels/micro.h"
#include "validation/kernels/micro_kernel.h"

namespace validation {
namespace {

using isa::Alu;
using isa::Dtype;
using isa::Tile;
using runtime::columns;
using runtime::Emitter;
using runtime::ValueId;

constexpr std::int64_t kPiece = isa::kMovingColumns;  // columns of a PSUM bank, and of a piece of version 3

struct Tensors {
  ValueId delta, u, a, b, c, out;
};

class Scan {
 public:
  Scan(Emitter& e, const MambaScan& s, const Tensors& t) : e_{e}, s_{s}, t_{t} {}

  void run() {
    if (s_.version == 1) {
      states_outermost();
    } else {
      for (std::int64_t row = 0; row < s_.channels; row += isa::kPartitions) channels_outermost(row);
    }
  }

 private:
  Tile fp32(std::int64_t cols) { return e_.sbuf(Dtype::kFp32, isa::kPartitions, cols); }
  Tile rows_of(ValueId v, std::int64_t row) { return e_.loaded(Dtype::kFp32, e_.hbm(v, row, isa::kPartitions)); }

  void states_outermost() {
    std::vector<Tile> sums;
    for (std::int64_t row = 0; row < s_.channels; row += isa::kPartitions) e_.fill(sums.emplace_back(fp32(s_.seq)), 0);
    for (std::int64_t state = 0; state < s_.states; ++state)
      for (std::int64_t row = 0; row < s_.channels; row += isa::kPartitions) {
        const Tile delta = rows_of(t_.delta, row), u = rows_of(t_.u, row);
        one(delta, product(delta, u), state, row, sums[static_cast<std::size_t>(row / isa::kPartitions)]);
      }
    for (std::int64_t row = 0; row < s_.channels; row += isa::kPartitions)
      e_.store(e_.hbm(t_.out, row, isa::kPartitions), sums[static_cast<std::size_t>(row / isa::kPartitions)]);
  }

  void channels_outermost(std::int64_t row) {
    const Tile sum = fp32(s_.seq);
    e_.fill(sum, 0);
    const Tile delta = rows_of(t_.delta, row), u = rows_of(t_.u, row);
    const Tile delta_u = product(delta, u);  // equal for all states: the compiler hoists it out of the loop
    for (std::int64_t state = 0; state < s_.states; ++state) one(delta, delta_u, state, row, sum);
    e_.store(e_.hbm(t_.out, row, isa::kPartitions), sum);
  }

  Tile product(const Tile& delta, const Tile& u) {
    const Tile out = fp32(s_.seq);
    e_.tensor_tensor(out, delta, Alu::kMul, u);
    return out;
  }

  /// One state of 128 channels.
  void one(const Tile& delta, const Tile& delta_u, std::int64_t state, std::int64_t row, const Tile& sum) {
    const Tile a = e_.loaded(Dtype::kFp32, e_.hbm(t_.a, row, isa::kPartitions, state, 1, 1));
    const std::int64_t piece = s_.version == 3 ? std::min(kPiece, s_.seq) : s_.seq;
    Tile last{};
    for (std::int64_t c = 0; c < s_.seq; c += piece) {
      const std::int64_t size = std::min(piece, s_.seq - c);
      const Tile decay = fp32(size), fed = fp32(size), state_of = fp32(size), seen = fp32(size);
      e_.activation(decay, isa::Fn::kExp, columns(delta, c, size), a);
      times_row(fed, columns(delta_u, c, size), t_.b, state, c);
      e_.emit({.op = isa::Opcode::kTensorTensorScan,
               .engine = isa::Engine::kVector,
               .alu0 = Alu::kMul,
               .alu1 = Alu::kAdd,
               .dst = state_of,
               .a = decay,
               .b = fed,
               .c = last});
      last = columns(state_of, size - 1, 1);
      times_row(seen, state_of, t_.c, state, c);
      e_.tensor_tensor(columns(sum, c, size), columns(sum, c, size), Alu::kAdd, seen);
    }
  }

  /// dst = src times one row of `v`: TensorE multiplies ones by the row, which puts it into all partitions of PSUM.
  void times_row(const Tile& dst, const Tile& src, ValueId v, std::int64_t state, std::int64_t col) {
    const Tile row = e_.loaded(Dtype::kFp32, e_.hbm(v, state, 1, col, src.cols(), 1));
    const Tile ones = runtime::partitions(e_.ones(Dtype::kFp32, isa::kPartitions), 1);
    for (std::int64_t c = 0; c < src.cols(); c += kPiece) {
      const std::int64_t size = std::min(kPiece, src.cols() - c);
      const Tile bank = e_.psum(isa::kPartitions, size);
      e_.matmul(bank, ones, columns(row, c, size), false);
      e_.tensor_tensor(columns(dst, c, size), columns(src, c, size), Alu::kMul, bank);
    }
  }

  Emitter& e_;
  const MambaScan& s_;
  const Tensors& t_;
};

}  // namespace

isa::Program mamba_scan(const MambaScan& s, const isa::Target& target) {
  if (s.version < 1 || s.version > 3 || s.channels < isa::kPartitions || s.channels % isa::kPartitions != 0 ||
      s.seq < 1 || s.states < 1)
    throw base::Error{base::Fault::kUsage, "mamba scan", fmt::format("version {}, {} channels", s.version, s.channels),
                      fmt::format("use version 1, 2 or 3, and a multiple of {} channels", isa::kPartitions)};
  HandKernel kernel{"mamba_scan", target};
  const Tensors t{.delta = kernel.input("delta", s.channels, s.seq, Dtype::kFp32),
                  .u = kernel.input("u", s.channels, s.seq, Dtype::kFp32),
                  .a = kernel.input("a", s.channels, s.states, Dtype::kFp32),
                  .b = kernel.input("b", s.states, s.seq, Dtype::kFp32),
                  .c = kernel.input("c", s.states, s.seq, Dtype::kFp32),
                  .out = kernel.output("out", s.channels, s.seq, Dtype::kFp32)};
  kernel.call(kernel.block("scan", [&](Emitter& e) { Scan{e, s, t}.run(); }));
  const auto rows = static_cast<double>(s.channels * s.states);
  return kernel.finish(2 * 2 * rows * static_cast<double>(s.seq));  // b and c, each put into all partitions
}

}  // namespace validation
