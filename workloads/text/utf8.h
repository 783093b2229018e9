// UTF-8 in and out, on top of utf8proc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace workloads {

/// Offset of the first byte that is not valid UTF-8 (surrogates and overlong forms are invalid), if there is one.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// Errors: Fault::kData at `where` (a file:line), naming the byte, when `text` is not valid UTF-8.
void require_utf8(std::string_view text, std::string_view where);

/// `text` with every part that is not valid UTF-8 replaced by U+FFFD, one for each longest beginning of a character, as
/// Rust and the WHATWG decoder do (Unicode 15, 3.9, "Substitution of Maximal Subparts").
std::string lossy_utf8(std::string_view text);

/// The code point at `at`, which moves behind it. `text` must be valid.
char32_t next_code_point(std::string_view text, std::size_t& at);

void append_utf8(std::string& text, char32_t code_point);

bool is_ascii(std::string_view text);

}  // namespace workloads
