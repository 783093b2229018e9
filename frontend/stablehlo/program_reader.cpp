#include "frontend/stablehlo/program_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "frontend/graph/grid.h"
#include "frontend/graph/size.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/compose.h"
#include "frontend/stablehlo/reader.h"

namespace trnsim::frontend::stablehlo {
namespace {

/// Whether a value has a sharding, of GSPMD or of Shardy, that gives cores different parts.
bool divides(const Attributes& attributes) {
  return attributes.text("mhlo.sharding").find("devices=[") != std::string::npos ||
         attributes.text("sdy.sharding").find("{\"") != std::string::npos;
}

}  // namespace

ProgramReader::ProgramReader(std::string_view text, const std::string& file, std::uint32_t line)
    : in_{text, file, line}, scopes_{module_} {
  module_.file = file;
  find_aliases(text);
}

/// "#name = value" and "!name = type" at the begin of lines; those of places may follow their use.
void ProgramReader::find_aliases(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text[at] == '#' || text[at] == '!') {
      const std::string_view line = text.substr(at, end - at);
      const std::size_t equals = line.find('=');
      if (equals != std::string_view::npos) {
        std::string name{line.substr(0, equals)};
        name.erase(name.find_last_not_of(' ') + 1);
        aliases_.emplace(std::move(name), line.substr(equals + 1));
      }
    }
    at = end + 1;
  }
}

Module ProgramReader::read() {
  read_top("");
  end();
  return std::move(module_);
}

void ProgramReader::end() {
  for (const auto& [name, id] : functions_)
    if (!defined_[id]) in_.fail(fmt::format("@{} is called but not defined", name));
  if (const auto found = functions_.find("main"); found != functions_.end()) module_.entry = found->second;
}

void ProgramReader::read_top(std::string_view close) {
  while (close.empty() ? !in_.is_end() : !in_.accept(close)) {
    if (in_.peek() == '#' || in_.peek() == '!') {
      in_.skip_line();
    } else if (in_.accept("module") || in_.accept("builtin.module")) {
      const Cursor::Deeper deeper{in_};
      read_module();
    } else if (in_.accept("func.func") || in_.accept("func")) {
      read_function();
    } else if (in_.accept("sdy.mesh")) {
      in_.expect("@");
      const std::string name{in_.name()};
      in_.expect("=");
      const std::string_view axes = in_.peek() == '<' ? in_.bracketed() : std::string_view{};
      meshes_[name] = static_cast<std::size_t>(std::ranges::count(axes, '='));
      in_.skip_line();
    } else if (in_.peek() == '"') {
      read_generic_top();
    } else {
      in_.fail("expected a function or a module at " + in_.here());
    }
  }
}

void ProgramReader::read_module() {
  if (in_.accept("@")) module_.name = std::string{in_.name()};
  if (in_.accept("attributes")) {
    in_.expect("{");
    read_module_attributes("}");
  }
  in_.expect("{");
  read_top("}");
  read_location();
}

FunctionId ProgramReader::function_named(const std::string& name) {
  const auto found = functions_.find(name);
  if (found != functions_.end()) return found->second;
  const FunctionId id = add_function(module_, name);
  functions_.emplace(name, id);
  return id;
}

Attributes ProgramReader::read_named_attributes() {
  Attributes out;
  if (!in_.accept("{")) return out;
  static const Operator none{};
  for (const auto& [name, value] : read_entries(in_, aliases_, "}")) set_attribute(out, none, name, value, in_);
  return out;
}

std::vector<Parameter> ProgramReader::read_function_parameters(Function& f) {
  std::vector<Parameter> out;
  in_.expect("(");
  while (!in_.accept(")")) {
    if (!out.empty()) in_.expect(",");
    in_.expect("%");
    const std::string_view name = in_.name();
    in_.expect(":");
    out.push_back({name, read_type(in_, aliases_)});
    f.parameter_attributes.push_back(read_named_attributes());
    module_.undivided |= divides(f.parameter_attributes.back());
    const std::int64_t output = f.parameter_attributes.back().integer("tf.aliasing_output", -1);
    if (output >= 0 && f.name == "main")
      module_.aliases.push_back({{output}, static_cast<std::int64_t>(out.size()) - 1, {}});
    read_location();
  }
  return out;
}

void ProgramReader::read_function_results(Function& f, std::vector<Type>& types) {
  if (!in_.accept("->")) return;
  if (!in_.accept("(")) {
    types.push_back(read_type(in_, aliases_));
    f.result_attributes.emplace_back();
    return;
  }
  while (!in_.accept(")")) {
    if (!types.empty()) in_.expect(",");
    types.push_back(read_type(in_, aliases_));
    f.result_attributes.push_back(read_named_attributes());
  }
}

void ProgramReader::read_function() {
  const std::uint32_t line = in_.line();
  for (const std::string_view word : {"public", "private", "nested"}) in_.accept(word);
  in_.expect("@");
  const std::string name{in_.name()};
  const FunctionId id = function_named(name);
  if (std::exchange(defined_[id], true)) in_.fail(fmt::format("@{} is defined twice", name));
  Function& f = module_.functions[id];
  f.line = line;
  const std::vector<Parameter> parameters = read_function_parameters(f);
  std::vector<Type> results;
  read_function_results(f, results);
  if (in_.accept("attributes")) {
    in_.expect("{");
    read_entries(in_, aliases_, "}");
  }
  if (in_.peek() != '{') in_.fail(fmt::format("@{} has no body", name));
  in_.expect("{");
  scopes_.open(id);
  for (const Parameter& parameter : parameters) {
    scopes_.define(parameter.name, static_cast<ValueId>(f.values.size()), 1, in_);
    f.values.push_back(parameter.type);
    ++f.parameters;
  }
  read_block("}");
  scopes_.close();
  if (f.result_types() != results) in_.fail(fmt::format("@{} returns other types than it states", name));
  read_location();
}

std::vector<Parameter> ProgramReader::read_parameters(std::string_view close) {
  std::vector<Parameter> out;
  while (!in_.accept(close)) {
    if (!out.empty()) in_.expect(",");
    in_.expect("%");
    const std::string_view name = in_.name();
    in_.expect(":");
    out.push_back({name, read_type(in_, aliases_)});
    read_location();
  }
  return out;
}

Region ProgramReader::read_region(const std::vector<Parameter>& given) {
  const Cursor::Deeper deeper{in_};
  in_.expect("{");
  std::vector<Parameter> parameters = given;
  Region region;
  region.function = add_function(module_, "", true);
  module_.functions[region.function].line = in_.line();
  if (in_.accept("^")) {
    in_.name();
    if (in_.accept("(")) parameters = read_parameters(")");
    in_.expect(":");
  }
  scopes_.open(region.function);
  Function& f = scopes_.here();
  for (const Parameter& parameter : parameters) {
    scopes_.define(parameter.name, f.parameters++, 1, in_);
    f.values.push_back(parameter.type);
  }
  read_block("}");
  region.captures = scopes_.close();
  return region;
}

void ProgramReader::read_block(std::string_view close) {
  bool ended = false;
  while (!in_.accept(close)) {
    if (in_.is_end()) in_.fail("a function or region does not end");
    if (ended) in_.fail("expected the end of the block after its return, at " + in_.here());
    ended = read_operation();
  }
}

ValueId ProgramReader::read_value() {
  in_.expect("%");
  const std::string_view name = in_.name();
  const std::int64_t index = in_.accept("#") ? in_.integer() : 0;
  return scopes_.find(name, index, in_);
}

void ProgramReader::read_values(Draft& draft, std::string_view close) {
  for (bool first = true; !in_.accept(close); first = false) {
    if (!first) in_.expect(",");
    draft.node.operands.push_back(read_value());
  }
}

}  // namespace trnsim::frontend::stablehlo

namespace trnsim::frontend {

Module read_stablehlo(std::string_view text, const std::string& file, std::uint32_t line) {
  require_readable(text, file, line);
  Module module = stablehlo::ProgramReader{text, file, line}.read();
  settle_grid(module);
  localize(module);
  compose_targets(module);
  verify(module);
  return module;
}

std::vector<ProgramText> split_programs(std::string_view text) {
  std::vector<ProgramText> out;
  std::size_t begin = 0;
  std::uint32_t line = 1, first = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++line;
    if (text.substr(at, end - at).starts_with("// -----")) {
      out.push_back({text.substr(begin, at - begin), first});
      begin = std::min(end + 1, text.size()), first = line;
    }
    at = end + 1;
  }
  out.push_back({text.substr(begin), first});
  return out;
}

}  // namespace trnsim::frontend
