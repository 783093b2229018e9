// A graph's nodes: each behind those that it reads, found from the values that are wanted.
#include <unordered_map>
#include <vector>

#include "python/torch/layout.h"

namespace trnsim_python {
namespace {

/// Errors of Python's calls, which only a lack of memory brings here.
PyObject* there(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return object;
}

class Order {
 public:
  /// `given`: the module of the classes.
  Order(py::handle given, py::handle graph)
      : value_{given}, node_{given}, graph_{graph.ptr()}, met_{there(PyNumber_Negative(graph.ptr()))} {}

  /// Nodes are borrowed: the values that are wanted, and those that they read, hold them.
  void walk(const py::list& wanted) {
    for (auto value = wanted.size(); value-- > 0;) push(wanted[value].ptr());
    while (!stack_.empty()) {
      PyObject* node = stack_.back();
      PyObject* seen = node_.graph.of(node);
      if (seen != graph_ && seen != met_.get() && waits(node)) continue;
      stack_.pop_back();
      if (seen != graph_) add(node);
    }
  }
  py::tuple answer() { return py::make_tuple(nodes_, rows_, leaves_); }

 private:
  void push(PyObject* value) {
    PyObject* node = value_.node.of(value);
    if (node != Py_None) stack_.push_back(node);
  }
  /// Whether the node has to wait for those that it reads.
  bool waits(PyObject* node) {
    const auto above = stack_.size();
    PyObject* inputs = node_.inputs.of(node);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) {
      PyObject* before = value_.node.of(PyList_GET_ITEM(inputs, i));
      if (before != Py_None && node_.graph.of(before) != graph_) stack_.push_back(before);
    }
    if (stack_.size() == above) return false;
    node_.graph.set(node, Ref::borrowed(met_.get()));
    return true;
  }
  void add(PyObject* node) {
    node_.graph.set(node, Ref::borrowed(graph_));
    node_.place.set(node, Ref{there(PyLong_FromSize_t(nodes_.size()))});
    nodes_.append(py::handle{node});
    PyObject* inputs = node_.inputs.of(node);
    const auto size = PyList_GET_SIZE(inputs);
    PyObject* row = there(PyTuple_New(size));
    rows_.append(py::reinterpret_steal<py::object>(row));
    for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(row, i, named(PyList_GET_ITEM(inputs, i)));
  }
  /// A pair of a node's place and of the number of its result, or a leaf's number.
  PyObject* named(PyObject* value) {
    PyObject* before = value_.node.of(value);
    if (before != Py_None) {
      return there(PyTuple_Pack(2, node_.place.of(before), value_.index.of(value)));
    }
    const auto [found, is_new] = places_.try_emplace(value, places_.size());
    if (is_new) leaves_.append(py::handle{value});
    return there(PyLong_FromSize_t(found->second));
  }

  ValueLayout value_;
  NodeLayout node_;
  PyObject* graph_;
  Ref met_;
  std::vector<PyObject*> stack_;
  std::unordered_map<PyObject*, std::size_t> places_;
  py::list nodes_, rows_, leaves_;
};

}  // namespace

void bind_order(py::module_& m) {
  m.def("_graph_order", [](py::handle given, const py::list& wanted, py::handle graph) {
    Order order{given, graph};
    order.walk(wanted);
    return order.answer();
  });
}

}  // namespace trnsim_python
