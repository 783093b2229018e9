// Programs that check themselves, on a simulated core: they compute there, and the host holds the values against those
// that they expect.
#pragma once

#include <cstdint>

#include "frontend/graph/graph.h"
#include "hw/params.h"

namespace trnsim {

/// How many checks were met. Numbers may differ by the tolerance of their type (tolerance_of()) where the program
/// allows less: the device computes f64 in fp32, and functions as ScalarE has them. Errors: Fault::kCheck for a wrong
/// value; Fault::kProgram for a program that has no lowering, is timed alone, or takes parameters.
std::int64_t checks_on_core(const frontend::Module& module, const hw::MachineParams& machine);

}  // namespace trnsim
