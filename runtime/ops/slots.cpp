// Rows to the slots of experts and back, among the experts of a rank, and between ranks; the router's loss. Slots are
// defined in runtime/ops/route.cpp.
#include <vector>

#include "runtime/graph/autodiff.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"
#include "runtime/ops/slots.h"

namespace runtime {
namespace {

// ---- rows to the experts' slots and back

/// Rows `index` of a tensor in HBM, in its type.
Tile gathered(Emitter& e, ValueId from, const Tile& index) {
  const Value& value = e.value(from);
  const Tile out = e.sbuf(value.dtype, index.partitions, value.cols);
  e.emit({.op = Opcode::kDmaGather, .engine = isa::Engine::kSync, .dst = out, .a = table_of(e, from), .b = index});
  return out;
}

/// Each slot gets its token's row, times its share if attrs.weighted; one without a token is 0 then, with attrs.cleared
/// too, else it has any row. Shapes: x [T, C], source [S + 1, 1] int32, share [S + 1, 1], place [T, k] int32, gate [T,
/// k] -> [S, C].
std::vector<Shape> to_slots_infer(const Contract& c) {
  const std::int64_t slots = c.in(1).rows - 1;
  c.need(2, slots + 1, 1, "shares");
  return {{slots, c.in(0).cols, c.result_type()}};
}

Tensors to_slots_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<SlotAttrs>();
  return {generate(in[1].rows - 1, in[0].cols, [&](auto s, auto c) {
    const float share = in[2].at(s, 0), factor = a.weighted ? share : a.cleared && share == 0 ? 0.0F : 1.0F;
    return in[0].at(static_cast<std::int64_t>(in[1].at(s, 0)), c) * factor;
  })};
}

void to_slots_backward(Backward& b, const Node& node) {
  const ValueId dslots = b.grad(node);
  const bool weighted = node.attrs.as<SlotAttrs>().weighted;
  if (b.needs(node, 0))
    b.add(node, 0,
          b.op(kFromSlots, node, "grad", {dslots, node.in[3], node.in[4], node.in[1], node.in[2]},
               SlotAttrs{.weighted = weighted}));
  if (weighted && b.needs(node, 4)) b.add(node, 4, b.op(kGateGrad, node, "gates", {node.in[0], dslots, node.in[3]}));
}

void to_slots_lower(Emitter& e, const Node& node) {
  const Value& out = e.value(node.out[0]);
  for (std::int64_t row = 0; row < out.rows; row += kPartitions) {
    const std::int64_t parts = std::min(kPartitions, out.rows - row);
    Tile rows = gathered(e, node.in[0], e.loaded(Dtype::kInt32, e.hbm(node.in[1], row, parts)));
    const auto& [weighted, cleared, dtype] = node.attrs.as<SlotAttrs>();
    if (weighted || cleared || rows.dtype != out.dtype) {
      const Tile scaled = e.sbuf(out.dtype, parts, out.cols);
      if (weighted || cleared) {
        const Tile share = e.loaded(Dtype::kFp32, e.hbm(node.in[2], row, parts));
        if (!weighted) e.tensor_scalar(share, share, Alu::kGt, 0.0F);
        e.tensor_scalar(scaled, rows, Alu::kMul, share);
      } else {
        e.copy(scaled, rows);
      }
      rows = scaled;
    }
    e.store(e.hbm(node.out[0], row, parts), rows);
  }
}

/// Each token gets the sum of its slots' rows, times its gates if attrs.weighted; of slots that dropped it, nothing.
/// Shapes: z [S, C], place [T, k] int32, gate [T, k], source [S + 1, 1] int32, share [S + 1, 1] -> [T, C].
std::vector<Shape> from_slots_infer(const Contract& c) {
  c.need(2, c.in(1).rows, c.in(1).cols, "gates");
  return {{c.in(1).rows, c.in(0).cols, c.result_type()}};
}

Tensors from_slots_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const bool weighted = attrs.as<SlotAttrs>().weighted;
  return {generate(in[1].rows, in[0].cols, [&](auto t, auto c) {
    double sum = 0;
    for (std::int64_t j = 0; j < in[1].cols; ++j)
      if (in[2].at(t, j) > 0)
        sum += static_cast<double>(in[0].at(static_cast<std::int64_t>(in[1].at(t, j)), c)) *
               (weighted ? in[2].at(t, j) : 1.0F);
    return static_cast<float>(sum);
  })};
}

void from_slots_backward(Backward& b, const Node& node) {
  const ValueId dy = b.grad(node);
  const bool weighted = node.attrs.as<SlotAttrs>().weighted;
  if (b.needs(node, 0))
    b.add(node, 0,
          b.op(kToSlots, node, "grad", {dy, node.in[3], node.in[4], node.in[1], node.in[2]},
               SlotAttrs{.weighted = weighted, .cleared = !weighted}));
  if (weighted && b.needs(node, 2)) b.add(node, 2, b.op(kGateGrad, node, "gates", {dy, node.in[0], node.in[1]}));
}

void from_slots_lower(Emitter& e, const Node& node) {
  const Value& out = e.value(node.out[0]);
  const std::int64_t k = e.value(node.in[1]).cols;
  for (std::int64_t row = 0; row < out.rows; row += kPartitions) {
    const std::int64_t parts = std::min(kPartitions, out.rows - row);
    const Tile place = e.loaded(Dtype::kInt32, e.hbm(node.in[1], row, parts));
    const Tile gate = e.loaded(Dtype::kFp32, e.hbm(node.in[2], row, parts)), factor = e.sbuf(Dtype::kFp32, parts, k);
    const Tile sum = e.sbuf(Dtype::kFp32, parts, out.cols), result = e.sbuf(out.dtype, parts, out.cols);
    if (node.attrs.as<SlotAttrs>().weighted)
      e.copy(factor, gate);
    else
      e.tensor_scalar(factor, gate, Alu::kGt, 0.0F);
    for (std::int64_t j = 0; j < k; ++j) {
      const Tile rows = gathered(e, node.in[0], columns(place, j, 1)), mine = columns(factor, j, 1);
      if (j == 0)
        e.tensor_scalar(k == 1 ? result : sum, rows, Alu::kMul, mine);
      else
        e.scalar_tensor_tensor(j + 1 == k ? result : sum, rows, Alu::kMul, mine, Alu::kAdd, sum);
    }
    e.store(e.hbm(node.out[0], row, parts), result);
  }
}

/// The dot products of a token's gradient and the rows of its slots. Shapes: dy [T, C], z [S, C], place [T, k] int32 ->
/// [T, k] fp32, arbitrary for dropped choices, never read.
std::vector<Shape> gate_grad_infer(const Contract& c) { return {{c.in(2).rows, c.in(2).cols, Dtype::kFp32}}; }

Tensors gate_grad_forward(const Attrs&, std::span<const Tensor> in) {
  return {generate(in[2].rows, in[2].cols, [&](auto t, auto j) {
    double sum = 0;
    for (std::int64_t c = 0; c < in[0].cols; ++c)
      sum += static_cast<double>(in[0].at(t, c)) * in[1].at(static_cast<std::int64_t>(in[2].at(t, j)), c);
    return static_cast<float>(sum);
  })};
}

void gate_grad_lower(Emitter& e, const Node& node) {
  const Value& dy = e.value(node.in[0]);
  const std::int64_t k = e.value(node.in[2]).cols;
  for (std::int64_t row = 0; row < dy.rows; row += kPartitions) {
    const std::int64_t parts = std::min(kPartitions, dy.rows - row);
    const Tile d = e.loaded(dy.dtype, e.hbm(node.in[0], row, parts));
    const Tile place = e.loaded(Dtype::kInt32, e.hbm(node.in[2], row, parts)), out = e.sbuf(Dtype::kFp32, parts, k);
    const Tile product = e.sbuf(Dtype::kFp32, parts, dy.cols);
    for (std::int64_t j = 0; j < k; ++j) {
      e.tensor_tensor(product, d, Alu::kMul, gathered(e, node.in[1], columns(place, j, 1)));
      e.reduce(columns(out, j, 1), Alu::kAdd, product);
    }
    e.store(e.hbm(node.out[0], row, parts), out);
  }
}

// ---- slots among the experts of a rank, and between ranks

/// Rows of attrs.blocks x attrs.parts x n: part p of every block, one after the other, is result p. Shapes: [R, C] ->
/// attrs.parts times [R / attrs.parts, C].
std::vector<Shape> split_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<BlocksAttrs>();
  if (a.blocks < 1 || a.parts < 1 || c.in(0).rows % (a.blocks * a.parts) != 0)
    c.fail("the rows are not equal parts of equal blocks", "choose slots that ranks and experts divide");
  return std::vector<Shape>(static_cast<std::size_t>(a.parts), {c.in(0).rows / a.parts, c.in(0).cols, c.in(0).dtype});
}

/// The row of the whole that row r of part p is; n: rows of a part of a block.
std::int64_t row_of_part(const BlocksAttrs& a, std::int64_t n, std::int64_t p, std::int64_t r) {
  return (r / n * a.parts + p) * n + r % n;
}

Tensors split_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<BlocksAttrs>();
  const std::int64_t rows = in[0].rows / a.parts, n = rows / a.blocks;
  Tensors out;
  for (std::int64_t p = 0; p < a.parts; ++p)
    out.push_back(generate(rows, in[0].cols, [&](auto r, auto c) { return in[0].at(row_of_part(a, n, p, r), c); }));
  return out;
}

void split_backward(Backward& b, const Node& node) {
  std::vector<ValueId> parts;
  for (std::size_t p = 0; p < node.out.size(); ++p) parts.push_back(b.grad(node, p));
  b.add(node, 0, b.op(kJoinBlocks, node, "grad", parts, node.attrs.as<BlocksAttrs>()));
}

/// Copies block by block; whole and parts as in split.
void move_blocks(Emitter& e, const BlocksAttrs& a, ValueId whole, const std::vector<ValueId>& parts, bool join) {
  const std::int64_t cols = e.value(whole).cols, n = e.value(whole).rows / (a.blocks * a.parts);
  for (std::int64_t p = 0; p < a.parts; ++p)
    for (std::int64_t block = 0; block < a.blocks; ++block) {
      const ValueId part = parts[static_cast<std::size_t>(p)];
      const Tile some = e.hbm_flat(part, block * n * cols, 1, n * cols, 0);
      const Tile there = e.hbm_flat(whole, row_of_part(a, n, p, block * n) * cols, 1, n * cols, 0);
      join ? e.store(there, some) : e.store(some, there);
    }
}

void split_lower(Emitter& e, const Node& node) {
  move_blocks(e, node.attrs.as<BlocksAttrs>(), node.in[0], node.out, false);
}

/// The way back.
std::vector<Shape> join_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<BlocksAttrs>();
  if (static_cast<std::int64_t>(c.inputs()) != a.parts || a.blocks < 1 || c.in(0).rows % a.blocks != 0)
    c.fail("does not have as many operands as parts", "give every part");
  for (std::size_t i = 1; i < c.inputs(); ++i) c.need(i, c.in(0).rows, c.in(0).cols, "part");
  return {{c.in(0).rows * a.parts, c.in(0).cols, c.in(0).dtype}};
}

Tensors join_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<BlocksAttrs>();
  const std::int64_t n = in[0].rows / a.blocks;
  Tensor out(in[0].rows * a.parts, in[0].cols);
  for (std::int64_t p = 0; p < a.parts; ++p)
    for (std::int64_t r = 0; r < in[0].rows; ++r)
      for (std::int64_t c = 0; c < out.cols; ++c)
        out.at(row_of_part(a, n, p, r), c) = in[static_cast<std::size_t>(p)].at(r, c);
  return {out};
}

void join_backward(Backward& b, const Node& node) {
  const std::vector<ValueId> parts = b.ops(kSplitBlocks, node, "grad", {b.grad(node)}, node.attrs.as<BlocksAttrs>());
  for (std::size_t p = 0; p < parts.size(); ++p) b.add(node, p, parts[p]);
}

void join_lower(Emitter& e, const Node& node) {
  move_blocks(e, node.attrs.as<BlocksAttrs>(), node.out[0], node.in, true);
}

/// Part r of the rows goes to rank r of attrs.group, whose parts are stored one after the other. Shapes: [R, C] -> [R,
/// C], R a multiple of attrs.ranks. The gradient goes the same way.
std::vector<Shape> exchange_infer(const Contract& c) {
  const std::int64_t ranks = c.node.attrs.as<CollectiveAttrs>().ranks;
  if (ranks < 1 || c.in(0).rows % ranks != 0)
    c.fail("the ranks do not divide the rows", "choose experts that they divide");
  return {{c.in(0).rows, c.in(0).cols, c.in(0).dtype}};
}

Tensors exchange_forward(const Attrs&, std::span<const Tensor> in) { return {in[0]}; }

void exchange_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kRankExchange, node, "grad", {b.grad(node)}, node.attrs.as<CollectiveAttrs>()));
}

void exchange_lower(Emitter& e, const Node& node) {
  e.emit({.op = Opcode::kAllToAll,
          .engine = isa::Engine::kSync,
          .queue = kActivationQueue,
          .group = node.attrs.as<CollectiveAttrs>().group,
          .dst = e.hbm_whole(node.out[0]),
          .a = e.hbm_whole(node.in[0])});
}

/// The router's loss: attrs.alpha * sum of load * mass; the load counts as a constant. Shapes: load, mass [1, E] ->
/// loss [1, 1], dmass [1, E] (times attrs.scale). Source: Fedus et al., arXiv:2101.03961, eq. 4.
std::vector<Shape> balance_infer(const Contract& c) {
  c.need(1, 1, c.in(0).cols, "mass");
  return {{1, 1, Dtype::kFp32}, {1, c.in(0).cols, Dtype::kFp32}};
}

Tensors balance_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<BalanceAttrs>();
  double loss = 0;
  for (std::int64_t e = 0; e < in[0].cols; ++e) loss += static_cast<double>(in[0].at(0, e)) * in[1].at(0, e);
  return {generate(1, 1, [&](auto, auto) { return a.alpha * loss; }),
          generate(1, in[0].cols, [&](auto, auto e) { return a.alpha * a.scale * in[0].at(0, e); })};
}

void balance_backward(Backward& b, const Node& node) { b.add(node, 1, node.out[1]); }

void balance_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<BalanceAttrs>();
  const std::int64_t experts = e.value(node.in[0]).cols;
  const Tile load = e.loaded(Dtype::kFp32, e.hbm(node.in[0], 0, 1)),
             mass = e.loaded(Dtype::kFp32, e.hbm(node.in[1], 0, 1));
  const Tile product = e.sbuf(Dtype::kFp32, 1, experts), dmass = e.sbuf(Dtype::kFp32, 1, experts);
  const Tile sum = e.sbuf(Dtype::kFp32, 1, 1), loss = e.sbuf(Dtype::kFp32, 1, 1);
  e.tensor_tensor(product, load, Alu::kMul, mass);
  e.reduce(sum, Alu::kAdd, product);
  e.tensor_scalar(loss, sum, Alu::kMul, static_cast<float>(a.alpha));
  e.store(e.hbm(node.out[0], 0, 1), loss);
  e.tensor_scalar(dmass, load, Alu::kMul, static_cast<float>(a.alpha * a.scale));
  e.store(e.hbm(node.out[1], 0, 1), dmass);
}

}  // namespace

const Op kToSlots{.name = "to_slots",
                  .text = "tokens' rows to the slots of their experts",
                  .attrs = SlotAttrs{},
                  .infer = to_slots_infer,
                  .forward = to_slots_forward,
                  .backward = to_slots_backward,
                  .lower_whole = to_slots_lower};
const Op kFromSlots{.name = "from_slots",
                    .text = "sum of a token's rows in the slots of its experts",
                    .attrs = SlotAttrs{},
                    .infer = from_slots_infer,
                    .forward = from_slots_forward,
                    .backward = from_slots_backward,
                    .lower_whole = from_slots_lower};
const Op kGateGrad{.name = "gate_grad",
                   .text = "gradient of the gates",
                   .infer = gate_grad_infer,
                   .forward = gate_grad_forward,
                   .lower_whole = gate_grad_lower};
const Op kSplitBlocks{.name = "split_blocks",
                      .text = "the parts of all blocks of rows, each by itself",
                      .attrs = BlocksAttrs{},
                      .infer = split_infer,
                      .forward = split_forward,
                      .backward = split_backward,
                      .lower_whole = split_lower};
const Op kJoinBlocks{.name = "join_blocks",
                     .text = "blocks of rows from their parts",
                     .attrs = BlocksAttrs{},
                     .infer = join_infer,
                     .forward = join_forward,
                     .backward = join_backward,
                     .lower_whole = join_lower};
const Op kRankExchange{.name = "rank_exchange",
                       .text = "all-to-all: part r of the rows goes to rank r",
                       .attrs = CollectiveAttrs{},
                       .infer = exchange_infer,
                       .forward = exchange_forward,
                       .backward = exchange_backward,
                       .lower_whole = exchange_lower,
                       .collective = Collective::kInStep};
const Op kBalance{.name = "balance",
                  .text = "a router's loss: experts' loads times their probabilities",
                  .attrs = BalanceAttrs{},
                  .infer = balance_infer,
                  .forward = balance_forward,
                  .backward = balance_backward,
                  .lower_whole = balance_lower};

}  // namespace runtime
