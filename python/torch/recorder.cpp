// Records of operators whose arguments were met before, which is each but the first of its kind. Anything else is left
// to Python's _modes.py, which does the same by the same tables: nothing is changed before that is decided.
#include <memory>
#include <optional>

#include "python/torch/arguments.h"

namespace trnsim_python {
namespace {

enum class Way : long { kPython, kFunctional, kView, kSame, kWrite };  // as in _record.py

class Recorder {
 public:
  explicit Recorder(py::handle given)
      : layout_{given},
        maker_{layout_, given.attr("Node").attr("count")},
        keys_{given},
        python_{given.attr("in_python")},
        stacked_{given.attr("stacked_modes")},
        inference_{given.attr("inference")},
        back_{given.attr("BACK")},
        detach_{given.attr("detach")} {}

  /// An operator as PyTorch hands it to a mode. New reference; nullptr: Python's error.
  PyObject* dispatch(PyObject* const* given, Py_ssize_t count) {
    PyObject *func = given[0], *types = given[1], *args = given[2];
    PyObject* kwargs = count > 3 && PyDict_CheckExact(given[3]) && PyDict_GET_SIZE(given[3]) > 0 ? given[3] : nullptr;
    PyObject* out = alone() ? recorded(func, types, args, kwargs) : nullptr;
    if (out != nullptr || PyErr_Occurred() != nullptr) return out;
    return PyObject_Vectorcall(python_.ptr(), given, static_cast<std::size_t>(count), nullptr);
  }

 private:
  /// Whether no mode of the script is above ours.
  bool alone() const {
    const Ref modes{PyObject_CallNoArgs(stacked_.ptr())};
    return modes && PyLong_AsLong(modes.get()) <= 1;
  }
  bool ours(PyObject* item) const { return Py_TYPE(item) == type_of(layout_.tensor.type); }
  static PyTypeObject* type_of(const py::object& type) { return reinterpret_cast<PyTypeObject*>(type.ptr()); }

  // New references; nullptr without an error: Python's way.
  PyObject* recorded(PyObject* func, PyObject* types, PyObject* args, PyObject* kwargs) {
    if (!PyTuple_CheckExact(types)) return nullptr;
    if (PySequence_Contains(types, layout_.tensor.type.ptr()) == 0) return of_host(func, args, kwargs);
    const Ref known{PyObject_GetAttr(func, name_.ptr())};
    if (!known) {
      PyErr_Clear();  // an operator that was never recorded
      return nullptr;
    }
    switch (static_cast<Way>(PyLong_AsLong(layout_.operators.way.of(known.get())))) {
      case Way::kPython: return nullptr;
      case Way::kFunctional: return functional(known.get(), args, kwargs);
      case Way::kView: return view(known.get(), args, kwargs);
      case Way::kSame: return same(args);
      case Way::kWrite: return write(known.get(), args, kwargs);
    }
    return nullptr;
  }
  PyObject* functional(PyObject* known, PyObject* args, PyObject* kwargs) {
    const Read read = read_of(known, args, PyTuple_GET_SIZE(args), kwargs);
    if (!on_device(read)) return nullptr;
    const Ref node{maker_.node(read.call.get(), Ref::borrowed(read.values.get()))};
    PyObject* outs = layout_.call.outs.of(read.call.get());
    if (!node) return nullptr;
    if (layout_.call.single.of(read.call.get()) == Py_True)
      return maker_.result(node.get(), PyList_GET_ITEM(outs, 0), 0);
    Ref all{PyTuple_New(PyList_GET_SIZE(outs))};
    for (Py_ssize_t i = 0; all && i < PyList_GET_SIZE(outs); ++i) {
      PyObject* meta = PyList_GET_ITEM(outs, i);
      PyObject* out = meta == Py_None ? Py_NewRef(Py_None) : maker_.result(node.get(), meta, i);
      if (out == nullptr) return nullptr;
      PyTuple_SET_ITEM(all.get(), i, out);
    }
    return all.release();
  }
  PyObject* view(PyObject* known, PyObject* args, PyObject* kwargs) {
    if (!can_view(args)) return nullptr;
    PyObject* base = PyTuple_GET_ITEM(args, 0);
    const Read read = read_of(known, args, PyTuple_GET_SIZE(args), kwargs);
    PyObject* steps = read.call ? layout_.call.steps.of(read.call.get()) : Py_None;
    if (steps == Py_None || PyList_GET_SIZE(steps) == 0) return nullptr;
    if (layout_.call.single.of(read.call.get()) == Py_True) {
      return maker_.stepped(base, PyList_GET_ITEM(steps, 0));
    }
    Ref all{PyList_New(PyList_GET_SIZE(steps))};
    for (Py_ssize_t i = 0; all && i < PyList_GET_SIZE(steps); ++i) {
      PyObject* out = maker_.stepped(base, PyList_GET_ITEM(steps, i));
      if (out == nullptr) return nullptr;
      PyList_SET_ITEM(all.get(), i, out);
    }
    return all.release();
  }
  PyObject* same(PyObject* args) {
    if (!can_view(args)) return nullptr;
    PyObject* base = PyTuple_GET_ITEM(args, 0);
    const TensorLayout& at = layout_.tensor;
    return maker_.wrapped(at.storage.of(base), at.chain.of(base), at.meta.of(base));
  }
  /// An operator on tensors of the host; one that names a device may be ours.
  PyObject* of_host(PyObject* func, PyObject* args, PyObject* kwargs) const {
    if (kwargs != nullptr && PyDict_Contains(kwargs, device_.ptr()) != 0) return nullptr;
    if (func == detach_.ptr()) return nullptr;
    PyObject* first = PyTuple_GET_SIZE(args) == 0 ? Py_None : PyTuple_GET_ITEM(args, 0);
    if (PyFloat_Check(first) || PyLong_Check(first)) return nullptr;  // it may be a number in a tensor's place
    return PyObject_Call(func, args, kwargs);
  }
  /// An operator in place of its first argument, which stays of its form: a whole tensor, or one view of it.
  PyObject* write(PyObject* known, PyObject* args, PyObject* kwargs) {
    PyObject *target = PyTuple_GET_ITEM(args, 0), *plan = layout_.operators.writing.of(known);
    const Py_ssize_t given = PyTuple_GET_SIZE(args);
    if (!ours(target) || given > PyLong_AsSsize_t(layout_.operators.count.of(plan)) || !named(plan, kwargs))
      return nullptr;
    if (layout_.tensor.storage.of(target) == nullptr) return nullptr;
    const Read read = read_of(layout_.operators.plain.of(plan), args, given, kwargs);
    if (!on_device(read)) return nullptr;
    PyObject* meta = PyList_GET_ITEM(layout_.call.outs.of(read.call.get()), 0);
    const std::optional<Ref> back = way_back(target, meta);
    if (!back) return nullptr;
    const Ref node{maker_.node(read.call.get(), Ref::borrowed(read.values.get()))};
    Ref value{node ? maker_.value(node.get(), meta, 0) : nullptr};
    PyObject* storage = layout_.tensor.storage.of(target);
    if (value && *back) value = Ref{maker_.put_back(back->get(), layout_.storage.value.of(storage), std::move(value))};
    Ref version{value ? PyNumber_Add(layout_.storage.version.of(storage), one_.ptr()) : nullptr};
    if (!version) return nullptr;
    layout_.storage.value.set(storage, std::move(value));
    layout_.storage.version.set(storage, std::move(version));
    return Py_NewRef(target);
  }
  /// The call that puts a new value of the target back into its storage, empty for a whole tensor; none: Python's way.
  std::optional<Ref> way_back(PyObject* target, PyObject* meta) const {
    PyObject *chain = layout_.tensor.chain.of(target), *own = layout_.tensor.meta.of(target);
    if (layout_.meta.dtype.of(meta) != layout_.meta.dtype.of(own) ||
        PyObject_RichCompareBool(layout_.meta.shape.of(meta), layout_.meta.shape.of(own), Py_EQ) != 1) {
      return std::nullopt;
    }
    if (PyTuple_GET_SIZE(chain) == 0) return Ref{};
    if (PyTuple_GET_SIZE(chain) > 1) return std::nullopt;
    PyObject *step = PyTuple_GET_ITEM(chain, 0), *before = layout_.storage.value.of(layout_.tensor.storage.of(target));
    const Ref key{PyTuple_Pack(4, layout_.call.id.of(layout_.step.call.of(step)), layout_.step.index.of(step),
                               layout_.meta.key.of(layout_.value.meta.of(before)), layout_.meta.key.of(meta))};
    PyObject* found = key ? PyDict_GetItemWithError(back_.ptr(), key.get()) : nullptr;
    return found == nullptr ? std::nullopt : std::optional<Ref>{Ref::borrowed(found)};
  }

  /// A call that is known, and the values of its tensors; empty: it is not.
  struct Read {
    Ref call, values;
  };
  Read read_of(PyObject* known, PyObject* args, Py_ssize_t count, PyObject* kwargs) {
    Arguments arguments{layout_, maker_, keys_, layout_.operators.scaled.of(known) == Py_True};
    if (!arguments.read(args, count, kwargs)) return {};
    const Ref key{arguments.key()};
    PyObject* call = key ? PyDict_GetItemWithError(layout_.operators.calls.of(known), key.get()) : nullptr;
    if (call == nullptr) return {};
    Read read{Ref::borrowed(call), Ref{arguments.values()}};
    return read.values ? std::move(read) : Read{};
  }
  /// Whether the device has a lowering of it, as Python has found out.
  bool on_device(const Read& read) const { return read.call && layout_.call.kind.of(read.call.get()) == device_.ptr(); }
  bool can_view(PyObject* args) const {
    if (PyTuple_GET_SIZE(args) == 0 || !ours(PyTuple_GET_ITEM(args, 0))) return false;
    if (layout_.tensor.storage.of(PyTuple_GET_ITEM(args, 0)) == nullptr) return false;
    const Ref inference{PyObject_CallNoArgs(inference_.ptr())};
    return inference.get() == Py_False;
  }
  /// Whether the operator without a write takes all of these names.
  bool named(PyObject* plan, PyObject* kwargs) const {
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; kwargs != nullptr && PyDict_Next(kwargs, &at, &name, &value);) {
      if (PySet_Contains(layout_.operators.names.of(plan), name) != 1) return false;
    }
    return true;
  }

  Layout layout_;
  Maker maker_;
  Keys keys_;
  py::object python_, stacked_, inference_, back_, detach_;
  py::object name_ = interned("trnsim_known"), device_ = interned("device");
  py::object one_ = py::int_{1};

  static py::object interned(const char* text) {
    return py::reinterpret_steal<py::object>(PyUnicode_InternFromString(text));
  }
};

constexpr const char* kCapsule = "trnsim.recorder";

PyObject* called(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  auto* recorder = static_cast<Recorder*>(PyCapsule_GetPointer(self, kCapsule));
  if (recorder == nullptr) return nullptr;
  if (count < 3) {
    PyErr_SetString(PyExc_TypeError, "an operator, types and arguments");
    return nullptr;
  }
  return recorder->dispatch(given, count);
}

void dropped(PyObject* self) { delete static_cast<Recorder*>(PyCapsule_GetPointer(self, kCapsule)); }

PyMethodDef& definition() {
  static PyMethodDef value{"__torch_dispatch__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&called)),
                           METH_FASTCALL, "records an operator"};
  return value;
}

}  // namespace

void bind_recorder(py::module_& m) {
  m.def("_recorder", [](py::handle given) {
    auto recorder = std::make_unique<Recorder>(given);
    const Ref self{PyCapsule_New(recorder.get(), kCapsule, &dropped)};
    if (!self) throw py::error_already_set();
    recorder.release();
    PyObject* function = PyCFunction_New(&definition(), self.get());
    if (function == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(function);
  });
}

}  // namespace trnsim_python
