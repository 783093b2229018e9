// Constants: between their text, their proto's numbers and their bytes.
#pragma once

#include <string>
#include <string_view>

#include "frontend/hlo/cursor.h"
#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// Reads the text between the brackets of constant(...), for a value of that shape. Errors: base::Fault::kData with the
/// line.
Literal read_literal(Cursor& cursor, const Shape& shape);
/// The same text, so that the bytes read again are equal: floats with as few digits as suffice.
std::string text_of(const Literal& literal, const Shape& shape);

}  // namespace trnsim::frontend::hlo
