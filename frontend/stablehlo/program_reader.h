// Reads one program: functions, regions, operations.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/stablehlo/attributes.h"
#include "frontend/stablehlo/cursor.h"
#include "frontend/stablehlo/scopes.h"

namespace trnsim::frontend::stablehlo {

/// A parameter of a region, or of a function.
struct Parameter {
  std::string_view name;
  Type type;
};

/// An operation while it is read.
struct Draft {
  Node node;
  std::vector<std::pair<std::string_view, std::int64_t>> names;  // of its results, and how many each stands for
  std::vector<Type> operand_types, result_types;
  std::string callee;                   // of calls and composites
  std::string_view dense;               // dense<...> whose type follows: the text between the brackets
  std::vector<std::string> words = {};  // enumerations without a name
};

class ProgramReader {
 public:
  ProgramReader(std::string_view text, const std::string& file, std::uint32_t line);

  Module read();

  // For the readers of single forms (forms.cpp).
  Cursor& in() { return in_; }
  /// The place of an operation that is read, for errors about it as a whole.
  Cursor at(const Draft& draft) const { return {"", in_.file(), draft.node.line}; }
  Module& module() { return module_; }
  Scopes& scopes() { return scopes_; }
  const Aliases& aliases() const { return aliases_; }
  ValueId read_value();
  void read_values(Draft& draft, std::string_view close);
  /// "{ ^bb0(%a: type): operations }", with parameters from before when there is no label.
  Region read_region(const std::vector<Parameter>& parameters = {});
  Type read_known_type();
  std::vector<Parameter> read_parameters(std::string_view close);
  void read_entries_of(Draft& draft, std::string_view close);
  /// ": types", and attributes behind them.
  void read_signature(Draft& draft);

 private:
  void find_aliases(std::string_view text);
  void read_top(std::string_view close);
  void read_module();
  void read_function();
  /// "builtin.module"() ({ ... }) and "func.func"() ({ ... }).
  void read_generic_top();
  void read_generic_function(const std::string& name);
  void read_module_attributes(std::string_view close);
  std::string generic_name();
  std::vector<Parameter> read_function_parameters(Function& f);
  void read_function_results(Function& f, std::vector<Type>& types);
  Attributes read_named_attributes();
  void read_block(std::string_view close);
  /// Returns whether it was the end of the block.
  bool read_operation();
  bool read_return(std::string_view op, bool generic);
  void read_generic(Draft& draft);
  void read_sharding(std::string_view op, bool generic, const Draft& draft);
  void read_manual(const Draft& draft);
  void require_all_axes();
  ValueId converted(std::string_view target, ValueId value, const Type& to, std::uint32_t line);
  void finish(Draft draft);
  void resolve_callee(Draft& draft);
  std::uint32_t read_location();
  const Operator& operator_of(std::string_view name);
  FunctionId function_named(const std::string& name);
  void end();

  Cursor in_;
  Module module_;
  Scopes scopes_;
  Aliases aliases_;
  std::map<std::string, FunctionId, std::less<>> functions_;
  std::map<FunctionId, bool> defined_;
  std::string_view known_text_;  // of the type that was read last
  Type known_type_;
  std::map<std::string, std::uint32_t, std::less<>> locations_;  // texts that were read before
  std::map<std::string, std::size_t, std::less<>> meshes_;       // how many axes each has
};

/// Operations in the pretty form.
void read_pretty(ProgramReader& reader, Draft& draft);

}  // namespace trnsim::frontend::stablehlo
