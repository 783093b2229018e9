// The classes of trnsim.torch as records of operators need them: their slots, read where they are in an object's
// memory, and the functions of Python that make the rest. By references of Python's own interface: pybind11's calls
// cost more than a record.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

namespace py = pybind11;

namespace trnsim_python {

/// Owns one reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_{owned} {}
  static Ref borrowed(PyObject* object) { return Ref{Py_XNewRef(object)}; }
  Ref(Ref&& other) noexcept : object_{std::exchange(other.object_, nullptr)} {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// A member of `__slots__`.
class Slot {
 public:
  /// Errors: Python's, when the class has no such slot.
  Slot(py::handle type, const char* name);

  /// Borrowed; nullptr when it was never set.
  PyObject* of(PyObject* object) const { return at(object); }
  void set(PyObject* object, Ref value) const { Py_XSETREF(at(object), value.release()); }

 private:
  PyObject*& at(PyObject* object) const {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset_);
  }
  Py_ssize_t offset_;
};

/// `given`: the module's own classes and functions, by the names of the members here.
struct ValueLayout {
  explicit ValueLayout(py::handle given);
  py::object type;
  Slot node, index, buffer, host, meta;
};
struct NodeLayout {
  explicit NodeLayout(py::handle given);
  py::object type, count;
  Slot call, inputs, sequence, graph, place;
};
struct TensorLayout {
  explicit TensorLayout(py::handle given);
  py::object type, make;
  Slot storage, chain, meta, seen;
};
struct StorageLayout {
  explicit StorageLayout(py::handle given);
  py::object type, live, trim;
  Slot value, home, version, meta;
  Slot references, most;  // of `live`
};
struct CallLayout {
  explicit CallLayout(py::handle given);
  Slot kind, ins, outs, single, steps, id;
  Slot scaled, calls, way, writing;  // of an operator
  Slot step_call, step_index, plain, count, names;
};
struct MetaLayout {
  explicit MetaLayout(py::handle given);
  Slot shape, dtype, key, form;
};

struct Layout {
  explicit Layout(py::handle given)
      : value{given}, node{given}, tensor{given}, storage{given}, call{given}, meta{given} {}
  ValueLayout value;
  NodeLayout node;
  TensorLayout tensor;
  StorageLayout storage;
  CallLayout call;
  MetaLayout meta;
};

void bind_recorder(py::module_& m);
/// A graph's nodes, in order.
void bind_order(py::module_& m);

}  // namespace trnsim_python
