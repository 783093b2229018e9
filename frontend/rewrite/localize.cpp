// Programs of shard_map, from which a partitioner would only cut parameters and results: each core is given its parts.
#include <algorithm>
#include <string>
#include <vector>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/compose.h"

namespace trnsim::frontend {
namespace {

constexpr std::string_view kMark = "Sharding", kApart = "SPMDFullToShardShape", kTogether = "SPMDShardToFullShape";

class Localizer {
 public:
  explicit Localizer(Module& module)
      : module_{module},
        f_{module.functions[module.entry]},
        users_(f_.values.size()),
        makers_(f_.values.size(), f_.nodes.size()) {
    for (std::size_t n = 0; n < f_.nodes.size(); ++n) {
      if (f_.nodes[n].results == 1) makers_[f_.nodes[n].result()] = n;
      for (const ValueId v : f_.nodes[n].operands) users_[v].push_back(n);
      for (const Region& region : f_.nodes[n].regions)
        for (const ValueId v : region.captures) users_[v].push_back(n);
    }
  }

  void run() {
    bool any = false;
    for (std::size_t n = 0; n < f_.nodes.size(); ++n) {
      if (is(n, kApart) && !apart(n)) return;
      if (is(n, kTogether) && !together(f_.nodes[n].result(), f_.type(f_.nodes[n].operands[0]))) return;
      any |= is(n, kApart) || is(n, kTogether);
    }
    if (!any) return;
    for (const auto& [value, type] : local_) f_.values[value] = type;
    module_.undivided = false;
  }

 private:
  bool is(std::size_t n, std::string_view target) const {
    const Node& node = f_.nodes[n];
    return node.op->name == "custom_call" && node.attributes.text("call_target_name") == target &&
           node.operands.size() == 1 && node.results == 1;
  }

  /// A parameter, or a mark of one, that is cut and read in no other way; not where some axes are left to a
  /// partitioner.
  bool apart(std::size_t n) {
    if (!f_.nodes[n].attributes.text("backend_config").empty()) return false;
    const Type type = f_.type(f_.nodes[n].result());
    ValueId value = f_.nodes[n].operands[0];
    while (value >= f_.parameters) {
      const std::size_t maker = makers_[value];
      if (maker == f_.nodes.size() || !is(maker, kMark)) return false;
      value = f_.nodes[maker].operands[0];
    }
    return cut(value, type);
  }

  bool cut(ValueId value, const Type& type) {
    if (std::ranges::find(f_.results, value) != f_.results.end()) return false;
    local_.emplace_back(value, type);
    return std::ranges::all_of(users_[value], [&](std::size_t n) {
      return is(n, kApart) ? f_.type(f_.nodes[n].result()) == type : is(n, kMark) && cut(f_.nodes[n].result(), type);
    });
  }

  /// A result of the program, perhaps behind marks.
  bool together(ValueId value, const Type& type) {
    local_.emplace_back(value, type);
    return std::ranges::all_of(users_[value],
                               [&](std::size_t n) { return is(n, kMark) && together(f_.nodes[n].result(), type); });
  }

  Module& module_;
  Function& f_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<std::size_t> makers_;  // the node whose one result a value is; as many as there are nodes: none
  std::vector<std::pair<ValueId, Type>> local_;
};

}  // namespace

void localize(Module& module) {
  if (module.entry < module.functions.size()) Localizer{module}.run();
}

}  // namespace trnsim::frontend
