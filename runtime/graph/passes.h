// The compiler's passes over a program: each with a switch, and notes of its changes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace isa {
struct Geometry;  // isa/target.h
}

namespace runtime {

class Graph;  // runtime/graph/graph.h

/// The switches of `--passes -fusion,+reorder`.
struct Passes {
  bool cse = true;
  bool narrow = true;
  bool bias_gradient = true;
  bool dual_operations = true;
  bool fusion = true;
  bool reorder = true;
  bool double_buffering = true;
  bool merge_blocks = true;
  bool flash_attention = false;
  bool operator==(const Passes&) const = default;
};

struct PassInfo {
  std::string_view name;
  bool Passes::*flag;
  std::string_view text;
};
inline constexpr std::array kPasses = {
    PassInfo{"cse", &Passes::cse, "operations that compute the same are computed once"},
    PassInfo{"narrow", &Passes::narrow, "tensors that only TensorE reads are stored in the type that it multiplies"},
    PassInfo{"bias_gradient", &Passes::bias_gradient, "bias gradients are summed while the weight gradient reads dy"},
    PassInfo{"dual_operations", &Passes::dual_operations,
             "two element-wise operations become one instruction of VectorE, in graphs of any kind"},
    PassInfo{"fusion", &Passes::fusion, "row-local operations run tile by tile without going through HBM"},
    PassInfo{"reorder", &Passes::reorder, "instructions move earlier so that engines wait less for each other"},
    PassInfo{"merge_blocks", &Passes::merge_blocks,
             "small programs without gradients run as one block, layers overlap"},
    PassInfo{"double_buffering", &Passes::double_buffering, "freed space is used again as late as possible"},
    PassInfo{"flash_attention", &Passes::flash_attention,
             "attention's probabilities are recomputed in backward; tiles that a causal mask hides are skipped"},
};

/// The passes that decide the instructions of a block. The others change the graph before that, or the nodes of a
/// block.
struct BlockPasses {
  bool fusion = true;
  bool reorder = true;
  bool double_buffering = true;
};
inline BlockPasses block_passes(const Passes& passes) {
  return {.fusion = passes.fusion, .reorder = passes.reorder, .double_buffering = passes.double_buffering};
}

/// Errors: Fault::kUsage for an unknown name (with the nearest, also of `others`) or one without + or - in front.
Passes parse_passes(std::string_view text, const std::vector<std::string>& others = {});

/// The effect of one pass, for `--explain`.
struct PassNote {
  std::string pass, text;
  std::size_t count = 0;
};

/// Each returns how many nodes it removed.
std::size_t eliminate_common_subexpressions(Graph& graph);
std::size_t join_bias_gradients(Graph& graph);
/// Two operations on elements become one with two, where the first takes one number of each row. Returns how many.
std::size_t join_dual_operations(Graph& graph);
/// Attention becomes flash attention: see kAttention. Returns how many attentions.
std::size_t use_flash_attention(Graph& graph);
/// Rows that SBUF does not hold are taken in blocks: see Op::tile_long_rows. Returns how many nodes have such rows.
std::size_t tile_long_rows(Graph& graph, const isa::Geometry& geometry);
/// Rounds a tensor when it is written if each of its uses rounds it anyway: the same bits, fewer bytes. Returns the
/// number of tensors.
std::size_t narrow_operands(Graph& graph);

}  // namespace runtime
