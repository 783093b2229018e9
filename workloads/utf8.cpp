#include "workloads/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace workloads {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t code_point = 0;
    const auto used =
        utf8proc_iterate(bytes_of(text) + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
    if (used <= 0) return at;
    at += static_cast<std::size_t>(used);
  }
  return std::nullopt;
}

void require_utf8(std::string_view text, std::string_view where) {
  const auto bad = first_invalid_utf8(text);
  if (!bad) return;
  throw base::Error{base::Fault::kData, where,
                    fmt::format("byte {} (0x{:02x}) is not valid UTF-8", *bad,
                                static_cast<unsigned>(static_cast<unsigned char>(text[*bad]))),
                    "convert the file, for example with: iconv -f latin1 -t utf-8"};
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  utf8proc_int32_t code_point = 0;
  const auto used = utf8proc_iterate(bytes_of(text) + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
  base::ensure(used > 0, "utf8", "next_code_point on invalid UTF-8");
  at += static_cast<std::size_t>(used);
  return static_cast<char32_t>(code_point);
}

void append_utf8(std::string& text, char32_t code_point) {
  utf8proc_uint8_t buffer[4];
  const auto used = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), buffer);
  text.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(used));
}

}  // namespace workloads
