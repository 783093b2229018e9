// `trnsim estimate MODEL --task inference`: requests to a trained model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/table.h"
#include "trnsim/plans/serving.h"
#include "trnsim/settings.h"

namespace cli {

/// The question of requests: batch sizes as "1..64" (doubled from one to the other) or "1,8,32", and the longest time
/// until an answer, as in "20 ms"; empty: any.
struct Requests {
  std::string batch_sizes = "1..64", within;
};

/// A figure with three or four digits that count, and no exponent: "0.00124", "37720".
std::string short_number(double value);
/// Cells of such figures: a time, dollars, bytes.
base::Cell time_cell(double seconds);
base::Cell money_cell(const std::optional<double>& dollars);
base::Cell bytes_cell(std::uint64_t bytes);
/// Seconds of the flag --within; 0: it was not given.
double seconds_in(const std::string& within);
/// "$0.104 for a million requests and $0.000814 for a million tokens".
std::string dollars_text(const trnsim::Served& served);

/// Batch sizes as `Requests` has them. Errors: Fault::kUsage.
std::vector<std::int64_t> batch_sizes_in(const std::string& text);

/// Errors: Fault::kUsage for sizes that are no numbers; Fault::kCapacity when none fits; as trnsim::serve().
void estimate_requests(const std::string& model, const trnsim::Settings& settings, const Requests& requests);

}  // namespace cli
