// Python's side of runtime/nki/trace.h: index expressions, tensors and instructions. No logic of its own.
#include "python/nki_trace.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "isa/names.h"

PYBIND11_MAKE_OPAQUE(std::vector<runtime::nki::Affine>)  // a mask

namespace trnsim_python {
namespace {

using isa::Dtype;
using runtime::nki::Affine;
using runtime::nki::Index;
using runtime::nki::Mask;
using runtime::nki::Trace;
using runtime::nki::View;

/// An index tile and what is added to it.
struct TileIndex {
  std::shared_ptr<View> tile;
  Affine affine;
};

/// How many references a value has in `a[...] = f()` and `a += f()` when nothing else names it.
struct Unnamed {
  Py_ssize_t assigned = 0, added = 0;
};
Unnamed& unnamed() {
  static Unnamed counts;
  return counts;
}

// ---- where we are

/// The line of the kernel that is running: the first frame outside of this package.
class Lines {
 public:
  static Lines& instance() {
    static Lines lines;
    return lines;
  }
  /// Another trace may lie where an earlier one was.
  void forget() { trace_ = nullptr; }
  void set_package(std::string folder) { package_ = std::move(folder); }

  std::string text() {
    PyFrameObject* frame = outside();
    if (!frame) return "kernel";
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::string file = py::str(reinterpret_cast<PyObject*>(code->co_filename));
    Py_DECREF(code);
    const int line = PyFrame_GetLineNumber(frame);
    Py_DECREF(frame);
    return file + ":" + std::to_string(line);
  }

  /// The label of that line. Frames of a code object run its lines again and again: they are looked up by place.
  std::uint32_t label(Trace& trace) {
    if (&trace != trace_) places_.clear(), texts_.clear(), trace_ = &trace;
    PyFrameObject* frame = outside();
    if (!frame) return 0;
    PyCodeObject* code = PyFrame_GetCode(frame);
    const Place place{code, PyFrame_GetLasti(frame)};
    Py_DECREF(code);
    auto found = places_.find(place);
    if (found == places_.end()) {
      const std::string line = text();
      const auto [same, added] = texts_.try_emplace(line, 0);
      if (added) same->second = trace.add_label(line);
      found = places_.emplace(place, same->second).first;
    }
    Py_DECREF(frame);
    return found->second;
  }

 private:
  struct Place {
    void* code;
    int at;
    bool operator==(const Place&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place& p) const {
      return std::hash<void*>{}(p.code) * 31 + static_cast<std::size_t>(p.at);
    }
  };

  bool inside(PyCodeObject* code) {
    const auto [found, added] = inside_.try_emplace(code, false);
    if (added) {
      Py_INCREF(code);  // its address stays its own
      const std::string file = py::str(reinterpret_cast<PyObject*>(code->co_filename));
      found->second = file.rfind(package_, 0) == 0 || file.rfind("<frozen", 0) == 0;
    }
    return found->second;
  }
  /// A new reference, or null.
  PyFrameObject* outside() {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      const bool ours = inside(code);
      Py_DECREF(code);
      if (!ours) return frame;
      PyFrameObject* back = PyFrame_GetBack(frame);
      Py_DECREF(frame);
      frame = back;
    }
    return nullptr;
  }

  std::string package_;
  Trace* trace_ = nullptr;
  std::unordered_map<PyCodeObject*, bool> inside_;
  std::unordered_map<Place, std::uint32_t, Hash> places_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

[[noreturn]] void refuse(const std::string& what, const std::string& fix) {
  throw base::Error{base::Fault::kProgram, "", what, fix};
}

// ---- indices

std::int64_t integer(py::handle value) {
  const Py_ssize_t out = PyNumber_AsSsize_t(value.ptr(), PyExc_OverflowError);
  if (out == -1 && PyErr_Occurred()) throw py::error_already_set();
  return out;
}

Affine affine_of(py::handle value) {
  if (py::isinstance<Affine>(value)) return value.cast<Affine>();
  if (py::isinstance<View>(value))
    refuse("a tile's values are known at run time only: they cannot size or place anything here",
           "use a number, or index with the tile itself");
  return Affine::number(integer(value));
}

Index slice_of(PySliceObject* slice, std::int64_t size) {
  Index out{.kind = Index::Kind::kSlice, .affine = {}, .tile = {}};
  out.step = slice->step == Py_None ? 1 : integer(slice->step);
  const auto bound = [&](PyObject* value, std::int64_t otherwise) {
    if (value == Py_None) return otherwise;
    const Affine a = affine_of(value);
    if (a.rank != 0) refuse("a slice has an index tile as its bound", "use nl.ds, or index with nl.arange");
    return a.constant < 0 ? std::max<std::int64_t>(0, a.constant + size) : a.constant;
  };
  if (out.step < 1) refuse("a slice with a step below 1", "use positive steps");
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
    if (from >= affine.rank) refuse("more indices than the index tile has axes", "use None and : only");
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

void bind_indices(py::module_& m) {
  py::class_<Affine>(m, "Affine", "numbers that are affine in the places of an index tile")
      .def_static("arange", &Affine::arange)
      .def("__getitem__", [](const Affine& a, py::handle key) { return axes_added(a, key); })
      .def("__add__",
           [](const Affine& a, py::handle b) -> py::object {
             if (py::isinstance<View>(b)) return py::cast(TileIndex{std::make_shared<View>(b.cast<const View&>()), a});
             return py::cast(a.plus(affine_of(b)));
           })
      .def("__radd__", [](const Affine& a, py::handle b) { return a.plus(affine_of(b)); })
      .def("__sub__", [](const Affine& a, py::handle b) { return a.plus(affine_of(b), -1); })
      .def("__rsub__", [](const Affine& a, py::handle b) { return affine_of(b).plus(a, -1); })
      .def("__mul__", [](const Affine& a, py::handle b) { return product(a, affine_of(b)); })
      .def("__rmul__", [](const Affine& a, py::handle b) { return product(a, affine_of(b)); })
      .def("__neg__", [](const Affine& a) { return a.scaled(-1); })
      .def("__lt__",
           [](const Affine& a, py::handle b) { return Mask{affine_of(b).plus(a, -1).plus(Affine::number(-1))}; })
      .def("__le__", [](const Affine& a, py::handle b) { return Mask{affine_of(b).plus(a, -1)}; })
      .def("__gt__",
           [](const Affine& a, py::handle b) { return Mask{a.plus(affine_of(b), -1).plus(Affine::number(-1))}; })
      .def("__ge__", [](const Affine& a, py::handle b) { return Mask{a.plus(affine_of(b), -1)}; })
      .def("__eq__",
           [](const Affine& a, py::handle b) {
             const Affine d = a.plus(affine_of(b), -1);
             return Mask{d, d.scaled(-1)};
           })
      .def_property_readonly("shape", shape_of)
      .def_property_readonly("constant", [](const Affine& a) { return a.constant; })
      .def_property_readonly("coefficients", [](const Affine& a) {
        return std::vector<std::int64_t>(a.coef.begin(), a.coef.begin() + a.rank);
      });
  py::class_<Mask>(m, "Mask", "inequalities of indices, all of which hold")
      .def(py::init<>())
      .def("__and__",
           [](const Mask& a, const Mask& b) {
             Mask out = a;
             out.insert(out.end(), b.begin(), b.end());
             return out;
           })
      .def("__and__", [](const Mask& a, bool b) { return b ? a : Mask{Affine::number(-1)}; })
      .def("__rand__", [](const Mask& a, bool b) { return b ? a : Mask{Affine::number(-1)}; })
      .def_static("never", [] { return Mask{Affine::number(-1)}; })
      .def("inequalities", [](const Mask& a) {
        py::list out;
        for (const Affine& inequality : a) out.append(inequality);
        return out;
      });
  py::class_<TileIndex>(m, "TileIndex", "an index tile plus an affine index")
      .def("__add__",
           [](const TileIndex& t, py::handle b) {
             return TileIndex{t.tile, t.affine.plus(affine_of(b))};
           })
      .def("__radd__", [](const TileIndex& t, py::handle b) {
        return TileIndex{t.tile, t.affine.plus(affine_of(b))};
      });
}

// ---- tensors

py::tuple sizes_of(const View& view) {
  py::tuple out(view.rank);
  for (int d = 0; d < view.rank; ++d) out[static_cast<std::size_t>(d)] = view.axes[static_cast<std::size_t>(d)].size;
  return out;
}

Trace& trace_of(const View& view) {
  Trace& trace = *view.storage->trace;
  trace.label(Lines::instance().label(trace));
  return trace;
}

void set_item(const View& view, py::handle key, const py::object& value, py::handle fallback) {
  const View target = item_of(view, key);
  if (py::isinstance<View>(value)) {
    const bool unnamed_value = value.ref_count() <= unnamed().assigned;
    const View& source = value.cast<const View&>();
    if (target.on_chip() && source.on_chip() && !source.indirect && source.elements() == target.elements()) {
      trace_of(target).assign(target, source, unnamed_value);
      return;
    }
  }
  fallback(target, value);
}

void bind_views(py::module_& m) {
  py::class_<View>(m, "View", "a tensor of a kernel, or a part of one", py::dynamic_attr())
      .def(py::init<>())
      .def("__getitem__", [](const View& v, py::handle key) { return item_of(v, key); })
      .def("_set", [](const View& v, py::handle key, const py::object& value,
                      py::handle fallback) { set_item(v, key, value, fallback); })
      .def_property_readonly("shape", sizes_of)
      .def_property_readonly("ndim", [](const View& v) { return v.rank; })
      .def_property_readonly("code", [](const View& v) { return static_cast<int>(v.dtype); })
      .def_property_readonly("space", [](const View& v) { return static_cast<int>(v.storage->space); })
      .def_property_readonly("partitions", &View::partitions)
      .def_property_readonly("cols", &View::cols)
      .def_property_readonly("start", [](const View& v) { return v.part; })
      .def_property_readonly("name", [](const View& v) { return v.storage->name; })
      .def_property_readonly("reg", [](const View& v) { return v.storage->reg; })
      .def_property_readonly("temporary", [](const View& v) { return v.storage->temporary; })
      .def_property_readonly("indirect", [](const View& v) { return v.indirect.has_value(); })
      .def_property_readonly("index", [](const View& v) { return *v.indirect->index; })
      .def_property_readonly("index_rows", [](const View& v) { return v.indirect->rows; })
      .def_property_readonly("index_limit", [](const View& v) { return v.indirect->limit; })
      .def_property_readonly("index_step", [](const View& v) { return v.indirect->step; })
      .def_property_readonly(
          "one_column",
          [](const View& v) {  // whether each partition names one element, again and again
            const auto free = std::span{v.axes}.subspan(1, static_cast<std::size_t>(std::max(1, v.rank) - 1));
            return std::ranges::all_of(free, [](const auto& a) { return a.size == 1 || a.step == 0; });
          })
      .def("empty", &View::empty)
      .def("same_storage", [](const View& a, const View& b) { return a.storage == b.storage; })
      .def("_reshape", [](const View& v, const std::vector<std::int64_t>& s) { return runtime::nki::reshaped(v, s); })
      .def("_broadcast",
           [](const View& v, const std::vector<std::int64_t>& s) { return runtime::nki::broadcast(v, s); })
      .def("_cut", [](const View& v, int axis, std::int64_t low,
                      std::int64_t size) { return runtime::nki::cut(v, axis, low, size); })
      .def("_masked", [](const View& v, const Mask& mask) { return runtime::nki::masked(v, mask); })
      .def("_rows",
           [](const View& v) {  // the rows that its index tile names, and as many as there are
             View out = v;
             const auto indirect = *v.indirect;
             out.indirect.reset();
             out.axes[0] = {.size = indirect.limit, .step = indirect.step, .kind = v.axes[0].kind};
             return out;
           })
      .def("_from_there",
           [](const View& v) {  // all elements of its partitions from its own on, as one axis
             View out = v;
             out.indirect.reset();
             out.rank = 2;
             out.axes[1] = {.size = v.storage->cols - v.offset, .step = 1};
             return out;
           })
      .def("_plain",
           [](const View& v) {
             View out = v;
             out.indirect.reset();
             return out;
           })
      .def("_as", [](const View& v, int code) {
        View out = v;
        out.dtype = static_cast<Dtype>(code);
        const int was = isa::size_of(v.dtype), is = isa::size_of(out.dtype);
        if (was == is) return out;
        if (v.rank == 0 || v.axes[static_cast<std::size_t>(v.rank - 1)].step != 1)
          refuse("a view of another size needs elements without gaps", "copy the tile first");
        for (int d = 0; d < v.rank; ++d) {
          runtime::nki::Axis& a = out.axes[static_cast<std::size_t>(d)];
          if (d == v.rank - 1)
            a.size = a.size * was / is;
          else if (a.kind == runtime::nki::Axis::Kind::kFree)
            a.step = a.step * was / is;
        }
        out.offset = v.offset * was / is;
        return out;
      });
  m.def("common", [](const View& a, const View& b) { return py::tuple(py::cast(runtime::nki::common_sizes(a, b))); });
}

// ---- instructions

/// A view, a number or nothing.
const View* operand(py::handle value, float& number) {
  if (value.is_none()) return nullptr;
  if (py::isinstance<View>(value)) return &value.cast<const View&>();
  number = value.cast<float>();
  return nullptr;
}

/// The operands of an element-wise instruction under a mask.
void mask_all(const Mask& mask, std::array<std::optional<View>, 5>& kept, Trace::Op& op) {
  std::size_t next = 0;
  for (const View** view : {&op.dst, &op.dst2, &op.a, &op.b, &op.c}) {
    std::optional<View>& own = kept[next++];
    if (!*view) continue;
    own = runtime::nki::masked(**view, mask);
    *view = &*own;
  }
}

/// What few instructions have: by the names of isa::Instr's members.
void set_extra(isa::Instr& i, const py::dict& extra) {
  for (const auto& [name, value] : extra) {
    const std::string key = py::str(name);
    if (key == "negate") i.negate = value.cast<bool>();
    if (key == "skip") i.skip = value.cast<bool>();
    if (key == "onezero") i.onezero = value.cast<bool>();
    if (key == "rng") i.rng = value.cast<std::uint32_t>();
    if (key == "registers") i.registers = static_cast<isa::Registers>(value.cast<int>());
    if (key == "ints") i.integers = true, i.ints = value.cast<std::array<std::int32_t, 4>>();
    if (key == "pe") {
      const auto pe = value.cast<std::array<int, 4>>();
      i.pe = {static_cast<std::uint8_t>(pe[0]), static_cast<std::uint8_t>(pe[1]), static_cast<std::uint8_t>(pe[2]),
              static_cast<std::uint8_t>(pe[3])};
    }
  }
}

void emit(Trace& trace, int op, int engine, const View* dst, const View* a, py::handle b, py::handle c,
          const View* dst2, int alu0, int alu1, int fn, const std::array<float, 4>& numbers, int flags,
          const Mask* mask, const py::object& extra) {
  Trace::Op out{.instr = {}, .dst = dst, .dst2 = dst2, .a = a};
  isa::Instr& i = out.instr;
  i.op = static_cast<isa::Opcode>(op), i.engine = static_cast<isa::Engine>(engine < 0 ? 1 : engine);
  i.alu0 = static_cast<isa::Alu>(alu0), i.alu1 = static_cast<isa::Alu>(alu1), i.fn = static_cast<isa::Fn>(fn);
  i.imm0 = numbers[0], i.imm1 = numbers[1], i.imm2 = numbers[2], i.imm3 = numbers[3];
  i.reverse0 = flags & 1, i.reverse1 = flags & 2, i.accumulate = flags & 4;
  if (!extra.is_none()) set_extra(i, extra);
  out.b = operand(b, i.imm0), out.c = operand(c, i.imm1);
  out.any_engine = engine < 0;
  std::array<std::optional<View>, 5> kept;
  if (mask) mask_all(*mask, kept, out);
  trace.label(Lines::instance().label(trace));
  trace.emit(out);
}

runtime::nki::View declare(Trace& trace, int space, int dtype, const std::vector<std::int64_t>& sizes,
                           int partition_axis, std::optional<float> fill, const std::string& name,
                           const std::vector<std::pair<std::int64_t, std::int64_t>>& places) {
  runtime::nki::TensorSpec spec{.space = static_cast<isa::Space>(space),
                                .dtype = static_cast<Dtype>(dtype),
                                .sizes = sizes,
                                .partition_axis = partition_axis,
                                .fill = fill,
                                .name = name};
  for (const auto& [part, byte] : places) spec.places.push_back({part, byte});
  return trace.tensor(spec);
}

void bind_trace(py::module_& m) {
  py::class_<Trace, std::shared_ptr<Trace>>(m, "Trace")
      .def("tensor", &declare)
      .def("temporary",
           [](Trace& t, int space, int dtype, const std::vector<std::int64_t>& sizes) {
             return t.temporary(static_cast<isa::Space>(space), static_cast<Dtype>(dtype), sizes);
           })
      .def("emit", &emit)
      .def("accumulate",
           [](Trace& t, const View& dst, const py::object& src) {
             t.label(Lines::instance().label(t));
             return t.accumulate(dst, src.cast<const View&>(), src.ref_count() <= unnamed().added);
           })
      .def("copy",
           [](Trace& t, const View& dst, const View& src) {
             t.label(Lines::instance().label(t));
             t.copy(dst, src);
           })
      .def("spread",
           [](Trace& t, const View& v, std::int64_t partitions, bool in_psum) {
             t.label(Lines::instance().label(t));
             return t.spread(v, partitions, in_psum);
           })
      .def("constant", &Trace::constant)
      .def_property_readonly("size", &Trace::size);
}

template <class Names>
py::dict numbered(std::size_t count, const Names& name) {
  py::dict out;
  for (std::size_t i = 0; i < count; ++i) out[py::str(std::string{name(i)})] = i;
  return out;
}

}  // namespace

void begin_trace() { Lines::instance().forget(); }

std::string kernel_line() { return Lines::instance().text(); }

void bind_nki_trace(py::module_& m) {
  bind_indices(m);
  bind_views(m);
  bind_trace(m);
  m.def("_package", [](std::string folder) { Lines::instance().set_package(std::move(folder)); });
  m.def("_line", kernel_line);
  m.def("_count_assigned", [](const py::object& value) { unnamed().assigned = value.ref_count(); });
  m.def("_count_added", [](const py::object& value) { unnamed().added = value.ref_count(); });
  m.def("_refs", [](const py::object& value) { return value.ref_count(); });
  m.def("_set_unnamed", [](Py_ssize_t assigned, Py_ssize_t added) { unnamed() = {assigned, added}; });
  m.attr("opcodes") =
      numbered(isa::kOpcodeCount, [](std::size_t i) { return isa::name_of(static_cast<isa::Opcode>(i)); });
  m.attr("alus") = numbered(isa::kAluCount, [](std::size_t i) { return isa::name_of(static_cast<isa::Alu>(i)); });
  m.attr("functions") = numbered(isa::kFnCount, [](std::size_t i) { return isa::name_of(static_cast<isa::Fn>(i)); });
  m.attr("dtypes") = numbered(isa::kDtypeCount, [](std::size_t i) { return isa::name_of(static_cast<Dtype>(i)); });
}

}  // namespace trnsim_python
