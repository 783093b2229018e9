#include "workloads/text/bpe_split.h"

namespace workloads {
namespace {

void append_pieces(const base::Pattern& pattern, std::string_view text, std::vector<std::string_view>& out) {
  std::size_t done = 0, from = 0;
  while (from < text.size()) {
    const auto match = pattern.search(text, from);
    if (!match) break;
    const auto begin = static_cast<std::size_t>(match->data() - text.data());
    from = begin + match->size();
    if (match->empty()) {  // cuts nothing out: on to the next character
      for (++from; from < text.size() && (text[from] & 0xc0) == 0x80;) ++from;
      continue;
    }
    if (begin > done) out.push_back(text.substr(done, begin - done));
    out.push_back(*match);
    done = from;
  }
  if (done < text.size()) out.push_back(text.substr(done));
}

}  // namespace

/// Oniguruma's \s is Unicode's White_Space; PCRE2's has U+180E as well, which has not been white space since
/// Unicode 6.3.
base::Pattern split_pattern(std::string_view regex, std::string_view where) {
  std::string text;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const std::string_view two = regex.substr(i, 2);
    if (two == "\\s" || two == "\\S")
      text += two[1] == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
    else
      text += two[0] == '\\' ? two : two.substr(0, 1);
    if (two[0] == '\\') ++i;
  }
  return base::Pattern{text, where};
}

std::vector<std::string_view> split_by(const std::vector<base::Pattern>& patterns, std::string_view text) {
  std::vector<std::string_view> pieces{text}, next;
  for (const base::Pattern& pattern : patterns) {
    next.clear();
    for (const std::string_view piece : pieces) append_pieces(pattern, piece, next);
    pieces.swap(next);
  }
  return pieces;
}

}  // namespace workloads
