// Sinks of attention: a score of each head that counts in the sum of a softmax and has no value.
#include "runtime/graph/autodiff.h"
#include "runtime/ops/attention.h"

namespace runtime {

Tile with_sink(Emitter& e, const Tile& most, const Tile& sink) {
  e.tensor_tensor(most, most, Alu::kMax, sink);
  const Tile out = e.sbuf(Dtype::kFp32, most.partitions, 1);
  e.tensor_tensor(out, sink, Alu::kSub, most);
  e.activation(out, Fn::kExp, out);
  return out;
}

void keep_share(Emitter& e, const Node& node, const Heads& h, const QueryPlace& at, const Tile& sink,
                const Tile& inverse) {
  if (e.graph().users(node.out[2]).empty() && e.value(node.out[2]).kind == Kind::kActivation) return;
  const Tile share = e.sbuf(Dtype::kFp32, sink.partitions, 1);
  e.tensor_tensor(share, sink, Alu::kMul, inverse);
  e.store(e.hbm(node.out[2], at.sequence * h.seq + at.tile * kPartitions, sink.partitions, at.head, 1, 1), share);
}

/// A sink's score has the gradient of any other: its share times (0, as it has no value, less the sum of the context
/// and its gradient).
void sinks_backward(Backward& b, const Node& node) {
  const std::size_t sinks = node.in.size() - 1;
  if (!b.needs(node, sinks)) return;
  const ValueId terms = b.op(kSinkTerms, node, "sink_terms", {b.grad(node), node.out[0], node.out[2]});
  b.add(node, sinks,
        b.op(kColSum, node, "sinks", {terms}, ResultAttrs{.dtype = b.graph().value(node.in[sinks]).dtype}));
}

namespace {

/// The terms of each query in the gradient of each head's sink: y = -share * the sum over the head of do o. Shapes: do
/// and o [R, H * e], share [R, H] -> y [R, H] fp32. Lowering: a product, sums of each head, and a product.
std::vector<Shape> terms_infer(const Contract& c) {
  const Value &dy = c.in(0), &share = c.in(2);
  c.need(1, dy.rows, dy.cols, "context");
  if (share.rows != dy.rows || dy.cols % share.cols != 0)
    c.fail("the heads do not divide the columns", "give a share for each row and head");
  return {{share.rows, share.cols, Dtype::kFp32}};
}

Tensors terms_forward(const Attrs&, std::span<const Tensor> in) {
  const std::int64_t size = in[0].cols / in[2].cols;
  return {generate(in[2].rows, in[2].cols, [&](auto r, auto h) {
    return -in[2].at(r, h) * dot(in[0].row(r) + h * size, in[1].row(r) + h * size, size);
  })};
}

void terms_lower(RowTiler& r, const Node& node) {
  const Tile dy = r.in(node, 0), share = r.in(node, 2), y = r.out(node, 0);
  const std::int64_t heads = share.cols(), size = dy.cols() / heads;
  const Tile product = r.scratch(Dtype::kFp32, dy.cols()), sums = r.scratch(Dtype::kFp32, heads);
  r.e().tensor_tensor(product, dy, Alu::kMul, r.in(node, 1));
  r.e().reduce(sums, Alu::kAdd, fold(product, heads, size));
  r.e().scalar_tensor_tensor(y, sums, Alu::kMul, -1.0F, Alu::kMul, share);
}

}  // namespace

const Op kSinkTerms{.name = "sink_terms",
                    .text = "terms of the gradient of attention's sinks",
                    .infer = terms_infer,
                    .forward = terms_forward,
                    .lower_rows = terms_lower};

}  // namespace runtime
