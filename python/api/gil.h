// The GIL, left to other threads while one works.
#pragma once

#include <pybind11/pybind11.h>

namespace trnsim_python {

/// As py::gil_scoped_release. A daemon thread that takes the GIL after the interpreter's end is ended there, by
/// unwinding: that one's destructor lets nothing through, and the whole process would abort.
class WithoutGil {
 public:
  WithoutGil() : state_{PyEval_SaveThread()} {}
  ~WithoutGil() noexcept(false) { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace trnsim_python
