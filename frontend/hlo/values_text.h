// The values of attributes in HLO text: each form read and written in one place.
#pragma once

#include <string>

#include "frontend/hlo/attributes.h"
#include "frontend/hlo/cursor.h"

namespace trnsim::frontend::hlo {

Shape read_shape(Cursor& cursor, int depth = 0);
Held read_value(Cursor& cursor, const Form& form);
Sharding read_sharding(Cursor& cursor, int depth = 0);
/// The entries of input_output_alias={...}.
std::vector<Aliasing> read_aliases(Cursor& cursor);
Ints read_ints(Cursor& cursor);
TextMap read_map(Cursor& cursor);
Metadata read_metadata(Cursor& cursor);
/// Passes a value of any form.
void pass_value(Cursor& cursor);

std::string text_of(const Form& form, const Held& value);
std::string text_of(const Ints& ints, char between = ',');
std::string text_of(const TextMap& map);
std::string text_of(const Metadata& metadata);
std::string text_of(const std::vector<Aliasing>& aliases, bool with_kind);
std::string quoted(std::string_view text);

}  // namespace trnsim::frontend::hlo
