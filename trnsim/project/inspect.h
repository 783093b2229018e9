// A job's program as text and as figures: for people who inspect the compiler's output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compiler/compile.h"
#include "trnsim/project/stages.h"

namespace trnsim {

/// Assembler text (docs/asm.md) of a stage.
std::string assembler_text(const runtime::Compiled& compiled);
/// The graph of a stage before any pass: a line a node.
std::string graph_text(const Job& job, std::int64_t stage);

struct BlockFigures {
  std::string name;
  std::size_t calls = 0, instructions = 0;
  double matmul_flops = 0;      // of a call
  std::int64_t sbuf_bytes = 0;  // per partition, at most
};
std::vector<BlockFigures> blocks_of(const runtime::Compiled& compiled);

}  // namespace trnsim
