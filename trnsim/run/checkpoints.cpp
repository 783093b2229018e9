#include "trnsim/run/checkpoints.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/checkpoints/model_folder.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/model.h"

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

Consolidated merge_adapters(const std::filesystem::path& folder, const std::filesystem::path& out, bool overwrite) {
  workloads::LoadedModel loaded = workloads::load_model(folder, 0);
  if (!loaded.config->lora())
    throw base::Error{base::Fault::kUsage, "`merge`", fmt::format("{} has no adapters", folder.string()),
                      "leave it out, or give a checkpoint or a model of a run with `lora_r`"};
  Consolidated done;
  if (std::filesystem::exists(folder / "shards.json")) {
    const workloads::ShardIndex index = workloads::read_shard_index(folder);
    done.step = index.step, done.tensor = index.plan.tensor_parallel_size;
    done.pipeline = index.plan.pipeline_parallel_size;
  }
  const workloads::Weights weights = workloads::merged(loaded.config, std::move(loaded.weights));
  const workloads::ModelPtr model = loaded.config->with_lora(std::nullopt);
  workloads::write_model_folder(out, overwrite, [&](const std::filesystem::path& to) {
    workloads::write_config(model, to);
    workloads::save_weights(to, model, weights);
    workloads::copy_tokenizer(folder, to);
  });
  done.tensors = static_cast<std::int64_t>(model->weights().size());
  done.parameters = static_cast<std::int64_t>(workloads::parameter_count(model->weights()));
  return done;
}

}  // namespace trnsim
