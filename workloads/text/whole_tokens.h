// Tokens that are found in raw text and never split, by their text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace workloads {

/// A look-up takes as long with thousands of tokens as with one: there are few lengths of them.
class WholeTokens {
 public:
  struct Found {
    std::int32_t id = 0;
    std::size_t size = 0;  // bytes of text
  };

  /// Whether the text is new; of equal ones the first stays, an empty one is never found.
  bool add(const std::string& text, std::int32_t id);
  /// The longest one that begins at text[at].
  std::optional<Found> at(std::string_view text, std::size_t at) const;

 private:
  std::unordered_map<std::string, std::int32_t> ids_;
  std::array<std::set<std::size_t, std::greater<>>, 256> sizes_;  // by first byte
};

}  // namespace workloads
