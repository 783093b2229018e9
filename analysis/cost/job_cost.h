// One job, priced on every instance type.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/prices.h"
#include "analysis/figures/figures.h"
#include "analysis/host/interruptions.h"
#include "analysis/record/record.h"
#include "base/table.h"

namespace analysis {

/// Default share of its peaks that a roofline grants an accelerator.
inline constexpr double kRooflineEfficiency = 0.4;
/// Such a share in words, as in 40% or 0.4. Errors: Fault::kUsage for one that is not above 0 and at most 1.
double parse_efficiency(const std::string& text, const std::string& where);

/// Bytes of a core, or of the job's state and all accelerators together.
struct TooSmall {
  double needed = 0, has = 0;
  bool of_a_core = false;
};

/// The job as simulated on other instances, or with other cores.
struct Placement {
  std::string instance_type;
  int instances = 1;
  double cores = 0;               // that work, on all instances
  double sequences_per_step = 0;  // of the optimizer, over all cores
  double seconds = 0, samples = 0, tokens = 0;
  double copies = 1;                    // generations side by side on the instance, each of which pays its share
  Named<std::string> settings{};        // that place it there
  std::optional<TooSmall> too_small{};  // then it has no time
  std::optional<InterruptedTime> interrupted{};
};

/// A job as run or as projected. Figures that are unknown are 0.
struct JobToPrice {
  std::string instance_type;
  int instances = 1;
  double seconds = 0;
  std::vector<Placement> placements{};
  double epochs = 0, samples = 0, tokens = 0, steps = 0;
  double flops = 0;          // model FLOPs of the whole job, all cores
  double hbm_bytes = 0;      // moved at HBM in the whole job, all cores
  double framework_ops = 0;  // that a host dispatches for the passes over the model in a step
  double state_bytes = 0;    // weights, gradients and the optimizer's state, one copy of each
  double cores = 0;          // that work, on all instances
  double copies = 1;         // as Placement's
  double sequences_per_step = 0;
  Purchase purchase = Purchase::kOnDemand;  // how its instances are bought
  std::vector<std::string> set{};           // the user's overrides, prices among them, as in "price.spot=$1/h"
  std::optional<InterruptedTime> interrupted{};
};

/// From result.json and run.sqlite of a run folder. Errors: Fault::kData for files or figures that are missing.
JobToPrice job_of_run(const std::filesystem::path& folder);
/// As above, for a run in memory; `where` names it in errors.
JobToPrice job_to_price(const Figures& figures, const Record& record, const std::string& where);

enum class Basis {
  kGiven,      // the job's own time
  kSimulated,  // projected there, with that instance's host
  kRoofline,   // FLOPs and bytes at the stated efficiency of the accelerators' peaks, or the host of GPUs where that
               // takes longer
};

struct CostRow {
  std::string instance_type;
  int instances = 1;
  Basis basis = Basis::kGiven;
  double cores = 0, sequences_per_step = 0;  // 0: unknown, and for a roofline
  double seconds = 0, samples = 0;
  Named<std::string> settings{};
  std::optional<TooSmall> too_small{};  // then the job cannot run there, and the table shows neither time nor price
  std::array<std::optional<double>, kPurchaseCount> run{};                    // dollars
  Purchase purchase = Purchase::kOnDemand;                                    // the job's
  std::optional<double> per_epoch{}, per_million_tokens{}, per_1k_samples{};  // as paid()
  /// No other row is faster and cheaper; nothing for rooflines, whose instances are not simulated.
  std::optional<bool> pareto{};
  std::optional<std::int64_t> largest_batch{};   // per core, if a search was made
  std::optional<InterruptedTime> interrupted{};  // of a job that is; nothing for rooflines

  /// Dollars as the job is bought, the figure that `run` says; none where the instance cannot be bought so.
  const std::optional<double>& paid() const { return run[static_cast<std::size_t>(purchase)]; }
};

/// The list with the job's own prices. A machine of the user's own on which the job was simulated is in it too, perhaps
/// without a price. Errors: Fault::kUsage for a job of a time alone on an instance that the list does not have.
std::vector<PricedInstance> prices_of(const JobToPrice& job, const std::vector<PricedInstance>& list);

/// The job itself, its placements, and rooflines on `counts` instances of each type that is not simulated; these need
/// the job's FLOPs. Prices are those of `list`, or the job's own. `efficiency` of the peaks in a roofline, 0..1.
/// Errors: Fault::kUsage for a job without time, an unknown instance type, an efficiency outside of (0, 1].
std::vector<CostRow> price_job(const JobToPrice& job, const std::vector<PricedInstance>& list,
                               const std::vector<int>& counts, double efficiency);

/// Every figure of every row; columns for the largest batch and for interruptions only when a row has them.
base::Table cost_table(const std::vector<CostRow>& rows, double efficiency);
/// The columns that a buyer reads first: instance, cores, batch, time, dollars; the expected ones of a job that is
/// interrupted.
base::Table brief_cost_table(const std::vector<CostRow>& rows);

/// The simulated row with the fewest dollars, or in the shortest time; null when none has a price.
const CostRow* cheapest_of(const std::vector<CostRow>& rows);
const CostRow* fastest_of(const std::vector<CostRow>& rows);
/// The row with the fewest expected dollars of a job that is interrupted; null when none has any.
const CostRow* cheapest_interrupted(const std::vector<CostRow>& rows);

}  // namespace analysis
