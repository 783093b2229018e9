// Collectives that can wait for each other for ever.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "frontend/graph/grid.h"
#include "frontend/ops/operator.h"
#include "trnsim/check/check.h"

namespace trnsim {
namespace {

using frontend::Function;
using frontend::FunctionId;
using frontend::IntTable;
using frontend::Module;
using frontend::Node;
using frontend::Region;
using frontend::ValueId;

bool names_rank(const Node& node) { return node.op->name == "partition_id" || node.op->name == "replica_id"; }

bool is_collective(const Node& node) { return node.op->group == frontend::Group::kCollective && !names_rank(node); }

/// The results of ranks are equal behind these, whatever went in.
bool makes_equal(const Node& node) {
  constexpr std::array<std::string_view, 3> kNames{"all_reduce", "all_gather", "collective_broadcast"};
  return std::ranges::find(kNames, node.op->name) != kNames.end();
}

class CollectiveWalk {
 public:
  CollectiveWalk(const Module& module, std::vector<Finding>& out) : module_{module}, out_{out} {}

  /// Visits a function; `differs`: whether each parameter can differ between ranks. Returns the same of its results.
  std::vector<bool> visit(const Function& f, const std::vector<bool>& differs, int depth = 0) {
    std::vector<bool> state(f.values.size());
    for (std::size_t i = 0; i < differs.size() && i < f.parameters; ++i) state[i] = differs[i];
    if (depth < kDeepest)
      for (const Node& node : f.nodes) step(node, state, depth);
    std::vector<bool> out;
    for (const ValueId v : f.results) out.push_back(state[v]);
    return out;
  }

  /// Collectives of a function in their order, with those of the functions that it calls.
  std::vector<std::string> sequence(FunctionId id, int depth = 0) const {
    std::vector<std::string> out;
    if (depth > kDeepest) return out;
    for (const Node& node : module_.functions[id].nodes) {
      if (is_collective(node)) out.emplace_back(node.op->name);
      for (const FunctionId inner : called(node)) {
        const auto more = sequence(inner, depth + 1);
        out.insert(out.end(), more.begin(), more.end());
      }
    }
    return out;
  }

 private:
  static constexpr int kDeepest = 60;

  std::vector<FunctionId> called(const Node& node) const {
    std::vector<FunctionId> out;
    if (is_collective(node)) return out;  // its region is the function of the reduction
    for (const Region& region : node.regions) out.push_back(region.function);
    if (node.op->name == "call" && node.regions.empty())
      if (const FunctionId f = module_.find(node.attributes.text("callee")); f != frontend::kNoFunction)
        out.push_back(f);
    return out;
  }

  void step(const Node& node, std::vector<bool>& state, int depth) {
    bool any = names_rank(node);
    for (const ValueId v : node.operands) any = any || state[v];
    for (const Region& region : node.regions)
      for (const ValueId v : region.captures) any = any || state[v];
    if (is_collective(node)) groups(node);
    const std::string_view name = node.op->name;
    if (name == "case" || name == "if") branches(node, state);
    if (name == "while") loop(node, state, depth);
    if (name == "call")
      if (const auto callees = called(node); !callees.empty()) {
        std::vector<bool> in;
        for (const ValueId v : node.operands) in.push_back(state[v]);
        const auto out = visit(module_.functions[callees[0]], in, depth + 1);
        for (std::uint32_t i = 0; i < node.results && i < out.size(); ++i) state[node.result(i)] = out[i];
        return;
      }
    for (std::uint32_t i = 0; i < node.results; ++i) state[node.result(i)] = any && !makes_equal(node);
  }

  void branches(const Node& node, const std::vector<bool>& state) {
    if (node.operands.empty() || !state[node.operands[0]]) return;
    std::set<std::vector<std::string>> all;
    for (const Region& region : node.regions) all.insert(sequence(region.function));
    if (all.size() < 2) return;
    out_.push_back({"collectives", Concern::kFails, "",
                    fmt::format("{}: which branch runs depends on the rank, and the branches' collectives differ: "
                                "ranks wait for each other forever",
                                module_.where(node)),
                    "move the collective before or after the branch"});
  }

  void loop(const Node& node, const std::vector<bool>& state, int depth) {
    if (node.regions.size() < 2 || depth > kDeepest || sequence(node.regions[1].function).empty()) return;
    std::vector<bool> in;
    for (const ValueId v : node.operands) in.push_back(state[v]);
    // The body's result goes around again.
    for (std::size_t round = 0; round <= in.size() && round < 4; ++round) {
      std::vector<bool> all = in;
      for (const ValueId v : node.regions[1].captures) all.push_back(state[v]);
      std::vector<Finding> ignored;
      const auto next =
          CollectiveWalk{module_, ignored}.visit(module_.functions[node.regions[1].function], all, depth + 1);
      for (std::size_t i = 0; i < in.size() && i < next.size(); ++i) in[i] = in[i] || next[i];
    }
    for (const ValueId v : node.regions[0].captures) in.push_back(state[v]);
    const auto again = visit(module_.functions[node.regions[0].function], in, depth + 1);
    if (again.empty() || !again[0]) return;
    out_.push_back({"collectives", Concern::kFails, "",
                    fmt::format("{}: how often the loop runs depends on the rank, and it has collectives: the others "
                                "wait forever for ranks that end first",
                                module_.where(node)),
                    "make all ranks run it the same number of times"});
  }

  void groups(const Node& node) {
    const bool pairs = node.attributes.has("source_target_pairs");
    if (!pairs && !node.attributes.has("replica_groups")) return;
    const IntTable table = pairs ? node.attributes.table("source_target_pairs") : process_groups(module_, node);
    const std::int64_t ranks = module_.replicas * module_.partitions;
    std::set<std::int64_t> seen, targets;
    std::string what;
    for (std::int64_t r = 0; r < table.rows(); ++r)
      for (std::int64_t c = 0; c < table.columns; ++c) {
        const std::int64_t rank = table.at(r, c);
        if (rank < 0) continue;
        std::set<std::int64_t>& of = pairs && c == 1 ? targets : seen;
        if (!of.insert(rank).second) what = fmt::format("rank {} appears twice", rank);
        if (ranks > 1 && rank >= ranks) what = fmt::format("rank {} does not exist: there are {} ranks", rank, ranks);
      }
    const bool rooted =
        node.op->name == "collective_broadcast" || node.op->name == "collective_reduce";  // others: zeros
    if (what.empty() && !pairs && !rooted && ranks > 1 && !seen.empty() &&
        static_cast<std::int64_t>(seen.size()) < ranks)
      what = fmt::format("its groups have {} of {} ranks: the others wait forever", seen.size(), ranks);
    if (what.empty()) return;
    out_.push_back({"collectives", Concern::kFails, "",
                    fmt::format("{}: {}: {}", module_.where(node), node.op->name, what), "name each rank once"});
  }

  const Module& module_;
  std::vector<Finding>& out_;
};

}  // namespace

void check_collectives(const Module& module, std::vector<Finding>& out) {
  const Function& entry = module.entry_function();
  const std::size_t before = out.size();
  CollectiveWalk walk{module, out};
  // Parameters are each rank's own, but what steers loops and branches is usually the same: only the rank's number
  // counts as different.
  walk.visit(entry, std::vector<bool>(entry.parameters, false));
  if (out.size() > before) return;
  const std::size_t count = walk.sequence(module.entry).size();
  if (count > 0)
    out.push_back({"collectives", Concern::kFine, "", fmt::format("{} in one order on all ranks", count), ""});
}

}  // namespace trnsim
