// Regular expressions over UTF-8, by PCRE2: classes such as \w and \p{L} know all of Unicode.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// A compiled expression. Copies share it; threads may search with it at once.
class Pattern {
 public:
  /// `where` names its file in errors. Errors: Fault::kData, with the place in the expression, when it is invalid.
  explicit Pattern(std::string_view expression, std::string_view where = {});

  /// The first match that begins at `from` or behind it; a view into `text`. `text` must be valid UTF-8.
  /// Errors: Fault::kData when the expression backtracks beyond PCRE2's limit.
  std::optional<std::string_view> search(std::string_view text, std::size_t from = 0) const;

  const std::string& expression() const { return expression_; }

 private:
  std::string expression_, where_;
  std::shared_ptr<const void> code_;  // pcre2_code: its header stays out of ours
};

}  // namespace base
