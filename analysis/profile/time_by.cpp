// time_by(): the time of a run in groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/profile/stats.h"
#include "base/error.h"
#include "base/suggest.h"
#include "isa/names.h"

namespace analysis {
namespace {

struct ByName {
  By by;
  std::string_view name;
};
constexpr std::array kNames = {
    ByName{By::kOp, "op"},         ByName{By::kPart, "part"},     ByName{By::kSource, "source"},
    ByName{By::kEngine, "engine"}, ByName{By::kOpcode, "opcode"}, ByName{By::kOpcode, "instruction"},
    ByName{By::kLayer, "layer"},   ByName{By::kPhase, "phase"},   ByName{By::kBlock, "block"}};

std::string label_of(const hw::OpTime& op, const isa::Program& program) {
  const isa::Block& block = program.blocks.at(op.block);
  return op.label < block.labels.size() ? block.labels[op.label] : "(no label)";
}

std::string key_of(By by, const hw::OpTime& op, const isa::Program& program) {
  if (by == By::kEngine) return std::string{isa::name_of(op.engine)};
  if (by == By::kOpcode) return std::string{isa::name_of(op.op)};
  constexpr std::string_view kAt = " at ";  // isa::Block::labels
  const std::string label = label_of(op, program);
  const std::size_t at = label.find(kAt);
  if (by == By::kSource) return at == std::string::npos ? "(no source)" : label.substr(at + kAt.size());
  const std::string name = label.substr(0, at);
  return by == By::kOp ? name : name.substr(name.rfind('.') + 1);  // npos + 1 is 0: the whole name
}

std::string key_of(By by, const hw::CallTime& call, const isa::Program& program) {
  if (by == By::kPhase) return std::string{isa::name_of(call.phase)};
  if (by == By::kBlock) return program.blocks.at(call.block).name;
  return call.layer < 0 ? "(outside layers)" : fmt::format("{}", call.layer);
}

Group& at(std::map<std::string, Group>& groups, const std::string& key) {
  Group& group = groups[key];
  group.key = key;
  return group;
}

/// Calls end when their engines do. The time between them is waiting for collectives, and the launch; with it the
/// groups add up to the step.
void add_between_calls(std::map<std::string, Group>& groups, const hw::SimResult& result) {
  double rest = hw::seconds(result.total);
  for (const auto& [key, group] : groups) rest -= group.busy;
  rest = std::max(rest, 0.0);
  const double exposed = std::min(hw::seconds(result.collective_exposed), rest);
  if (exposed > 0) at(groups, "(exposed collectives)").busy = exposed;
  if (rest > exposed) at(groups, "(launch and gaps)").busy = rest - exposed;
}

}  // namespace

By parse_by(std::string_view name) {
  std::vector<std::string> names;
  for (const ByName& row : kNames) {
    if (row.name == name) return row.by;
    names.emplace_back(row.name);
  }
  names.emplace_back("collective");  // a table of its own, see table_by()
  throw base::Error{base::Fault::kUsage, "`by`", fmt::format("time cannot be grouped by '{}'", name),
                    base::suggest_fix(name, names)};
}

std::vector<Group> time_by(By by, const hw::SimResult& result, const isa::Program& program) {
  std::map<std::string, Group> groups;
  if (by == By::kLayer || by == By::kPhase || by == By::kBlock) {
    for (const hw::CallTime& call : result.calls) {
      Group& group = at(groups, key_of(by, call, program));
      ++group.count;
      group.busy += hw::seconds(call.end - call.begin);
      for (const hw::EngineTime& engine : call.engines) group.waiting += hw::seconds(engine.waited());
    }
    add_between_calls(groups, result);
  } else {
    for (const hw::OpTime& op : result.ops) {
      Group& group = at(groups, key_of(by, op, program));
      group.count += op.count;
      group.busy += hw::seconds(op.busy);
      group.waiting += hw::seconds(op.waiting);
    }
  }
  double all = 0;
  for (const auto& [key, group] : groups) all += group.busy;
  std::vector<Group> list;
  for (auto& [key, group] : groups) {
    group.share = all > 0 ? group.busy / all * 100 : 0;
    list.push_back(group);
  }
  if (by == By::kLayer) {  // "2" before "10", time outside of layers last
    std::ranges::stable_sort(list, [](const Group& a, const Group& b) {
      const auto rank = [](const Group& g) { return g.key.front() == '(' ? 1u << 30 : std::stoul(g.key); };
      return rank(a) < rank(b);
    });
  } else {
    std::ranges::stable_sort(list, std::greater{}, &Group::busy);
  }
  return list;
}

}  // namespace analysis
