#include "trnsim/checkpoints.h"

#include "workloads/shards.h"

namespace trnsim {

Consolidated consolidate(const std::filesystem::path& folder, const std::filesystem::path& out, bool overwrite) {
  const workloads::ShardIndex index = workloads::read_shard_index(folder);
  const auto specs = workloads::read_shard_config(folder)->weights();
  workloads::consolidate(folder, out, overwrite);
  return {.tensors = static_cast<std::int64_t>(specs.size()),
          .parameters = static_cast<std::int64_t>(workloads::parameter_count(specs)),
          .step = index.step,
          .tensor = index.plan.tensor_parallel_size,
          .pipeline = index.plan.pipeline_parallel_size};
}

}  // namespace trnsim
