// What the stages of a pipeline say to each other. Each stage is a program of its own.
#include "runtime/autodiff.h"
#include "runtime/emitter.h"
#include "runtime/ops.h"
#include "runtime/optimizer_inputs.h"

namespace runtime {
namespace {

/// All of a tensor as one row, as collectives take it.
Tile message(Emitter& e, ValueId v) {
  Tile tile = e.hbm_flat(v, 0, 1, 1, 0);
  tile.free[0].size = static_cast<std::uint32_t>(e.value(v).elements());
  return tile;
}

/// The other direction of the same pair, for a gradient of the same shape.
Attrs answer(const Graph& graph, const Node& node, ValueId like) {
  const Value& value = graph.value(like);
  return {.stride = value.cols,
          .rows = value.rows,
          .group = node.attrs.group,
          .peer = node.attrs.peer,
          .dtype = value.dtype};
}

/// The rank of the next stage, member attrs.peer of the pair in replica group attrs.group, receives x. The result is x
/// in place: for the stage it stands for the loss, whose gradient with respect to x comes back from that rank. Messages
/// of a group are received in the order in which they were sent. Shapes: [R, C] -> [R, C] in place.
/// Source: Narayanan et al., arXiv:2104.04473, section 2.2.
std::vector<Shape> stage_send_infer(const Contract& c) {
  return {{c.in(0).rows, c.in(0).cols, c.in(0).dtype, c.node.in[0]}};
}

Tensors stage_send_forward(const Attrs&, std::span<const Tensor> in) { return {in[0]}; }

void stage_send_backward(Backward& b, const Node& node) {
  b.add(node, 0, b.op(kStageReceive, node, "grad", {}, answer(b.graph(), node, node.in[0])));
}

void stage_send_lower(Emitter& e, const Node& node) {
  e.emit({.op = Opcode::kSend,
          .engine = isa::Engine::kSync,
          .queue = kActivationQueue,
          .group = node.attrs.group,
          .peer = node.attrs.peer,
          .a = message(e, node.in[0])});
}

/// What member attrs.peer of the pair in replica group attrs.group has sent. Its gradient goes back there.
/// Shapes: none -> [attrs.rows, attrs.stride] of attrs.dtype. Source: as above.
std::vector<Shape> stage_receive_infer(const Contract& c) {
  const Attrs& a = c.node.attrs;
  if (!a.dtype || a.rows < 1 || a.stride < 1) c.fail("has no shape or type", "set attrs.rows, stride and dtype");
  return {{a.rows, a.stride, *a.dtype}};
}

/// A reference knows no other rank: nothing has come.
Tensors stage_receive_forward(const Attrs& a, std::span<const Tensor>) { return {Tensor(a.rows, a.stride)}; }

void stage_receive_backward(Backward& b, const Node& node) {
  b.op(kStageSend, node, "grad", {b.grad(node)}, {.group = node.attrs.group, .peer = node.attrs.peer});
}

void stage_receive_lower(Emitter& e, const Node& node) {
  e.emit({.op = Opcode::kRecv,
          .engine = isa::Engine::kSync,
          .queue = kActivationQueue,
          .group = node.attrs.group,
          .peer = node.attrs.peer,
          .dst = message(e, node.out[0])});
}

}  // namespace

const Op kStageSend{.name = "stage_send",
                    .text = "to the next stage of a pipeline; the gradient comes back from there",
                    .infer = stage_send_infer,
                    .forward = stage_send_forward,
                    .backward = stage_send_backward,
                    .lower_whole = stage_send_lower,
                    .collective = Collective::kInStep,
                    .reaches_out = true};
const Op kStageReceive{.name = "stage_receive",
                       .text = "from the stage before of a pipeline; the gradient goes back there",
                       .infer = stage_receive_infer,
                       .forward = stage_receive_forward,
                       .backward = stage_receive_backward,
                       .lower_whole = stage_receive_lower,
                       .collective = Collective::kInStep,
                       .reaches_out = true};

}  // namespace runtime
