// Python's side of programs in StableHLO: read, held as values, computed.
#pragma once

#include <pybind11/pybind11.h>

namespace trnsim_python {

/// Adds Buffer, Program and run_together().
void bind_programs(pybind11::module_& m);

}  // namespace trnsim_python
