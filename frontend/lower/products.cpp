// The lowering of dot products to matmuls.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "frontend/lower/formula.h"
#include "frontend/lower/one_hot.h"
#include "frontend/lower/orders.h"
#include "frontend/lower/products.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

Dims others_of(const Type& type, const Dims& batch, const Dims& summed) {
  Dims out;
  for (std::int64_t d = 0; d < type.rank(); ++d)
    if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(summed, d) == summed.end()) out.push_back(d);
  return out;
}

/// The dimension with the shortest stride, the longest of those.
std::int64_t fastest(const View& view) {
  std::int64_t best = 0;
  const auto step = [&](std::int64_t d) { return std::abs(view.strides[static_cast<std::size_t>(d)]); };
  const auto size = [&](std::int64_t d) { return view.dims[static_cast<std::size_t>(d)]; };
  for (std::int64_t d = 1; d < static_cast<std::int64_t>(view.dims.size()); ++d) {
    if (size(d) == 1 || step(d) == 0) continue;
    const bool nearer = size(best) == 1 || step(best) == 0 || step(d) < step(best);
    if (nearer || (step(d) == step(best) && size(d) > size(best))) best = d;
  }
  return best;
}

}  // namespace

void settle(Lowerer& l, Operand& o) {
  if (o.view.is_number()) o.view = dense_view(l.matrix(o.view), o.view.dims, o.view.dtype);
  auto rows = joined_axis(o.view, o.kept), depth = joined_axis(o.view, o.summed);
  if (!rows || !depth || rows->stride < 0 || depth->stride < 0) {
    const std::int64_t last = fastest(o.view);
    const bool kept_last = std::ranges::find(o.kept, last) != o.kept.end();
    const std::array<Dims*, 3> parts{&o.batch, kept_last ? &o.summed : &o.kept, kept_last ? &o.kept : &o.summed};
    Dims order;
    for (const Dims* dims : parts) order.insert(order.end(), dims->begin(), dims->end());
    const View turned = transposed(o.view, order);
    o.view = dense_view(l.matrix(turned), turned.dims, turned.dtype);
    std::int64_t next = 0;
    for (Dims* dims : parts)
      for (std::int64_t& d : *dims) d = next++;
    rows = joined_axis(o.view, o.kept), depth = joined_axis(o.view, o.summed);
  }
  o.rows = *rows, o.depth = *depth;
}

namespace {

/// [rows, depth] one row behind the other.
bool by_rows(const Operand& o) {
  return (o.depth.stride == 1 || o.depth.size == 1) && (o.rows.stride == o.depth.size || o.rows.size == 1);
}
/// [depth, rows].
bool by_depth(const Operand& o) {
  return (o.rows.stride == 1 || o.rows.size == 1) && (o.depth.stride == o.rows.size || o.depth.size == 1);
}

}  // namespace

bool are_plain(const Operand& x, const Operand& w) {
  return (by_rows(x) && (by_rows(w) || by_depth(w))) || (by_depth(x) && by_depth(w));
}

namespace {

runtime::ValueId matrix_of(Lowerer& l, const Operand& o, std::int64_t rows, std::int64_t cols) {
  View view = dense_view(o.view.base, {rows, cols}, o.view.dtype);
  view.first = o.view.first;
  return l.matrix(view, rows, cols);
}

}  // namespace

runtime::ValueId plain_product(Lowerer& l, const Operand& x, const Operand& w, Dtype dtype) {
  const std::int64_t m = x.rows.size, k = x.depth.size, n = w.rows.size;
  const auto operand = l.options().operand;
  if (!by_rows(x))
    return l.add(runtime::kMatmulTn, {matrix_of(l, x, k, m), matrix_of(l, w, k, n)},
                 runtime::MatmulTnAttrs{.dtype = dtype, .operand = operand});
  const bool turned = !by_depth(w);
  return l.add(runtime::kMatmul, {matrix_of(l, x, m, k), turned ? matrix_of(l, w, n, k) : matrix_of(l, w, k, n)},
               runtime::MatmulAttrs{.trans_b = turned, .dtype = dtype, .operand = operand});
}

namespace {

Dims strides_of(const Operand& o, bool depth_last) {
  Dims out;
  for (const std::int64_t d : o.batch) out.push_back(o.view.strides[static_cast<std::size_t>(d)]);
  out.push_back(depth_last ? o.rows.stride : o.depth.stride);
  out.push_back(depth_last ? o.depth.stride : o.rows.stride);
  return out;
}

}  // namespace

runtime::ValueId batch_product(Lowerer& l, const Operand& x, const Operand& w, Dtype dtype) {
  runtime::BatchMatmulAttrs attrs{.m = x.rows.size,
                                  .k = x.depth.size,
                                  .n = w.rows.size,
                                  .x = strides_of(x, true),
                                  .w = strides_of(w, false),
                                  .x_first = x.view.first,
                                  .w_first = w.view.first,
                                  .dtype = dtype,
                                  .operand = l.options().operand};
  for (const std::int64_t d : x.batch) attrs.batch.push_back(x.view.dims[static_cast<std::size_t>(d)]);
  return l.add(runtime::kBatchMatmul, {x.view.base, w.view.base}, attrs);
}

namespace {

void product(Lowerer& l, const View& lhs, const View& rhs, const DotDims& dims) {
  if (l.type_out().dims.empty() ? false : element_count(l.type_out().dims) == 0)
    return l.set(number_view(0, l.type_out().dims, l.dtype_out()));
  const auto type_of = [](const View& v) { return Type{.dims = v.dims}; };
  Operand x{
      lhs, dims.lhs_batch, others_of(type_of(lhs), dims.lhs_batch, dims.lhs_contracting), dims.lhs_contracting, {}, {}};
  Operand w{
      rhs, dims.rhs_batch, others_of(type_of(rhs), dims.rhs_batch, dims.rhs_contracting), dims.rhs_contracting, {}, {}};
  if (element_count(lhs.dims) == 0 || element_count(rhs.dims) == 0)
    return l.set(number_view(0, l.type_out().dims, l.dtype_out()));
  settle(l, x);
  settle(l, w);
  if (x.depth.size != w.depth.size) l.refuse("sums over axes of different size", "give equal sizes");
  std::int64_t batch = 1;
  for (const std::int64_t d : x.batch) batch *= x.view.dims[static_cast<std::size_t>(d)];
  const bool plain = batch == 1 && are_plain(x, w);
  const Dtype dtype = product_type(l);
  const runtime::ValueId y = plain ? plain_product(l, x, w, dtype) : batch_product(l, x, w, dtype);
  l.set(in_own_type(l, dense_view(y, l.type_out().dims, dtype)));
}

}  // namespace

std::vector<View> factors(Lowerer& l, std::int64_t depth) {
  constexpr double kFp32Whole = 16777216.0;
  std::vector<View> out{l.in(0), l.in(1)};
  double largest = static_cast<double>(depth);
  bool whole = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Element element = l.type_in(i).element;
    if (is_float(element)) continue;
    if (info(element).bits == 64)
      l.refuse("EVRF035: products of 64-bit integers", "convert the operands to a floating-point type");
    whole = true;
    largest *= bound_of(l, out[i]);
    out[i] = out[i].is_number() ? number_view(out[i].number, out[i].dims, Dtype::kFp32)
                                : Formula{l, out[i]}.as(Dtype::kFp32).view();
  }
  if (whole && (largest > kFp32Whole || l.options().operand))
    l.only_timed("TensorE multiplies integers in fp32, which is exact only up to 2^24, or in fewer bits");
  return out;
}

Dtype product_type(Lowerer& l) { return isa::is_integer(l.dtype_out()) ? Dtype::kFp32 : l.dtype_out(); }

View in_own_type(Lowerer& l, const View& product) {
  const Formula sum{l, product};
  if (is_bool(l.type_out().element)) return (sum > 0.5).as(l.dtype_out()).view();
  return isa::is_integer(l.dtype_out()) ? lowest_bits(l, sum.as(Dtype::kInt32).view(), l.dtype_out()) : product;
}

namespace {

std::int64_t size_of(const Type& type, const Dims& dims) {
  std::int64_t out = 1;
  for (const std::int64_t d : dims) out *= type.dims[static_cast<std::size_t>(d)];
  return out;
}

void dot_general(Lowerer& l) {
  const DotDims dims = dot_dims(l.node().attributes);
  const bool reals = is_float(l.type_in(0).element) && is_float(l.type_in(1).element);
  if (reals && one_hot_product(l, dims)) return;
  const std::vector<View> in = factors(l, size_of(l.type_in(0), dims.lhs_contracting));
  product(l, in[0], in[1], dims);
}

void dot(Lowerer& l) {
  const DotDims dims{
      .lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {l.type_in(0).rank() - 1}, .rhs_contracting = {0}};
  const std::vector<View> in = factors(l, size_of(l.type_in(0), dims.lhs_contracting));
  product(l, in[0], in[1], dims);
}

}  // namespace

Rule product_rule(std::string_view op) {
  if (op == "dot_general") return dot_general;
  if (op == "dot") return dot;
  return op == "convolution" ? convolution : nullptr;
}

}  // namespace trnsim::frontend
