// Objects of a record: nodes, values, storages and the tensors that scripts hold.
#pragma once

#include "python/torch/layout.h"

namespace trnsim_python {

/// As the functions of the same names in _values.py, _tensor.py and _views.py. All return new references; nullptr:
/// Python's error.
class Maker {
 public:
  Maker(const Layout& layout, py::object count) : layout_{layout}, count_{std::move(count)} {}

  /// `values`: a list.
  PyObject* node(PyObject* call, Ref values);
  PyObject* value(PyObject* node, PyObject* meta, Py_ssize_t index);
  /// A tensor of a storage, all of which or by the views of `chain`.
  PyObject* wrapped(PyObject* storage, PyObject* chain, PyObject* meta);
  /// A tensor with a storage of its own.
  PyObject* result(PyObject* node, PyObject* meta, Py_ssize_t index);
  /// The tensor that a view makes of another.
  PyObject* stepped(PyObject* base, PyObject* step);
  /// The value of a storage, `before`, with `value` where a view is.
  PyObject* put_back(PyObject* call, PyObject* before, Ref value);
  /// The value of a tensor now.
  PyObject* current(PyObject* tensor);

 private:
  PyObject* storage(PyObject* value, PyObject* meta);
  PyObject* applied(PyObject* step, Ref value);
  PyObject* meta_of(PyObject* step) const;

  const Layout& layout_;
  py::object count_;
  py::object zero_ = py::int_{0};
  py::tuple whole_{0};
};

}  // namespace trnsim_python
