// Streams of one instruction, dependent or not: the cost of an instruction by itself.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/suggest.h"
#include "validation/kernels/micro.h"
#include "validation/kernels/micro_kernel.h"

namespace validation {
namespace {

using isa::Alu;
using isa::Dtype;
using isa::Engine;
using isa::Opcode;
using isa::Tile;
using runtime::Emitter;

/// dst = f(a) on [parts, cols] each. Kinds that change the shape cannot depend on themselves.
struct Chained {
  std::string_view name;
  void (*emit)(Emitter&, const Tile& dst, const Tile& a);
  bool chains = true;
};

// clang-format off
constexpr std::array kKinds = {
    Chained{"activation",    [](Emitter& e, const Tile& d, const Tile& a) { e.activation(d, isa::Fn::kCopy, a); }},
    Chained{"tensor_tensor", [](Emitter& e, const Tile& d, const Tile& a) { e.tensor_tensor(d, a, Alu::kAdd, a); }},
    Chained{"tensor_scalar", [](Emitter& e, const Tile& d, const Tile& a) { e.tensor_scalar(d, a, Alu::kMul, 0.5F); }},
    Chained{"tensor_tensor_scan", [](Emitter& e, const Tile& d, const Tile& a) {
           e.emit({.op = Opcode::kTensorTensorScan, .engine = Engine::kVector, .alu0 = Alu::kMul, .alu1 = Alu::kAdd,
                   .dst = d, .a = a, .b = a});
         }},
    Chained{"tensor_copy",   [](Emitter& e, const Tile& d, const Tile& a) {
           e.emit({.op = Opcode::kTensorCopy, .engine = Engine::kVector, .dst = d, .a = a});
         }},
    Chained{"reciprocal",    [](Emitter& e, const Tile& d, const Tile& a) {
           e.emit({.op = Opcode::kReciprocal, .engine = Engine::kVector, .dst = d, .a = a});
         }},
    Chained{"memset",        [](Emitter& e, const Tile& d, const Tile&) {
           e.emit({.op = Opcode::kMemset, .engine = Engine::kVector, .imm0 = 1, .dst = d});
         }},
    Chained{"iota",          [](Emitter& e, const Tile& d, const Tile&) {
           e.emit({.op = Opcode::kIota, .engine = Engine::kGpSimd, .imm2 = 1, .dst = d});
         }},
    Chained{"tensor_reduce", [](Emitter& e, const Tile& d, const Tile& a) {
           e.reduce(runtime::columns(d, 0, 1), Alu::kAdd, a);
         }, false},
    Chained{"matmul",        [](Emitter& e, const Tile& d, const Tile& a) {
           e.matmul(e.psum(a.partitions, a.cols()), runtime::columns(d, 0, a.partitions), a, false);
         }, false},
};
// clang-format on

const Chained& kind_of(const Stream& stream) {
  std::vector<std::string> names;
  for (const Chained& kind : kKinds) {
    if (kind.name == stream.name) return kind;
    names.emplace_back(kind.name);
  }
  throw base::Error{base::Fault::kUsage, "instruction stream", fmt::format("'{}' is not known", stream.name),
                    base::suggest_fix(stream.name, names)};
}

}  // namespace

std::string stream_names() {
  std::string names;
  for (const Chained& kind : kKinds) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

isa::Program instruction_stream(const Stream& stream, const isa::Target& target) {
  const Chained& kind = kind_of(stream);
  if (stream.dependent && !kind.chains)
    throw base::Error{base::Fault::kUsage, stream.name, "its result is not an operand of the next one",
                      "ask for independent instructions"};
  HandKernel kernel{"stream", target};
  kernel.call(kernel.block("stream", [&](Emitter& e) {
    const Tile from = e.sbuf(stream.dtype, stream.parts, stream.cols);
    const Tile wide = e.sbuf(stream.dtype, stream.parts, std::max(stream.cols, stream.parts));
    const Tile to = stream.dependent ? from : runtime::columns(wide, 0, stream.cols);
    e.fill(from, 1);
    e.fill(wide, 1);
    e.label("stream");
    for (int i = 0; i < stream.count; ++i) kind.emit(e, kind.name == "matmul" ? wide : to, from);
  }));
  const double macs = static_cast<double>(stream.parts * stream.parts * stream.cols);
  return kernel.finish(kind.name == "matmul" ? 2 * macs * stream.count : 0);
}

}  // namespace validation
