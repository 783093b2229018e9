// Prices of instances, from a file with date, region and source.
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

/// How instances that may be taken away are bought: on spot instead of on demand; otherwise as the job's are.
constexpr Purchase bought_when_interrupted(Purchase purchase) {
  return purchase == Purchase::kOnDemand ? Purchase::kSpot : purchase;
}
/// "on spot", "at the sagemaker price".
std::string bought_text(Purchase purchase);

struct PricedInstance {
  std::string name, region, date;
  bool simulated = false;   // a machine of trnsim; else its time is a roofline estimate
  double accelerators = 0;  // chips or GPUs
  std::array<std::optional<base::Sourced<double>>, kPurchaseCount> per_hour;  // dollars
  double peak = 0;         // FLOP/s of one accelerator, dense bf16 or fp16; 0 when simulated
  double bandwidth = 0;    // B/s of one accelerator
  double memory = 0;       // bytes of one accelerator
  double host_per_op = 0;  // s until the host has dispatched one operation to a GPU; 0 when simulated
};

/// The instances of a price file. Errors: Fault::kUsage for a file without date or region, a number without unit or
/// source, a key that is never read.
std::vector<PricedInstance> load_prices(base::ParamFile file);
/// `path`, or the bundled file (analysis/cost/prices/aws.toml) when it is empty.
std::vector<PricedInstance> load_prices(std::string_view path);

/// "spot". Errors: Fault::kUsage at `where`, with a suggestion.
Purchase parse_purchase(std::string_view name, std::string_view where);

/// How a job's instances are paid for.
struct PriceTerms {
  Purchase purchase = Purchase::kOnDemand;
  /// The prices among the user's "key=value" overrides: "price.spot=$1/h", or a multiple of the list's price as in
  /// "price.on_demand=0.5x".
  std::vector<std::string> set{};
};

/// Dollars of an instance and hour, by the terms or by the bundled file; nothing when neither knows it, as for
/// a machine of the user's own. Errors: Fault::kUsage for an invalid price in `set`.
std::optional<double> price_per_hour(std::string_view instance, const PriceTerms& terms = {});

/// The list with `instance`, which is in no list where it is a machine of the user's own, and with the prices of `set`:
/// dollars are the price of `instance`, a multiple is of the list's price of every instance that is simulated. Errors:
/// Fault::kUsage for an invalid price in `set`.
std::vector<PricedInstance> with_prices(std::vector<PricedInstance> prices, const std::string& instance,
                                        const std::vector<std::string>& set);

/// Errors: Fault::kUsage with a suggestion.
const PricedInstance& find_instance(const std::vector<PricedInstance>& prices, std::string_view name);

}  // namespace analysis
