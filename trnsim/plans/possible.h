// Whether a job is possible, as a value: plans and changes are tried by the hundred, and most are impossible.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trnsim/job.h"

namespace trnsim {

class KnownFacts;  // trnsim/project/known_facts.h

/// The reason why a job is impossible: the model or the machine does not allow it, or it is too large.
struct Problem {
  std::string text;
  bool too_large = false;
  std::uint64_t memory = 0;  // per core, the least that it needs; 0: not known
  double capacity = 0;       // bytes of a core's HBM; 0: not known
};

/// The problem that `ask` reports: an error about the job. Other errors are rethrown.
std::optional<Problem> problem_of(const std::function<void()>& ask);

/// The problem of a job as far as it is known before compiling: from the model, its graph, the machine's groups of
/// cores, and the least memory that any compiler needs. None: it may be possible.
std::optional<Problem> possible(const Job& job);
/// Whether possible() has no objection, which takes less time to know than the first of several objections.
bool is_possible(const Job& job, KnownFacts& known);

/// The machine with these changes; none where they do not suit it: two physical cores in one, on a chip that has two.
/// Errors: a key that no machine has.
std::optional<hw::MachineParams> machine_with(std::string_view name, std::span<const std::string> set);

/// "needs 19 GiB of HBM per core at least, there are 16 GiB".
Problem too_large(std::uint64_t memory, const Job& job);

}  // namespace trnsim
