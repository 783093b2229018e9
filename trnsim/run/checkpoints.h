// Checkpoints of a parallel training, outside of a run.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trnsim {

/// The sources of a merged checkpoint.
struct Consolidated {
  std::int64_t tensors = 0, parameters = 0;
  std::int64_t step = 0;                  // optimizer steps done
  std::int64_t tensor = 1, pipeline = 1;  // degrees of parallelism: a file for each pair of ranks
  std::int64_t shards() const { return tensor * pipeline; }
};

/// Merges the shards in `folder` into one Hugging Face model in `out`; of a model with adapters, into an adapter as
/// PEFT saves it and its base. Errors: as workloads::consolidate().
Consolidated consolidate(const std::filesystem::path& folder, const std::filesystem::path& out, bool overwrite = false);

/// Adds the adapters in `folder`, of shards or as PEFT saves them, to their base: one Hugging Face model in `out`.
/// Errors: as workloads::load_model(); Fault::kUsage without adapters, or `out` has files already.
Consolidated merge_adapters(const std::filesystem::path& folder, const std::filesystem::path& out,
                            bool overwrite = false);

}  // namespace trnsim
