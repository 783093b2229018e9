// A job's projection in five sentences: the first thing that a user reads, on the terminal, in the report, in
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
  std::string command{};  // the command that was typed, with them; empty: nobody typed one
  bool replaces = false;  // settings that were typed: the flags alone cannot be added to that command
};

/// Settings stand in backquotes.
struct Answer {
  std::string time, dollars, memory, bound, sure;  // sure: the range around the time
  std::vector<Suggestion> changes;                 // what helps most
};

/// `changes`: of advise(); none: nobody asked for any. Of none that helps one sentence says so. `typed`: the words of
/// the command that asks.
Answer answer(const Job& job, const Projection& projection, const std::optional<std::vector<Change>>& changes,
              const std::vector<std::string>& typed = {});

/// A change as it is typed: "`per_device_train_batch_size` 32".
std::string settings_text(const Change& change);

}  // namespace trnsim
