#include "runtime/compiler/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/archive.h"
#include "base/error.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/calls.h"
#include "runtime/compiler/flights.h"
#include "runtime/compiler/pieces.h"
#include "runtime/compiler/program_cache.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {
namespace {

using base::Error;
using base::Fault;

class Compiler {
 public:
  Compiler(Graph graph, const isa::Target& target, const CompileOptions& options)
      : graph_{std::move(graph)}, target_{target}, options_{options} {
    if (const auto problem = isa::problem_of(target))
      throw base::Error{base::Fault::kProgram, options.name, problem->what, problem->fix};
  }

  Compiled run() {
    run_graph_passes();
    auto calls = calls_of(graph_, options_.in_order);
    if (options_.passes.merge_blocks)
      note("merge_blocks", "calls joined to the one before", merge_calls(graph_, calls));
    if (options_.give_up) {
      result_.memory = least_memory(graph_, calls, options_.shared);
      result_.given_up = options_.give_up(result_.memory);
      if (result_.given_up) return std::move(result_);
    }
    const std::vector<LongCall> parts =
        LongCalls{graph_, target_, block_passes(options_.passes), options_.long_group}.split(calls, options_.blocks);
    for (const LongCall& call : parts) uses_.push_back(make(call));
    finish(parts);
    return std::move(result_);
  }

 private:
  void note(std::string pass, std::string text, std::size_t count) {
    result_.notes.push_back({std::move(pass), std::move(text), count});
  }

  void run_graph_passes() {
    const Passes& p = options_.passes;
    if (p.flash_attention) note("flash_attention", "attentions keep no probabilities", use_flash_attention(graph_));
    if (const std::size_t tiled = tile_long_rows(graph_, target_.geometry); tiled > 0)
      note("long rows", "attentions whose keys are taken in blocks", tiled);
    if (p.cse) note("cse", "operations removed", eliminate_common_subexpressions(graph_));
    if (p.narrow) note("narrow", "tensors stored in fewer bits", narrow_operands(graph_));
    if (p.bias_gradient)
      note("bias_gradient", "sums over rows joined to a weight gradient", join_bias_gradients(graph_));
    if (p.dual_operations) note("dual_operations", "operations joined to the one before", join_dual_operations(graph_));
    note("dead code", "operations removed", graph_.remove_dead());
  }

  /// A block of the program.
  struct Made {
    std::uint32_t index = 0;
    std::vector<std::uint32_t> registers;  // as BuiltBlock::registers
    std::int64_t spill_bytes = 0;
  };

  /// Calls of one block, `pieces` of a long one.
  struct Use {
    const Made* block;
    std::vector<ValueId> values;
    Pieces pieces{};
  };

  std::vector<Use> make(const LongCall& call) {
    std::vector<Use> out;
    const Signature s = signature_of(graph_, call.nodes);
    for (const Pieces& pieces : call.pieces.empty() ? std::vector<Pieces>(1) : call.pieces) {
      base::ArchiveWriter key;
      key(s.text, pieces.part);
      const auto [place, added] = made_.try_emplace(key.take());
      if (added) place->second = add_block(call.nodes, s, pieces.part);
      out.push_back({&place->second, s.values, pieces});
    }
    return out;
  }

  Made add_block(const std::vector<NodeId>& nodes, const Signature& signature, const LoopPart& part) {
    const BlockForm form{.passes = block_passes(options_.passes), .part = part};
    BuiltBlock built = options_.blocks ? options_.blocks->get(graph_, nodes, signature, target_, form)
                                       : build_block(graph_, nodes, signature, target_, form);
    fused_ += built.fused, dropped_ += built.dropped, moved_ += built.moved;
    spills_ += built.spills, waits_ += built.waits;
    result_.program.blocks.push_back(std::move(built.block));
    return {.index = static_cast<std::uint32_t>(result_.program.blocks.size() - 1),
            .registers = std::move(built.registers),
            .spill_bytes = built.spill_bytes};
  }

  /// Returns the bytes of the largest spill area.
  std::int64_t plan(const std::vector<LongCall>& parts) {
    std::vector<bool> in_hbm(graph_.value_count());
    std::int64_t spill = 0;
    for (const std::vector<Use>& uses : uses_)
      for (const Use& use : uses) {
        for (std::size_t i = 0; i < use.block->registers.size(); ++i) {
          const ValueId v = value_of(use, i);
          if (v != kSpillArea) in_hbm[graph_.root(v)] = true;
        }
        spill = std::max(spill, use.block->spill_bytes);
      }
    Calls calls;
    for (const LongCall& part : parts) calls.push_back(part.nodes);
    result_.memory = plan_memory(graph_, calls, in_hbm, options_.shared);
    return spill;
  }

  void finish(const std::vector<LongCall>& parts) {
    const std::int64_t spill = plan(parts);
    MemoryPlan& memory = result_.memory;
    spill_base_ = memory.total;
    if (spill > 0) {
      const auto bytes = static_cast<std::uint64_t>(spill);
      memory.regions.push_back({.name = "spills",
                                .kind = "workspace",
                                .dtype = Dtype::kUint8,
                                .shape = {spill},
                                .offset = memory.total,
                                .bytes = bytes});
      memory.bytes_by_kind["workspace"] = bytes;
      memory.total += bytes;
    }
    if (options_.hbm_bytes > 0)
      require_fit(options_.name, memory.bytes_by_kind, memory.total, options_.hbm_bytes,
                  "use a smaller `per_device_train_batch_size`, or more `gradient_accumulation_steps`");
    for (std::size_t c = 0; c < parts.size(); ++c) add_call(uses_[c], parts[c]);
    isa::Program& program = result_.program;
    program.name = options_.name;
    program.regions = memory.regions;
    program.hbm_bytes = memory.total;
    program.ranks = options_.ranks;
    program.first_rank = options_.first_rank;
    program.own_ranks = options_.own_ranks;
    program.groups = graph_.replica_groups();
    program.rounding = graph_.numerics().rounding;
    check_flops();
    note_blocks();
  }

  void note_blocks() {
    const MemoryPlan& memory = result_.memory;
    note("fusion", "operations that do not go through HBM", fused_);
    note("keep", "stores dropped because their readers found the tile in SBUF", dropped_);
    note("reorder", "instructions moved up", moved_);
    note("spills", "buffers moved to HBM and back", spills_);
    note("semaphores", "waits", waits_);
    note("liveness", "bytes of activations saved by reuse",
         memory.activations_without_reuse - result_.memory.bytes_by_kind["activations"]);
  }

  /// The tensor behind a register of the block, for this call.
  ValueId value_of(const Use& use, std::size_t reg) const {
    const std::uint32_t place = use.block->registers[reg];
    return place == BuiltBlock::kSpills ? kSpillArea : graph_.base(use.values[place]);
  }

  /// The address of a register in one of the use's calls.
  std::uint64_t address_of(const Use& use, std::size_t reg, std::int64_t outer, std::int64_t inner) const {
    const ValueId v = value_of(use, reg);
    if (v == kSpillArea) return spill_base_;
    const std::uint32_t place = use.block->registers[reg];
    const auto step = [&](const std::vector<std::int64_t>& steps) { return steps.empty() ? 0 : steps[place]; };
    const std::int64_t bytes =
        step(use.pieces.begin) + outer * step(use.pieces.outer_step) + inner * step(use.pieces.inner_step);
    return result_.memory.address.at(graph_.root(v)) + graph_.begin(v) + static_cast<std::uint64_t>(bytes);
  }

  void add_call(const std::vector<Use>& uses, const LongCall& part) {
    const std::vector<NodeId>& nodes = part.nodes;
    const Scope& scope = graph_.scope_of(graph_.node(nodes.front()));
    isa::Call call{.block = 0, .bases = {}, .rng = scope.rng, .layer = scope.layer, .phase = scope.phase};
    for (const NodeId n : nodes) {
      const Node& node = graph_.node(n);
      for (const ValueId v : node.in) {
        if (const auto found = reduced_.find(v); found != reduced_.end())
          call.await[kGradientQueue] = std::max(call.await[kGradientQueue], found->second);
      }
      if (!node.op->matmul_flops) continue;
      const double flops = node.op->matmul_flops(graph_, node);
      flops_ += flops;
      if (scope.recomputed) continue;
      const double extra = node.op->extra_flops ? node.op->extra_flops(graph_, node) : 0;
      result_.program.model_flops += flops - extra;
    }
    call.await[kActivationQueue] = flights_.awaited_by(nodes);
    flights_.landed();
    std::uint32_t number = 0;
    for (const Use& use : uses) add_calls(use, call, part.of, number);
    for (const NodeId n : nodes) {
      const Node& node = graph_.node(n);
      if (node.op->collective == Collective::kNone) continue;
      base::ensure(nodes.size() == 1, node.label, "a collective shares a scope");
      if (!runs_beside(node)) continue;
      ++beside_;
      for (const ValueId v : node.out) reduced_[v] = beside_;
    }
    flights_.begin(nodes);
  }

  /// The use's calls, which differ from `call` by their addresses and, where results are rounded at random, by their
  /// streams. `number`: of the next one of the call.
  void add_calls(const Use& use, isa::Call call, std::size_t of, std::uint32_t& number) {
    constexpr std::uint32_t kApart = 0x9E3779B1;  // odd: streams of different parts, and of other calls, stay apart
    const std::uint32_t rng = call.rng;
    const isa::Block& block = result_.program.blocks[use.block->index];
    if (block.instrs.empty()) return;
    call.block = use.block->index;
    for (std::int64_t o = 0; o < use.pieces.outer; ++o)
      for (std::int64_t i = 0; i < use.pieces.inner; ++i) {
        call.bases.clear();
        for (std::size_t r = 0; r < use.block->registers.size(); ++r) call.bases.push_back(address_of(use, r, o, i));
        call.rng = rng ^ (kApart * number++);
        result_.program.calls.push_back(call);
      }
    if (of != module_) module_ = of, module_instructions_ = 0;
    module_instructions_ += block.instrs.size() * static_cast<std::uint64_t>(use.pieces.outer * use.pieces.inner);
    result_.largest_module = std::max(result_.largest_module, module_instructions_);
  }

  void check_flops() const {
    double executed = 0;
    for (const isa::Call& call : result_.program.calls) executed += result_.program.blocks[call.block].matmul_flops;
    base::ensure(std::abs(executed - flops_) <= 1e-9 * flops_, options_.name,
                 fmt::format("TensorE would do {:.17g} FLOPs, the mathematics needs {:.17g}", executed, flops_));
  }

  Graph graph_;
  const isa::Target& target_;
  const CompileOptions& options_;
  Compiled result_;
  std::map<std::string, Made> made_;
  std::vector<std::vector<Use>> uses_;    // of each part of a call
  std::size_t module_ = ~std::size_t{0};  // the call whose instructions are counted
  std::uint64_t module_instructions_ = 0;
  std::map<ValueId, std::uint32_t> reduced_;  // results of collectives beside the compute: which of their queue
  std::uint32_t beside_ = 0;                  // these so far
  Flights flights_{graph_};
  std::uint64_t spill_base_ = 0;
  double flops_ = 0;  // of the mathematics, with recomputation
  std::size_t fused_ = 0, waits_ = 0, spills_ = 0, dropped_ = 0, moved_ = 0;
};

}  // namespace

Compiled compile(Graph graph, const isa::Target& target, const CompileOptions& options) {
  if (!options.cache || options.give_up) return Compiler{std::move(graph), target, options}.run();
  return options.cache->get(graph, target, options, [&] { return Compiler{graph, target, options}.run(); });
}

}  // namespace runtime
