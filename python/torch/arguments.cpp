#include "python/torch/arguments.h"

namespace trnsim_python {
namespace {

bool is_constant(PyObject* number) {
  const double value = PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number) : PyLong_AsDouble(number);
  PyErr_Clear();  // of a whole number that no double holds, which is neither
  return value == 0 || value == 1;
}

/// Zeros, whose signs their comparison does not tell, and NaN, which does not equal itself.
bool is_odd(PyObject* number) {
  const double value = PyFloat_AS_DOUBLE(number);
  return value == 0 || value != value;
}

PyObject* tuple_of(const std::vector<Ref>& items) {
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t i = 0; out != nullptr && i < items.size(); ++i) {
    PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), Py_NewRef(items[i].get()));
  }
  return out;
}

}  // namespace

Keys::Keys(py::handle given)
    : places{given.attr("PLACES")}, plain_types{given.attr("PLAIN")}, doubles{given.attr("DOUBLES")} {
  const py::object numbers = given.attr("NUMBERS"), wider = given.attr("WIDE");
  const py::tuple of_floats = numbers[py::handle{reinterpret_cast<PyObject*>(&PyFloat_Type)}];
  const py::tuple of_integers = numbers[py::handle{reinterpret_cast<PyObject*>(&PyLong_Type)}];
  floats = of_floats[0], float_meta = of_floats[1];
  integers = of_integers[0], integer_meta = of_integers[1];
  wide = wider[py::int_{0}], wide_meta = wider[py::int_{1}];
}

bool Arguments::read(PyObject* args, Py_ssize_t count, PyObject* kwargs) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!item(PyTuple_GET_ITEM(args, i))) return false;
  }
  if (kwargs == nullptr) return true;
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &name, &value);) {
    if (PySet_Contains(keys_.places.ptr(), name) != 0) return false;
    add(name);
    if (!item(value)) return false;
  }
  return true;
}

bool Arguments::item(PyObject* item) {
  if (Py_TYPE(item) == reinterpret_cast<PyTypeObject*>(layout_.tensor.type.ptr())) return tensor(item);
  if (PyFloat_CheckExact(item) || PyLong_CheckExact(item)) return number(item);
  if (PyList_CheckExact(item) || PyTuple_CheckExact(item)) return sequence(item);
  PyObject* const* types = PySequence_Fast_ITEMS(keys_.plain_types.ptr());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys_.plain_types.ptr()); ++i) {
    if (types[i] == reinterpret_cast<PyObject*>(Py_TYPE(item))) {
      add_type(item);
      add(item);
      return true;
    }
  }
  return false;
}

bool Arguments::tensor(PyObject* tensor) {
  const TensorLayout& at = layout_.tensor;
  PyObject *storage = at.storage.of(tensor), *chain = at.chain.of(tensor), *meta = at.meta.of(tensor);
  if (storage == nullptr || chain == nullptr || meta == nullptr) return false;
  add(layout_.meta.key.of(meta));
  values_.push_back(Ref{maker_.current(tensor)});
  return static_cast<bool>(values_.back());
}

bool Arguments::number(PyObject* number) {
  const bool is_float = PyFloat_CheckExact(number);
  if (scaled_ && !is_constant(number)) {
    if (!is_float) return parameter(number, keys_.integers, keys_.integer_meta);
    return among_doubles() ? parameter(number, keys_.wide, keys_.wide_meta)
                           : parameter(number, keys_.floats, keys_.float_meta);
  }
  add_type(number);
  if (!is_float || !is_odd(number)) {
    add(number);
    return true;
  }
  key_.emplace_back(PyObject_Repr(number));
  return static_cast<bool>(key_.back());
}

bool Arguments::parameter(PyObject* number, const py::object& table, const py::object& meta) {
  PyObject* found = PyDict_GetItemWithError(table.ptr(), number);
  if (found == nullptr) return false;
  values_.push_back(Ref::borrowed(found));
  add(meta.ptr());
  return true;
}

bool Arguments::among_doubles() const {
  for (const Ref& value : values_) {
    if (layout_.meta.dtype.of(layout_.value.meta.of(value.get())) == keys_.doubles.ptr()) return true;
  }
  return false;
}

bool Arguments::sequence(PyObject* items) {
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(items);
  PyObject* const* each = PySequence_Fast_ITEMS(items);
  bool whole = !scaled_ && size > 0;
  for (Py_ssize_t i = 0; i < size && whole; ++i) whole = PyLong_CheckExact(each[i]);
  add_type(items);
  key_.emplace_back(PyLong_FromSsize_t(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (whole) {
      add(each[i]);
    } else if (!item(each[i])) {
      return false;
    }
  }
  return true;
}

PyObject* Arguments::key() const { return tuple_of(key_); }

PyObject* Arguments::values() const {
  PyObject* out = PyList_New(static_cast<Py_ssize_t>(values_.size()));
  for (std::size_t i = 0; out != nullptr && i < values_.size(); ++i) {
    PyList_SET_ITEM(out, static_cast<Py_ssize_t>(i), Py_NewRef(values_[i].get()));
  }
  return out;
}

}  // namespace trnsim_python
