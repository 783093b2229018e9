#include "runtime/compiler/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/block.h"
#include "runtime/compiler/calls.h"
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
    for (const auto& nodes : calls) uses_.push_back(make(nodes));
    finish(calls);
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
    note("dead code", "operations removed", graph_.remove_dead());
  }

  /// A block of the program.
  struct Made {
    std::uint32_t index = 0;
    std::vector<std::uint32_t> registers;  // as BuiltBlock::registers
    std::int64_t spill_bytes = 0;
  };

  struct Use {
    const Made* block;
    std::vector<ValueId> values;
  };

  Use make(const std::vector<NodeId>& nodes) {
    Signature s = signature_of(graph_, nodes);
    const auto [place, added] = made_.try_emplace(s.text);
    if (added) place->second = add_block(nodes, s);
    return {&place->second, std::move(s.values)};
  }

  Made add_block(const std::vector<NodeId>& nodes, const Signature& signature) {
    const BlockPasses passes = block_passes(options_.passes);
    BuiltBlock built = options_.blocks ? options_.blocks->get(graph_, nodes, signature, target_, passes)
                                       : build_block(graph_, nodes, signature, target_, passes);
    fused_ += built.fused, dropped_ += built.dropped, moved_ += built.moved;
    spills_ += built.spills, waits_ += built.waits;
    result_.program.blocks.push_back(std::move(built.block));
    return {.index = static_cast<std::uint32_t>(result_.program.blocks.size() - 1),
            .registers = std::move(built.registers),
            .spill_bytes = built.spill_bytes};
  }

  void finish(const std::vector<std::vector<NodeId>>& calls) {
    std::vector<bool> in_hbm(graph_.value_count());
    std::int64_t spill = 0;
    for (const Use& use : uses_) {
      for (std::size_t i = 0; i < use.block->registers.size(); ++i) {
        const ValueId v = value_of(use, i);
        if (v != kSpillArea) in_hbm[graph_.root(v)] = true;
      }
      spill = std::max(spill, use.block->spill_bytes);
    }
    result_.memory = plan_memory(graph_, calls, in_hbm, options_.shared);
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
    for (std::size_t c = 0; c < calls.size(); ++c) add_call(uses_[c], calls[c]);
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
    note("fusion", "operations that need no way through HBM", fused_);
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

  void add_call(const Use& use, const std::vector<NodeId>& nodes) {
    const Scope& scope = graph_.scope_of(graph_.node(nodes.front()));
    isa::Call call{
        .block = use.block->index, .bases = {}, .rng = scope.rng, .layer = scope.layer, .phase = scope.phase};
    for (std::size_t i = 0; i < use.block->registers.size(); ++i) {
      const ValueId v = value_of(use, i);
      call.bases.push_back(v == kSpillArea ? spill_base_ : result_.memory.address.at(graph_.root(v)) + graph_.begin(v));
    }
    for (const NodeId n : nodes) {
      const Node& node = graph_.node(n);
      for (const ValueId v : node.in) {
        if (const auto found = reduced_.find(v); found != reduced_.end())
          call.await[kGradientQueue] = std::max(call.await[kGradientQueue], found->second);
        if (const auto found = ahead_.find(v); found != ahead_.end()) awaited_ = std::max(awaited_, found->second);
      }
      if (!node.op->matmul_flops) continue;
      const double flops = node.op->matmul_flops(graph_, node);
      flops_ += flops;
      if (scope.recomputed) continue;
      const double extra = node.op->extra_flops ? node.op->extra_flops(graph_, node) : 0;
      result_.program.model_flops += flops - extra;
    }
    // Between tensor-parallel ranks only operations requested ahead overlap: later ones may use the
    // memory that they read. The queue is in order: a wait for one is a wait for all before it.
    call.await[kActivationQueue] = awaited_;
    for (const NodeId n : nodes) {
      const Node& node = graph_.node(n);
      if (node.op->collective == Collective::kNone) continue;
      base::ensure(nodes.size() == 1, node.label, "a collective shares a scope");
      const std::uint32_t count = ++collectives_[runs_beside(node) ? kGradientQueue : kActivationQueue];
      if (node.op->collective == Collective::kInStep) awaited_ = count;
      if (node.op->collective == Collective::kInStep) continue;
      for (const ValueId v : node.out) (runs_beside(node) ? reduced_ : ahead_)[v] = count;
    }
    if (!result_.program.blocks[use.block->index].instrs.empty()) result_.program.calls.push_back(std::move(call));
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
  std::vector<Use> uses_;
  std::map<ValueId, std::uint32_t> reduced_, ahead_;  // results of collectives: which of their queue they are
  std::uint32_t awaited_ = 0;                         // of the activations' queue, by all calls from now on
  std::array<std::uint32_t, isa::kCcQueues> collectives_{};
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
