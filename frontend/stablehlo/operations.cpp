// Operations: names, the generic form, results, places in the user's program.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "frontend/ops/operator.h"
#include "frontend/stablehlo/program_reader.h"

namespace trnsim::frontend::stablehlo {
namespace {

constexpr std::array<std::string_view, 6> kReturns = {"return",      "func.return", "stablehlo.return",
                                                      "mhlo.return", "chlo.return", "sdy.return"};

bool is_return(std::string_view op) { return std::ranges::find(kReturns, op) != kReturns.end(); }

/// The part of a place's text between its first quotes; the text behind them in `rest`.
std::string quoted_in(std::string_view text, std::string_view& rest) {
  const std::size_t open = text.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  rest = text.substr(close + 1);
  return std::string{text.substr(open + 1, close - open - 1)};
}

/// Lists of symbols, as they were written: "[[@a, @b]]".
std::string symbols_text(const Written& value) {
  if (value.kind != Written::Kind::kList) return "@" + value.text;
  std::string out;
  for (const Written& entry : value.list) out += (out.empty() ? "" : ", ") + symbols_text(entry);
  return "[" + out + "]";
}

}  // namespace

const Operator& ProgramReader::operator_of(std::string_view name) {
  std::string_view short_name = name;
  for (const std::string_view prefix : {"stablehlo.", "mhlo.", "func.", "arith."})
    if (short_name.starts_with(prefix)) short_name.remove_prefix(prefix.size());
  const Operator* op = find_operator(short_name);
  if (op == nullptr)
    throw base::Error{base::Fault::kProgram, in_.where(),
                      fmt::format("EUOC002: {} is not an operator that the compiler accepts", name),
                      "docs/frontend.md lists the operators"};
  return *op;
}

bool ProgramReader::read_return(std::string_view op, bool generic) {
  if (!is_return(op)) return false;
  std::vector<ValueId>& results = scopes_.here().results;
  if (generic) in_.expect("(");
  while (in_.peek() == '%') {
    const ValueId value = read_value();
    scopes_.here().results.push_back(value);
    if (!in_.accept(",")) break;
  }
  if (generic) in_.expect(")");
  if (in_.accept("{")) read_entries(in_, aliases_, "}");
  if (in_.accept(":")) {
    std::vector<Type> types = read_types(in_, aliases_);
    while (in_.accept(",")) types.push_back(read_type(in_, aliases_));
    if (in_.accept("->")) read_types(in_, aliases_);
    if (types.size() != results.size()) in_.fail("returns another number of values than of types");
    for (std::size_t i = 0; i < types.size(); ++i)
      if (!(types[i] == scopes_.type(results[i])))
        in_.fail(fmt::format("returns {} as {}", mlir_text(scopes_.type(results[i])), mlir_text(types[i])));
  }
  read_location();
  return true;
}

ValueId ProgramReader::converted(std::string_view target, ValueId value, const Type& to, std::uint32_t line) {
  Function& f = scopes_.here();
  Node node;
  node.op = find_operator("custom_call");
  node.operands = {value};
  node.attributes.set("call_target_name", std::string{target});
  node.line = line;
  node.first_result = static_cast<ValueId>(f.values.size());
  node.results = 1;
  f.values.push_back(to);
  f.nodes.push_back(std::move(node));
  return f.nodes.back().result();
}

/// sdy.manual_computation(%a, %b) in_shardings=[...] out_shardings=[...] manual_axes={...} (%c: type, ...) { ... } :
/// a call of the body with a core's parts of its operands. Errors: axes that a partitioner would divide all the same.
void ProgramReader::read_manual(const Draft& draft) {
  Draft call;
  in_.expect("(");
  read_values(call, ")");
  require_all_axes();
  in_.expect("(");
  const std::vector<Parameter> parts = read_parameters(")");
  if (parts.size() != call.node.operands.size())
    in_.fail("sdy.manual_computation and its body have different numbers of operands");
  for (std::size_t i = 0; i < parts.size(); ++i)
    call.node.operands[i] = converted("SPMDFullToShardShape", call.node.operands[i], parts[i].type, draft.node.line);
  call.node.regions = {read_region(parts)};
  if (!call.node.regions[0].captures.empty()) in_.fail("sdy.manual_computation reads values from outside it");
  Function& body = module_.functions[call.node.regions[0].function];
  body.is_region = false, body.name = fmt::format("manual_computation.{}", call.node.regions[0].function);
  call.node.attributes.set("callee", body.name);
  call.node.op = find_operator("call"), call.node.line = draft.node.line;
  call.result_types = body.result_types();
  in_.expect(":");
  read_types(in_, aliases_);
  in_.expect("->");
  const std::vector<Type> whole = read_types(in_, aliases_);
  if (whole.size() != call.result_types.size())
    in_.fail("sdy.manual_computation and its body have different numbers of results");
  finish(std::move(call));
  const ValueId parts_of = scopes_.here().nodes.back().first_result;
  auto result = static_cast<ValueId>(scopes_.here().values.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    converted("SPMDShardToFullShape", parts_of + static_cast<ValueId>(i), whole[i], draft.node.line);
  for (const auto& [name, count] : draft.names) {
    scopes_.define(name, result, count, in_);
    result += static_cast<ValueId>(count);
  }
}

/// Errors: axes of the mesh that a partitioner would divide beside those that the program names.
void ProgramReader::require_all_axes() {
  std::size_t axes = 0;
  for (const std::string_view word : {"in_shardings", "out_shardings", "manual_axes"}) {
    in_.expect(word);
    in_.expect("=");
    axes = static_cast<std::size_t>(std::ranges::count(in_.bracketed(), '"')) / 2;
  }
  if (meshes_.size() != 1 || meshes_.begin()->second != axes)
    throw base::Error{base::Fault::kProgram, in_.where(), "sdy.manual_computation leaves axes to a partitioner",
                      "name all axes of the mesh, or give what lowered.compile().as_text() writes"};
}

/// An operation of Shardy, which leaves its operand as it is; a partitioner would act on it.
void ProgramReader::read_sharding(std::string_view op, bool generic, const Draft& draft) {
  if (op == "sdy.manual_computation" && !generic) return read_manual(draft);
  constexpr std::array<std::string_view, 4> kMarks = {"sdy.sharding_constraint", "sdy.reshard",
                                                      "sdy.propagation_barrier", "sdy.sharding_group"};
  if (std::ranges::find(kMarks, op) == kMarks.end())
    throw base::Error{base::Fault::kProgram, in_.where(), fmt::format("{} divides tensors among cores", op),
                      "give the program that XLA's partitioner leaves, such as JAX's lowered.compile().as_text()"};
  module_.undivided = true;
  if (generic) in_.expect("(");
  const ValueId value = read_value();
  if (generic) in_.expect(")");
  while (!in_.accept(":")) {
    if (in_.is_end()) in_.fail("an operation has no type");
    in_.peek() == '<' || in_.peek() == '{' ? static_cast<void>(in_.bracketed()) : in_.skip(1);
  }
  std::vector<Type> types = read_types(in_, aliases_);
  if (in_.accept("->")) types = read_types(in_, aliases_);
  read_location();
  for (const auto& [name, count] : draft.names) scopes_.define(name, value, 1, in_);
}

bool ProgramReader::read_operation() {
  Draft draft;
  if (in_.peek() == '%') {
    do {
      in_.expect("%");
      const std::string_view name = in_.name();
      draft.names.emplace_back(name, in_.accept(":") ? in_.integer() : 1);
    } while (in_.accept(","));
    in_.expect("=");
  }
  const bool generic = in_.peek() == '"';
  draft.node.line = in_.line();
  const std::string quoted = generic ? in_.quoted() : std::string{};
  const std::string_view op = generic ? std::string_view{quoted} : in_.word();
  if (op.empty()) in_.fail("expected an operation at " + in_.here());
  if (read_return(op, generic)) return true;
  if (op.starts_with("sdy.")) {
    read_sharding(op, generic, draft);
    return false;
  }
  draft.node.op = &operator_of(op);
  if (generic)
    read_generic(draft);
  else
    read_pretty(*this, draft);
  finish(std::move(draft));
  return false;
}

void ProgramReader::read_entries_of(Draft& draft, std::string_view close) {
  for (const auto& [name, value] : read_entries(in_, aliases_, close)) {
    if (name == "callee" || name == "decomposition")
      draft.callee = value.text;
    else if (name == "programs" || name == "infeed")
      draft.node.attributes.set(name, symbols_text(value));
    else
      set_attribute(draft.node.attributes, *draft.node.op, name, value, in_);
  }
}

void ProgramReader::read_generic(Draft& draft) {
  in_.expect("(");
  read_values(draft, ")");
  if (in_.accept("<{")) {
    read_entries_of(draft, "}");
    in_.expect(">");
  }
  if (in_.accept("(")) {
    do draft.node.regions.push_back(read_region());
    while (in_.accept(","));
    in_.expect(")");
  }
  if (in_.accept("{")) read_entries_of(draft, "}");
  in_.expect(":");
  draft.operand_types = read_types(in_, aliases_);
  in_.expect("->");
  draft.result_types = read_types(in_, aliases_);
  if (draft.operand_types.size() != draft.node.operands.size())
    in_.fail(fmt::format("states {} types for {} operands", draft.operand_types.size(), draft.node.operands.size()));
}

/// A callee is a function of the module, perhaps one that is defined later.
void ProgramReader::resolve_callee(Draft& draft) {
  if (draft.callee.empty()) return;
  draft.node.regions = {{function_named(draft.callee), {}}};
}

void ProgramReader::finish(Draft draft) {
  Node& node = draft.node;
  resolve_callee(draft);
  if (node.attributes.text("call_target_name") == "Sharding") module_.undivided = true;  // a partitioner leaves none
  node.metadata = read_location();
  for (std::size_t i = 0; i < draft.operand_types.size() && i < node.operands.size(); ++i)
    if (!(draft.operand_types[i] == scopes_.type(node.operands[i])))
      at(draft).fail(fmt::format("operand {} is {}, but the program states {}", i,
                                 mlir_text(scopes_.type(node.operands[i])), mlir_text(draft.operand_types[i])));
  Function& f = scopes_.here();
  node.first_result = static_cast<ValueId>(f.values.size());
  node.results = static_cast<std::uint32_t>(draft.result_types.size());
  std::int64_t named = 0;
  for (const auto& [name, count] : draft.names) {
    if (count < 0 || named + count > static_cast<std::int64_t>(node.results))
      at(draft).fail("names more results than it has");
    scopes_.define(name, node.first_result + static_cast<ValueId>(named), count, in_);
    named += count;
  }
  if (node.name.empty() && !draft.names.empty()) node.name = std::string{draft.names.front().first};
  for (Type& type : draft.result_types) f.values.push_back(std::move(type));
  f.nodes.push_back(std::move(node));
}

/// loc("file":1:2), loc("name"(...)), loc(#loc3), loc(fused[...]), loc(unknown).
std::uint32_t ProgramReader::read_location() {
  if (!in_.at("loc")) return 0;
  in_.accept("loc");
  const std::string_view text = in_.bracketed();
  if (const auto found = locations_.find(text); found != locations_.end()) return found->second;
  Metadata metadata;
  std::string_view rest = text;
  for (int depth = 0; depth < 8; ++depth) {  // aliases of aliases
    if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos && rest.find('"') > hash) {
      const std::size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", hash + 1);
      const auto alias = aliases_.find(rest.substr(hash, end - hash));
      if (alias == aliases_.end()) break;
      rest = alias->second;
    }
    std::string_view behind;
    const std::string quoted = quoted_in(rest, behind);
    if (quoted.empty()) break;
    if (behind.starts_with(':')) {
      metadata.source_file = quoted;
      metadata.source_line = std::atoi(std::string{behind.substr(1)}.c_str());
      break;
    }
    if (metadata.op_name.empty()) metadata.op_name = quoted;
    rest = behind;
  }
  module_.metadata.push_back(metadata);
  const auto id = static_cast<std::uint32_t>(module_.metadata.size() - 1);
  locations_.emplace(text, id);
  return id;
}

}  // namespace trnsim::frontend::stablehlo
