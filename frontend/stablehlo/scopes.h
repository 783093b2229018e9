// Names of values while functions and regions are read. A region that reads a value of the function around it captures
// it: the value becomes one of its parameters.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/stablehlo/cursor.h"

namespace trnsim::frontend::stablehlo {

class Scopes {
 public:
  explicit Scopes(Module& module) : module_{module} {}

  void open(FunctionId function) { scopes_.push_back({function, {}, {}}); }
  /// Ends the innermost one. Returns what it captures, as values of the one around it.
  std::vector<ValueId> close();

  FunctionId function() const { return scopes_.back().function; }
  Function& here() { return module_.functions[function()]; }

  /// The name stands for `count` values from `first` on, "%name#0" and so on.
  void define(std::string_view name, ValueId first, std::int64_t count, const Cursor& in);
  /// A value by its name, wherever around it was defined. Errors: a name that is not defined.
  ValueId find(std::string_view name, std::int64_t index, const Cursor& in);
  const Type& type(ValueId value) { return here().type(value); }

 private:
  struct Named {
    ValueId first;
    std::int64_t count;
  };
  struct Capture {
    ValueId outside, inside;
  };
  struct Scope {
    FunctionId function;
    std::unordered_map<std::string_view, Named> names;
    std::vector<Capture> captures;
  };
  ValueId captured(std::size_t from, ValueId value);
  /// Captures were given ids among those of nodes; parameters come first.
  void renumber(Function& f, const std::vector<Capture>& captures) const;

  Module& module_;
  std::vector<Scope> scopes_;
};

}  // namespace trnsim::frontend::stablehlo
