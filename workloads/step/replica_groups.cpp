// Which ranks work together in a step.
#include "workloads/step/optimizer_step.h"

namespace workloads {

isa::GroupTables replica_groups(const Plan& plan, std::int64_t head_sharing) {
  const auto tensor = static_cast<std::uint32_t>(plan.tensor), data = plan.data;
  const auto stages = static_cast<std::uint32_t>(plan.pipeline), own = tensor * data;
  std::vector<std::vector<std::uint32_t>> data_sets(std::size_t{tensor} * stages),
      tensor_sets(std::size_t{data} * stages);
  for (std::uint32_t r = 0; r < plan.world(); ++r) {
    data_sets[r / own * tensor + r % tensor].push_back(r);
    tensor_sets[r / tensor].push_back(r);
  }
  isa::GroupTables out;
  if (data > 1) out.push_back(std::move(data_sets));
  if (tensor > 1) out.push_back(std::move(tensor_sets));
  for (std::uint32_t s = 0; stages > 1 && s < stages; ++s) {
    auto& pairs = out.emplace_back();
    for (std::uint32_t r = 0; r < own; ++r) pairs.push_back({s * own + r, (s + 1) % stages * own + r});
  }
  std::vector<std::vector<std::uint32_t>> all(own), ends;
  for (std::uint32_t r = 0; r < plan.world(); ++r) all[r % own].push_back(r);
  for (const auto& set : all) ends.push_back({set.front(), set.back()});
  if (stages > 1) {
    out.push_back(std::move(all));
    out.push_back(std::move(ends));
  }
  std::vector<std::vector<std::uint32_t>> heads;
  const auto sharing = static_cast<std::uint32_t>(head_sharing);
  for (std::uint32_t r = 0; r < plan.world(); ++r)
    (r % sharing == 0 ? heads.emplace_back() : heads.back()).push_back(r);
  if (sharing > 1) out.push_back(std::move(heads));
  return out;
}

std::uint8_t data_group(const Plan&) { return 0; }
std::uint8_t tensor_group(const Plan& plan) { return plan.data > 1 ? 1 : 0; }
std::uint8_t link_group(const Plan& plan, std::int64_t from_stage) {
  return static_cast<std::uint8_t>((plan.data > 1) + (plan.tensor > 1) + from_stage);
}
std::uint8_t stages_group(const Plan& plan) { return link_group(plan, plan.pipeline); }
std::uint8_t ends_group(const Plan& plan) { return link_group(plan, plan.pipeline + 1); }
std::uint8_t heads_group(const Plan& plan) { return link_group(plan, plan.pipeline > 1 ? plan.pipeline + 2 : 0); }

}  // namespace workloads
