#include "workloads/checkpoints/decoder_checkpoint.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

void require_same_model(const fs::path& folder, const ModelPtr& config) {
  if (read_shard_config(folder)->config_json() != config->config_json())
    throw Error{Fault::kData, folder.string(), "is a checkpoint of another model", "repeat the settings of that run"};
}

}  // namespace

void save_decoder_checkpoint(const fs::path& folder, const ModelPtr& config, const DecoderState& state,
                             runtime::Session& session, const Tokenizer& tokenizer, const TrainProgress& progress) {
  base::ReplacedFolder out{folder};
  for (const std::string& name : state.states())
    for_each_rank(state.plan(), [&](ShardRank rank) {
      write_shard(out.path(), config, {.plan = state.plan(), .rank = rank, .state = name, .step = progress.step},
                  state.read(session, name, rank), state.type_of(name));
    });
  tokenizer.save(out.path());
  write_shard_index(out.path(), config,
                    {.plan = state.plan(), .states = state.states(), .step = progress.step, .run = progress.to_text()});
  out.commit();
}

TrainProgress load_decoder_checkpoint(const fs::path& folder, const ModelPtr& config, const DecoderIo& io,
                                      const DecoderState& state, runtime::Session& session,
                                      const std::string& fingerprint) {
  const ShardIndex index = read_shard_index(folder);
  TrainProgress progress = TrainProgress::from_text(index.run, folder.string());
  require_same_model(folder, config);
  require_same_settings(progress, fingerprint, folder.string());
  io.write_weights(session, read_shards(folder));
  for (const std::string& name : state.states())
    if (name != "model") state.write(session, name, read_shards(folder, name));
  progress.step = index.step;
  return progress;
}

}  // namespace workloads
