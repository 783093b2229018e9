#include "runtime/compiler/pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/archive.h"
#include "runtime/compiler/fuse.h"
#include "runtime/graph/op.h"

namespace runtime {
namespace {

/// From the instructions of one part to those of another.
class Difference {
 public:
  /// Whether the parts differ in the HBM offsets of their tensors alone, each tensor's by one distance.
  static std::optional<Difference> between(const VirtualBlock& a, const VirtualBlock& b) {
    if (a.instrs.size() != b.instrs.size() || a.registers != b.registers || a.buffers.size() != b.buffers.size())
      return {};
    Difference out{a.registers.size()};
    for (std::size_t i = 0; i < a.instrs.size(); ++i)
      if (!out.take(a.instrs[i], b.instrs[i])) return {};
    return out;
  }
  std::int64_t bytes(std::size_t reg) const { return steps_[reg].value_or(0); }
  std::size_t registers() const { return steps_.size(); }

 private:
  explicit Difference(std::size_t registers) : steps_(registers) {}

  bool take(const Instr& a, Instr b) {
    const bool same_places =
        take(a.dst, b.dst) && take(a.dst2, b.dst2) && take(a.a, b.a) && take(a.b, b.b) && take(a.c, b.c);
    return same_places && a == b;
  }

  /// Gives the second tile the first one's place.
  bool take(const Tile& a, Tile& b) {
    if (a.space != isa::Space::kHbm || b.space != isa::Space::kHbm || a.reg != b.reg) return true;
    std::optional<std::int64_t>& step = steps_[a.reg];
    const std::int64_t bytes = b.offset - a.offset;
    b.offset = a.offset;
    if (!step) step = bytes;
    return *step == bytes;
  }

  std::vector<std::optional<std::int64_t>> steps_;
};

/// Row tiles and products of tiles, as far as shapes say: whether it is worthwhile to look at instructions.
double tiles_of(const Graph& graph, const Node& node) {
  constexpr double kParts = isa::kPartitions, kTile = 4096 * kParts;
  constexpr double kProduct = 2 * kParts * kParts * isa::kMovingColumns;
  double tiles = node.op->matmul_flops ? node.op->matmul_flops(graph, node) / kProduct : 0;
  for (const ValueId v : node.in) tiles += static_cast<double>(graph.value(v).elements()) / kTile;
  for (const ValueId v : node.out) tiles += static_cast<double>(graph.value(v).elements()) / kTile;
  return tiles;
}

/// The parts of one loop, as instructions.
class Parts {
 public:
  Parts(const Graph& graph, const std::vector<NodeId>& nodes, const isa::Target& target, const BlockPasses& passes)
      : graph_{graph}, nodes_{nodes}, target_{target}, passes_{passes} {}

  VirtualBlock at(const LoopPart& part) {
    if (kept_ && kept_->first == part) return kept_->second;
    Written written = write_block(graph_, nodes_, target_, passes_.fusion, part);
    loops = written.loops, stages = std::move(written.stages);
    return std::move(written.block);
  }
  /// The same, which is asked for again. It is there until the next one is.
  const VirtualBlock& first(const LoopPart& part) {
    VirtualBlock block = at(part);
    return kept_.emplace(part, std::move(block)).second;
  }

  LoopStages stages;
  int loops = 0;

 private:
  const Graph& graph_;
  const std::vector<NodeId>& nodes_;
  const isa::Target& target_;
  const BlockPasses& passes_;
  std::optional<std::pair<LoopPart, VirtualBlock>> kept_;
};

std::vector<std::int64_t> by_value(const Graph& graph, const VirtualBlock& block, const Signature& signature,
                                   const std::optional<Difference>& steps) {
  std::vector<std::int64_t> out(signature.values.size());
  if (!steps) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto reg = std::ranges::find(block.registers, graph.base(signature.values[i]));
    if (reg != block.registers.end()) out[i] = steps->bytes(static_cast<std::size_t>(reg - block.registers.begin()));
  }
  return out;
}

/// A stage in parts of `outer` x `inner` iterations; the last ones of the inner loop, and then of the outer one, may
/// be fewer.
class Cut {
 public:
  Cut(Parts& parts, std::int64_t stage, std::int64_t outer, std::int64_t inner)
      : parts_{parts}, stage_{stage}, outer_{outer}, inner_{inner} {}

  /// None: its parts are not equal.
  std::vector<Pieces> run(const Graph& graph, const Signature& signature) {
    const LoopShape all = parts_.stages[static_cast<std::size_t>(stage_)];
    const VirtualBlock& first = parts_.first(part(0, 0));
    std::int64_t rounds = all.outer / outer_, turns = all.inner / inner_;
    if (rounds * turns < 2) return {};
    std::optional<Difference> by_turn, by_round;
    if (turns > 1 && !(by_turn = Difference::between(first, parts_.at(part(0, 1))))) return {};
    if (rounds > 1 && !(by_round = Difference::between(first, parts_.at(part(1, 0))))) return {};
    if (!reaches(first, by_round, rounds - 1, by_turn, turns - 1)) {  // the last iteration may be a smaller one
      (inner_ < all.inner ? turns : rounds) -= 1;
      if (rounds * turns < 2 || !reaches(first, by_round, rounds - 1, by_turn, turns - 1)) return {};
    }
    const auto outer_step = by_value(graph, first, signature, by_round);
    std::vector<Pieces> out{{.part = part(0, 0),
                             .outer = rounds,
                             .inner = turns,
                             .outer_step = outer_step,
                             .inner_step = by_value(graph, first, signature, by_turn)}};
    if (const std::int64_t rest = turns * inner_; rest < all.inner)
      out.push_back(
          {.part = {.outer = 0, .outer_count = outer_, .inner = rest, .inner_count = all.inner - rest, .stage = stage_},
           .outer = rounds,
           .outer_step = outer_step});
    if (const std::int64_t rest = rounds * outer_; rest < all.outer)
      out.push_back({.part = {.outer = rest, .outer_count = all.outer - rest, .stage = stage_}});
    return out;
  }

 private:
  LoopPart part(std::int64_t round, std::int64_t turn) const {
    return {
        .outer = round * outer_, .outer_count = outer_, .inner = turn * inner_, .inner_count = inner_, .stage = stage_};
  }

  /// Whether a part is as far from the first one as the steps say.
  bool reaches(const VirtualBlock& first, const std::optional<Difference>& by_round, std::int64_t rounds,
               const std::optional<Difference>& by_turn, std::int64_t turns) {
    const auto found = Difference::between(first, parts_.at(part(rounds, turns)));
    if (!found) return false;
    for (std::size_t r = 0; r < found->registers(); ++r) {
      const std::int64_t expected =
          (by_round ? by_round->bytes(r) * rounds : 0) + (by_turn ? by_turn->bytes(r) * turns : 0);
      if (found->bytes(r) != expected) return false;
    }
    return true;
  }

  Parts& parts_;
  std::int64_t stage_, outer_, inner_;
};

double size_of(const VirtualBlock& block) { return static_cast<double>(block.instrs.size()); }

LoopPart first_of(std::int64_t stage) {
  return {.outer = 0, .outer_count = 1, .inner = 0, .inner_count = 1, .stage = stage};
}

/// The iterations of several stages, each a call: those that differ in nothing but places are calls of one block.
class StagePieces {
 public:
  StagePieces(Parts& parts, const Graph& graph, const Signature& signature)
      : parts_{parts}, graph_{graph}, signature_{signature} {}

  std::vector<Pieces> run() {
    std::vector<Pieces> out;
    for (std::int64_t stage = 0; stage < std::ssize(parts_.stages); ++stage)
      for (Pieces& one : of_stage(stage))
        if (share(one)) out.push_back(std::move(one));
    return out;
  }

 private:
  std::vector<Pieces> of_stage(std::int64_t stage) {
    std::vector<Pieces> found = Cut{parts_, stage, 1, 1}.run(graph_, signature_);
    if (!found.empty()) return found;
    const LoopShape& all = parts_.stages[static_cast<std::size_t>(stage)];
    return {{.part = all.outer * all.inner == 1 ? first_of(stage) : LoopPart{.stage = stage}}};
  }

  /// Names the block of an earlier part that has the same instructions. Returns whether there are any.
  bool share(Pieces& one) {
    VirtualBlock block = parts_.at(one.part);
    if (block.instrs.empty()) return false;
    for (const auto& [part, written] : kinds_) {
      const auto distance = Difference::between(written, block);
      if (!distance) continue;
      one.part = part, one.begin = by_value(graph_, written, signature_, distance);
      return true;
    }
    kinds_.emplace_back(one.part, std::move(block));
    return true;
  }

  Parts& parts_;
  const Graph& graph_;
  const Signature& signature_;
  std::vector<std::pair<LoopPart, VirtualBlock>> kinds_;
};

}  // namespace

std::vector<Pieces> LongCalls::pieces_of(const std::vector<NodeId>& nodes) const {
  double tiles = 0;
  bool whole = false;
  for (const NodeId n : nodes) {
    const Node& node = graph_.node(n);
    tiles += tiles_of(graph_, node);
    whole |= node.attrs.p() > 0 || node.op->collective != Collective::kNone;
  }
  if (whole || tiles * 8 < longest_) return {};
  Parts parts{graph_, nodes, target_, passes_};
  const double one = size_of(parts.at(first_of(0)));
  if (parts.loops != 1) return {};
  const Signature signature = signature_of(graph_, nodes);
  if (parts.stages.size() > 1) return StagePieces{parts, graph_, signature}.run();
  const auto outer = static_cast<double>(parts.stages[0].outer), inner = static_cast<double>(parts.stages[0].inner);
  if (one * outer * inner < longest_) return {};
  const auto several = [](double all, double most) {
    return static_cast<std::int64_t>(std::clamp(all, 1.0, std::max(most, 1.0)));
  };
  if (one * inner > 2 * part_)
    if (auto found = Cut{parts, 0, 1, several(part_ / one, inner)}.run(graph_, signature); !found.empty()) return found;
  return Cut{parts, 0, several(part_ / (one * inner), outer), parts.stages[0].inner}.run(graph_, signature);
}

std::vector<CallPart> LongCalls::parts_of(const std::vector<NodeId>& nodes) const {
  std::vector<CallPart> out;
  bool open = false;  // the last group has further nodes that need no loop
  for (const FusedGroup& group : fuse_nodes(graph_, nodes, target_.geometry, passes_.fusion)) {
    std::vector<Pieces> pieces = pieces_of(group.nodes);
    const bool alone = !pieces.empty();
    if (alone || !open) out.push_back({.places = {}, .pieces = std::move(pieces)});
    open = !alone;
    for (const NodeId n : group.nodes)
      out.back().places.push_back(static_cast<std::size_t>(std::ranges::find(nodes, n) - nodes.begin()));
  }
  return out;
}

std::vector<LongCall> LongCalls::split(const Calls& calls, BlockCache* cache) {
  BlockCache own{0};
  BlockCache& known = cache ? *cache : own;
  std::vector<LongCall> out;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    double tiles = 0;
    for (const NodeId n : calls[c]) tiles += tiles_of(graph_, graph_.node(n));
    if (tiles * 8 < longest_) {
      out.push_back({.nodes = calls[c], .of = c});
      continue;
    }
    base::ArchiveWriter key;
    key(longest_, passes_, graph_.numerics().rounding, signature_of(graph_, calls[c]).text);
    const std::vector<CallPart>& parts = known.parts(key.take(), target_, [&] { return parts_of(calls[c]); });
    if (std::ranges::all_of(parts, [](const CallPart& part) { return part.pieces.empty(); })) {
      out.push_back({.nodes = calls[c], .of = c});
      continue;
    }
    for (const CallPart& part : parts) {
      LongCall& one = out.emplace_back(LongCall{.nodes = {}, .pieces = part.pieces, .of = c});
      for (const std::size_t p : part.places) one.nodes.push_back(calls[c][p]);
    }
  }
  return out;
}

}  // namespace runtime
