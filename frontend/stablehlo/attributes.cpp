#include "frontend/stablehlo/attributes.h"

#include <fmt/format.h>

#include <charconv>

namespace trnsim::frontend::stablehlo {
namespace {

using Kind = Written::Kind;

Written text_of(Kind kind, std::string_view text) { return {.kind = kind, .text = std::string{text}}; }

bool is_type_word(std::string_view word) {
  return word == "tensor" || word == "tuple" || word == "memref" || word == "vector" || word == "complex" ||
         word == "index" || word == "none" || element_from_mlir(word).has_value();
}

/// An integer or a real number, with its type behind a colon.
Written read_number(Cursor& in, bool typed) {
  const std::string_view text = in.number();
  Written out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.integer);
  if (error == std::errc{} && end == text.data() + text.size()) {
    out.kind = Kind::kInteger;
    out.real = static_cast<double>(out.integer);
  } else {
    out.kind = Kind::kReal;
    out.real = std::strtod(std::string{text}.c_str(), nullptr);
  }
  if (typed && in.accept(":")) {
    const std::string type{in.word()};
    const auto element = element_from_mlir(type);
    if (element && is_float(*element) && text.starts_with("0x")) {
      out.real = decode_float(*element, std::strtoull(std::string{text}.c_str(), nullptr, 16));
      out.kind = Kind::kReal;
    } else if (element && is_float(*element)) {
      out.kind = Kind::kReal;
    }
  }
  return out;
}

Written read_list(Cursor& in, const Aliases& aliases, std::string_view close) {
  Written out{.kind = Kind::kList};
  while (!in.accept(close)) {
    if (!out.list.empty()) in.expect(",");
    out.list.push_back(read_attribute(in, aliases));
  }
  return out;
}

/// array<i64: 1, 2>, array<i1: true, false>.
Written read_array(Cursor& in, const Aliases& aliases) {
  in.expect("<");
  in.word();
  if (in.accept(">")) return {.kind = Kind::kList};
  in.expect(":");
  return read_list(in, aliases, ">");
}

Written read_dense_attribute(Cursor& in, const Aliases& aliases) {
  const std::string_view content = in.bracketed();
  Written out{.kind = Kind::kLiteral};
  if (!in.accept(":")) {
    out.kind = Kind::kRaw;  // its type follows elsewhere
    out.text = std::string{content};
    return out;
  }
  out.literal = read_dense(content.substr(1, content.size() - 2), read_type(in, aliases, true), in);
  return out;
}

/// The fields of "#stablehlo.gather<offset_dims = [0], ...>", where it has this form.
Written read_structure(Cursor& in, const Aliases& aliases, std::string_view name) {
  const std::string_view content = in.bracketed();
  const std::string_view inner = content.substr(1, content.size() - 2);
  if (name == "stablehlo" || name == "chlo" || name == "mhlo") {  // an enumeration: its name and its case
    const std::size_t blank = inner.rfind(' ');
    return text_of(Kind::kText, blank == std::string_view::npos ? inner : inner.substr(blank + 1));
  }
  if (name.ends_with(".scatter") || name.ends_with(".gather") || name.ends_with(".dot") ||
      name.ends_with(".channel_handle")) {
    Cursor fields{inner, in.file(), in.line()};
    return {.kind = Kind::kDictionary, .entries = read_entries(fields, aliases, "")};
  }
  return text_of(Kind::kRaw, name.ends_with(".conv") ? inner : content);
}

Written read_hash(Cursor& in, const Aliases& aliases) {
  in.expect("#");
  const std::string name{in.word()};
  if (in.peek() == '<') return read_structure(in, aliases, name);
  const auto alias = aliases.find("#" + name);
  if (alias == aliases.end()) return text_of(Kind::kRaw, "#" + name);
  Cursor inner{alias->second, in.file(), in.line()};
  const Cursor::Deeper deeper{in};
  Aliases others = aliases;  // an alias that names itself ends
  others.erase("#" + name);
  return read_attribute(inner, others);
}

Written read_word(Cursor& in, const Aliases& aliases) {
  const std::string_view rest = in.rest();
  const std::string_view word = in.word();
  if (word == "true" || word == "false") return {.kind = Kind::kFlag, .flag = word == "true"};
  if (word == "unit") return {};
  if (word == "array") return read_array(in, aliases);
  if (word == "dense") return read_dense_attribute(in, aliases);
  if (is_type_word(word)) {
    if (in.peek() != '<') return text_of(Kind::kRaw, word);
    Cursor type{rest, in.file(), in.line()};
    in.bracketed();
    return {.kind = Kind::kType, .type = read_type(type, aliases)};
  }
  if (word.empty()) in.fail("expected an attribute at " + in.here());
  if (in.peek() == '<' || (in.peek() == '(' && word == "loc")) {
    const std::string_view content = in.bracketed();
    return text_of(Kind::kRaw, std::string{word} + std::string{content});
  }
  return text_of(Kind::kText, word);
}

}  // namespace

Written read_attribute(Cursor& in, const Aliases& aliases, bool typed) {
  const Cursor::Deeper deeper{in};
  const char c = in.peek();
  if (c == '"') {
    Written out = text_of(Kind::kText, in.quoted());
    if (typed && in.accept(":")) read_type(in, aliases);
    return out;
  }
  if (c == '@') {
    in.expect("@");
    Written out = text_of(Kind::kText, in.name());
    while (in.accept("::")) in.expect("@"), out.text = std::string{in.name()};
    return out;
  }
  if (c == '[') {
    in.expect("[");
    return read_list(in, aliases, "]");
  }
  if (c == '{') {
    in.expect("{");
    return {.kind = Kind::kDictionary, .entries = read_entries(in, aliases, "}")};
  }
  if (c == '#') return read_hash(in, aliases);
  if (c == '(') {  // the type of a function
    read_types(in, aliases);
    in.expect("->");
    read_types(in, aliases);
    return text_of(Kind::kRaw, "");
  }
  if (c == '<') return text_of(Kind::kRaw, in.bracketed());
  if (c == '-' || c == '+' || (c >= '0' && c <= '9')) return read_number(in, typed);
  if (c == '!') return {.kind = Kind::kType, .type = read_type(in, aliases)};
  return read_word(in, aliases);
}

std::vector<std::pair<std::string, Written>> read_entries(Cursor& in, const Aliases& aliases, std::string_view close) {
  std::vector<std::pair<std::string, Written>> out;
  const auto ended = [&] { return close.empty() ? in.is_end() : in.accept(close); };
  while (!ended()) {
    if (!out.empty()) in.expect(",");
    std::string name{in.peek() == '"' ? in.quoted() : std::string{in.word()}};
    if (name.empty()) in.fail("expected the name of an attribute at " + in.here());
    Written value;
    if (in.accept("=")) value = read_attribute(in, aliases);
    out.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

}  // namespace trnsim::frontend::stablehlo
