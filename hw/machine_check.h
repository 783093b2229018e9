// Properties without which the model does not hold for a machine.
#pragma once

#include "hw/machine_params.h"

namespace hw {

/// Checks the properties that the model needs of any machine; an override can break them. Errors: Fault::kUsage.
void check_machine(const MachineParams& p);

}  // namespace hw
