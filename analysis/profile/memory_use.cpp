#include "analysis/profile/memory_use.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace analysis {
MemoryUse memory_use(const Record& record) {
  const std::size_t calls = record.result.calls.size();
  std::map<std::string, std::vector<double>> steps;  // by kind: change at each call
  for (const RegionUse& use : record.regions) {
    const bool held = use.first_call < 0 || use.region.kind != "activations";
    std::vector<double>& step = steps.try_emplace(use.region.kind, calls + 1).first->second;
    const auto bytes = static_cast<double>(use.region.bytes);
    step.at(held ? 0 : static_cast<std::size_t>(use.first_call)) += bytes;
    step.at(held ? calls : static_cast<std::size_t>(use.last_call) + 1) -= bytes;
  }
  MemoryUse memory;
  memory.total.resize(calls);
  std::vector<std::pair<double, std::string>> order;
  for (auto& [kind, step] : steps) {
    std::partial_sum(step.begin(), step.end(), step.begin());
    step.pop_back();
    for (std::size_t c = 0; c < calls; ++c) memory.total[c] += step[c];
    order.emplace_back(step.empty() ? 0 : -*std::ranges::max_element(step), kind);
  }
  std::ranges::sort(order);
  for (const auto& [peak, kind] : order) {
    memory.kinds.push_back(kind);
    memory.bytes.push_back(std::move(steps[kind]));
  }
  const auto peak = std::ranges::max_element(memory.total);
  if (peak != memory.total.end()) {
    memory.peak = *peak;
    memory.peak_call = static_cast<std::size_t>(peak - memory.total.begin());
  }
  return memory;
}

}  // namespace analysis
