#include "python/torch/maker.h"

namespace trnsim_python {
namespace {

/// A new object of a class with slots, all of which the caller sets.
PyObject* blank(const py::object& type) {
  auto* kind = reinterpret_cast<PyTypeObject*>(type.ptr());
  return kind->tp_alloc(kind, 0);
}

}  // namespace

PyObject* Maker::node(PyObject* call, Ref values) {
  Ref number{PyIter_Next(count_.ptr())};
  PyObject* node = number ? blank(layout_.node.type) : nullptr;
  if (node == nullptr) return nullptr;
  layout_.node.call.set(node, Ref::borrowed(call));
  layout_.node.inputs.set(node, std::move(values));
  layout_.node.sequence.set(node, std::move(number));
  layout_.node.graph.set(node, Ref::borrowed(Py_None));
  return node;
}

PyObject* Maker::value(PyObject* node, PyObject* meta, Py_ssize_t index) {
  Ref number{PyLong_FromSsize_t(index)};
  PyObject* value = number ? blank(layout_.value.type) : nullptr;
  if (value == nullptr) return nullptr;
  layout_.value.node.set(value, Ref::borrowed(node));
  layout_.value.index.set(value, std::move(number));
  layout_.value.buffer.set(value, Ref::borrowed(Py_None));
  layout_.value.host.set(value, Ref::borrowed(Py_None));
  layout_.value.meta.set(value, Ref::borrowed(meta));
  return value;
}

PyObject* Maker::storage(PyObject* value, PyObject* meta) {
  Ref storage{blank(layout_.storage.type)};
  if (!storage) return nullptr;
  layout_.storage.value.set(storage.get(), Ref::borrowed(value));
  layout_.storage.home.set(storage.get(), Ref::borrowed(Py_None));
  layout_.storage.version.set(storage.get(), Ref::borrowed(zero_.ptr()));
  layout_.storage.meta.set(storage.get(), Ref::borrowed(meta));
  const Ref reference{PyWeakref_NewRef(storage.get(), nullptr)};
  PyObject* live = layout_.storage.references.of(layout_.storage.live.ptr());
  if (!reference || PyList_Append(live, reference.get()) != 0) return nullptr;
  if (PyList_GET_SIZE(live) > PyLong_AsSsize_t(layout_.storage.most.of(layout_.storage.live.ptr()))) {
    const Ref trimmed{PyObject_CallNoArgs(layout_.storage.trim.ptr())};
    if (!trimmed) return nullptr;
  }
  return storage.release();
}

PyObject* Maker::wrapped(PyObject* storage, PyObject* chain, PyObject* meta) {
  const Ref given{PyTuple_Pack(2, layout_.tensor.type.ptr(), layout_.meta.shape.of(meta))};
  PyObject* out = given ? PyObject_Call(layout_.tensor.make.ptr(), given.get(), layout_.meta.form.of(meta)) : nullptr;
  if (out == nullptr) return nullptr;
  layout_.tensor.storage.set(out, Ref::borrowed(storage));
  layout_.tensor.chain.set(out, Ref::borrowed(chain));
  layout_.tensor.meta.set(out, Ref::borrowed(meta));
  layout_.tensor.seen.set(out, Ref::borrowed(Py_None));
  return out;
}

PyObject* Maker::result(PyObject* node, PyObject* meta, Py_ssize_t index) {
  const Ref value{this->value(node, meta, index)};
  const Ref storage{value ? this->storage(value.get(), meta) : nullptr};
  return storage ? wrapped(storage.get(), whole_.ptr(), meta) : nullptr;
}

PyObject* Maker::stepped(PyObject* base, PyObject* step) {
  const Ref last{PyTuple_Pack(1, step)};
  const Ref chain{last ? PySequence_Concat(layout_.tensor.chain.of(base), last.get()) : nullptr};
  return chain ? wrapped(layout_.tensor.storage.of(base), chain.get(), meta_of(step)) : nullptr;
}

PyObject* Maker::put_back(PyObject* call, PyObject* before, Ref value) {
  const bool reads = PyList_GET_SIZE(layout_.call.ins.of(call)) > 1;
  Ref values{PyList_New(reads ? 2 : 1)};
  if (!values) return nullptr;
  if (reads) PyList_SET_ITEM(values.get(), 0, Py_NewRef(before));
  PyList_SET_ITEM(values.get(), reads ? 1 : 0, value.release());
  const Ref node{this->node(call, std::move(values))};
  return node ? this->value(node.get(), PyList_GET_ITEM(layout_.call.outs.of(call), 0), 0) : nullptr;
}

PyObject* Maker::current(PyObject* tensor) {
  const TensorLayout& at = layout_.tensor;
  PyObject *storage = at.storage.of(tensor), *chain = at.chain.of(tensor), *seen = at.seen.of(tensor);
  Ref value = Ref::borrowed(layout_.storage.value.of(storage));
  if (PyTuple_GET_SIZE(chain) == 0) return value.release();
  PyObject* version = layout_.storage.version.of(storage);
  if (seen != Py_None && PyTuple_GET_ITEM(seen, 1) == storage) {  // (version, storage, value)
    const int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(seen, 0), version, Py_EQ);
    if (same != 0) return same > 0 ? Py_NewRef(PyTuple_GET_ITEM(seen, 2)) : nullptr;
  }
  for (Py_ssize_t i = 0; value && i < PyTuple_GET_SIZE(chain); ++i) {
    value = Ref{applied(PyTuple_GET_ITEM(chain, i), std::move(value))};
  }
  Ref kept{value ? PyTuple_Pack(3, version, storage, value.get()) : nullptr};
  if (!kept) return nullptr;
  at.seen.set(tensor, std::move(kept));
  return value.release();
}

PyObject* Maker::applied(PyObject* step, Ref value) {
  Ref values{PyList_New(1)};
  if (!values) return nullptr;
  PyList_SET_ITEM(values.get(), 0, value.release());
  const Ref node{this->node(layout_.step.call.of(step), std::move(values))};
  return node ? this->value(node.get(), meta_of(step), PyLong_AsSsize_t(layout_.step.index.of(step))) : nullptr;
}

PyObject* Maker::meta_of(PyObject* step) const {
  PyObject* outs = layout_.call.outs.of(layout_.step.call.of(step));
  return PyList_GET_ITEM(outs, PyLong_AsSsize_t(layout_.step.index.of(step)));
}

}  // namespace trnsim_python
