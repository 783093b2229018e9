// Element-wise operations and reductions of rows, for graphs of any kind.
#include <array>

#include "base/error.h"
#include "runtime/ops/element_numbers.h"
#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

using isa::Engine;

/// An operand of [R, C] may be [1, C], [R, 1] or [1, 1]. Forms: ElementForm. Lowering: an instruction or a few on
/// VectorE, ScalarE for functions; integers of 32 bits are added on GpSimdE, where that is exact.
std::vector<Shape> element_infer(const Contract& c) {
  std::int64_t rows = 1, cols = 1;
  for (std::size_t i = 0; i < c.inputs(); ++i) rows = std::max(rows, c.in(i).rows), cols = std::max(cols, c.in(i).cols);
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    const Value& v = c.in(i);
    if ((v.rows != rows && v.rows != 1) || (v.cols != cols && v.cols != 1)) c.need(i, rows, cols, "operand");
  }
  return {{rows, cols, c.result_type()}};
}

Tensors element_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<ElementAttrs>();
  std::int64_t rows = 1, cols = 1;
  for (const Tensor& t : in) rows = std::max(rows, t.rows), cols = std::max(cols, t.cols);
  const auto at = [&](std::size_t i, auto r, auto c) { return i < in.size() ? double{in[i].broadcast(r, c)} : 0.0; };
  return {generate(rows, cols, [&](auto r, auto c) {
    return static_cast<float>(computed(a, at(0, r, c), at(1, r, c), at(2, r, c)));
  })};
}

bool is_32(const Tile& t) { return t.dtype == Dtype::kInt32 || t.dtype == Dtype::kUint32; }

void pair_lower(RowTiler& r, const Tile& y, const Tile& a, Alu alu, const Tile& b) {
  const bool whole = is_32(y) && is_32(a) && is_32(b) && (alu == Alu::kAdd || alu == Alu::kSub || alu == Alu::kMul);
  if (whole)
    r.e().emit({.op = Opcode::kTensorTensor, .engine = Engine::kGpSimd, .alu0 = alu, .dst = y, .a = a, .b = b});
  else
    r.e().tensor_tensor(y, a, alu, b);
}

/// Tiles of SBUF: an instruction reads one operand in PSUM at the most.
Tile in_sbuf(RowTiler& r, const Tile& tile) {
  if (tile.space != isa::Space::kPsum) return tile;
  const Tile copy = r.scratch(tile.dtype, tile.cols());
  r.e().copy(copy, tile);
  return copy;
}

/// The nearest whole number, by way of an integer, then one less where that is above. Numbers of 2^23 and more are
/// whole, and so is zero, which keeps its sign.
void floor_lower(RowTiler& r, const Tile& y, const Tile& given) {
  constexpr float kWhole = 8388608.0F;
  const std::int64_t cols = y.cols();
  const Tile a = in_sbuf(r, given), few = r.scratch(Dtype::kUint8, cols);
  r.e().tensor_scalar(few, a, Alu::kAbs, 0.0F, Alu::kLt, kWhole);
  r.e().scalar_tensor_tensor(few, a, Alu::kNe, 0.0F, Alu::kMul, few);
  const Tile whole = r.scratch(Dtype::kInt32, cols), above = r.scratch(Dtype::kFp32, cols);
  r.e().copy(whole, a);
  r.e().tensor_tensor(above, whole, Alu::kGt, a);
  r.e().tensor_tensor(above, whole, Alu::kSub, above);
  r.e().emit({.op = Opcode::kSelect, .engine = Engine::kVector, .dst = y, .a = above, .b = few, .c = a});
}

/// Tiles of fp32 for the parts of a formula.
struct Parts {
  RowTiler& r;
  std::int64_t cols;
  Tile made() const { return r.scratch(Dtype::kFp32, cols); }
  Tile pair(const Tile& a, Alu alu, const Tile& b) const {
    const Tile out = made();
    r.e().tensor_tensor(out, a, alu, b);
    return out;
  }
  Tile size(const Tile& a) const {
    const Tile out = made();
    r.e().tensor_scalar(out, a, Alu::kAbs, 0.0F);
    return out;
  }
  /// a where b is smaller than the number, else c.
  Tile below(const Tile& b, const Tile& limit, const Tile& a, const Tile& c) const {
    const Tile out = made(), truth = r.scratch(Dtype::kUint8, cols);
    r.e().tensor_tensor(truth, b, Alu::kLt, limit);
    r.e().emit({.op = Opcode::kSelect, .engine = Engine::kVector, .dst = out, .a = a, .b = truth, .c = c});
    return out;
  }
  /// The upper 12 bits of a number, and the lower 12, whose products with those of another are exact.
  std::array<Tile, 2> halves(const Tile& a) const {
    Tile upper = made();
    const auto bits = [](Tile tile) { return tile.dtype = Dtype::kUint32, tile; };
    r.e().tensor_scalar(bits(upper), bits(a), Alu::kAnd, 4294963200.0F);
    return {upper, pair(a, Alu::kSub, upper)};
  }
};

/// The whole number that is nearest to a positive one.
Tile nearest(const Parts& parts, const Tile& a) {
  const Tile whole = parts.r.scratch(Dtype::kInt32, parts.cols), real = parts.made(), few = parts.made();
  parts.r.e().copy(whole, a);
  parts.r.e().copy(real, whole);
  parts.r.e().tensor_scalar(few, a, Alu::kMul, 0.0F, Alu::kAdd, 8388608.0F);
  return parts.below(a, few, real, a);
}

/// The sizes' rest by the nearest quotient: each product is one of 12 bits with 12, and each difference exact (Dekker).
/// One divisor more where that quotient was above. A dividend below the divisor is its own rest.
void rest_lower(RowTiler& r, const Tile& y, const Tile& a, const Tile& b) {
  const Parts parts{r, y.cols()};
  const Tile size = parts.size(a), divisor = parts.size(b);
  Tile rest = size;
  const auto divisors = parts.halves(divisor);
  for (const Tile& quotient : parts.halves(nearest(parts, parts.pair(size, Alu::kDiv, divisor))))
    for (const Tile& part : divisors) rest = parts.pair(rest, Alu::kSub, parts.pair(quotient, Alu::kMul, part));
  const Tile more = parts.made(), sign = parts.made();
  r.e().scalar_tensor_tensor(more, rest, Alu::kLt, 0.0F, Alu::kMul, divisor);
  r.e().activation(sign, Fn::kSign, a);
  rest = parts.pair(parts.pair(rest, Alu::kAdd, more), Alu::kMul, sign);
  r.e().copy(y, parts.below(size, divisor, a, rest));
}

void select_lower(RowTiler& r, const Tile& y, const Tile& p, const Tile& a, const Tile& b) {
  Tile truth = p;
  if (p.dtype != Dtype::kUint8 && p.dtype != Dtype::kInt8) {
    truth = r.scratch(Dtype::kUint8, y.cols());
    r.e().tensor_scalar(truth, p, Alu::kNe, 0.0F);
  }
  r.e().emit(
      {.op = Opcode::kSelect, .engine = Engine::kVector, .dst = y, .a = in_sbuf(r, a), .b = truth, .c = in_sbuf(r, b)});
}

/// One instruction for both operations: the first takes one number of each partition, the second as well, or a tile.
void dual_lower(RowTiler& r, const Node& node, const Tile& y, Span span) {
  const auto& a = node.attrs.as<ElementAttrs>();
  const Tile x = r.in(node, 0, span), then = r.in(node, 1, span), first = r.in(node, 2, span);
  if (then.cols() == 1 && span.size > 1) return r.e().tensor_scalar_anywhere(y, x, a.alu, first, a.then, then);
  r.e().scalar_tensor_tensor(y, x.space == then.space ? in_sbuf(r, x) : x, a.alu, first, a.then, then);
}

void element_lower(RowTiler& r, const Node& node, Span span) {
  const auto& a = node.attrs.as<ElementAttrs>();
  const Tile y = r.out(node, 0, span);
  const bool power = a.alu == Alu::kPow || a.then == Alu::kPow;  // on GpSimdE, which reads SBUF
  const auto in = [&](std::size_t i) {
    const Tile tile = fit(r.in(node, i, span), span.size);
    return power ? in_sbuf(r, tile) : tile;
  };
  switch (a.form) {
    case ElementForm::kPair: {
      const Tile column = r.in(node, 1, span);  // one number of each partition: one stream in place of two
      if (column.cols() == 1 && span.size > 1 && !is_32(y))
        return r.e().tensor_scalar_anywhere(y, in(0), a.alu, column);
      const Tile p = in(0), q = in(1);
      return pair_lower(r, y, p.space == q.space ? in_sbuf(r, p) : p, a.alu, q);
    }
    case ElementForm::kNumbers:
      return r.e().tensor_scalar_anywhere(y, in(0), a.alu, static_cast<float>(a.x), a.then, static_cast<float>(a.y));
    case ElementForm::kFunction:
      if (a.fn == Fn::kCopy && a.x == 1 && a.y == 0) return r.e().copy(y, in(0));
      return r.e().activation(y, a.fn, in(0), static_cast<float>(a.x), static_cast<float>(a.y));
    case ElementForm::kSelect: return select_lower(r, y, in(0), in(1), in(2));
    case ElementForm::kFloor: return floor_lower(r, y, in(0));
    case ElementForm::kDual: return dual_lower(r, node, y, span);
    case ElementForm::kRest: return rest_lower(r, y, in_sbuf(r, in(0)), in_sbuf(r, in(1)));
  }
}

/// y[r] = the elements of row r, taken together by attrs.alu. Shapes: [R, C] -> [R, 1]. Lowering: one tensor_reduce.
std::vector<Shape> reduce_infer(const Contract& c) { return {{c.in(0).rows, 1, c.result_type()}}; }

Tensors reduce_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const Alu alu = attrs.as<ReduceAttrs>().alu;
  return {generate(in[0].rows, 1, [&](auto r, auto) {
    double all = in[0].at(r, 0);
    for (std::int64_t c = 1; c < in[0].cols; ++c) all = computed(alu, all, in[0].at(r, c));
    return static_cast<float>(all);
  })};
}

void reduce_lower(RowTiler& r, const Node& node) {
  r.e().reduce(r.out(node, 0), node.attrs.as<ReduceAttrs>().alu, r.in(node, 0));
}

}  // namespace

const Op kElement{.name = "element",
                  .text = "an operation on elements; operands may be a row, a column or one element",
                  .attrs = ElementAttrs{},
                  .infer = element_infer,
                  .forward = element_forward,
                  .lower_columns = element_lower};
const Op kRowReduce{.name = "row_reduce",
                    .text = "the sum, product, largest or smallest of each row",
                    .attrs = ReduceAttrs{},
                    .infer = reduce_infer,
                    .forward = reduce_forward,
                    .lower_rows = reduce_lower};

}  // namespace runtime
