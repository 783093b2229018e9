// Listings from the registries themselves: workloads, models, machines, stacks, number formats, passes,
// instructions, operators, machine parameters, figures.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace trnsim {

struct Listing {
  std::string_view name;
  base::Table (*make)();
};
std::span<const Listing> listings();

/// The names that a listing shows, in its order. Errors: Fault::kInternal when there is no such listing.
std::vector<std::string> names_in(std::string_view listing);

}  // namespace trnsim
