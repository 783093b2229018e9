// Families of models that are not built in, and why.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace workloads {

/// A type of config.json, the part of its models that no layer here computes, and the built-in type that is nearest:
/// it has the other parts, and its figures are those of a model without this one.
struct NotBuiltIn {
  std::string_view type, part, near;
};
std::span<const NotBuiltIn> types_not_built_in();
/// None: a type that is built in, or one that is not known here.
std::optional<NotBuiltIn> not_built_in(std::string_view type);

}  // namespace workloads
