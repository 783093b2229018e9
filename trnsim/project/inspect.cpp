#include "trnsim/project/inspect.h"

#include <fmt/format.h>

#include "isa/asm.h"
#include "isa/names.h"
#include "runtime/graph/op.h"

namespace trnsim {

std::string assembler_text(const runtime::Compiled& compiled) { return isa::print(compiled.program); }

std::string graph_text(const runtime::Graph& graph) {
  std::string out;
  for (runtime::NodeId n = 0; n < graph.node_count(); ++n) {
    const runtime::Node& node = graph.node(n);
    if (!node.op) continue;
    const runtime::Scope& scope = graph.scope_of(node);
    out += fmt::format("{}[{}] {} {}:", scope.name, scope.instance, node.op->name, node.label);
    for (const runtime::ValueId v : node.in) {
      const runtime::Value& value = graph.value(v);
      out += fmt::format(" {} [{}, {}]", value.name, value.rows, value.cols);
    }
    out += " ->";
    for (const runtime::ValueId v : node.out) {
      const runtime::Value& value = graph.value(v);
      out += fmt::format(" {} [{}, {}] {}", value.name, value.rows, value.cols, isa::name_of(value.dtype));
    }
    out += '\n';
  }
  return out;
}

std::vector<BlockFigures> blocks_of(const runtime::Compiled& compiled) {
  const isa::Program& program = compiled.program;
  std::vector<BlockFigures> out;
  for (const isa::Block& block : program.blocks)
    out.push_back({.name = block.name,
                   .instructions = block.instrs.size(),
                   .matmul_flops = block.matmul_flops,
                   .sbuf_bytes = block.sbuf_bytes});
  for (const isa::Call& call : program.calls) ++out[call.block].calls;
  return out;
}

}  // namespace trnsim
