#include "runtime/compiler/joined_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "runtime/graph/op.h"

namespace runtime {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
constexpr std::uint32_t kNoRegister = std::numeric_limits<std::uint32_t>::max();

/// A tensor in the block: by the numbers of its instructions, and by those of the joined calls.
struct Life {
  std::size_t first = kNever, last = 0;
  std::size_t born = kNever, dies = 0;
  bool local = true;  // nothing outside of the block reads it, and it has its memory to itself
};

/// The place of each node's call among the joined ones.
std::unordered_map<NodeId, std::size_t> calls_of_nodes(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::map<std::size_t, std::size_t> place;  // of a scope
  std::unordered_map<NodeId, std::size_t> out;
  for (const NodeId n : nodes) out[n] = place.try_emplace(graph.node(n).scope, place.size()).first->second;
  return out;
}

/// By register.
std::vector<Life> lives_of(const Graph& graph, const std::unordered_map<NodeId, std::size_t>& call,
                           const VirtualBlock& block) {
  std::vector<Life> out(block.registers.size());
  for (std::size_t i = 0; i < block.instrs.size(); ++i) {
    const Instr& instr = block.instrs[i];
    for (const Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
      if (t->space == isa::Space::kHbm) {
        out[t->reg].first = std::min(out[t->reg].first, i);
        out[t->reg].last = i;
      }
  }
  std::map<ValueId, std::size_t> names;  // how many registers name a tensor's memory
  for (const ValueId v : block.registers) ++names[graph.root(v)];
  for (std::size_t r = 0; r < out.size(); ++r) {
    Life& life = out[r];
    const ValueId base = block.registers[r];
    life.local = graph.root(base) == base && names.at(base) == 1;
    for (const ValueId v : graph.at_base(base)) {
      const Value& value = graph.value(v);
      const auto from = call.find(value.producer);
      life.local &= value.kind == Kind::kActivation && from != call.end();
      if (!life.local) break;
      life.born = std::min(life.born, from->second), life.dies = std::max(life.dies, from->second);
      for (const NodeId user : graph.users(v)) {
        const auto to = call.find(user);
        life.local &= to != call.end();
        if (to != call.end()) life.dies = std::max(life.dies, to->second);
      }
    }
  }
  return out;
}

/// The registers whose memory is left, each with the tensor that had it last.
class Places {
 public:
  Places(const Graph& graph, const VirtualBlock& block, const std::vector<Life>& lives)
      : graph_{graph}, block_{block}, lives_{lives} {}

  /// The register whose memory `r` takes: another one's that is free by then, or its own.
  std::uint32_t take(std::uint32_t r) {
    std::vector<Held>& alike = held_[graph_.value(block_.registers[r]).bytes()];
    const Life& life = lives_[r];
    const auto free = std::ranges::find_if(
        alike, [&](const Held& h) { return lives_[h.last].dies < life.born && lives_[h.last].last < life.first; });
    if (free == alike.end()) return alike.emplace_back(Held{r, r}).reg;
    free->last = r;
    return free->reg;
  }

 private:
  struct Held {
    std::uint32_t reg, last;
  };
  const Graph& graph_;
  const VirtualBlock& block_;
  const std::vector<Life>& lives_;
  std::map<std::uint64_t, std::vector<Held>> held_;  // by bytes
};

/// `to`: the register that each one becomes, or kNoRegister. Those that nothing becomes are left out.
void rename(const std::vector<std::uint32_t>& to, VirtualBlock& block) {
  std::vector<std::uint32_t> number(to.size());
  std::vector<ValueId> registers;
  for (std::uint32_t r = 0; r < to.size(); ++r) {
    if (to[r] != r) continue;
    number[r] = static_cast<std::uint32_t>(registers.size());
    registers.push_back(block.registers[r]);
  }
  for (Instr& instr : block.instrs)
    for (Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
      if (t->space == isa::Space::kHbm) t->reg = number[to[t->reg]];
  block.registers = std::move(registers);
}

}  // namespace

std::size_t share_memory(const Graph& graph, const std::vector<NodeId>& nodes, VirtualBlock& block) {
  const auto call = calls_of_nodes(graph, nodes);
  const auto joined = [&](NodeId n) { return call.at(n) > 0; };
  if (std::ranges::none_of(nodes, joined)) return 0;
  const std::vector<Life> lives = lives_of(graph, call, block);
  std::vector<std::uint32_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t r) { return lives[r].first; });
  Places places{graph, block, lives};
  std::vector<std::uint32_t> to(lives.size());
  std::size_t shared = 0;
  for (const std::uint32_t r : order) {
    const bool unused = lives[r].local && lives[r].first == kNever;  // its readers found it in SBUF
    to[r] = unused ? kNoRegister : lives[r].local ? places.take(r) : r;
    shared += to[r] != r;
  }
  if (shared > 0) rename(to, block);
  return shared;
}

}  // namespace runtime
