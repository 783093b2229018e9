#include "runtime/nki/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/suggest.h"

namespace runtime::nki {
namespace {

struct NkiPass {
  std::string_view name;
  bool NkiPasses::*flag;
};

constexpr std::array kNkiPasses{
    NkiPass{"share", &NkiPasses::share},     NkiPass{"join", &NkiPasses::join},
    NkiPass{"forward", &NkiPasses::forward}, NkiPass{"fuse", &NkiPasses::fuse},
    NkiPass{"reuse", &NkiPasses::reuse},     NkiPass{"reload", &NkiPasses::reload},
    NkiPass{"reorder", &NkiPasses::reorder}, NkiPass{"transpose", &NkiPasses::transpose},
};

}  // namespace

NkiPasses switched(NkiPasses passes, std::string_view text) {
  std::vector<std::string> names;
  for (const NkiPass& pass : kNkiPasses) names.emplace_back(pass.name);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma), name = item.empty() ? item : item.substr(1);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto found = std::ranges::find(kNkiPasses, name, &NkiPass::name);
    if (found == kNkiPasses.end() || (item[0] != '+' && item[0] != '-'))
      throw base::Error{
          base::Fault::kUsage, "`passes`", fmt::format("'{}' switches no pass", item),
          found == kNkiPasses.end() ? base::suggest_fix(name, names) : fmt::format("write +{} or -{}", name, name)};
    passes.*(found->flag) = item[0] == '+';
  }
  return passes;
}

}  // namespace runtime::nki
