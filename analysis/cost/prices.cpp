#include "analysis/cost/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/bundled_file.h"
#include "base/error.h"
#include "base/suggest.h"

namespace analysis {
namespace {

using base::Dimension;
using base::Error;
using base::Fault;

/// The value of an instance, or else of the whole file.
std::string read_inherited(base::ParamFile& file, const std::string& prefix, const std::string& key) {
  if (file.has(prefix + key)) return file.read_string(prefix + key).value;
  return file.read_string(key).value;
}

/// "2026-08-26".
void require_date(const base::ParamFile& file, const std::string& date) {
  const auto fits = [&](std::size_t i) { return i == 4 || i == 7 ? date[i] == '-' : date[i] >= '0' && date[i] <= '9'; };
  bool good = date.size() == 10;
  for (std::size_t i = 0; good && i < date.size(); ++i) good = fits(i);
  if (!good)
    throw Error{Fault::kUsage, file.name(), fmt::format("'{}' is not a date", date), "write date = \"2026-08-26\""};
}

PricedInstance read_instance(base::ParamFile& file, const std::string& prefix) {
  PricedInstance one;
  one.name = file.read_string(prefix + "name").value;
  one.region = read_inherited(file, prefix, "region");
  one.date = read_inherited(file, prefix, "date");
  require_date(file, one.date);
  const std::string kind = file.read_string(prefix + "kind").value;
  if (kind != "simulated" && kind != "roofline") {
    throw Error{Fault::kUsage, file.parameter(prefix + "kind").where,
                fmt::format("'{}' is not a kind of instance", kind), "write simulated or roofline"};
  }
  one.simulated = kind == "simulated";
  one.accelerators = file.read(prefix + "accelerators", Dimension::kCount).value;
  for (int p = 0; p < kPurchaseCount; ++p) {
    const std::string key = prefix + std::string{kPurchaseNames[p]};
    if (file.has(key)) one.per_hour[p] = file.read(key, Dimension::kPrice);
  }
  if (!one.simulated) {
    one.peak = file.read(prefix + "peak", Dimension::kFlops).value;
    one.bandwidth = file.read(prefix + "bandwidth", Dimension::kBandwidth).value;
    one.memory = file.read(prefix + "memory", Dimension::kBytes).value;
    one.host_per_op = file.read("gpu_host.per_op", Dimension::kTime).value;
  }
  return one;
}

}  // namespace

std::vector<PricedInstance> load_prices(base::ParamFile file) {
  require_date(file, file.read_string("date").value);
  file.read_string("region");
  std::vector<PricedInstance> prices;
  std::set<std::string> names;
  for (int i = 0; file.has(fmt::format("instance.{}.name", i)); ++i) {
    prices.push_back(read_instance(file, fmt::format("instance.{}.", i)));
    if (names.insert(prices.back().name).second) continue;
    throw Error{Fault::kUsage, file.name(), fmt::format("{} appears twice", prices.back().name), "remove one of them"};
  }
  file.reject_unread();
  if (prices.empty())
    throw Error{Fault::kUsage, file.name(), "has no instance", "add [[instance]] with name, kind and prices"};
  return prices;
}

std::vector<PricedInstance> load_prices(std::string_view path) {
  return load_prices(path.empty() ? base::bundled_file("analysis/cost/prices/aws.toml") : base::ParamFile::load(path));
}

std::string bought_text(Purchase purchase) {
  if (purchase == Purchase::kSpot) return "on spot";
  std::string name{kPurchaseNames[static_cast<std::size_t>(purchase)]};
  std::ranges::replace(name, '_', ' ');
  return fmt::format("at the {} price", name);
}

Purchase parse_purchase(std::string_view name, std::string_view where) {
  const auto found = std::ranges::find(kPurchaseNames, name);
  if (found != kPurchaseNames.end()) return static_cast<Purchase>(found - kPurchaseNames.begin());
  throw Error{Fault::kUsage, where, fmt::format("price '{}' is not known", name),
              base::suggest_fix(name, std::vector<std::string>{kPurchaseNames.begin(), kPurchaseNames.end()})};
}

namespace {

/// An override of a price, as in "price.spot=0.5x".
struct OwnPrice {
  std::size_t purchase = 0;
  std::string where;
  bool multiple = false;  // of the list's price
  double value = 0;
};

std::vector<OwnPrice> own_prices_in(const std::vector<std::string>& set) {
  constexpr std::string_view kSection = "price.";
  std::vector<OwnPrice> out;
  for (const std::string& assignment : set) {
    if (!assignment.starts_with(kSection)) continue;
    const std::size_t equals = std::min(assignment.find('='), assignment.size() - 1);
    OwnPrice own{.where = "`set` " + assignment.substr(0, equals)};
    const std::string_view value = std::string_view{assignment}.substr(equals + 1);
    own.purchase = static_cast<std::size_t>(
        parse_purchase(assignment.substr(kSection.size(), equals - kSection.size()), own.where));
    own.multiple = base::parse_quantity(value, own.where).dimension == Dimension::kRelative;
    own.value = own.multiple ? base::parse_quantity(value, own.where).value
                             : base::parse_as(value, Dimension::kPrice, own.where);
    if (!(own.value >= 0)) throw Error{Fault::kUsage, own.where, "is negative", "give a price of 0 or more"};
    out.push_back(std::move(own));
  }
  return out;
}

}  // namespace

std::optional<double> price_per_hour(std::string_view instance, const PriceTerms& terms) {
  const std::vector<PricedInstance> prices = load_prices(std::string_view{});
  const auto row = std::ranges::find(prices, instance, &PricedInstance::name);
  std::array<std::optional<double>, kPurchaseCount> price;
  for (int p = 0; p < kPurchaseCount; ++p)
    if (row != prices.end() && row->per_hour[p]) price[p] = row->per_hour[p]->value;
  for (const OwnPrice& own : own_prices_in(terms.set)) {
    std::optional<double>& there = price[own.purchase];
    if (own.multiple && !there)
      throw Error{Fault::kUsage, own.where, fmt::format("{} has no such price to multiply", instance),
                  "write it as $2/h"};
    there = own.multiple ? *there * own.value : own.value;
  }
  return price[static_cast<std::size_t>(terms.purchase)];
}

std::vector<PricedInstance> with_prices(std::vector<PricedInstance> prices, const std::string& instance,
                                        const std::vector<std::string>& set) {
  if (std::ranges::find(prices, instance, &PricedInstance::name) == prices.end()) {
    PricedInstance mine;
    mine.name = instance, mine.simulated = true;
    if (!prices.empty()) mine.region = prices.front().region, mine.date = prices.front().date;
    prices.push_back(std::move(mine));
  }
  for (const OwnPrice& own : own_prices_in(set))
    for (PricedInstance& one : prices) {
      auto& there = one.per_hour[own.purchase];
      if (own.multiple ? !one.simulated || !there : one.name != instance) continue;
      there = base::Sourced<double>{own.multiple ? there->value * own.value : own.value, own.where};
    }
  return prices;
}

const PricedInstance& find_instance(const std::vector<PricedInstance>& prices, std::string_view name) {
  std::vector<std::string> names;
  for (const PricedInstance& one : prices) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw Error{Fault::kUsage, "instance type", fmt::format("'{}' has no price", name), base::suggest_fix(name, names)};
}

}  // namespace analysis
