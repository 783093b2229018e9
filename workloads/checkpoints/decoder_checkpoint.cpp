#include "workloads/checkpoints/decoder_checkpoint.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "base/interrupt.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

constexpr const char *kSettings = "settings", *kLossSum = "loss_sum";

/// A folder that takes the place of another one as a whole: a run that is stopped at any moment leaves the old
/// checkpoint or the new one, beside each other for a moment, and never a mixture.
class NewFolder {
 public:
  explicit NewFolder(fs::path place) : place_{std::move(place)}, path_{place_.string() + ".new"} {
    clear(path_);
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) fail(path_, error);
  }
  const fs::path& path() const { return path_; }

  void commit() {
    const fs::path old = place_.string() + ".old";
    clear(old);
    if (fs::exists(place_)) move(place_, old);
    move(path_, place_);
    clear(old);
  }

 private:
  [[noreturn]] static void fail(const fs::path& path, const std::error_code& error) {
    throw Error{Fault::kEnvironment, path.string(), fmt::format("cannot be written: {}", error.message()),
                "check permissions and space of the disk"};
  }
  static void clear(const fs::path& path) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) fail(path, error);
  }
  static void move(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) fail(to, error);
  }

  fs::path place_, path_;
  base::HoldInterrupts hold_;
};

void require_same_run(const fs::path& folder, const ModelPtr& config, const ShardIndex& index,
                      const std::string& fingerprint) {
  if (!index.run.contains(kSettings) || !index.run.contains(kLossSum))
    throw Error{Fault::kData, (folder / "shards.json").string(), "is of no run that can go on: it has no settings",
                "give RUN/checkpoint of an earlier run, or train these weights with `model_id`"};
  if (read_shard_config(folder)->config_json() != config->config_json())
    throw Error{Fault::kData, folder.string(), "is a checkpoint of another model", "repeat the settings of that run"};
  if (const std::string& then = index.run.at(kSettings); then != fingerprint)
    throw Error{Fault::kData, folder.string(),
                fmt::format("is of a run with other settings:\n  then: {}\n  now:  {}", then, fingerprint),
                "repeat the settings of that run; only the parallel plan may be another one"};
}

}  // namespace

void save_decoder_checkpoint(const fs::path& folder, const ModelPtr& config, const DecoderState& state,
                             runtime::Session& session, const Tokenizer& tokenizer, const TrainProgress& progress) {
  NewFolder out{folder};
  for (const std::string& name : state.states())
    for_each_rank(state.plan(), [&](ShardRank rank) {
      write_shard(out.path(), config, {.plan = state.plan(), .rank = rank, .state = name, .step = progress.step},
                  state.read(session, name, rank), state.type_of(name));
    });
  tokenizer.save(out.path());
  write_shard_index(out.path(), config,
                    {.plan = state.plan(),
                     .states = state.states(),
                     .step = progress.step,
                     .run = {{kSettings, progress.fingerprint}, {kLossSum, fmt::format("{:a}", progress.loss_sum)}}});
  out.commit();
}

TrainProgress load_decoder_checkpoint(const fs::path& folder, const ModelPtr& config, const DecoderIo& io,
                                      const DecoderState& state, runtime::Session& session,
                                      const std::string& fingerprint) {
  const ShardIndex index = read_shard_index(folder);
  require_same_run(folder, config, index, fingerprint);
  io.write_weights(session, read_shards(folder));
  for (const std::string& name : state.states())
    if (name != "model") state.write(session, name, read_shards(folder, name));
  return {
      .fingerprint = fingerprint, .step = index.step, .loss_sum = std::strtod(index.run.at(kLossSum).c_str(), nullptr)};
}

}  // namespace workloads
