// A job's projection in five sentences: the first thing that a user reads, on the terminal, in the report, in
// result.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trnsim/advice.h"

namespace trnsim {

/// Settings stand in backquotes.
struct Answer {
  std::string time, dollars, memory, bound, sure;  // sure: the range around the time
  std::vector<std::string> changes;                // what helps most, each with its gain
};

/// `changes`: of advise(); none: nobody asked for any. Of none that helps one sentence says so.
Answer answer(const Job& job, const Projection& projection, const std::optional<std::vector<Change>>& changes);

/// A change as it is typed: "`per_device_train_batch_size` 32".
std::string settings_text(const Change& change);

}  // namespace trnsim
