// Messages between the stages of a pipeline. Each stage is a program of its own.
#include "runtime/compiler/emitter.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

/// The other direction of the same pair, for a gradient of the same shape.
ReceiveAttrs answer(const Graph& graph, const Node& node, ValueId like) {
  const Value& value = graph.value(like);
  const auto& sent = node.attrs.as<SendAttrs>();
  return {.rows = value.rows, .cols = value.cols, .group = sent.group, .peer = sent.peer, .dtype = value.dtype};
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
          .group = node.attrs.as<SendAttrs>().group,
          .peer = node.attrs.as<SendAttrs>().peer,
          .a = e.hbm_whole(node.in[0])});
}

/// The message of member attrs.peer of the pair in replica group attrs.group. Its gradient goes back there.
/// Shapes: none -> [attrs.rows, attrs.cols] of attrs.dtype. Source: as above.
std::vector<Shape> stage_receive_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<ReceiveAttrs>();
  if (!a.dtype || a.rows < 1 || a.cols < 1) c.fail("has no shape or type", "set attrs.rows, cols and dtype");
  return {{a.rows, a.cols, *a.dtype}};
}

/// A reference knows no other rank: nothing has come.
Tensors stage_receive_forward(const Attrs& attrs, std::span<const Tensor>) {
  const auto& a = attrs.as<ReceiveAttrs>();
  return {Tensor(a.rows, a.cols)};
}

void stage_receive_backward(Backward& b, const Node& node) {
  const auto& received = node.attrs.as<ReceiveAttrs>();
  b.op(kStageSend, node, "grad", {b.grad(node)}, SendAttrs{.group = received.group, .peer = received.peer});
}

void stage_receive_lower(Emitter& e, const Node& node) {
  e.emit({.op = Opcode::kRecv,
          .engine = isa::Engine::kSync,
          .queue = kActivationQueue,
          .group = node.attrs.as<ReceiveAttrs>().group,
          .peer = node.attrs.as<ReceiveAttrs>().peer,
          .dst = e.hbm_whole(node.out[0])});
}

}  // namespace

const Op kStageSend{.name = "stage_send",
                    .text = "to the next stage of a pipeline; the gradient comes back from there",
                    .attrs = SendAttrs{},
                    .infer = stage_send_infer,
                    .forward = stage_send_forward,
                    .backward = stage_send_backward,
                    .lower_whole = stage_send_lower,
                    .collective = Collective::kInStep,
                    .reaches_out = true};
const Op kStageReceive{.name = "stage_receive",
                       .text = "from the stage before of a pipeline; the gradient goes back there",
                       .attrs = ReceiveAttrs{},
                       .infer = stage_receive_infer,
                       .forward = stage_receive_forward,
                       .backward = stage_receive_backward,
                       .lower_whole = stage_receive_lower,
                       .collective = Collective::kInStep,
                       .reaches_out = true};

}  // namespace runtime
