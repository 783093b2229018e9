// Calls that were made before, as one instruction on their arguments: found by what the arguments have in common with
// those of the first call, and given again without Python.
#include <array>
#include <cmath>
#include <optional>

#include "python/nki/bind.h"

namespace trnsim_python {
namespace {

using runtime::nki::Trace;
using runtime::nki::View;

/// An operand of a kept instruction: a number or nothing, which the instruction has, an argument by its place or name,
/// or a new tile.
struct Operand {
  enum class Kind : std::uint8_t { kFixed, kArgument, kNamed, kNew };
  Kind kind = Kind::kFixed;
  std::size_t place = 0;
  py::object name{};
};

struct NewTile {
  isa::Space space = isa::Space::kSbuf;
  isa::Dtype dtype = isa::Dtype::kFp32;
  std::vector<std::int64_t> sizes{};
};

struct Recipe {
  Trace::Op op;
  std::array<Operand, 5> operands;  // dst, a, b, c, dst2
  std::optional<NewTile> tile;      // that the first operand is
  bool gives = false;               // the first operand is the call's result
  py::object result;                // else this
};

Operand operand_of(py::handle place) {
  if (place.is_none()) return {};
  if (py::isinstance<py::int_>(place)) return {.kind = Operand::Kind::kArgument, .place = place.cast<std::size_t>()};
  if (py::isinstance<py::str>(place))
    return {.kind = Operand::Kind::kNamed, .name = py::reinterpret_borrow<py::object>(place)};
  return {.kind = Operand::Kind::kNew};
}

/// `given`: (opcode, engine, fixed operands, settings); `places`: of each operand None, a place or a name of the
/// call's arguments, or () for the new tile, which `made` says as (space, type, sizes).
Recipe recipe_of(const py::tuple& given, const py::tuple& places, const py::object& made, bool gives,
                 const py::object& result) {
  Recipe out{.op = instruction(given[0].cast<int>(), given[1].cast<int>(), given[2].cast<py::tuple>(),
                               given[3].cast<py::dict>()),
             .operands = {},
             .tile = {},
             .gives = gives,
             .result = result};
  for (std::size_t i = 0; i < out.operands.size(); ++i) out.operands[i] = operand_of(places[i]);
  if (!made.is_none()) {
    const auto parts = made.cast<py::tuple>();
    out.tile = NewTile{.space = static_cast<isa::Space>(parts[0].cast<int>()),
                       .dtype = static_cast<isa::Dtype>(parts[1].cast<int>()),
                       .sizes = parts[2].cast<std::vector<std::int64_t>>()};
  }
  return out;
}

/// The instruction on these arguments.
py::object again(const Recipe& recipe, const py::tuple& args, const py::dict& named, Trace& trace) {
  Trace::Op op = recipe.op;
  py::object first;
  if (recipe.tile) first = py::cast(trace.temporary(recipe.tile->space, recipe.tile->dtype, recipe.tile->sizes));
  std::size_t next = 0;
  for (const View** view : {&op.dst, &op.a, &op.b, &op.c, &op.dst2}) {
    const Operand& operand = recipe.operands[next];
    py::handle value;
    if (operand.kind == Operand::Kind::kArgument) value = args[operand.place];
    if (operand.kind == Operand::Kind::kNamed) value = PyDict_GetItem(named.ptr(), operand.name.ptr());
    if (operand.kind == Operand::Kind::kNew) value = first;
    if (value) *view = &value.cast<const View&>();
    if (next++ == 0 && !first && value) first = py::reinterpret_borrow<py::object>(value);
  }
  label_line(trace);
  trace.emit(op);
  return recipe.gives ? first : recipe.result;
}

/// What a call has in common with others that do the same.
class Key {
 public:
  explicit Key(py::handle function) {
    parts_.reserve(32);
    add(function);
  }
  void add(py::handle part) { parts_.push_back(py::reinterpret_borrow<py::object>(part)); }

  /// False: the argument does not say what the call does.
  bool argument(py::handle value) {
    static const py::object zero = py::str("0.0"), negative = py::str("-0.0");  // equal numbers
    add(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())));
    if (!py::type::handle_of(value).is(py::type::of<View>())) {
      const bool none = PyFloat_CheckExact(value.ptr()) && PyFloat_AS_DOUBLE(value.ptr()) == 0;
      add(!none ? value : py::handle{std::signbit(PyFloat_AS_DOUBLE(value.ptr())) ? negative : zero});
      return true;
    }
    const int kind = kind_of(value.cast<const View&>());
    if (kind < 0) return false;
    parts_.push_back(py::int_(kind));
    tiles_.push_back(value.ptr());
    return true;
  }

  /// Tiles that were given twice, and the end.
  py::object finish() {
    for (std::size_t i = 1; i < tiles_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (tiles_[k] == tiles_[i]) parts_.push_back(py::int_(k)), parts_.push_back(py::int_(i));
    py::tuple out(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) out[i] = std::move(parts_[i]);
    return out;
  }

 private:
  std::vector<py::object> parts_;
  std::vector<PyObject*> tiles_;
};

/// None where the arguments do not say what the call does. `sums`: the first argument is a destination, to which the
/// call adds where something was written before.
py::object key_of(py::handle function, const py::tuple& args, const py::dict& named, bool sums, Trace& trace) {
  static const py::object name = py::str("name"), mask = py::str("mask"), dst = py::str("dst");
  Key key{function};
  for (const auto& [word, value] : named) key.add(word);
  for (const py::handle value : args)
    if (!key.argument(value)) return py::none();
  for (const auto& [word, value] : named) {
    if (word.equal(mask) && !value.is_none()) return py::none();
    if (!word.equal(name) && !key.argument(value)) return py::none();
  }
  if (sums) {
    const py::handle to = args.empty() ? py::handle{PyDict_GetItem(named.ptr(), dst.ptr())} : py::handle{args[0]};
    if (!to || !py::isinstance<View>(to)) return py::none();
    const auto& view = to.cast<const View&>();
    if (view.storage->space != isa::Space::kPsum) return py::none();
    key.add(py::bool_(trace.starts_sum(view)));
  }
  py::object out = key.finish();
  if (PyObject_Hash(out.ptr()) == -1) {  // an argument that has no hash
    PyErr_Clear();
    return py::none();
  }
  return out;
}

/// The result of a call that is kept, its instruction given again; NotImplemented: it is not.
py::object replay(const py::dict& kept, py::handle function, const py::tuple& args, const py::dict& named, bool sums,
                  Trace& trace) {
  const py::object key = key_of(function, args, named, sums, trace);
  const py::handle found = key.is_none() ? nullptr : PyDict_GetItem(kept.ptr(), key.ptr());
  if (!found || found.is_none()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return again(found.cast<const Recipe&>(), args, named, trace);
}

}  // namespace

void bind_recipes(py::module_& m) {
  py::class_<Recipe>(m, "Recipe").def(py::init(&recipe_of));
  m.def("recipe_key", &key_of);
  m.def("replay", &replay);
}

}  // namespace trnsim_python
