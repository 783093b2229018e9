#include "frontend/ops/contract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace trnsim::frontend {
namespace {

std::string listed(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + mlir_text(type);
  return "(" + text + ")";
}

}  // namespace

void Contract::fail(const std::string& what) const {
  throw base::Error{base::Fault::kProgram, module_.where(node_), fmt::format("{}: {}", node_.op->name, what),
                    "correct the program; docs/frontend.md has each operator's operands and attributes"};
}

const Type& Contract::tensor(std::size_t i, std::int64_t rank) const {
  if (i >= operands()) fail(fmt::format("has {} operands, but needs at least {}", operands(), i + 1));
  const Type& type = operand(i);
  if (!type.is_tensor()) fail(fmt::format("operand {} is {}, not a tensor", i, mlir_text(type)));
  if (rank >= 0 && type.rank() != rank)
    fail(fmt::format("operand {} is {}, but must have {} dimensions", i, mlir_text(type), rank));
  return type;
}

void Contract::same_operands(std::size_t first) const {
  for (std::size_t i = first + 1; i < operands(); ++i)
    if (!(operand(i) == operand(first)))
      fail(fmt::format("operands {} and {} differ: {} and {}", first, i, mlir_text(operand(first)),
                       mlir_text(operand(i))));
}

void Contract::match_stated(const std::vector<Type>& inferred) const {
  if (stated_.empty() && (inferred.empty() || node_.op->infer != nullptr)) return;
  if (stated_ == inferred) return;
  fail(fmt::format("has results {}, its operands and attributes give {}", listed(stated_), listed(inferred)));
}

void Contract::distinct(const Ints& dims, std::int64_t rank, std::string_view name) const {
  std::vector<bool> seen(static_cast<std::size_t>(rank));
  for (const std::int64_t d : dims) {
    if (d < 0 || d >= rank) fail(fmt::format("{} = {} is not one of {} dimensions", name, d, rank));
    if (seen[static_cast<std::size_t>(d)]) fail(fmt::format("{} names dimension {} twice", name, d));
    seen[static_cast<std::size_t>(d)] = true;
  }
}

}  // namespace trnsim::frontend
