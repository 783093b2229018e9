// What there is, from the registries themselves: workloads, models, machines, stacks, number formats, passes,
// instructions, operators, machine parameters.
#pragma once

#include <span>
#include <string_view>

#include "base/table.h"

namespace trnsim {

struct Listing {
  std::string_view name;
  base::Table (*make)();
};
std::span<const Listing> listings();

}  // namespace trnsim
