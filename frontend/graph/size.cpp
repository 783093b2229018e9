#include "frontend/graph/size.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace trnsim::frontend {

void require_readable(std::string_view text, std::string_view file, std::size_t first) {
  constexpr std::size_t kMostValues = 500'000, kShortest = 16;  // characters of a line that makes one
  if (text.size() < kMostValues * kShortest) return;
  std::size_t values = 0, line = first;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text.substr(at, end - at).find(" = ") != std::string_view::npos && ++values > kMostValues)
      throw base::Error{base::Fault::kProgram, fmt::format("{}:{}", file, line),
                        fmt::format("is one of more than {} values", kMostValues),
                        "use fewer and larger operations, or repeat them in a loop"};
    at = end + 1;
  }
}

}  // namespace trnsim::frontend
