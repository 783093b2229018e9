// Types in MLIR's text.
#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "frontend/stablehlo/attributes.h"

namespace trnsim::frontend::stablehlo {
namespace {

[[noreturn]] void refuse(const Cursor& in, const std::string& what, const char* fix) {
  throw base::Error{base::Fault::kProgram, in.where(), what, fix};
}

Element read_element(Cursor& in, bool takes_index) {
  if (in.peek() == '!') {
    in.expect("!");
    const std::string name{in.word()};
    if (in.peek() == '<') in.bracketed();
    refuse(in, fmt::format("the compiler does not accept elements of type !{}", name),
           name.starts_with("quant") ? "convert the program to floating-point or integer types" : "use another type");
  }
  const std::string name{in.word()};
  if (name == "complex") {
    in.expect("<");
    const std::string part{in.word()};
    in.expect(">");
    if (part == "f32") return Element::kC64;
    if (part == "f64") return Element::kC128;
    in.fail(fmt::format("complex<{}> is not a type", part));
  }
  const auto element = element_from_mlir(name);
  if (name == "index" && takes_index) return Element::kI64;
  if (!element || info(*element).bits == 0) {
    if (name == "tf32" || name == "index" || name == "none")
      refuse(in, fmt::format("the compiler does not accept elements of type {}", name), "use another type");
    in.fail(fmt::format("\"{}\" is not a type of elements", name));
  }
  return *element;
}

/// "2x3x" before the element, character by character: "2x3xf32" looks like one word.
Dims read_dims(Cursor& in) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 48;
  Dims dims;
  for (;;) {
    const char c = in.peek();
    if (c == '?' || c == '*')
      refuse(in, "EMOD025: a size is not known when the program is compiled", "give every dimension a size");
    if (c < '0' || c > '9') return dims;
    const std::string_view rest = in.rest();
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    const auto length = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc{} || size > kLargest) in.fail("a size is too large");
    if (length >= rest.size() || rest[length] != 'x') in.fail("expected \"x\" after a size, at " + in.here());
    in.skip(length + 1);
    dims.push_back(size);
  }
}

Type read_tensor(Cursor& in, bool takes_index) {
  in.expect("<");
  Dims dims = read_dims(in);
  const Type type = tensor_type(read_element(in, takes_index), std::move(dims));
  if (in.accept(",")) read_attribute(in, {});  // an encoding, such as #stablehlo.bounds<...>
  in.expect(">");
  return type;
}

std::vector<Type> read_types(Cursor& in, const Aliases& aliases, std::string_view close) {
  std::vector<Type> types;
  while (!in.accept(close)) {
    if (!types.empty()) in.expect(",");
    types.push_back(read_type(in, aliases));
  }
  return types;
}

Type read_dialect_type(Cursor& in, const Aliases& aliases) {
  in.expect("!");
  const std::string name{in.word()};
  if (name == "stablehlo.token" || name == "mhlo.token") return token_type();
  if (name == "stablehlo.future" || name == "mhlo.async_bundle") {
    in.expect("<");
    return tuple_type(read_types(in, aliases, ">"));
  }
  if (const auto alias = aliases.find("!" + name); alias != aliases.end()) {
    Cursor inner{alias->second, in.file(), in.line()};
    const Cursor::Deeper deeper{in};
    return read_type(inner, {});
  }
  if (in.peek() == '<') in.bracketed();
  refuse(in, fmt::format("the compiler does not accept values of type !{}", name), "use tensors and tuples");
}

}  // namespace

Type read_type(Cursor& in, const Aliases& aliases, bool takes_index) {
  const Cursor::Deeper deeper{in};
  if (in.peek() == '!') return read_dialect_type(in, aliases);
  const std::string word{in.word()};
  if (word == "tensor") return read_tensor(in, takes_index);
  if (word == "tuple") {
    in.expect("<");
    return tuple_type(read_types(in, aliases, ">"));
  }
  if (word == "memref" || word == "vector")
    refuse(in, fmt::format("the compiler does not accept values of type {}", word), "use tensors");
  in.fail(fmt::format("expected a type at \"{}\"", word.empty() ? in.here() : word));
}

std::vector<Type> read_types(Cursor& in, const Aliases& aliases) {
  if (in.accept("(")) return read_types(in, aliases, ")");
  return {read_type(in, aliases)};
}

}  // namespace trnsim::frontend::stablehlo
