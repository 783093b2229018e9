#include "workloads/step/step.h"

#include <fmt/format.h>

#include "base/error.h"
#include "runtime/graph/op.h"
#include "workloads/step/step_graph.h"

namespace workloads {

void require_positions(std::int64_t length, std::int64_t positions, std::string_view setting) {
  if (length > positions)
    throw base::Error{base::Fault::kUsage, fmt::format("`{}`", setting),
                      fmt::format("a sequence of {} tokens is longer than the model's {} positions", length, positions),
                      fmt::format("use `{}` {} or less", setting, positions)};
}

bool is_recomputed(const runtime::Node& node, Recompute recompute) {
  return recompute == Recompute::kFull || (recompute == Recompute::kSelective && node.op->recomputed_selectively);
}

}  // namespace workloads
