#include "runtime/compiler/block.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/archive.h"
#include "base/error.h"
#include "runtime/compiler/emitter.h"
#include "runtime/compiler/fuse.h"
#include "runtime/compiler/joined_memory.h"
#include "runtime/compiler/lower.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/graph/op.h"

namespace runtime {
namespace {

using base::Error;
using base::Fault;

/// Drops stores of tensors that are never loaded, because their readers found them in SBUF. Returns how many.
std::size_t drop_unread(const Graph& graph, VirtualBlock& block, const std::vector<NodeId>& nodes) {
  const std::set<NodeId> inside{nodes.begin(), nodes.end()};
  std::unordered_map<ValueId, std::uint32_t> reg_of;
  for (std::uint32_t r = 0; r < block.registers.size(); ++r) reg_of[block.registers[r]] = r;
  std::vector<char> wanted(block.registers.size(), 0);
  const auto leaves = [&](ValueId v) {
    return graph.value(v).kind != Kind::kActivation ||
           std::ranges::any_of(graph.users(v), [&](NodeId u) { return !inside.contains(u); });
  };
  for (const auto& [base, reg] : reg_of) {
    if (const ValueId root = graph.root(base); base != root) {  // a part: other registers may name its memory
      wanted[reg] = 1;
      if (const auto whole = reg_of.find(root); whole != reg_of.end()) wanted[whole->second] = 1;
    }
    if (std::ranges::any_of(graph.at_base(base), leaves)) wanted[reg] = 1;
  }
  for (const Instr& i : block.instrs)
    for (const Tile* t : {&i.a, &i.b, &i.c})
      if (t->space == isa::Space::kHbm) wanted[t->reg] = 1;
  const std::size_t before = block.instrs.size();
  std::erase_if(block.instrs, [&](const Instr& i) { return i.dst.space == isa::Space::kHbm && !wanted[i.dst.reg]; });
  return before - block.instrs.size();
}

/// Names the streams of stochastic rounding by the order in which instructions were written. Their order in the block
/// follows from times: a training would draw other numbers whenever a machine's figures change.
void name_streams(VirtualBlock& block) {
  std::uint32_t number = 0;
  for (Instr& i : block.instrs) {
    ++number;
    if (i.rng == 0) i.rng = number;  // dropout has its own
  }
}

/// Registers name roots; each is among the call's values, or one of them lives in it.
std::vector<std::uint32_t> places_of(const Graph& graph, const std::vector<ValueId>& registers,
                                     const std::vector<ValueId>& values) {
  std::unordered_map<ValueId, std::uint32_t> first;  // of the values that a base has
  for (std::uint32_t i = 0; i < values.size(); ++i) first.try_emplace(graph.base(values[i]), i);
  std::vector<std::uint32_t> out;
  for (const ValueId v : registers) {
    const auto place = first.find(v);
    base::ensure(v == kSpillArea || place != first.end(), "compile", "a register of no tensor");
    out.push_back(v == kSpillArea ? BuiltBlock::kSpills : place->second);
  }
  return out;
}

// The facts that decide a block: every member of these goes into its signature, and nothing else does.

/// A tensor, where it first appears.
struct TensorKey {
  std::int64_t rows = 0, cols = 0;
  Dtype dtype = Dtype::kFp32;
  bool kept = false;       // may stay in SBUF. Irrelevant for a larger one
  std::uint32_t root = 0;  // the number of the tensor in whose memory it lives, or kAbsent
};
/// A node; the numbers of its operands and results follow.
struct NodeKey {
  std::string_view op, label;
  Attrs attrs;
  std::size_t operands = 0, results = 0;
};

class Signer {
 public:
  Signer(const Graph& graph, const std::vector<NodeId>& nodes) : graph_{graph}, inside_{nodes} {
    std::ranges::sort(inside_);
    key_(std::string_view{graph.scope_of(graph.node(nodes.front())).name});
    for (const NodeId n : nodes) add(graph.node(n));
  }

  Signature take() { return {.text = key_.take(), .values = std::move(values_)}; }

 private:
  static constexpr std::uint32_t kAbsent = ~0U;

  void add(const Node& node) {
    key_(NodeKey{.op = node.op->name,
                 .label = node.label,
                 .attrs = node.attrs,
                 .operands = node.in.size(),
                 .results = node.out.size()});
    for (const ValueId v : node.in) name(v);
    for (const ValueId v : node.out) {
      name(v);
      const auto& users = graph_.users(v);
      const bool leaves = graph_.value(v).kind != Kind::kActivation ||
                          std::ranges::any_of(users, [&](NodeId u) { return !std::ranges::binary_search(inside_, u); });
      key_(leaves);
    }
  }

  /// Tensors are numbered as they appear.
  void name(ValueId v) {
    const auto [place, added] = numbers_.try_emplace(v, static_cast<std::uint32_t>(values_.size()));
    key_(place->second);
    if (!added) return;
    values_.push_back(v);
    const Value& value = graph_.value(v);
    const auto root = numbers_.find(graph_.base(v));
    key_(TensorKey{.rows = value.rows,
                   .cols = value.cols,
                   .dtype = value.dtype,
                   .kept = value.rows <= Emitter::kKeptRows && value.kind == Kind::kActivation,
                   .root = root == numbers_.end() ? kAbsent : root->second});
  }

  const Graph& graph_;
  std::vector<NodeId> inside_;  // in order
  base::ArchiveWriter key_;
  std::unordered_map<ValueId, std::uint32_t> numbers_;
  std::vector<ValueId> values_;
};

}  // namespace

Signature signature_of(const Graph& graph, const std::vector<NodeId>& nodes) { return Signer{graph, nodes}.take(); }

Written write_block(const Graph& graph, const std::vector<NodeId>& nodes, const isa::Target& target, bool fusion,
                    const LoopPart& part) {
  Emitter emitter{graph, target, graph.scope_of(graph.node(nodes.front())).name};
  emitter.only(part);
  const auto groups = fuse_nodes(graph, nodes, target.geometry, fusion);
  for (const FusedGroup& group : groups) {
    if (group.by_rows) {
      const std::set<ValueId> out = escapes(graph, group);
      RowTiler{emitter, group.nodes, out}.run();
    } else {
      const Node& node = graph.node(group.nodes.front());
      emitter.label(node.label);
      node.op->lower_whole(emitter, node);
    }
  }
  return {.block = emitter.finish(), .groups = groups.size(), .stages = emitter.stages(), .loops = emitter.loops()};
}

BuiltBlock build_block(const Graph& graph, const std::vector<NodeId>& nodes, const Signature& signature,
                       const isa::Target& target, const BlockForm& form) {
  Written made = write_block(graph, nodes, target, form.passes.fusion, form.part);
  BuiltBlock out{.block = {}, .registers = {}, .fused = nodes.size() - made.groups};
  VirtualBlock written = std::move(made.block);
  // A stage may load the stores of another one.
  const bool is_stage = form.part.stage != LoopPart::kAllStages && made.stages.size() > 1;
  if (!is_stage) out.dropped = drop_unread(graph, written, nodes);
  if (!is_stage) share_memory(graph, nodes, written);
  if (graph.numerics().rounding == isa::Rounding::kStochastic) name_streams(written);
  Lowered lowered =
      lower(std::move(written), target, {.reorder = form.passes.reorder, .rotate = form.passes.double_buffering});
  out.moved = lowered.allocation.moved;
  out.waits = lowered.waits;
  out.spills = static_cast<std::size_t>(lowered.allocation.spills);
  out.spill_bytes = lowered.allocation.spill_bytes;
  out.registers = places_of(graph, lowered.registers, signature.values);
  out.block = std::move(lowered.block);
  return out;
}

/// Forgets what was made for another target.
void BlockCache::serve(const isa::Target& target) {
  if (target_ == target) return;
  entries_.clear(), parts_.clear();
  kept_ = 0, target_ = target;
}

const std::vector<CallPart>& BlockCache::parts(const std::string& key, const isa::Target& target,
                                               const std::function<std::vector<CallPart>()>& make) {
  serve(target);
  const auto place = parts_.find(key);
  return place != parts_.end() ? place->second : parts_.emplace(key, make()).first->second;
}

const BuiltBlock& BlockCache::get(const Graph& graph, const std::vector<NodeId>& nodes, const Signature& signature,
                                  const isa::Target& target, const BlockForm& form) {
  serve(target);
  base::ArchiveWriter writer;
  writer(form, graph.numerics().rounding, signature.text);
  const std::string key = writer.take();
  auto place = entries_.find(key);
  if (place == entries_.end()) {
    BuiltBlock built = build_block(graph, nodes, signature, target, form);
    kept_ += built.block.instrs.size();
    make_room();
    place = entries_.emplace(key, Entry{.built = std::move(built), .used = ++clock_}).first;
    pack_some(most_open_);
  } else {
    ++found_;
    place->second.used = ++clock_;
  }
  return place->second.built;
}

void BlockCache::make_room() {
  while (kept_ > most_ && !entries_.empty()) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.used; });
    kept_ -= oldest->second.built.block.instrs.size();
    entries_.erase(oldest);
  }
}

/// Those of a program that there still is may be being read, in another thread too.
void BlockCache::pack_some(std::size_t most_open) {
  std::size_t open = 0;
  std::vector<const Entry*> idle;
  for (const auto& [key, entry] : entries_) {
    const isa::Instrs& instrs = entry.built.block.instrs;
    if (instrs.is_packed()) continue;
    open += instrs.size();
    if (!instrs.is_shared()) idle.push_back(&entry);
  }
  std::ranges::sort(idle, {}, &Entry::used);
  for (const Entry* entry : idle) {
    if (open <= most_open) return;
    entry->built.block.instrs.pack();
    open -= entry->built.block.instrs.size();
  }
}

}  // namespace runtime
