#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

/// y = x / (1 - p) where the random bits keep it, else 0. Shapes: [R, C] -> [R, C].
/// The bits depend on seed, step, rank, call, stream and place alone, so that the gradient, the same op on dy with the
/// same stream, drops the same elements. Source: Srivastava et al., JMLR 15 (2014); the device's row: isa/table.h.
/// The reference keeps everything: its expectation.
Tensors dropout_forward(const Attrs&, std::span<const Tensor> in) { return {in[0]}; }

void dropout_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kDropout, node, "grad", {b.grad(node)}, node.attrs));
}

void dropout_lower(RowTiler& r, const Node& node, Span span) {
  // Pieces of one size wherever it runs, fused into a matmul or not: else forward and backward would disagree.
  const auto& a = node.attrs.as<DropoutAttrs>();
  const std::int64_t pieces = ceil_div(r.cols_of(node.out[0]), kChunk);
  const Tile x = r.in(node, 0, span), y = r.out(node, 0, span);
  for (std::int64_t c = 0; c < span.size; c += kChunk) {
    const std::int64_t size = std::min(kChunk, span.size - c);
    const std::int64_t piece = r.tile() * pieces + (span.begin + c) / kChunk;
    r.e().dropout(columns(y, c, size), columns(x, c, size), a.p,
                  {.stream = a.stream, .piece = static_cast<std::uint32_t>(piece), .alike = a.alike});
  }
}

}  // namespace

const Op kDropout{.name = "dropout",
                  .text = "x / (1 - p) with probability 1 - p, else 0",
                  .attrs = DropoutAttrs{},
                  .infer = same_or_broadcast,
                  .forward = dropout_forward,
                  .backward = dropout_backward,
                  .lower_columns = dropout_lower};

}  // namespace runtime
