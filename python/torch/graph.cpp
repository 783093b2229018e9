// Where a graph ends: its nodes, each behind those that it reads, what tells one graph from another, and whose memory
// its results take. Python does the same object by object in a tenth of a step's time.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "python/torch/layout.h"

namespace trnsim_python {
namespace {

/// Errors of Python's calls, which only a lack of memory brings here.
PyObject* there(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return object;
}

/// Words that tell one graph from another: equal keys are equal graphs.
class Key {
 public:
  void add(Py_ssize_t word) { words_.push_back(static_cast<std::int64_t>(word)); }
  void add(PyObject* number) { add(PyLong_AsSsize_t(number)); }
  py::bytes bytes() const {
    return {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(std::int64_t)};
  }

 private:
  std::vector<std::int64_t> words_;
};

class Order {
 public:
  Order(const GraphLayout& layout, PyObject* number)
      : layout_{layout}, graph_{number}, met_{there(PyNumber_Negative(number))} {}

  /// Nodes are borrowed: the values that are wanted, and those that they read, hold them.
  void walk(const py::list& wanted) {
    for (auto value = wanted.size(); value-- > 0;) push(wanted[value].ptr());
    while (!stack_.empty()) {
      PyObject* node = stack_.back();
      PyObject* seen = layout_.node.graph.of(node);
      if (seen != graph_ && seen != met_.get() && waits(node)) continue;
      stack_.pop_back();
      if (seen != graph_) add(node);
    }
    for (const py::handle value : wanted) name_result(value.ptr());
  }
  py::tuple answer() const { return py::make_tuple(nodes_, leaves_, key_.bytes()); }

 private:
  void push(PyObject* value) {
    PyObject* node = layout_.value.node.of(value);
    if (node != Py_None) stack_.push_back(node);
  }
  /// Whether the node has to wait for those that it reads.
  bool waits(PyObject* node) {
    const auto above = stack_.size();
    PyObject* inputs = layout_.node.inputs.of(node);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) {
      PyObject* before = layout_.value.node.of(PyList_GET_ITEM(inputs, i));
      if (before != Py_None && layout_.node.graph.of(before) != graph_) stack_.push_back(before);
    }
    if (stack_.size() == above) return false;
    layout_.node.graph.set(node, Ref::borrowed(met_.get()));
    return true;
  }
  void add(PyObject* node) {
    layout_.node.graph.set(node, Ref::borrowed(graph_));
    layout_.node.place.set(node, Ref{there(PyLong_FromSize_t(nodes_.size()))});
    nodes_.append(py::handle{node});
    key_.add(layout_.call.id.of(layout_.node.call.of(node)));
    PyObject* inputs = layout_.node.inputs.of(node);
    key_.add(PyList_GET_SIZE(inputs));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) name(PyList_GET_ITEM(inputs, i));
  }
  /// A leaf by its number, below zero, which no place of a node is.
  void name(PyObject* value) {
    if (layout_.value.node.of(value) != Py_None) return name_result(value);
    const auto [found, is_new] = places_.try_emplace(value, places_.size());
    if (is_new) leaves_.append(py::handle{value});
    key_.add(-1 - static_cast<Py_ssize_t>(found->second));
  }
  void name_result(PyObject* value) {
    key_.add(layout_.node.place.of(layout_.value.node.of(value)));
    key_.add(layout_.value.index.of(value));
  }

  const GraphLayout& layout_;
  PyObject* graph_;
  Ref met_;
  std::vector<PyObject*> stack_;
  std::unordered_map<PyObject*, std::size_t> places_;
  py::list nodes_, leaves_;
  Key key_;
};

/// `storages` are lists of all that LIVE holds, in the order of their making.
class Graphs {
 public:
  /// `given`: the module of the classes.
  explicit Graphs(py::handle given) : layout_{given} {}

  /// Nodes, leaves and the key of the graph below some values that are pending; `number`: of this graph alone.
  py::tuple order(const py::list& wanted, py::handle number) const {
    Order order{layout_, number.ptr()};
    order.walk(wanted);
    return order.answer();
  }
  /// `first` and the values of storages that are pending, each once, by the places of their making.
  py::list pending(const py::list& storages, const py::list& first) const {
    std::vector<Made> found;
    std::unordered_set<PyObject*> known;
    const auto add = [&](PyObject* value) {
      PyObject* node = layout_.value.node.of(value);
      if (node == Py_None || !known.insert(value).second) return;
      found.push_back(
          {PyLong_AsSsize_t(layout_.node.sequence.of(node)), PyLong_AsSsize_t(layout_.value.index.of(value)), value});
    };
    for (const py::handle value : first) add(value.ptr());
    for (const py::handle storage : storages) add(layout_.storage.value.of(storage.ptr()));
    std::ranges::stable_sort(found, {}, [](const Made& made) { return std::pair{made.sequence, made.index}; });
    py::list out;
    for (const Made& made : found) out.append(py::handle{made.value});
    return out;
  }
  /// Results that take the memory of a leaf of their form, whose storage has it no more: by the leaf's place the
  /// result's, and what they add to the graph's key.
  py::tuple donated(const py::list& storages, const py::list& leaves, const py::list& wanted) const {
    Places places = places_of(leaves), results = places_of(wanted);
    std::unordered_set<PyObject*> held;
    for (const py::handle storage : storages) held.insert(layout_.storage.value.of(storage.ptr()));
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (const py::handle storage : storages) {
      PyObject *home = layout_.storage.home.of(storage.ptr()), *value = layout_.storage.value.of(storage.ptr());
      if (home == Py_None || held.contains(home)) continue;
      const auto leaf = places.find(home), result = results.find(value);
      if (leaf == places.end() || result == results.end() || !alike(home, value)) continue;
      pairs.emplace_back(leaf->second, result->second);
      places.erase(leaf);
      results.erase(result);
    }
    std::ranges::sort(pairs);
    Key key;
    py::dict out;
    for (const auto& [leaf, result] : pairs) {
      key.add(static_cast<Py_ssize_t>(leaf));
      key.add(static_cast<Py_ssize_t>(result));
      out[py::int_{leaf}] = py::int_{result};
    }
    return py::make_tuple(out, key.bytes());
  }
  /// The values have their results from here on, and the storages their homes.
  void settle(const py::list& storages, const py::list& values, const py::sequence& results) const {
    if (values.size() != results.size()) throw py::value_error("a result for each value");
    for (std::size_t i = 0; i < values.size(); ++i) {
      layout_.value.buffer.set(values[i].ptr(), Ref{py::object{results[i]}.release().ptr()});
      layout_.value.node.set(values[i].ptr(), Ref::borrowed(Py_None));
    }
    for (const py::handle storage : storages) {
      layout_.storage.home.set(storage.ptr(), Ref::borrowed(layout_.storage.value.of(storage.ptr())));
    }
  }

 private:
  using Places = std::unordered_map<PyObject*, std::size_t>;
  struct Made {
    Py_ssize_t sequence, index;
    PyObject* value;
  };

  static Places places_of(const py::list& values) {
    Places out;
    for (std::size_t i = 0; i < values.size(); ++i) out[values[i].ptr()] = i;
    return out;
  }
  bool alike(PyObject* one, PyObject* other) const {
    PyObject *first = layout_.value.meta.of(one), *second = layout_.value.meta.of(other);
    return layout_.meta.dtype.of(first) == layout_.meta.dtype.of(second) &&
           PyObject_RichCompareBool(layout_.meta.shape.of(first), layout_.meta.shape.of(second), Py_EQ) == 1;
  }

  GraphLayout layout_;
};

/// The objects that weak references still have; the list keeps those references alone.
py::list left_of(const py::list& references) {
  py::list there;
  Py_ssize_t kept = 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(references.ptr()); ++i) {
    PyObject* reference = PyList_GET_ITEM(references.ptr(), i);
    PyObject* item = PyWeakref_GetObject(reference);
    if (item == Py_None) continue;
    there.append(py::handle{item});
    PyList_SetItem(references.ptr(), kept++, Py_NewRef(reference));
  }
  PyList_SetSlice(references.ptr(), kept, PyList_GET_SIZE(references.ptr()), nullptr);
  return there;
}

}  // namespace

void bind_graphs(py::module_& m) {
  py::class_<Graphs>(m, "_Graphs", py::module_local())
      .def(py::init<py::handle>())
      .def("order", &Graphs::order)
      .def("pending", &Graphs::pending)
      .def("donated", &Graphs::donated)
      .def("settle", &Graphs::settle);
  m.def("_left_of", &left_of);
}

}  // namespace trnsim_python
