// One call's nodes as a block of instructions, and blocks that several programs share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isa/program.h"
#include "isa/target.h"
#include "runtime/compiler/emitter.h"
#include "runtime/compiler/loop_part.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"

namespace runtime {

/// A call's computation, with its tensors numbered by first appearance. It decides the block: calls with equal texts
/// share one, in a program or in several.
struct Signature {
  std::string text;  // bytes, for comparison alone
  std::vector<ValueId> values;
};
Signature signature_of(const Graph& graph, const std::vector<NodeId>& nodes);

struct BuiltBlock {
  static constexpr std::uint32_t kSpills = ~0u;  // a register of the block's spill area

  isa::Block block;
  std::vector<std::uint32_t> registers;  // the signature's value that each addresses, or kSpills
  std::int64_t spill_bytes = 0;
  std::size_t fused = 0, dropped = 0, moved = 0, spills = 0, waits = 0;  // effects of the passes
};

/// The instructions of a call's nodes, on virtual buffers.
struct Written {
  VirtualBlock block;
  std::size_t groups = 0;  // of nodes that are fused
  LoopStages stages;       // of the loops around the last one of them,
  int loops = 0;           // and how many groups have some
};
Written write_block(const Graph& graph, const std::vector<NodeId>& nodes, const isa::Target& target, bool fusion,
                    const LoopPart& part = {});

/// The settings that decide a block beside its nodes.
struct BlockForm {
  BlockPasses passes{};
  LoopPart part{};  // of the nodes' outermost loops
};

/// `nodes` in an order in which they can run. Errors: Fault::kCapacity when an instruction needs more than SBUF.
BuiltBlock build_block(const Graph& graph, const std::vector<NodeId>& nodes, const Signature& signature,
                       const isa::Target& target, const BlockForm& form);

/// Blocks of programs that are compiled one after the other for one target: plans of a model that share its layers
/// alike have the same. Another target's are forgotten.
class BlockCache {
 public:
  /// So many instructions take 22 MB: to pack and unpack small blocks would take as long as checking and timing them.
  static constexpr std::size_t kOpen = 50'000;

  /// Keeps the most recently used blocks, up to this many instructions in total (a single block may have more). Blocks
  /// that no program has are packed, except for the last `open_instructions`.
  explicit BlockCache(std::size_t most_instructions, std::size_t open_instructions = kOpen)
      : most_{most_instructions}, most_open_{open_instructions} {}

  /// The block as build_block() makes it. The reference holds until the next call.
  const BuiltBlock& get(const Graph& graph, const std::vector<NodeId>& nodes, const Signature& signature,
                        const isa::Target& target, const BlockForm& form);
  std::size_t found() const { return found_; }  // without building them
  /// Packs all blocks that no program has: other work comes before their next use.
  void pack_idle() { pack_some(0); }
  /// The parts of a long call (LongCalls), which `make` finds. The reference holds until the next call.
  const std::vector<CallPart>& parts(const std::string& key, const isa::Target& target,
                                     const std::function<std::vector<CallPart>()>& make);

 private:
  struct Entry {
    BuiltBlock built;
    std::uint64_t used = 0;
  };
  void serve(const isa::Target& target);
  void make_room();
  void pack_some(std::size_t most_open);

  std::size_t most_, most_open_, kept_ = 0, found_ = 0;
  isa::Target target_;
  std::uint64_t clock_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::vector<CallPart>> parts_;
};

}  // namespace runtime
