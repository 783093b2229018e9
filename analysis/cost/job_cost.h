// One job, priced on every instance type.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/prices.h"
#include "analysis/figures/figures.h"
#include "analysis/record/record.h"
#include "base/table.h"

namespace analysis {

/// Share of its peaks that a roofline grants an accelerator, unless the user says another.
inline constexpr double kRooflineEfficiency = 0.4;

/// A job as it ran, or as it was projected. Figures that are unknown are 0.
struct JobToPrice {
  std::string instance_type;
  int instances = 1;
  double seconds = 0;
  std::map<std::string, double> other_instances{};  // seconds with as many cores on another instance, and its host
  double fixed_seconds = 0;                         // of these, what more chips do not shorten: the host's part
  double epochs = 0, samples = 0, tokens = 0;
  double flops = 0;      // model FLOPs of the whole job, all cores
  double hbm_bytes = 0;  // moved at HBM in the whole job, all cores
  /// One copy of weights and gradients, and of the optimizer's state: which all accelerators hold together, in any
  /// split; the rest of a core's memory; and the memory of one simulated chip.
  double weight_bytes = 0, optimizer_bytes = 0, other_bytes = 0, chip_bytes = 0;
  double cores_per_chip = 2;
  double cores = 0;      // that work, on all instances; 0: every one
  double split = 1;      // cores that share one copy of weights and gradients
  bool sharded = false;  // the optimizer's state is on all cores together (ZeRO)

  double state_bytes() const { return weight_bytes + optimizer_bytes; }
  /// Memory of each of so many cores: by the job's plan where they suffice for it, else all share one copy.
  double core_bytes(double cores) const;
};

/// From result.json and run.sqlite of a run folder. Errors: Fault::kData for files or figures that are missing.
JobToPrice job_of_run(const std::filesystem::path& folder);
/// As above, for a run in memory; `where` names it in errors.
JobToPrice job_to_price(const Figures& figures, const Record& record, const std::string& where);

enum class Basis {
  kGiven,     // the job's own time
  kOwnCores,  // as many cores as in the job, on another instance and with its host
  kScaled,    // its device time by the number of cores at work; no communication added
  kRoofline,  // FLOPs and bytes at the stated efficiency of the accelerators' peaks, with the job's own host
};

/// Bytes of a core, or of the job's state and all accelerators together.
struct TooSmall {
  double needed = 0, has = 0;
  bool of_a_core = false;
};

struct CostRow {
  std::string instance_type;
  int instances = 1;
  Basis basis = Basis::kGiven;
  double seconds = 0;
  std::optional<TooSmall> too_small{};  // then the job cannot run there, and the table shows neither time nor price
  std::array<std::optional<double>, kPurchaseCount> run{};                    // dollars
  std::optional<double> per_epoch{}, per_million_tokens{}, per_1k_samples{};  // on demand
  /// No other row is faster and cheaper on demand; nothing for rooflines, whose instances are not simulated.
  std::optional<bool> pareto{};
  std::optional<std::int64_t> largest_batch{};  // of a core, if a search was made
};

/// `counts`: numbers of instances; the job's own number is always there. `efficiency` of the peaks in a roofline, 0..1.
/// Rows of the job's instance first, then the file's order. Roofline rows need the job's FLOPs.
/// Errors: Fault::kUsage for a job without time, an unknown instance type, an efficiency outside of (0, 1].
std::vector<CostRow> price_job(const JobToPrice& job, const std::vector<PricedInstance>& prices,
                               const std::vector<int>& counts, double efficiency);

/// A column for the largest batch only when a row has one.
base::Table cost_table(const std::vector<CostRow>& rows, double efficiency);

}  // namespace analysis
