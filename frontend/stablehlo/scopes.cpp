#include "frontend/stablehlo/scopes.h"

#include <fmt/format.h>

namespace trnsim::frontend::stablehlo {

void Scopes::define(std::string_view name, ValueId first, std::int64_t count, const Cursor& in) {
  if (!scopes_.back().names.emplace(name, Named{first, count}).second)
    in.fail(fmt::format("%{} is defined twice", name));
}

ValueId Scopes::find(std::string_view name, std::int64_t index, const Cursor& in) {
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].names.find(name);
    if (found == scopes_[i].names.end()) continue;
    const Named& named = found->second;
    if (index < 0 || index >= named.count)
      in.fail(fmt::format("%{} has {} values, not one number {}", name, named.count, index));
    return captured(i, named.first + static_cast<ValueId>(index));
  }
  in.fail(fmt::format("%{} is not defined before it is read", name));
}

/// The value of scope `from` in the innermost one, through all between them.
ValueId Scopes::captured(std::size_t from, ValueId value) {
  for (std::size_t i = from + 1; i < scopes_.size(); ++i) {
    Scope& scope = scopes_[i];
    ValueId inside = ~ValueId{0};
    for (const Capture& capture : scope.captures)
      if (capture.outside == value) inside = capture.inside;
    if (inside == ~ValueId{0}) {
      Function& f = module_.functions[scope.function];
      inside = static_cast<ValueId>(f.values.size());
      const Type type = module_.functions[scopes_[i - 1].function].type(value);
      f.values.push_back(type);
      scope.captures.push_back({value, inside});
    }
    value = inside;
  }
  return value;
}

void Scopes::renumber(Function& f, const std::vector<Capture>& captures) const {
  std::vector<ValueId> to(f.values.size(), ~ValueId{0});
  ValueId next = 0;
  for (ValueId p = 0; p < f.parameters; ++p) to[p] = next++;
  for (const Capture& capture : captures) to[capture.inside] = next++;
  f.parameters = next;
  for (ValueId& id : to)
    if (id == ~ValueId{0}) id = next++;
  std::vector<Type> values(f.values.size());
  for (std::size_t i = 0; i < to.size(); ++i) values[to[i]] = std::move(f.values[i]);
  f.values = std::move(values);
  for (Node& node : f.nodes) {
    for (ValueId& operand : node.operands) operand = to[operand];
    for (Region& region : node.regions)
      for (ValueId& value : region.captures) value = to[value];
    node.first_result = node.results > 0 ? to[node.first_result] : next;
  }
  for (ValueId& result : f.results) result = to[result];
}

std::vector<ValueId> Scopes::close() {
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (!scope.captures.empty()) renumber(module_.functions[scope.function], scope.captures);
  std::vector<ValueId> outside;
  for (const Capture& capture : scope.captures) outside.push_back(capture.outside);
  return outside;
}

}  // namespace trnsim::frontend::stablehlo
