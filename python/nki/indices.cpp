// Index expressions of kernels: numbers that are affine in places, masks of them, and subscripts.
#include <algorithm>

#include "python/nki/bind.h"

namespace trnsim_python {
namespace {

using runtime::nki::Affine;
using runtime::nki::Index;
using runtime::nki::Mask;
using runtime::nki::View;

std::int64_t integer(py::handle value) {
  const Py_ssize_t out = PyNumber_AsSsize_t(value.ptr(), PyExc_OverflowError);
  if (out == -1 && PyErr_Occurred()) throw py::error_already_set();
  return out;
}

Affine affine_of(py::handle value) {
  if (py::isinstance<Affine>(value)) return value.cast<Affine>();
  if (py::isinstance<View>(value))
    refuse("a tile's values are known only at run time: they cannot be a size or a position here",
           "use a number, or index with the tile itself");
  return Affine::number(integer(value));
}

Index slice_of(PySliceObject* slice, std::int64_t size) {
  Index out{.kind = Index::Kind::kSlice, .affine = {}, .tile = {}};
  out.step = slice->step == Py_None ? 1 : integer(slice->step);
  const auto bound = [&](PyObject* value, std::int64_t otherwise) {
    if (value == Py_None) return otherwise;
    const Affine a = affine_of(value);
    if (a.rank != 0) refuse("the bound of a slice is an index tile", "use nl.ds, or index with nl.arange");
    return a.constant < 0 ? std::max<std::int64_t>(0, a.constant + size) : a.constant;
  };
  if (out.step < 1) refuse("a slice has a step below 1", "use positive steps");
  out.begin = bound(slice->start, 0);
  const std::int64_t end = bound(slice->stop, size);
  out.size = std::max<std::int64_t>(0, (end - out.begin + out.step - 1) / out.step);
  return out;
}

Index index_of(py::handle item, std::int64_t size) {
  if (PyLong_Check(item.ptr()))
    return {.kind = Index::Kind::kInteger, .begin = integer(item), .affine = {}, .tile = {}};
  if (py::isinstance<Affine>(item)) {
    Index out{.kind = Index::Kind::kAffine, .affine = item.cast<Affine>(), .tile = {}};
    if (out.affine.rank == 0)
      return {.kind = Index::Kind::kInteger, .begin = out.affine.constant, .affine = {}, .tile = {}};
    return out;
  }
  if (PySlice_Check(item.ptr())) return slice_of(reinterpret_cast<PySliceObject*>(item.ptr()), size);
  if (item.is_none()) return {.kind = Index::Kind::kNewAxis, .affine = {}, .tile = {}};
  if (item.ptr() == Py_Ellipsis) return {.kind = Index::Kind::kEllipsis, .affine = {}, .tile = {}};
  if (py::isinstance<View>(item))
    return {.kind = Index::Kind::kTile, .affine = {}, .tile = std::make_shared<View>(item.cast<const View&>())};
  if (py::isinstance<TileIndex>(item)) {
    const auto& t = item.cast<const TileIndex&>();
    return {.kind = Index::Kind::kTile, .affine = t.affine, .tile = t.tile};
  }
  return {.kind = Index::Kind::kInteger, .begin = integer(item), .affine = {}, .tile = {}};
}

/// `index[:, None]` and the like: axes of size 1 are added, none is cut.
Affine axes_added(const Affine& affine, py::handle key) {
  Affine out{.constant = affine.constant};
  int from = 0;
  const auto add = [&](py::handle item) {
    if (out.rank == runtime::nki::kMostAxes) refuse("too many axes", "use fewer");
    if (item.is_none()) {
      out.size[static_cast<std::size_t>(out.rank++)] = 1;
      return;
    }
    if (item.ptr() == Py_Ellipsis) return;
    if (from >= affine.rank) refuse("there are more indices than the index tile has axes", "use None and : only");
    std::int64_t size = affine.size[static_cast<std::size_t>(from)], step = 1;
    const std::int64_t coef = affine.coef[static_cast<std::size_t>(from++)];
    if (PySlice_Check(item.ptr())) {
      const Index s = slice_of(reinterpret_cast<PySliceObject*>(item.ptr()), size);
      out.constant += s.begin * coef, size = s.size, step = s.step;
    } else {
      out.constant += integer(item) * coef;
      return;
    }
    out.size[static_cast<std::size_t>(out.rank)] = size;
    out.coef[static_cast<std::size_t>(out.rank++)] = coef * step;
  };
  if (PyTuple_Check(key.ptr()))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key.ptr()); ++i) add(PyTuple_GET_ITEM(key.ptr(), i));
  else
    add(key);
  while (from < affine.rank) {
    out.size[static_cast<std::size_t>(out.rank)] = affine.size[static_cast<std::size_t>(from)];
    out.coef[static_cast<std::size_t>(out.rank++)] = affine.coef[static_cast<std::size_t>(from++)];
  }
  return out;
}

Affine product(const Affine& a, const Affine& b) {
  if (a.rank == 0) return b.scaled(a.constant);
  if (b.rank == 0) return a.scaled(b.constant);
  refuse("the product of two indices is not affine", "multiply an index by a number");
}

py::tuple shape_of(const Affine& affine) {
  py::tuple out(affine.rank);
  for (int d = 0; d < affine.rank; ++d) out[static_cast<std::size_t>(d)] = affine.size[static_cast<std::size_t>(d)];
  return out;
}

/// Where a <= b, and where a < b.
Mask at_most(const Affine& a, const Affine& b) { return {b.plus(a, -1)}; }
Mask below(const Affine& a, const Affine& b) { return {b.plus(a, -1).plus(Affine::number(-1))}; }
const Mask kNever{Affine::number(-1)};

bool unequal(const Affine&, py::handle b) {
  if (b.is_none()) return true;
  refuse("a mask with != leaves two ranges of an axis", "write an instruction with < and one with >, or use nl.where");
}

/// The quotient or the remainder of an index by a number.
Affine divided(const Affine& a, py::handle by, bool quotient) {
  const Affine b = affine_of(by);
  if (b.rank != 0 && b.least() != b.most()) refuse("an index is divided by an index tile", "divide by a number");
  const std::int64_t divisor = b.least();
  if (divisor == 0) refuse("an index is divided by zero", "divide by another number");
  const auto parts = a.divided(divisor);
  if (!parts)
    refuse((quotient ? "the quotient of " : "the remainder of ") + std::to_string(a.least()) + " to " +
               std::to_string(a.most()) + " by " + std::to_string(divisor) + " is not affine in the indices",
           "index with two tiles, one for the quotient and one for the remainder");
  return quotient ? parts->first : parts->second;
}

/// The lesser or the greater of both at each place.
Affine extreme(const Affine& a, py::handle other, bool least) {
  const Affine b = affine_of(other), d = a.plus(b, -1);
  const Affine zero = d.scaled(0);
  if (least ? d.most() <= 0 : d.least() >= 0) return a.plus(zero);
  if (least ? d.least() >= 0 : d.most() <= 0) return b.plus(zero);
  refuse("neither of two indices is always the smaller one", "split the range with masks");
}

py::object sum_of(const Affine& a, py::handle b) {
  if (py::isinstance<View>(b)) return py::cast(TileIndex{std::make_shared<View>(b.cast<const View&>()), a});
  return py::cast(a.plus(affine_of(b)));
}

void bind_affine(py::module_& m) {
  py::class_<Affine>(m, "Affine", "numbers that are affine in the places of an index tile")
      .def_static("arange", &Affine::arange)
      .def("__getitem__", [](const Affine& a, py::handle key) { return axes_added(a, key); })
      .def("__add__", sum_of)
      .def("__radd__", [](const Affine& a, py::handle b) { return a.plus(affine_of(b)); })
      .def("__sub__", [](const Affine& a, py::handle b) { return a.plus(affine_of(b), -1); })
      .def("__rsub__", [](const Affine& a, py::handle b) { return affine_of(b).plus(a, -1); })
      .def("__mul__", [](const Affine& a, py::handle b) { return product(a, affine_of(b)); })
      .def("__rmul__", [](const Affine& a, py::handle b) { return product(a, affine_of(b)); })
      .def("__floordiv__", [](const Affine& a, py::handle b) { return divided(a, b, true); })
      .def("__mod__", [](const Affine& a, py::handle b) { return divided(a, b, false); })
      .def("minimum", [](const Affine& a, py::handle b) { return extreme(a, b, true); })
      .def("maximum", [](const Affine& a, py::handle b) { return extreme(a, b, false); })
      .def("__neg__", [](const Affine& a) { return a.scaled(-1); })
      .def("__lt__", [](const Affine& a, py::handle b) { return below(a, affine_of(b)); })
      .def("__le__", [](const Affine& a, py::handle b) { return at_most(a, affine_of(b)); })
      .def("__gt__", [](const Affine& a, py::handle b) { return below(affine_of(b), a); })
      .def("__ge__", [](const Affine& a, py::handle b) { return at_most(affine_of(b), a); })
      .def("__eq__",
           [](const Affine& a, py::handle b) {
             const Affine d = a.plus(affine_of(b), -1);
             return Mask{d, d.scaled(-1)};
           })
      .def("__ne__", unequal)
      .def_property_readonly("shape", shape_of)
      .def_property_readonly("constant", [](const Affine& a) { return a.constant; })
      .def_property_readonly("coefficients", [](const Affine& a) {
        return std::vector<std::int64_t>(a.coef.begin(), a.coef.begin() + a.rank);
      });
}

void bind_mask(py::module_& m) {
  const auto both = [](const Mask& a, const Mask& b) {
    Mask out = a;
    out.insert(out.end(), b.begin(), b.end());
    return out;
  };
  const auto only_if = [](const Mask& a, bool b) { return b ? a : kNever; };
  py::class_<Mask>(m, "Mask", "inequalities of indices, all of which hold")
      .def(py::init<>())
      .def("__and__", both)
      .def("__and__", only_if)
      .def("__rand__", only_if)
      .def_static("never", [] { return kNever; })
      .def(
          "rectangles",
          [](const Mask& a, const std::vector<std::size_t>& whole) {
            py::list out;
            for (Mask& part : runtime::nki::rectangles(a, whole)) out.append(std::move(part));
            return out;
          },
          py::arg("whole") = std::vector<std::size_t>{})
      .def("inequalities", [](const Mask& a) {
        py::list out;
        for (const Affine& inequality : a) out.append(inequality);
        return out;
      });
}

void bind_tile_index(py::module_& m) {
  const auto plus = [](const TileIndex& t, py::handle b) { return TileIndex{t.tile, t.affine.plus(affine_of(b))}; };
  py::class_<TileIndex>(m, "TileIndex", "an index tile plus an affine index")
      .def_property_readonly("tile", [](const TileIndex& t) { return View{*t.tile}; })
      .def_readonly("affine", &TileIndex::affine)
      .def("__add__", plus)
      .def("__radd__", plus);
}

}  // namespace

View item_of(const View& view, py::handle key) {
  if (py::isinstance<Mask>(key)) return runtime::nki::masked(view, key.cast<const Mask&>());
  std::vector<Index> indices;
  const auto add = [&](py::handle item, int axis) {
    indices.push_back(index_of(item, axis < view.rank ? view.axes[static_cast<std::size_t>(axis)].size : 0));
  };
  if (!PyTuple_Check(key.ptr())) {
    add(key, 0);
    return runtime::nki::subscript(view, indices);
  }
  const auto count = static_cast<int>(PyTuple_GET_SIZE(key.ptr()));
  int axis = 0, named = 0;
  for (int i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(key.ptr(), i);
    named += item != Py_None && item != Py_Ellipsis;
  }
  for (int i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(key.ptr(), i);
    add(item, axis);
    axis += item == Py_Ellipsis ? view.rank - named : item != Py_None;
  }
  return runtime::nki::subscript(view, indices);
}

void bind_indices(py::module_& m) {
  bind_affine(m);
  bind_mask(m);
  bind_tile_index(m);
}

}  // namespace trnsim_python
