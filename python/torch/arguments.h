// The arguments of an operator that is recorded: tensors' values, and a key of everything else.
#pragma once

#include <vector>

#include "python/torch/maker.h"

namespace trnsim_python {

/// Parts of a key beside the classes: tables of numbers that are parameters, and types that are their own keys.
struct Keys {
  explicit Keys(py::handle given);
  py::object places, plain_types, doubles;
  py::object floats, integers, wide;  // tables: a number's value
  py::object float_meta, integer_meta, wide_meta;
};

/// As _record.read() has them: equal arguments have equal keys, whichever of the two made them.
class Arguments {
 public:
  Arguments(const Layout& layout, Maker& maker, const Keys& keys, bool scaled)
      : layout_{layout}, maker_{maker}, keys_{keys}, scaled_{scaled} {}

  /// The first `count` of `args`, and all of `kwargs`. False: Python has to read them, or has an error.
  bool read(PyObject* args, Py_ssize_t count, PyObject* kwargs);
  /// New references; nullptr: Python's error.
  PyObject* key() const;
  PyObject* values() const;

 private:
  bool item(PyObject* item);
  bool tensor(PyObject* tensor);
  bool number(PyObject* number);
  bool parameter(PyObject* number, const py::object& table, const py::object& meta);
  bool sequence(PyObject* items);
  bool among_doubles() const;
  void add(PyObject* borrowed) { key_.push_back(Ref::borrowed(borrowed)); }
  void add_type(PyObject* of) { add(reinterpret_cast<PyObject*>(Py_TYPE(of))); }

  const Layout& layout_;
  Maker& maker_;
  const Keys& keys_;
  bool scaled_;
  std::vector<Ref> key_, values_;
};

}  // namespace trnsim_python
