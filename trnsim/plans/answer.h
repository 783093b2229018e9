// A job's projection in five sentences: the first lines that a user reads, on the terminal, in the report, in
// result.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trnsim/plans/advice.h"

namespace trnsim {

/// A change that helps.
struct Suggestion {
  std::string text;       // the settings and their gain
  std::string command{};  // the typed command with them; empty without one
  bool replaces = false;  // settings that were typed: the flags alone cannot be added to that command
};

/// The answer in sentences, with settings in backquotes.
struct Answer {
  std::string time, dollars, memory, bound, sure;  // sure: the range around the time
  std::string interrupted{};                       // of a job that is; else empty
  std::string binds{};                             // "host", or the resource of the device that binds
  std::vector<Suggestion> changes;                 // those that help most
};

/// `changes`: from advise(); absent: not requested. When none helps, a sentence says so. `typed`: the words of
/// the command.
Answer answer(const Job& job, const Projection& projection, const std::optional<std::vector<Change>>& changes,
              const std::vector<std::string>& typed = {});

/// The job's time with the mean error of published jobs of its kind and size on both sides: predicted = published *
/// (1 +- error); or that none of them is like the job.
std::string confidence_text(const Job& job, const Projection& projection);

/// A change as typed: "`per_device_train_batch_size` 32".
std::string settings_text(const Change& change);

}  // namespace trnsim
