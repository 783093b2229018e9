// "Did you mean": the nearest of the names that exist.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace base {

/// Edits (insert, delete, replace, exchange two neighbours) that turn `a` into `b`: the optimal string alignment form
/// of the Damerau-Levenshtein distance, on bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `typed` when it is near enough to be intended: at most a third of its length in edits,
/// case ignored, or `typed` is the last or first dotted part of exactly one name.
std::optional<std::string> closest(std::string_view typed, std::span<const std::string> names);

/// The `fix` sentence of an Error for an unknown name: `write "x"` when one is near, else the list of choices.
std::string suggest_fix(std::string_view typed, std::span<const std::string> names);

}  // namespace base
