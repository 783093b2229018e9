#include "frontend/ops/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/error.h"

namespace trnsim::frontend {
namespace {

struct Registry {
  table::Rows rows;
  std::unordered_map<std::string_view, const Operator*> by_name, by_opcode;

  Registry() {
    for (auto* part : {table::elementwise, table::movement, table::reductions, table::products, table::control,
                       table::collectives, table::chlo})
      for (Operator& row : part()) rows.push_back(std::move(row));
    for (const Operator& row : rows) {
      base::ensure(by_name.emplace(row.name, &row).second, row.name, "is in the table of operators twice");
      if (!row.hlo.empty()) by_opcode.emplace(row.hlo, &row);
    }
  }
};

const Registry& registry() {
  static const Registry made;
  return made;
}

}  // namespace

std::span<const Operator> operators() { return registry().rows; }

const Operator* find_operator(std::string_view name) {
  const auto found = registry().by_name.find(name);
  return found == registry().by_name.end() ? nullptr : found->second;
}

const Operator* find_hlo_operator(std::string_view opcode) {
  const auto found = registry().by_opcode.find(opcode);
  return found == registry().by_opcode.end() ? nullptr : found->second;
}

const Operator& operator_named(std::string_view name) {
  const Operator* found = find_operator(name);
  base::ensure(found != nullptr, name, "is not in the table of operators");
  return *found;
}

std::string_view name_of(Group group) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "element by element", "conversion", "creation",          "movement", "reduction", "product", "indexed", "control",
      "collective",         "random",     "tuples and tokens", "transfer", "other"};
  return kNames.at(static_cast<std::size_t>(group));
}

}  // namespace trnsim::frontend
