#include <fmt/format.h>

#include "frontend/hlo/values_text.h"

namespace trnsim::frontend::hlo {
namespace {

constexpr int kDeepestShape = 100;  // tuples within tuples
constexpr std::size_t kMostDims = 64;

void read_layout(Cursor& cursor, Shape& shape) {
  Layout layout;
  cursor.expect("{");
  while (cursor.peek() != '}' && cursor.peek() != ':') {
    layout.minor_to_major.push_back(cursor.integer("a dimension"));
    if (!cursor.accept(",")) break;
  }
  if (cursor.accept(":")) {
    while (cursor.peek() != '}') {
      const std::string_view key = cursor.name("a property of the layout");
      if (key == "T") {
        while (cursor.peek() == '(') {
          cursor.expect("(");
          Ints tile;
          do tile.push_back(cursor.accept("*") ? -1 : cursor.integer("the size of a tile"));
          while (cursor.accept(","));
          cursor.expect(")");
          layout.tiles.push_back(std::move(tile));
        }
        continue;
      }
      if (key != "E" && key != "S") {  // nothing that is computed
        if (cursor.peek() != '(') cursor.expect("(");
        cursor.balanced('(', ')');
        continue;
      }
      cursor.expect("(");
      (key == "E" ? layout.element_bits : layout.memory_space) = cursor.integer("a number");
      cursor.expect(")");
    }
  }
  cursor.expect("}");
  shape.layout = std::move(layout);
}

Shape read_array(Cursor& cursor) {
  Shape shape;
  const std::string_view name = cursor.name("an element type");
  const auto element = element_from_hlo(name);
  if (!element)
    cursor.fail(fmt::format("\"{}\" is not an element type", name.substr(0, 40)),
                "use one that docs/frontend.md lists");
  shape.element = *element;
  if (cursor.here() != '[' && !is_float(*element) && info(*element).kind == ElementClass::kToken) return shape;
  cursor.list("[", "]", [&] {
    const bool bounded = cursor.accept("<=");
    shape.dims.push_back(cursor.integer("the size of a dimension"));
    if (shape.dims.back() < 0) cursor.fail("a dimension is below 0", "give a size");
    if (shape.dims.size() > kMostDims) cursor.fail("has more than 64 dimensions", "join some of them");
    if (bounded) {
      shape.dynamic.resize(shape.dims.size());
      shape.dynamic.back() = true;
    }
  });
  if (!shape.dynamic.empty()) shape.dynamic.resize(shape.dims.size());
  if (cursor.here() == '{') read_layout(cursor, shape);
  if (shape.layout && *shape.layout == Layout{}) shape.layout.reset();
  return shape;
}

}  // namespace

Shape read_shape(Cursor& cursor, int depth) {
  if (cursor.peek() != '(') return read_array(cursor);
  if (depth > kDeepestShape) cursor.fail("has more than 100 nested tuples", "flatten them");
  Shape shape{.element = Element::kTuple};
  cursor.list("(", ")", [&] { shape.elements.push_back(read_shape(cursor, depth + 1)); });
  return shape;
}

}  // namespace trnsim::frontend::hlo
