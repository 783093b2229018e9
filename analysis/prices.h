// What instances cost, from a file with date, region and source.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/param_file.h"

namespace analysis {

/// How an instance is bought.
enum class Purchase { kOnDemand, kReserved1y, kReserved3y, kSpot, kSageMaker };
inline constexpr int kPurchaseCount = 5;
inline constexpr std::array<std::string_view, kPurchaseCount> kPurchaseNames = {"on_demand", "reserved_1y",
                                                                                "reserved_3y", "spot", "sagemaker"};

/// "on_demand", ... Errors: Fault::kUsage with a suggestion.
Purchase purchase_of(std::string_view name);

struct PricedInstance {
  std::string name, region, date;
  bool simulated = false;   // a machine of trnsim; else its time is a roofline estimate
  double accelerators = 0;  // chips or GPUs
  std::array<std::optional<base::Sourced<double>>, kPurchaseCount> per_hour;  // dollars
  double peak = 0;       // FLOP/s of one accelerator, dense bf16 or fp16; 0 when simulated
  double bandwidth = 0;  // B/s of one accelerator
  double memory = 0;     // bytes of one accelerator
};

/// The instances of a price file. Errors: Fault::kUsage for a file without date or region, an instance without an
/// on-demand price, a number without unit or source, a key that nobody reads.
std::vector<PricedInstance> load_prices(base::ParamFile file);
/// `path`, or the file that comes along (analysis/cost/prices/aws.toml) when it is empty.
std::vector<PricedInstance> load_prices(std::string_view path);

/// Errors: Fault::kUsage with a suggestion.
const PricedInstance& find_instance(const std::vector<PricedInstance>& prices, std::string_view name);

}  // namespace analysis
