// The changes that help a job most: other settings, each projected like the job itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trnsim/projection.h"

namespace trnsim {

class KnownBlocks;  // trnsim/plans/known_blocks.h

/// A job with some settings changed.
struct Change {
  std::vector<std::pair<std::string, std::string>> settings;  // {"per_device_train_batch_size", "32"}
  std::string text;                                           // the effect, for people
  double speed_up = 0;                                        // samples per second with it over those without, less 1
  double saving = 0;                                          // samples per dollar, likewise
  double seconds = 0;                                         // of the whole job with it
  std::optional<double> dollars{};
  double amount = 0;  // samples of the job with it; of a generation the new tokens
};

/// The job that settings describe; as job_of().
using JobOf = std::function<Job(const Settings&)>;

/// The settings with `change` on top; its settings count as given. Errors: Fault::kUsage for a value that the setting
/// refuses.
Settings changed(Settings settings, const Change& change);

/// The changes that make the job faster at no higher price, or cheaper without making it slower (or half as dear and
/// at most a tenth slower), the best first, at most `most`; among changes of one setting the largest that helps,
/// among stacks and among instances the best. Candidates are larger micro-batches, less recomputation, other degrees of
/// the plan, other stacks, attention without recomputation, paid but idle cores, fewer logs and other instance types;
/// those that do not fit or are not allowed are left out. `settings` describe the job, `job_of` makes it, `now` is its
/// projection, `known` the blocks that it was made with, if they were kept. Takes a projection's time for each.
std::vector<Change> advise(const Settings& settings, const JobOf& job_of, const Projection& now, std::size_t most = 2,
                           KnownBlocks* known = nullptr);

/// A change that makes a job fit: another plan or smaller micro-batches on its cores, else more cores, with the
/// nearest possible batch of the optimizer; `seconds` and `dollars` are projected, `speed_up` is 0. Nothing
/// when none of them fits. Takes a few compilations; `known`: as for advise().
std::optional<Change> fitting_change(const Settings& settings, const JobOf& job_of, KnownBlocks* known = nullptr);
/// The fitting change as the fix of an Error: its settings, and the whole command where it has them already.
std::string fix_text(const std::optional<Change>& fitting_change, const std::vector<std::string>& typed = {});

/// The state of a command's `output_dir`: the results of the one before it, or nothing.
enum class FolderIs : std::uint8_t { kTaken, kFree };
/// The command `typed` ({"trnsim", "run", "bert_emotion", "--mode", "timed"}) with the change in place of the same
/// settings, for a shell; without an `output_dir` that is taken. Empty without words.
std::string command_with(const std::vector<std::string>& typed, const Change& change, FolderIs folder);
/// Whether the command gives one of the change's settings.
bool replaces(const std::vector<std::string>& typed, const Change& change);

}  // namespace trnsim
