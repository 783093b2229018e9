// `trnsim choose MODEL --task inference`.
#pragma once

#include <string>
#include <vector>

#include "cli/tables.h"
#include "trnsim/settings.h"

namespace cli {

struct RequestsToPlace {
  std::string model;
  trnsim::Settings settings;
  std::vector<std::string> instance_types{};  // empty: all with a price
  double requests = 0;                        // of all, for their time and price; 0: unknown
  std::string within{};                       // the longest time until an answer; empty: any
  Tables tables{};
};

/// Errors: Fault::kCapacity when nothing fits, or nothing is that soon; as trnsim::serve_everywhere().
void choose_requests(const RequestsToPlace& asked);

}  // namespace cli
