// Checkpoints as a parallel training job writes them: one file per tensor-parallel and pipeline rank, and an index that
// says the plan. The folder: config.json, model_tp00_pp00.safetensors ..., shards.json last of all, so that a
// checkpoint without it was not finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/step/plan.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"

namespace workloads {

struct ShardPlan {
  std::int64_t tensor_parallel_size = 1;
  std::int64_t pipeline_parallel_size = 1;
  std::int64_t virtual_pipeline_size = 1;  // chunks of layers per stage of the interleaved schedule
  bool split_experts = false;  // tensor-parallel ranks share each expert, as generation does, and not their number
  bool operator==(const ShardPlan&) const = default;
};
/// The members of a plan that decide which part of each tensor a rank holds.
ShardPlan shard_plan(const runtime::Plan& plan);

struct ShardRank {
  std::int64_t tensor = 0;
  std::int64_t pipeline = 0;
};
/// Calls visit(ShardRank) for every rank of the plan, stage by stage.
template <class Visit>
void for_each_rank(const ShardPlan& plan, const Visit& visit) {
  for (std::int64_t pipeline = 0; pipeline < plan.pipeline_parallel_size; ++pipeline)
    for (std::int64_t tensor = 0; tensor < plan.tensor_parallel_size; ++tensor) visit(ShardRank{tensor, pipeline});
}

/// Why ranks cannot share a model of these sizes, if they cannot.
std::optional<Problem> problem(const ShardPlan& plan, const Sizes& sizes);

/// Errors: Fault::kUsage naming the flag when a degree is below 1, does not divide the heads, the feed-forward size or
/// the layers, does not fit the key-value heads, or leaves a rank without a row of the vocabulary; the fix lists the
/// degrees that do. Also for several chunks of a single stage.
void check(const ShardPlan& plan, const ModelPtr& config);

/// The pipeline stage of a tensor: layer l of L is in chunk c = l / (L / (stages * chunks)), which is on stage c mod
/// stages. Embeddings that are the head too are on the first stage and on the last.
bool is_on_stage(const WeightSpec& spec, const ModelPtr& config, const ShardPlan& plan, std::int64_t stage);

/// Those of `specs` that belong to a state: frozen ones are in "model" alone.
std::vector<WeightSpec> of_state(std::vector<WeightSpec> specs, std::string_view state);

/// The tensors of one rank with the shapes it holds, in the order of the model.
std::vector<WeightSpec> shard_specs(const ModelPtr& config, const ShardPlan& plan, ShardRank rank);
/// One rank's part of a tensor of the whole model, and the reverse: a rank's part put back into it.
std::vector<float> shard_of(const WeightSpec& whole, std::span<const float> values, const ModelPtr& config,
                            const ShardPlan& plan, std::int64_t tensor_rank);
void put_shard(const WeightSpec& whole, std::span<float> values, std::span<const float> part, const ModelPtr& config,
               const ShardPlan& plan, std::int64_t tensor_rank);
/// Where a rank's part begins on the axis that is split: ranks with the same offset hold the same elements.
std::int64_t shard_offset(const WeightSpec& whole, const ModelPtr& config, const ShardPlan& plan,
                          std::int64_t tensor_rank);
/// All tensors of one rank, of a state of the model.
Weights shard_of(const Weights& weights, const ModelPtr& config, const ShardPlan& plan, ShardRank rank,
                 std::string_view state = "model");

/// Which file of a checkpoint it is; each says so of itself, so that one of another save is found out. Several sets of
/// tensors of the model's names and shapes may be saved side by side: "model" (the weights), "exp_avg", "exp_avg_sq",
/// "master".
struct ShardId {
  ShardPlan plan{};
  ShardRank rank{};
  std::string state = "model";
  std::int64_t step = 0;  // optimizer steps done
};
/// Writes STATE_tpTT_ppPP.safetensors. Errors: Fault::kEnvironment; Fault::kInternal when a tensor of the rank is
/// missing or has another size.
void write_shard(const std::filesystem::path& folder, const ModelPtr& config, const ShardId& id, const Weights& part,
                 ElementType type = ElementType::kF32);

/// The content of shards.json.
struct ShardIndex {
  ShardPlan plan{};
  std::vector<std::string> states{"model"};
  std::int64_t step = 0;                     // optimizer steps done
  std::map<std::string, std::string> run{};  // what a training run wants to find again
};
/// Writes config.json and, when every shard is there, shards.json. Errors: Fault::kInternal when one is not.
void write_shard_index(const std::filesystem::path& folder, const ModelPtr& config, const ShardIndex& index);
/// Errors: Fault::kData when the folder has no index (an unfinished checkpoint), or the index is not understood.
ShardIndex read_shard_index(const std::filesystem::path& folder);

/// The config.json in the folder, with the head that was trained. Errors: as read_config(), read_shard_index().
ModelPtr read_shard_config(const std::filesystem::path& folder);

/// One state of the whole model, fp32. Errors: Fault::kData naming the file: a shard
/// that is missing, of another plan, step or rank, a tensor that is missing or of another shape, or a tensor that every
/// rank holds whole but that differs between two of them.
Weights read_shards(const std::filesystem::path& folder, std::string_view state = "model");

/// Copies the tokenizer's files that are there.
void copy_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& out);

/// Merges the weights into Hugging Face's layout in the folder `out`, created if need be: config.json and
/// model.safetensors, of the shards' element type; of a model with adapters what save_adapter() writes. The tokenizer's
/// files are copied if they are there.
/// Errors: as read_shards(); Fault::kUsage when `out` has files already and `overwrite` is false; Fault::kEnvironment.
void consolidate(const std::filesystem::path& folder, const std::filesystem::path& out, bool overwrite = false);

}  // namespace workloads
