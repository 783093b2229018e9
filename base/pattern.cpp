#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>

#include "base/error.h"

namespace base {
namespace {

std::string message_of(int error) {
  std::array<PCRE2_UCHAR8, 256> text{};
  pcre2_get_error_message_8(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR8 units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR8>(text.data()); }

}  // namespace

Pattern::Pattern(std::string_view expression, std::string_view where)
    : expression_{expression},
      where_{fmt::format("{}{}regular expression \"{}\"", where, where.empty() ? "" : ": ", expression)} {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code_8* code =
      pcre2_compile_8(units(expression_), expression_.size(), PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
  if (code == nullptr)
    throw Error{Fault::kData, where_, fmt::format("byte {}: {}", at, message_of(error)),
                "use the syntax of PCRE2 (man pcre2pattern)"};
  code_ = {code, [](pcre2_code_8* c) { pcre2_code_free_8(c); }};
  pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE);  // where there is no such compiler, matching is slower and the same
}

std::optional<std::string_view> Pattern::search(std::string_view text, std::size_t from) const {
  const auto* code = static_cast<const pcre2_code_8*>(code_.get());
  const std::unique_ptr<pcre2_match_data_8, void (*)(pcre2_match_data_8*)> found{pcre2_match_data_create_8(1, nullptr),
                                                                                 pcre2_match_data_free_8};
  const auto match = [&](std::uint32_t options) {
    return pcre2_match_8(code, units(text), text.size(), from, PCRE2_NO_UTF_CHECK | options, found.get(), nullptr);
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);  // the interpreter's stack is the heap
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result < 0)
    throw Error{Fault::kData, where_, message_of(result),
                "shorten the text, or write the expression without nested repetitions"};
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer_8(found.get());
  return text.substr(ends[0], ends[1] - ends[0]);
}

}  // namespace base
