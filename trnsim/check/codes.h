// The documented error codes of neuronx-cc, and those that a user of it meets besides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trnsim {

struct CodeText {
  std::string_view code;  // "EVRF004"; documents have it as NCC_EVRF004
  std::string_view what;  // one sentence
  std::string_view fix;
};

/// In the order of their names.
std::vector<CodeText> compiler_codes();
/// By a name with or without NCC_, in any case. Errors: Fault::kUsage with the nearest.
CodeText compiler_code(std::string_view name);

/// The code in a sentence: "EVRF015: ...", "NAME: EMOD025: ..."; empty: none.
std::string code_in(std::string_view text);

}  // namespace trnsim
