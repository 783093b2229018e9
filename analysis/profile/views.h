// Tables of a record, for `trnsim stats` and `trnsim compare`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/record/record.h"
#include "base/table.h"

namespace analysis {

/// The figures of the summary, under neuron-explorer's names.
base::Table summary_table(const Record& record);

struct Figures;  // analysis/figures/figures.h

/// "op", "part", "source", "layer", "engine", "opcode", "phase", "block" as time_by(), or "collective"; the first
/// `limit` rows, 0: all. Errors: Fault::kUsage with a suggestion.
base::Table table_by(std::string_view by, const Record& record, std::size_t limit = 0);

/// Collectives of one kind: opcode and ranks.
struct CollectiveGroup {
  std::string key;  // "all_reduce x2"
  std::uint64_t count = 0;
  double bytes = 0;      // per rank
  double active = 0;     // s, from begin to end
  double queued = 0;     // s, from issue to begin
  double bandwidth = 0;  // B/s that a rank sends while active
};
std::vector<CollectiveGroup> collectives_by_kind(const hw::SimResult& result);

/// A figure in two runs.
struct Difference {
  std::string part;  // "job", "total", "phase", "engine", "waiting", "op"
  std::string name;
  double before = 0, after = 0;
  std::string unit;        // "s", "%", "B"
  double change() const;   // 0 for differences by rounding alone
  double percent() const;  // of `before`; NaN when that is 0 and `after` is not
};
/// Totals first, then phases, engines' busy time, causes of engines' waits and ops, each with the largest change first.
/// Units: s, B and %.
std::vector<Difference> compare(const Record& before, const Record& after);
/// Figures of the job that both runs have: those with a title, and all others that differ.
std::vector<Difference> compare_jobs(const Figures& before, const Figures& after);
/// `ops`: at most this many ops, and only those that changed; 0: all.
base::Table difference_table(const std::vector<Difference>& differences, std::size_t ops);

/// "1.31 us", "15.9 GiB", "41.2 %": a figure with one of the units above, for people.
std::string readable(double value, std::string_view unit);

}  // namespace analysis
