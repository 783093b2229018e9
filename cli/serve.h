// `trnsim estimate MODEL --task inference`: requests to a trained model.
#pragma once

#include <string>

#include "trnsim/settings.h"

namespace cli {

/// The question of requests: batch sizes as "1..64" (doubled from one to the other) or "1,8,32", and the longest time
/// until an answer, as in "20 ms"; empty: any.
struct Requests {
  std::string batch_sizes = "1..64", within;
};

/// Errors: Fault::kUsage for sizes that are no numbers; Fault::kCapacity when none fits; as trnsim::serve().
void estimate_requests(const std::string& model, const trnsim::Settings& settings, const Requests& requests);

}  // namespace cli
