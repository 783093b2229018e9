// TensorE and the other transposes.
#include <cstring>
#include <vector>

#include "isa/exec_operand.h"
#include "isa/exec_ops.h"

namespace isa::exec {
namespace {

/// How the host multiplies: types whose every value bf16 holds go as bf16, the others as fp32.
bool fits_bf16(Dtype dtype) {
  return dtype == Dtype::kBf16 || dtype == Dtype::kFp8E4m3 || dtype == Dtype::kFp8E5m2 || dtype == Dtype::kFp8E3m4;
}

/// Rows of an operand as the kernels want them: contiguous, bf16 or fp32.
struct Rows {
  const std::byte* data = nullptr;
  std::int64_t stride = 0;
};

Rows stage(const View& v, Dtype as, std::vector<std::byte>& buffer) {
  if (v.contiguous() && (v.dtype == as || (v.is_fp32() && as == Dtype::kFp32))) return {v.base, v.pstep};
  View packed = v;
  packed.dtype = as;
  packed.size = size_of(as);
  packed.rank = 1;
  packed.axes[0] = {packed.size, v.cols};
  packed.pstep = (v.cols * packed.size + 63) / 64 * 64 + 64;
  buffer.resize(static_cast<std::size_t>(packed.pstep * v.partitions));
  packed.base = buffer.data();
  for (std::int64_t p = 0; p < v.partitions; ++p)
    for (std::int64_t first = 0; first < v.cols; first += kBlock)
      copy_block(packed, v, p, first, std::min(kBlock, v.cols - first), {});
  return {packed.base, packed.pstep};
}

/// What the kernel left in `sums` [M, N], added to dst or stored, cast.
void evict(const View& dst, const float* sums, bool accumulate, const Rounder& how, Context& context) {
  for_blocks(context, dst.partitions, dst.cols, [&](std::int64_t p, std::int64_t first, std::int64_t n) {
    alignas(64) float old[kBlock], total[kBlock];
    const float* sum = sums + p * dst.cols + first;
    if (accumulate) {
      kernels::kernels().binary[static_cast<std::size_t>(Alu::kAdd)](read(dst, p, first, n, old), sum, total,
                                                                     static_cast<std::size_t>(n));
      sum = total;
    }
    write(dst, p, first, n, sum, how);
  });
}

/// Columns in parts that do not change how a panel is packed, hence no bit.
void run_matmul(const kernels::MatMul& whole, bool as_bf16, Context& context) {
  constexpr std::int64_t kPanel = 64;
  const kernels::Kernels& k = kernels::kernels();
  const auto kernel = as_bf16 ? k.matmul_bf16 : k.matmul_fp32;
  const std::int64_t panels = (whole.n + kPanel - 1) / kPanel;
  const bool worth = std::int64_t{whole.k} * whole.m * whole.n >= 512 * 1024;
  split(context.team, panels, worth, [&](std::int64_t begin, std::int64_t end) {
    kernels::MatMul part = whole;
    part.b += begin * kPanel * (as_bf16 ? 2 : 4);
    part.c += begin * kPanel;
    part.n = static_cast<int>(std::min<std::int64_t>(end * kPanel, whole.n) - begin * kPanel);
    kernel(part);
  });
}

void need_floats(const Instr& instr, const View& v, std::string_view name) {
  need(instr, !is_integer(v.dtype), std::string{name} + " holds integers", "convert it to a floating-point type");
}

/// dst[j][i] = a[i][j], bits for bits or through fp32.
void transpose(const Instr& instr, const View& dst, const View& a, const Rounder& how) {
  need(instr, dst.partitions == a.cols && dst.cols == a.partitions, "dst is not the transposed shape of a",
       "give dst the shape [F, P]");
  const kernels::Kernels& k = kernels::kernels();
  static thread_local std::vector<std::byte> converted, turned;
  View from = a;
  if (a.dtype != dst.dtype || !a.contiguous()) {  // convert first: the transposition is of equal types
    from = dst;
    from.partitions = a.partitions, from.cols = a.cols, from.rank = 1;
    from.axes[0] = {dst.size, a.cols};
    from.pstep = (a.cols * dst.size + 63) / 64 * 64 + 64;
    converted.resize(static_cast<std::size_t>(from.pstep * from.partitions));
    from.base = converted.data();
    for (std::int64_t p = 0; p < a.partitions; ++p)
      for (std::int64_t first = 0; first < a.cols; first += kBlock)
        copy_block(from, a, p, first, std::min(kBlock, a.cols - first), how);
  }
  View to = dst;
  if (!dst.contiguous() || dst.base == from.base) {
    to.rank = 1;
    to.axes[0] = {dst.size, dst.cols};
    to.pstep = (dst.cols * dst.size + 63) / 64 * 64 + 64;
    turned.resize(static_cast<std::size_t>(to.pstep * to.partitions));
    to.base = turned.data();
  }
  const int rows = static_cast<int>(a.partitions), cols = static_cast<int>(a.cols);
  if (dst.size == 2)
    k.transpose16(from.base, from.pstep, to.base, to.pstep, rows, cols);
  else if (dst.size == 4)
    k.transpose32(from.base, from.pstep, to.base, to.pstep, rows, cols);
  else
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) to.row(j)[i] = from.row(i)[j];
  if (to.base == dst.base) return;
  for (std::int64_t p = 0; p < dst.partitions; ++p)
    for (std::int64_t first = 0; first < dst.cols; first += kBlock)
      copy_block(dst, to, p, first, std::min(kBlock, dst.cols - first), how);
}

}  // namespace

void matmul(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context);
  const View a = view(instr, instr.a, "a", context), b = view(instr, instr.b, "b", context);
  need_floats(instr, a, "a");
  need_floats(instr, b, "b");
  need(instr, a.partitions == b.partitions && a.partitions <= kernels::kMaxK && a.cols <= kernels::kMaxM,
       "a is not [K, M] with b [K, N], K and M at most 128", "split it into tiles");
  need(instr, dst.partitions == a.cols && dst.cols == b.cols, "dst is not [M, N]", "give dst the shape [M, N]");
  static thread_local std::vector<std::byte> stationary, moving;
  static thread_local std::vector<float> sums;
  const bool as_bf16 = fits_bf16(a.dtype) && fits_bf16(b.dtype);
  const Dtype as = as_bf16 ? Dtype::kBf16 : Dtype::kFp32;
  const Rows left = stage(a, as, stationary), right = stage(b, as, moving);
  const bool direct = dst.dtype == Dtype::kFp32 && dst.contiguous();
  if (!direct) sums.resize(static_cast<std::size_t>(dst.elements()));
  const kernels::MatMul args{.k = static_cast<int>(a.partitions),
                             .m = static_cast<int>(a.cols),
                             .n = static_cast<int>(b.cols),
                             .a = left.data,
                             .a_stride = left.stride,
                             .b = right.data,
                             .b_stride = right.stride,
                             .c = direct ? reinterpret_cast<float*>(dst.base) : sums.data(),
                             .c_stride = direct ? dst.pstep : dst.cols * 4,
                             .accumulate = direct && instr.accumulate};
  run_matmul(args, as_bf16, context);
  if (!direct) evict(dst, sums.data(), instr.accumulate, rounder(index, context), context);
}

void pe_transpose(const Instr& instr, std::uint32_t index, Context& context) {
  const View a = view(instr, instr.a, "a", context);
  need(instr, a.partitions <= kPartitions && a.cols <= kPartitions, "a is larger than 128 x 128",
       "split it into tiles");
  transpose(instr, view(instr, instr.dst, "dst", context), a, rounder(index, context));
}

void dma_transpose(const Instr& instr, std::uint32_t index, Context& context) {
  transpose(instr, view(instr, instr.dst, "dst", context), view(instr, instr.a, "a", context), rounder(index, context));
}

void vector_transpose(const Instr& instr, std::uint32_t index, Context& context) {
  const View dst = view(instr, instr.dst, "dst", context), a = view(instr, instr.a, "a", context);
  need(instr, a.partitions <= 32 && a.cols <= 32, "a is larger than 32 x 32", "split it into squares");
  transpose(instr, dst, a, rounder(index, context));
}

}  // namespace isa::exec
