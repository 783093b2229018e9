// The results of sweeps in a file, by content hash, and the processes that work on each point.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/record/sqlite.h"
#include "analysis/sweep/sweep.h"

namespace analysis {

/// A point that a process said it works on.
struct Claim {
  std::string job, owner;
  std::int64_t beats = 0;  // rises while the owner lives
  bool died = false;       // the owner's child died of the point
};

/// Each result is there as soon as put() returns, whatever becomes of the process. Any number of processes, on any
/// number of hosts that share the file (`many_hosts`), may use it at the same time. Tables: points(hash, settings,
/// error), metrics(hash, name, value), claims(hash, job, owner, beats, died).
class SweepStore {
 public:
  /// Errors: Fault::kEnvironment; Fault::kData when the file is not a store or of a newer schema.
  SweepStore(const std::filesystem::path& path, std::string job, std::string owner, bool many_hosts);
  /// Gives up the claims.
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  /// Fills in a known result; false when there is none.
  bool find(SweepResult& result);
  std::optional<Claim> claim_of(std::uint64_t hash);
  /// Claims a point for this process: one that is unclaimed, or still claimed by `from`. False when another process was
  /// faster, or when its result is there.
  bool claim(std::uint64_t hash, const std::optional<Claim>& from);
  /// Tells the others that our claims are worked on.
  void beat();
  /// Tells the others of our job that a child died of the point.
  void mark_failed(std::uint64_t hash);
  /// Keeps the result, and ends the claim.
  void put(const SweepResult& result);

 private:
  const std::string job_, owner_;
  Database database_;
  Statement find_point_, find_metrics_, put_point_, drop_metrics_, put_metric_;
  Statement find_claim_, claim_, beat_, mark_failed_, drop_claim_;
};

}  // namespace analysis
