// Types and attributes in MLIR's text.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/graph/attribute.h"
#include "frontend/ops/operator.h"
#include "frontend/stablehlo/cursor.h"

namespace trnsim::frontend::stablehlo {

/// "#name = ..." and "!name = ..." of the file: their texts.
using Aliases = std::map<std::string, std::string, std::less<>>;

/// An attribute as it was written, before an operator's row gives it a meaning.
struct Written {
  enum class Kind { kUnit, kFlag, kInteger, kReal, kText, kList, kDictionary, kLiteral, kType, kRaw };
  Kind kind = Kind::kUnit;
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text = {};  // of a text or symbol, of an enumeration its case, else as written
  std::vector<Written> list = {};
  std::vector<std::pair<std::string, Written>> entries = {};
  LiteralPtr literal = {};
  Type type = {};
};

/// Errors: Fault::kProgram for types that are not taken: sizes that are not known, quantized elements, others.
Type read_type(Cursor& in, const Aliases& aliases, bool takes_index = false);
/// "(type, type)" or one type.
std::vector<Type> read_types(Cursor& in, const Aliases& aliases);
/// `typed`: a type may follow behind a colon; in the pretty form it would be the operation's.
Written read_attribute(Cursor& in, const Aliases& aliases, bool typed = true);
/// "{name = value, ...}" or "<{...}>", behind its first bracket; to `close`.
std::vector<std::pair<std::string, Written>> read_entries(Cursor& in, const Aliases& aliases, std::string_view close);
/// The constant of dense<...>, from the text between its brackets.
LiteralPtr read_dense(std::string_view content, const Type& type, const Cursor& in);

/// Gives an operator's node an attribute: structures become their fields, lists and constants the type of its row.
void set_attribute(Attributes& attributes, const Operator& op, const std::string& name, const Written& value,
                   const Cursor& in);
/// "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]".
void set_convolution_dimensions(Attributes& attributes, std::string_view text, const Cursor& in);

}  // namespace trnsim::frontend::stablehlo
