// Operations that neuronx-cc refuses, by its codes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"
#include "frontend/ops/refusals.h"
#include "trnsim/check/check.h"
#include "trnsim/check/codes.h"

namespace trnsim {
namespace {

using frontend::Function;
using frontend::LiteralPtr;
using frontend::Module;
using frontend::Node;
using frontend::ValueId;

constexpr std::size_t kMostCounted = 10'000;  // refused operations that are counted

struct Met {
  std::size_t count = 0;
  std::string first;  // "FILE:12: scatter"
};

/// The constant that a value is, or null.
LiteralPtr constant_of(const Function& f, ValueId v) {
  for (const Node& node : f.nodes)
    if (node.results == 1 && node.result() == v)
      return node.op->name == "constant" ? node.attributes.literal("value") : nullptr;
  return nullptr;
}

std::int64_t index_of(const frontend::Literal& literal, std::int64_t i) {
  return frontend::wrap_to(literal.type.element, static_cast<std::int64_t>(literal.bits(literal.splat ? 0 : i)));
}

/// EVRF031: constant indices outside of the tensor that a scatter writes.
bool scatters_outside(const Function& f, const Node& node) {
  const auto s = frontend::scatter_dims(node.attributes);
  const std::size_t count = node.results;
  const LiteralPtr ids = constant_of(f, node.operands[count]);
  if (!ids || s.index_vector_dim > ids->type.rank()) return false;
  const auto& dims = ids->type.dims;
  const auto& table = f.type(node.operands[0]).dims;
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(s.index_vector_dim) + 1; d < dims.size(); ++d) inner *= dims[d];
  const auto parts = static_cast<std::int64_t>(s.scatter_dims_to_operand_dims.size());
  for (std::int64_t i = 0; i < ids->count(); ++i) {
    const auto part = static_cast<std::size_t>(i / inner % parts);
    const auto size = table[static_cast<std::size_t>(s.scatter_dims_to_operand_dims[part])];
    const std::int64_t id = index_of(*ids, i);
    if (id < 0 || id >= size) return true;
  }
  return false;
}

}  // namespace

void check_operations(const Module& module, std::int64_t generation, std::vector<Finding>& out) {
  std::map<std::string, Met> met;
  for (const frontend::Refusal& refusal : frontend::refusals(module, kMostCounted, generation)) {
    Met& one = met[std::string{refusal.rule->code}];
    if (one.count++ == 0) one.first = fmt::format("{}: {}", refusal.where, refusal.op);
  }
  for (const Function& f : module.functions)
    for (const Node& node : f.nodes)
      if (node.op->name == "scatter" && scatters_outside(f, node)) {
        Met& one = met["EVRF031"];
        if (one.count++ == 0) one.first = fmt::format("{}: scatter", module.where(node));
      }
  for (const auto& [code, one] : met) {
    const CodeText text = compiler_code(code);
    const std::string more = one.count > 1 ? fmt::format(", and {} more", one.count - 1) : "";
    out.push_back({"compiler", Concern::kFails, code, fmt::format("{}{}: {}", one.first, more, text.what),
                   std::string{text.fix}});
  }
  if (met.empty())
    out.push_back({"compiler", Concern::kFine, "",
                   fmt::format("no documented code refuses one of the {} operations", module.node_count()), ""});
}

}  // namespace trnsim
