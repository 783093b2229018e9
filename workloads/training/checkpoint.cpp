#include "workloads/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

/// Until 0.2.0 the checkpoint of a classifier: weights and moments of rank 0 under their names on the core, linear
/// weights as [in, out], and the progress as metadata.
constexpr const char* kStateFile = "state.safetensors";

void require_same_model(const fs::path& folder, const ModelPtr& model) {
  if (read_shard_config(folder)->config_json() != model->config_json())
    throw Error{Fault::kData, folder.string(), "is a checkpoint of another model", "repeat the settings of that run"};
}

/// One state of the whole model from such a file. Errors: Fault::kData.
Weights state_of_file(const SafetensorsFile& file, const std::string& state, const TrainedModel& trained) {
  Weights out;
  for (const WeightSpec& spec : of_state(trained.state.tensors(), state)) {
    const std::string name = (state == "model" ? "" : state + ".") + spec.name;
    const auto found = std::ranges::find(file.tensors(), name, &TensorInfo::name);
    if (found == file.tensors().end() || element_count(found->shape) != element_count(spec.shape))
      throw Error{Fault::kData, file.path().string(), fmt::format("has no matching tensor '{}'", name),
                  "give the checkpoint of this model"};
    out.set_from_device(spec, to_floats(found->type, file.bytes(*found)));
  }
  return out;
}

TrainProgress load_state_file(const fs::path& path, const TrainedModel& trained, const std::string& fingerprint) {
  const SafetensorsFile file{path};
  TrainProgress progress = TrainProgress::from_text(file.metadata(), path.string());
  require_same_settings(progress, fingerprint, path.string());
  file.require_whole();
  trained.state.write_weights(trained.session, state_of_file(file, "model", trained));
  for (const std::string& name : trained.state.states())
    if (name != "model") trained.state.write(trained.session, name, state_of_file(file, name, trained));
  return progress;
}

}  // namespace

void save_checkpoint(const fs::path& folder, const TrainedModel& trained, const Tokenizer* tokenizer,
                     const TrainProgress& progress) {
  base::ReplacedFolder out{folder};
  const ShardPlan plan = trained.state.plan();
  for (const std::string& name : trained.state.states())
    for_each_rank(plan, [&](ShardRank rank) {
      write_shard(out.path(), trained.model, {.plan = plan, .rank = rank, .state = name, .step = progress.step},
                  trained.state.read(trained.session, name, rank), trained.state.type_of(name));
    });
  if (tokenizer) tokenizer->save(out.path());
  write_shard_index(out.path(), trained.model,
                    {.plan = plan, .states = trained.state.states(), .step = progress.step, .run = progress.to_text()});
  out.commit();
}

TrainProgress load_checkpoint(const fs::path& folder, const TrainedModel& trained, const std::string& fingerprint) {
  if (fs::exists(folder / kStateFile)) return load_state_file(folder / kStateFile, trained, fingerprint);
  const ShardIndex index = read_shard_index(folder);
  TrainProgress progress = TrainProgress::from_text(index.run, folder.string());
  require_same_model(folder, trained.model);
  require_same_settings(progress, fingerprint, folder.string());
  trained.state.write_weights(trained.session, read_shards(folder));
  for (const std::string& name : trained.state.states())
    if (name != "model") trained.state.write(trained.session, name, read_shards(folder, name));
  progress.step = index.step;
  return progress;
}

}  // namespace workloads
