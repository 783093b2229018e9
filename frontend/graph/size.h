// The largest program that is read as text.
#pragma once

#include <string>
#include <string_view>

namespace trnsim::frontend {

/// Refuses a text with more than half a million lines that make a value: no core is given so many operations, and
/// reading them all takes longer than to say so. Errors: Fault::kProgram with the line, from `first` on.
void require_readable(std::string_view text, std::string_view file, std::size_t first = 1);

}  // namespace trnsim::frontend
