// The candidates of a job's suggestions, projected side by side.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/process_pool.h"
#include "trnsim/plans/advice.h"

namespace trnsim {

/// The setting that a change is about.
inline const std::string& kind_of(const Change& change) { return change.settings.front().first; }
/// The gain of a change in samples per second or per dollar, whichever is more.
double gain_of(const Change& change);

/// Weighs candidates in child processes, which keep their blocks for the next ones.
class Weighing {
 public:
  /// A candidate that helps, with its gain.
  struct Weighed {
    std::size_t number = 0;  // of the candidate
    bool whole = false;      // its gain is of the whole step
    Change change;
  };

  /// `settings` describe the job, `job_of` makes it, `now` is its projection, `known` the blocks of that, or null; the
  /// references are kept.
  Weighing(const Settings& settings, const JobOf& job_of, const Projection& now, std::vector<Change> candidates,
           KnownBlocks* known);
  ~Weighing();

  /// From a few micro-batches: those that help, of each ordered kind the first. Errors: as project().
  std::vector<Weighed> some();
  /// Those of `promising` that help when the whole step is projected.
  std::vector<Weighed> whole(std::span<const Weighed> promising);

 private:
  class Scales;

  std::string weigh(std::size_t item);
  Weighed read(const std::string& bytes) const;
  std::vector<Weighed> all_of(const std::vector<std::size_t>& items);

  std::unique_ptr<Scales> scales_;
  std::vector<Change> candidates_;
  std::vector<std::vector<std::size_t>> turns_;  // candidates that are weighed one after the other
  base::ProcessPool pool_;
};

}  // namespace trnsim
