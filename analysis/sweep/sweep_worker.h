// A child process that computes points of a sweep, one after the other.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/sweep.h"

namespace analysis {

/// Lives until the object ends, or until a point kills it. Both references must outlive it.
class SweepWorker {
 public:
  /// Errors: Fault::kEnvironment when there is no room for another process.
  SweepWorker(const std::vector<SweepPoint>& points, const SweepModel& model);
  ~SweepWorker();
  SweepWorker(const SweepWorker&) = delete;
  SweepWorker& operator=(const SweepWorker&) = delete;

  /// Readable when there is an answer, or when the child died.
  int fd() const { return fd_; }
  /// Begins to compute points[index].
  void order(std::size_t index);
  /// Waits for metrics or an error; false when the child died.
  bool answer(SweepResult& result);

  std::optional<std::size_t> point;  // that it works on

 private:
  [[noreturn]] static void fail();
  pid_t pid_ = -1;
  int fd_ = -1;
};

}  // namespace analysis
