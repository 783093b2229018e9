#include "workloads/text/whole_tokens.h"

namespace workloads {

bool WholeTokens::add(const std::string& text, std::int32_t id) {
  if (text.empty()) return false;
  sizes_.at(static_cast<unsigned char>(text.front())).insert(text.size());
  return ids_.emplace(text, id).second;
}

std::optional<WholeTokens::Found> WholeTokens::at(std::string_view text, std::size_t at) const {
  const std::string_view rest = text.substr(at);
  for (const std::size_t size : sizes_[static_cast<unsigned char>(rest.front())]) {
    if (size > rest.size()) continue;
    if (const auto found = ids_.find(std::string{rest.substr(0, size)}); found != ids_.end())
      return Found{found->second, size};
  }
  return std::nullopt;
}

}  // namespace workloads
