#include "workloads/text/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace workloads {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

/// How many bytes at the front of `text`, which does not begin with a whole character, could begin one; at least 1.
/// Source: Unicode 15, table 3-7, "Well-Formed UTF-8 Byte Sequences".
std::size_t begun_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : (lead & 0xF0) == 0xE0        ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 1;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t begun = 1;
  while (begun < length && begun < text.size()) {
    const unsigned next = byte(begun);
    if (begun == 1 ? next < low || next > high : (next & 0xC0) != 0x80) break;
    ++begun;
  }
  return begun;
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

std::string lossy_utf8(std::string_view text) {
  std::string out;
  for (;;) {
    const auto bad = first_invalid_utf8(text);
    out += text.substr(0, bad.value_or(text.size()));
    if (!bad) return out;
    append_utf8(out, 0xFFFD);
    text.remove_prefix(*bad + begun_character(text.substr(*bad)));
  }
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
