// Operations in the pretty form. Most are a list of operands, words and "name = attribute", then types; the few with a
// form of their own have a function here.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/ops/operator.h"
#include "frontend/stablehlo/program_reader.h"

namespace trnsim::frontend::stablehlo {
namespace {

Ints ints_at(ProgramReader& reader) {
  Ints out;
  reader.in().expect("[");
  while (!reader.in().accept("]")) {
    if (!out.empty()) reader.in().expect(",");
    out.push_back(reader.in().integer());
  }
  return out;
}

/// "[0:2, 1:6:2]".
void read_slices(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  Ints start, limit, stride;
  in.expect("[");
  while (!in.accept("]")) {
    if (!start.empty()) in.expect(",");
    start.push_back(in.integer());
    in.expect(":");
    limit.push_back(in.integer());
    stride.push_back(in.accept(":") ? in.integer() : 1);
  }
  draft.node.attributes.set("start_indices", start);
  draft.node.attributes.set("limit_indices", limit);
  draft.node.attributes.set("strides", stride);
}

/// "[0] x [1]" of both operands.
void read_dot_dimensions(ProgramReader& reader, Draft& draft, std::string_view name) {
  const bool batching = name == "batching_dims";
  draft.node.attributes.set(batching ? "lhs_batching_dimensions" : "lhs_contracting_dimensions", ints_at(reader));
  reader.in().expect("x");
  draft.node.attributes.set(batching ? "rhs_batching_dimensions" : "rhs_contracting_dimensions", ints_at(reader));
}

/// "[b, 0, f]x[0, i, o]->[b, 0, f]".
void read_convolution_dimensions(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  std::string text{in.bracketed()};
  in.expect("x");
  text += "x" + std::string{in.bracketed()};
  in.expect("->");
  text += "->" + std::string{in.bracketed()};
  set_convolution_dimensions(draft.node.attributes, text, in);
}

/// "{stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]}".
void read_window(ProgramReader& reader, Draft& draft) {
  static constexpr std::array<std::array<std::string_view, 2>, 5> kNames = {{{"stride", "window_strides"},
                                                                             {"pad", "padding"},
                                                                             {"lhs_dilate", "lhs_dilation"},
                                                                             {"rhs_dilate", "rhs_dilation"},
                                                                             {"reverse", "window_reversal"}}};
  reader.in().expect("{");
  for (const auto& [name, value] : read_entries(reader.in(), reader.aliases(), "}")) {
    const auto found = std::ranges::find(kNames, name, [](const auto& row) { return row[0]; });
    if (found == kNames.end()) reader.in().fail(fmt::format("a window has no \"{}\"", name));
    set_attribute(draft.node.attributes, *draft.node.op, std::string{(*found)[1]}, value, reader.in());
  }
}

/// "e5m10".
void read_format(ProgramReader& reader, Draft& draft) {
  const std::string word{reader.in().word()};
  const std::size_t m = word.find('m');
  if (!word.starts_with("e") || m == std::string::npos) reader.in().fail("expected a format like e5m10");
  draft.node.attributes.set("exponent_bits", std::int64_t{std::atoi(word.substr(1, m - 1).c_str())});
  draft.node.attributes.set("mantissa_bits", std::int64_t{std::atoi(word.substr(m + 1).c_str())});
}

void read_named(ProgramReader& reader, Draft& draft, const std::string& name) {
  if (name == "contracting_dims" || name == "batching_dims") return read_dot_dimensions(reader, draft, name);
  if (name == "dim_numbers") return read_convolution_dimensions(reader, draft);
  if (name == "window") return read_window(reader, draft);
  if (name == "format") return read_format(reader, draft);
  const Written value = read_attribute(reader.in(), reader.aliases(), false);
  set_attribute(draft.node.attributes, *draft.node.op, name, value, reader.in());
}

void read_item_word(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  const std::string word{in.word()};
  if (word.empty()) in.fail("expected an operand or an attribute at " + in.here());
  if (word == "dense" && in.peek() == '<') {
    const std::string_view content = in.bracketed();
    draft.dense = content.substr(1, content.size() - 2);
  } else if (in.accept("=")) {
    read_named(reader, draft, word);
  } else {
    if (in.peek() == '<') in.bracketed();
    draft.words.push_back(word);
  }
}

/// Returns whether the list goes on.
bool read_item(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  switch (in.peek()) {
    case '%': draft.node.operands.push_back(reader.read_value()); return true;
    case ',':
    case '(':
    case ')': in.skip(1); return true;
    case '[':
      if (draft.node.op->name == "get_tuple_element")
        draft.node.attributes.set("index", ints_at(reader).at(0));
      else
        read_slices(reader, draft);
      return true;
    case '{':
      in.expect("{");
      reader.read_entries_of(draft, "}");
      return true;
    case '@':
      in.expect("@");
      draft.callee = std::string{in.name()};
      return true;
    case '"': draft.node.attributes.set("name", in.quoted()); return true;
    case ':':
    case '\0': return false;
    default: read_item_word(reader, draft); return true;
  }
}

/// "%r = stablehlo.while(%a = %x, ...) : types attributes {...} cond { ... } do { ... }".
void read_while(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  std::vector<Parameter> parameters;
  in.expect("(");
  while (!in.accept(")")) {
    if (!parameters.empty()) in.expect(",");
    in.expect("%");
    parameters.push_back({in.name(), {}});
    in.expect("=");
    draft.node.operands.push_back(reader.read_value());
  }
  if (in.accept(":")) do
      draft.result_types.push_back(read_type(in, reader.aliases()));
    while (in.accept(","));
  if (draft.result_types.size() != parameters.size()) in.fail("a loop needs a type for each value");
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].type = draft.result_types[i];
  draft.operand_types = draft.result_types;
  if (in.accept("attributes")) {
    in.expect("{");
    reader.read_entries_of(draft, "}");
  }
  in.expect("cond");
  draft.node.regions.push_back(reader.read_region(parameters));
  in.expect("do");
  draft.node.regions.push_back(reader.read_region(parameters));
}

/// A region of one operator: "applies stablehlo.add".
Region applied(ProgramReader& reader, const Operator& op, const Draft& draft) {
  Region region;
  region.function = add_function(reader.module(), "", true);
  Function& f = reader.module().functions[region.function];
  f.line = draft.node.line;
  if (draft.result_types.size() != 1) reader.in().fail("\"applies\" is for one operand");
  f.values.assign(3, scalar_type(draft.result_types.front().element));
  f.parameters = 2;
  Node node;
  node.op = &op;
  node.operands = {0, 1};
  node.first_result = 2;
  node.results = 1;
  node.line = draft.node.line;
  f.nodes.push_back(std::move(node));
  f.results = {2};
  return region;
}

/// "reducer(%a: type, %b: type) (%c: type, %d: type) { ... }": pairs of an accumulator and a number.
void read_reducer(ProgramReader& reader, Draft& draft) {
  std::vector<Parameter> first, second;
  while (reader.in().accept("(")) {
    const std::vector<Parameter> pair = reader.read_parameters(")");
    if (pair.size() != 2) reader.in().fail("a reducer's parameters are pairs");
    first.push_back(pair[0]), second.push_back(pair[1]);
  }
  first.insert(first.end(), second.begin(), second.end());
  draft.node.regions.push_back(reader.read_region(first));
}

/// "stablehlo.reduce(%x init: %y), (...) applies OP across dimensions = [0] : types", or with a reducer behind.
void read_reduce(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  std::vector<ValueId> initial;
  do {
    in.expect("(");
    draft.node.operands.push_back(reader.read_value());
    in.expect("init");
    in.expect(":");
    initial.push_back(reader.read_value());
    in.expect(")");
  } while (in.accept(","));
  draft.node.operands.insert(draft.node.operands.end(), initial.begin(), initial.end());
  const Operator* op = nullptr;
  if (in.accept("applies")) {
    std::string_view name = in.word();
    for (const std::string_view prefix : {"stablehlo.", "mhlo."})
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    op = find_operator(name);
    if (op == nullptr || op->operands != 2) in.fail("\"applies\" needs an operator of two operands");
  }
  in.expect("across");
  in.expect("dimensions");
  in.expect("=");
  draft.node.attributes.set("dimensions", ints_at(reader));
  if (in.accept("{")) reader.read_entries_of(draft, "}");
  reader.read_signature(draft);
  if (op != nullptr)
    draft.node.regions.push_back(applied(reader, *op, draft));
  else if (in.accept("reducer"))
    read_reducer(reader, draft);
}

/// "chlo.scan(%x) inits(%y) dimension=0 { ^bb0(...): ... } : types".
void read_scan(ProgramReader& reader, Draft& draft) {
  Cursor& in = reader.in();
  in.expect("(");
  reader.read_values(draft, ")");
  draft.node.attributes.set("inputs", static_cast<std::int64_t>(draft.node.operands.size()));
  in.expect("inits");
  in.expect("(");
  reader.read_values(draft, ")");
  while (in.peek() != '{' && !in.at("attributes")) {
    in.accept(",");
    read_item_word(reader, draft);
  }
  if (in.accept("attributes")) {
    in.expect("{");
    reader.read_entries_of(draft, "}");
  }
  draft.node.regions.push_back(reader.read_region());
  reader.read_signature(draft);
}

void give_meaning(ProgramReader& reader, Draft& draft) {
  Attributes& attributes = draft.node.attributes;
  const std::string_view op = draft.node.op->name;
  if (op == "custom_call" && !draft.callee.empty()) attributes.set("call_target_name", std::exchange(draft.callee, {}));
  if (op == "compare" || op == "chlo.broadcast_compare") {
    if (!draft.words.empty()) attributes.set("comparison_direction", draft.words[0]);
    if (draft.words.size() > 1) attributes.set("compare_type", draft.words[1]);
  }
  if (draft.dense.data() == nullptr) return;
  const Type* type = !draft.result_types.empty()    ? &draft.result_types.front()
                     : !draft.operand_types.empty() ? &draft.operand_types.front()
                                                    : nullptr;
  if (type == nullptr) reader.at(draft).fail("a constant has no type");
  attributes.set("value", read_dense(draft.dense, *type, reader.at(draft)));
}

}  // namespace

/// Most operations have the type of the one before.
Type ProgramReader::read_known_type() {
  in_.peek();
  const std::string_view rest = in_.rest();
  if (!known_text_.empty() && rest.starts_with(known_text_)) {
    in_.skip(known_text_.size());
    return known_type_;
  }
  known_type_ = read_type(in_, aliases_);
  const std::string_view text = in_.since(rest);
  known_text_ = text.find('\n') == std::string_view::npos && text.ends_with('>') ? text : std::string_view{};
  return known_type_;
}

/// Types of operands and results, or of the results alone: one type for all, the last of several.
void ProgramReader::read_signature(Draft& draft) {
  if (!in_.accept(":")) return;
  const bool in_brackets = in_.peek() == '(';
  std::vector<Type> types;
  if (in_brackets)
    types = read_types(in_, aliases_);
  else
    do types.push_back(read_known_type());
    while (in_.accept(","));
  if (in_.accept("->")) {
    draft.operand_types = std::move(types);
    draft.result_types = read_types(in_, aliases_);
    if (draft.operand_types.size() != draft.node.operands.size())
      at(draft).fail(
          fmt::format("states {} types for {} operands", draft.operand_types.size(), draft.node.operands.size()));
  } else if (draft.node.op->name.starts_with("check.") || draft.node.op->name == "interpreter.print") {
    draft.operand_types = std::move(types);
  } else if (draft.node.op->name == "optimization_barrier") {
    draft.result_types = std::move(types);
  } else if (!types.empty()) {
    draft.result_types = {types.back()};
  }
  if (in_.accept("{")) read_entries_of(draft, "}");
}

void read_pretty(ProgramReader& reader, Draft& draft) {
  const std::string_view op = draft.node.op->name;
  if (op == "while") return read_while(reader, draft);
  if (op == "reduce" && reader.in().at("(")) return read_reduce(reader, draft);
  if (op == "chlo.scan") return read_scan(reader, draft);
  while (read_item(reader, draft)) continue;
  reader.read_signature(draft);
  give_meaning(reader, draft);
}

}  // namespace trnsim::frontend::stablehlo
