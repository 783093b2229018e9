// Python's side of runtime/nki/trace.h, by files: lines of the kernel, indices, tensors, instructions, kernels, NumPy's
// types. No logic of its own.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/nki/trace.h"

PYBIND11_MAKE_OPAQUE(std::vector<runtime::nki::Affine>)  // a mask

namespace py = pybind11;

namespace trnsim_python {

/// "file:line" of the kernel's code that is running.
std::string kernel_line();
/// Before the first instruction of a trace.
void begin_trace();
/// Instructions from here on belong to the line of the kernel that is running.
void label_line(runtime::nki::Trace& trace);

/// How many references a value has in `a[...] = f()` and `a += f()` when nothing else names it.
struct Unnamed {
  Py_ssize_t assigned = 0, added = 0;
};
Unnamed& unnamed();

/// An index tile plus an affine index.
struct TileIndex {
  std::shared_ptr<runtime::nki::View> tile;
  runtime::nki::Affine affine;
};
/// `view[key]`. Errors: Fault::kProgram when `key` is no index.
runtime::nki::View item_of(const runtime::nki::View& view, py::handle key);

/// `operands`: dst, a, b, c, dst2, which must outlive the result. In place of b and c numbers may stand. `engine` below
/// 0: of those that can, the one that is done first.
runtime::nki::Trace::Op instruction(int op, int engine, const py::tuple& operands, const py::dict& settings);
/// A number that views have in common whose memory, type and sizes agree; -1 where that does not say how instructions
/// take them: by an index of the run, out of bounds, not as a tile, or of one element, whose number may be known.
int kind_of(const runtime::nki::View& view);

/// Errors: Fault::kProgram, in the line that is running.
[[noreturn]] void refuse(const std::string& problem, const std::string& fix);

void bind_lines(py::module_& m);
void bind_indices(py::module_& m);
void bind_views(py::module_& m);
void bind_instructions(py::module_& m);
void bind_recipes(py::module_& m);
void bind_kernels(py::module_& m);
/// NumPy's bfloat16, float8_e4m3 and float8_e5m2. Errors: as Python's.
void add_dtypes(py::module_& m);

}  // namespace trnsim_python
