// The Python module trnsim._core: the library's calls, errors as exceptions. No logic of its own.
#include <exception>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "python/api/call.h"
#include "python/api/programs.h"
#include "python/nki/bind.h"
#include "python/torch/layout.h"
#include "trnsim/version.h"

namespace trnsim_python {
namespace {

py::handle& error_class() {
  static py::handle value;
  return value;
}

void raise(const base::Error& e) {
  const std::string where = e.where().empty() ? kernel_line() : std::string{e.where()};
  const py::object error =
      error_class()(where, std::string{e.problem()}, std::string{e.fix()}, base::exit_code(e.fault()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const base::Error& e) {
    raise(e);
  } catch (const std::filesystem::filesystem_error& e) {  // a name that is too long, a folder that cannot be read
    raise({base::Fault::kEnvironment, "trnsim", e.code().message(), "choose another path, or check its permissions"});
  }
}

}  // namespace
}  // namespace trnsim_python

PYBIND11_MODULE(_core, m) {
  using namespace trnsim_python;
  m.attr("version") = std::string{trnsim::version()};
  m.def("_set_error", [](py::handle make) { error_class() = make.inc_ref(); });
  py::register_exception_translator(&translate);
  bind_api(m);
  bind_programs(m);
  bind_lines(m);
  bind_indices(m);
  bind_views(m);
  bind_instructions(m);
  bind_recipes(m);
  bind_kernels(m);
  add_dtypes(m);
  bind_recorder(m);
  bind_graphs(m);
}
