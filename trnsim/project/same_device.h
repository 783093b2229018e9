// Instances whose cores are the same.
#pragma once

#include <cstdint>

#include "hw/params.h"

namespace trnsim {

/// Whether `cores` of one instance take the same time on the devices of both.
bool same_device(const hw::MachineParams& a, const hw::MachineParams& b, std::int64_t cores);

}  // namespace trnsim
