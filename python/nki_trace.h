#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "runtime/nki/trace.h"

namespace py = pybind11;

namespace trnsim_python {

/// "file:line" of the kernel's code that is running.
std::string kernel_line();
/// Before the first instruction of a trace.
void begin_trace();
void bind_nki_trace(py::module_& m);
/// NumPy's bfloat16, float8_e4m3 and float8_e5m2. Errors: as Python's.
void add_dtypes(py::module_& m);

}  // namespace trnsim_python
