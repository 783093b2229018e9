#include "runtime/step/plan.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace runtime {

Recompute recompute_of(std::string_view name) {
  for (const Recompute r : {Recompute::kNone, Recompute::kSelective, Recompute::kFull})
    if (name_of(r) == name) return r;
  throw base::Error{base::Fault::kUsage, "`recompute`", fmt::format("'{}' is not known", name),
                    base::suggest_fix(std::string{name}, std::vector<std::string>{"none", "selective", "full"})};
}

std::string_view name_of(Recompute recompute) {
  return recompute == Recompute::kNone ? "none" : recompute == Recompute::kSelective ? "selective" : "full";
}

}  // namespace runtime
