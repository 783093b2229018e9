// The settings of a node of the compiler's graph as words, and back: how a program that trnsim writes keeps them.
#pragma once

#include <string>
#include <string_view>

#include "runtime/graph/attributes.h"
#include "runtime/graph/graph.h"

namespace trnsim::frontend::hlo {

/// The number of the struct, then its members in their order: "7 1 0 - -".
std::string words_of(const runtime::Attrs& attrs);
/// Errors: base::Fault::kData at `where` for other words.
runtime::Attrs attrs_from(std::string_view words, std::string_view where);

/// A scope: "layer.bwd|3|2|7|0|3".
std::string words_of(const runtime::Scope& scope);
runtime::Scope scope_from(std::string_view words, std::string_view where);

/// Replica groups: groups of a set by `,`, ranks by blanks, sets by `;`.
std::string words_of(const isa::GroupTables& groups);
isa::GroupTables groups_from(std::string_view words, std::string_view where);

/// The module's frontend attributes that say that trnsim wrote it, and from which graph.
inline constexpr std::string_view kGroupsKey = "trnsim_groups", kKindsKey = "trnsim_kinds",
                                  kNumericsKey = "trnsim_numerics";
/// In front of the name of an operation, as the target of a custom call.
inline constexpr std::string_view kTargetPrefix = "trnsim.";

}  // namespace trnsim::frontend::hlo
