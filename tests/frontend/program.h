// Programs of StableHLO in tests: read, computed, and their checks counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/stablehlo/reader.h"

namespace trnsim::frontend {

/// The results of a program's entry function.
inline std::vector<Value> results_of(std::string_view text) {
  const Module module = read_stablehlo(text, "test.mlir");
  return Interpreter{module}.run(module.entry, {});
}

/// How many of the program's checks were met. Throws when one is not.
inline std::int64_t checks_in(std::string_view text) {
  const Module module = read_stablehlo(text, "test.mlir");
  Interpreter interpreter{module};
  interpreter.run(module.entry, {});
  return interpreter.checks();
}

/// The body of a function without parameters, which ends with its return.
inline std::string main_with(const std::string& body) { return "func.func @main() {\n" + body + "  func.return\n}\n"; }

/// "WHERE: WHAT" of the error that reading or computing the program gives; empty: none.
inline std::string complaint_of(const std::string& text) {
  try {
    checks_in(text);
  } catch (const base::Error& error) {
    return std::string{error.reason()};
  }
  return {};
}

}  // namespace trnsim::frontend
