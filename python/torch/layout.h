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
};
struct StepLayout {
  explicit StepLayout(py::handle given);
  Slot call, index;
};
struct OperatorLayout {
  explicit OperatorLayout(py::handle given);
  Slot scaled, calls, way, writing;
  Slot plain, count, names;  // of its way to write
};
struct MetaLayout {
  explicit MetaLayout(py::handle given);
  Slot shape, dtype, key, form;
};

/// Where graphs end.
struct GraphLayout {
  explicit GraphLayout(py::handle given) : value{given}, node{given}, storage{given}, call{given}, meta{given} {}
  ValueLayout value;
  NodeLayout node;
  StorageLayout storage;
  CallLayout call;
  MetaLayout meta;
};

struct Layout : GraphLayout {
  explicit Layout(py::handle given) : GraphLayout{given}, tensor{given}, step{given}, operators{given} {}
  TensorLayout tensor;
  StepLayout step;
  OperatorLayout operators;
};

void bind_recorder(py::module_& m);
/// Where graphs end.
void bind_graphs(py::module_& m);

}  // namespace trnsim_python
