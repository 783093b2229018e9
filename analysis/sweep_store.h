// The results of sweeps in a file, by content hash.
#pragma once

#include <filesystem>

#include "analysis/sqlite.h"
#include "analysis/sweep.h"

namespace analysis {

/// Each result is there as soon as put() returns, whatever becomes of the process. Tables: points(hash, settings,
/// error), metrics(hash, name, value).
class SweepStore {
 public:
  /// Errors: Fault::kEnvironment; Fault::kData when the file is no store or of a newer schema.
  explicit SweepStore(const std::filesystem::path& path);
  /// Fills in what is known; false when nothing is.
  bool find(SweepResult& result);
  void put(const SweepResult& result);

 private:
  Database database_;
  Statement find_point_, find_metrics_, put_point_, drop_metrics_, put_metric_;
};

}  // namespace analysis
