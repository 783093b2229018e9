// A question of Python's to the library, answered in a child process or here.
#pragma once

#include <pybind11/pybind11.h>

namespace trnsim_python {

/// trnsim._core.call() and ask().
void bind_api(pybind11::module_& m);

}  // namespace trnsim_python
