// A job's program as text and as figures: for people who inspect the compiler's output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compiler/compile.h"
#include "runtime/graph/graph.h"

namespace trnsim {

/// Assembler text (docs/asm.md).
std::string assembler_text(const runtime::Compiled& compiled);
/// One line per node.
std::string graph_text(const runtime::Graph& graph);

struct BlockFigures {
  std::string name;
  std::size_t calls = 0, instructions = 0;
  double matmul_flops = 0;      // per call
  std::int64_t sbuf_bytes = 0;  // per partition, at most
};
std::vector<BlockFigures> blocks_of(const runtime::Compiled& compiled);

}  // namespace trnsim
