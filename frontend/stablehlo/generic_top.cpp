// Modules and functions in MLIR's generic form.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/stablehlo/program_reader.h"

namespace trnsim::frontend::stablehlo {

void ProgramReader::read_module_attributes(std::string_view close) {
  for (const auto& [name, value] : read_entries(in_, aliases_, close)) {
    if (name == "mhlo.num_replicas") module_.replicas = std::max<std::int64_t>(value.integer, 1);
    if (name == "mhlo.num_partitions") module_.partitions = std::max<std::int64_t>(value.integer, 1);
    if (name == "sym_name" && module_.name.empty()) module_.name = value.text;
    module_.extras[name] = value.text;
  }
}

/// The name of the function whose region begins here: in older programs it is behind the region.
std::string ProgramReader::generic_name() {
  Cursor ahead = in_;
  ahead.bracketed();
  if (!ahead.accept("{")) in_.fail("a function has no name");
  for (const auto& [name, value] : read_entries(ahead, aliases_, "}"))
    if (name == "sym_name") return value.text;
  in_.fail("a function has no name");
}

void ProgramReader::read_generic_function(const std::string& name) {
  const FunctionId id = function_named(name);
  if (std::exchange(defined_[id], true)) in_.fail(fmt::format("@{} is defined twice", name));
  Function& f = module_.functions[id];
  f.line = in_.line();
  in_.expect("(");
  in_.expect("{");
  scopes_.open(id);
  if (in_.accept("^")) {
    in_.name();
    const std::vector<Parameter> parameters = in_.accept("(") ? read_parameters(")") : std::vector<Parameter>{};
    in_.expect(":");
    for (const Parameter& parameter : parameters) {
      scopes_.define(parameter.name, f.parameters++, 1, in_);
      f.values.push_back(parameter.type);
    }
  }
  read_block("}");
  scopes_.close();
  in_.expect(")");
}

void ProgramReader::read_generic_top() {
  const Cursor::Deeper deeper{in_};
  const std::string op = in_.quoted();
  if (op == "sdy.mesh") return in_.skip_line();
  const bool module = op == "builtin.module";
  if (!module && op != "func.func") in_.fail(fmt::format("\"{}\" is neither a function nor a module", op));
  in_.expect("(");
  in_.expect(")");
  std::string name;
  if (in_.accept("<{")) {
    if (module) {
      read_module_attributes("}");
    } else {
      for (const auto& [entry, value] : read_entries(in_, aliases_, "}"))
        if (entry == "sym_name") name = value.text;
    }
    in_.expect(">");
  }
  if (module) {
    in_.expect("(");
    in_.expect("{");
    if (in_.accept("^")) in_.name(), in_.expect(":");
    read_top("}");
    in_.expect(")");
    if (in_.accept("{")) read_module_attributes("}");
  } else {
    read_generic_function(name.empty() ? generic_name() : name);
    if (in_.accept("{")) read_entries(in_, aliases_, "}");
  }
  in_.expect(":");
  read_types(in_, aliases_);
  in_.expect("->");
  read_types(in_, aliases_);
  read_location();
}

}  // namespace trnsim::frontend::stablehlo
