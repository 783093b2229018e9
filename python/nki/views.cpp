// Tensors of a kernel and their parts.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <unordered_map>

#include "python/nki/bind.h"

namespace trnsim_python {
namespace {

using isa::Dtype;
using runtime::nki::Mask;
using runtime::nki::Trace;
using runtime::nki::View;

py::tuple sizes_of(const View& view) {
  py::tuple out(view.rank);
  for (int d = 0; d < view.rank; ++d) out[static_cast<std::size_t>(d)] = view.axes[static_cast<std::size_t>(d)].size;
  return out;
}

/// `view[key] = value`; `fallback(target, value)` when `value` is no tile of that size.
void set_item(const View& view, py::handle key, const py::object& value, py::handle fallback) {
  const View target = item_of(view, key);
  if (py::isinstance<View>(value)) {
    const bool unnamed_value = value.ref_count() <= unnamed().assigned;
    const View& source = value.cast<const View&>();
    if (target.on_chip() && source.on_chip() && !source.indirect && source.elements() == target.elements()) {
      Trace& trace = Trace::of(target);
      label_line(trace);
      trace.assign(target, source, unnamed_value);
      return;
    }
  }
  fallback(target, value);
}

/// Whether each partition names one element, again and again.
bool one_column(const View& v) {
  const auto free = std::span{v.axes}.subspan(1, static_cast<std::size_t>(std::max(1, v.rank) - 1));
  return std::ranges::all_of(free, [](const auto& a) { return a.size == 1 || a.step == 0; });
}

const auto& indirect_of(const View& v) {
  if (!v.indirect) throw py::attribute_error("none of the tile's indices is in SBUF");
  return *v.indirect;
}

/// The rows that its index tile names, and as many as there are.
View rows_of(const View& v) {
  View out = v;
  const auto indirect = indirect_of(v);
  out.indirect.reset();
  out.axes[0] = {.size = indirect.limit, .step = indirect.step, .kind = v.axes[0].kind};
  return out;
}

/// Of a partition, or of a tensor in HBM, counted in the view's type.
std::int64_t elements_of_storage(const View& v) {
  return v.storage->cols * isa::size_of(v.storage->dtype) / isa::size_of(v.dtype);
}

/// All elements of its partitions from its lowest one on, as one axis; and where its first one is among them.
std::pair<View, std::int64_t> rest_of_partitions(const View& v) {
  View out = v;
  std::int64_t low = 0;
  for (std::size_t d = 1; d < static_cast<std::size_t>(v.rank); ++d)
    low += std::min<std::int64_t>(0, v.axes[d].step * (v.axes[d].size - 1));
  out.indirect.reset();
  out.rank = 2, out.offset = std::max<std::int64_t>(0, v.offset + low);
  out.axes[1] = {.size = elements_of_storage(v) - out.offset, .step = 1};
  return {out, v.offset - out.offset};
}

/// The same bytes as numbers of another type.
View as_type(const View& v, int code) {
  View out = v;
  out.dtype = static_cast<Dtype>(code);
  const int was = isa::size_of(v.dtype), is = isa::size_of(out.dtype);
  if (was == is) return out;
  if (v.rank == 0 || v.axes[static_cast<std::size_t>(v.rank - 1)].step != 1)
    refuse("a view of another size needs elements without gaps", "copy the tile first");
  const auto whole = [&](std::int64_t elements) { return elements * was % is == 0; };
  for (int d = 0; d < v.rank; ++d) {
    const runtime::nki::Axis& a = v.axes[static_cast<std::size_t>(d)];
    const std::int64_t length = d == v.rank - 1 ? a.size : a.step;
    if (!whole(v.offset) || (a.kind == runtime::nki::Axis::Kind::kFree && !whole(length)))
      refuse(std::to_string(length) + " elements of " + std::to_string(was) + " bytes are not a whole number of " +
                 std::to_string(is) + " bytes",
             "cut the view so that its bytes divide");
  }
  for (int d = 0; d < v.rank; ++d) {
    runtime::nki::Axis& a = out.axes[static_cast<std::size_t>(d)];
    if (d == v.rank - 1)
      a.size = a.size * was / is;
    else if (a.kind == runtime::nki::Axis::Kind::kFree)
      a.step = a.step * was / is;
  }
  out.offset = v.offset * was / is;
  return out;
}

/// (step, size) of each axis as a hardware access pattern gives them, in elements.
std::vector<std::pair<std::int64_t, std::int64_t>> pattern_of(const View& v) {
  const std::int64_t each = elements_of_storage(v);
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (int d = 0; d < v.rank; ++d) {
    const auto& a = v.axes[static_cast<std::size_t>(d)];
    out.emplace_back(a.kind == runtime::nki::Axis::Kind::kPart ? a.step * each : a.step, a.size);
  }
  return out;
}

/// The element of the storage at which the view begins.
std::int64_t first_element(const View& v) {
  const std::int64_t each = elements_of_storage(v);
  return v.on_chip() ? v.part * each + v.offset : v.offset;
}

/// The view with an index tile along axis 0, whose elements are `step` apart, `limit` of them.
View with_index(const View& v, const View& index, std::int64_t step, std::int64_t limit) {
  View out = v;
  out.indirect = runtime::nki::Indirect{
      .index = std::make_shared<View>(index), .step = step, .limit = limit, .rows = !v.on_chip()};
  return out;
}

/// An axis of one element, or one whose place an index will name, left out.
View without_axis(const View& v, int axis) {
  View out = v;
  for (int d = axis; d + 1 < v.rank; ++d)
    out.axes[static_cast<std::size_t>(d)] = v.axes[static_cast<std::size_t>(d) + 1];
  --out.rank;
  if (out.rank == 1 && out.on_chip()) out.axes[1] = {}, out.rank = 2;
  return out;
}

/// An axis as several, outermost first.
View split_axis(const View& v, int axis, const std::vector<std::int64_t>& sizes) {
  const auto at = static_cast<std::size_t>(axis), more = sizes.size() - 1;
  if (static_cast<std::size_t>(v.rank) + more > static_cast<std::size_t>(runtime::nki::kMostAxes))
    refuse("too many axes", "use fewer axes");
  View out = v;
  out.rank += static_cast<int>(more);
  for (std::size_t d = at + 1; d < static_cast<std::size_t>(v.rank); ++d) out.axes[d + more] = v.axes[d];
  std::int64_t step = v.axes[at].step;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    out.axes[at + d] = {.size = sizes[d], .step = step, .kind = v.axes[at].kind};
    step *= sizes[d];
  }
  return out;
}

using ViewClass = py::class_<View>;

void add_figures(ViewClass& view) {
  view.def_property_readonly("shape", sizes_of)
      .def_property_readonly("ndim", [](const View& v) { return v.rank; })
      .def_property_readonly("code", [](const View& v) { return static_cast<int>(v.dtype); })
      .def_property_readonly("space", [](const View& v) { return static_cast<int>(v.storage->space); })
      .def_property_readonly("partitions", &View::partitions)
      .def_property_readonly("cols", &View::cols)
      .def_property_readonly("start", [](const View& v) { return v.part; })
      .def_property_readonly("name", [](const View& v) { return v.storage->name; })
      .def_property_readonly("reg", [](const View& v) { return v.storage->reg; })
      .def_property_readonly("by_values", [](const View& v) { return v.indirect.has_value(); })
      .def_property_readonly("index", [](const View& v) { return *indirect_of(v).index; })
      .def_property_readonly("index_step", [](const View& v) { return indirect_of(v).step; })
      .def_property_readonly("index_limit", [](const View& v) { return indirect_of(v).limit; })
      .def_property_readonly("one_column", one_column)
      .def_property_readonly("offset", first_element)
      .def_property_readonly("place",
                             [](const View& v) { return py::make_tuple(v.storage->number, v.block, v.part, v.offset); })
      .def_property_readonly("times_written", &runtime::nki::times_written)
      .def_property_readonly("written", [](const View& v) { return v.storage->written; })
      .def_property_readonly("has_claims", [](const View& v) { return !v.claims.empty(); })
      .def_property_readonly("ready",
                             [](const View& v) { return v.on_chip() && !v.indirect.has_value() && v.rank > 1; })
      .def("_steps", pattern_of)
      .def_property_readonly("storage_size", elements_of_storage)
      .def("empty", &View::empty);
}

void add_parts(ViewClass& view) {
  view.def("__getitem__", [](const View& v, py::handle key) { return item_of(v, key); })
      .def("_set", set_item)
      .def("_reshape", [](const View& v, const std::vector<std::int64_t>& s) { return runtime::nki::reshaped(v, s); })
      .def("_broadcast",
           [](const View& v, const std::vector<std::int64_t>& s) { return runtime::nki::broadcast(v, s); })
      .def("_cut", [](const View& v, int axis, std::int64_t low,
                      std::int64_t size) { return runtime::nki::cut(v, axis, low, size); })
      .def("_left",
           [](const View& v, const Mask& mask) {
             std::vector<std::pair<std::int64_t, std::int64_t>> out;
             for (const auto& [begin, size] : runtime::nki::left(v, mask)) out.emplace_back(begin, size);
             return out;
           })
      .def("_masked", [](const View& v, const Mask& mask) { return runtime::nki::masked(v, mask); })
      .def("_patterned", &runtime::nki::patterned, py::arg("pattern"), py::arg("offset"), py::arg("anywhere") = false)
      .def("_without", without_axis)
      .def("_split", split_axis)
      .def("_moved",
           [](const View& v, std::int64_t by) {
             View out = v;
             out.offset += by;
             return out;
           })
      .def("_retyped",
           [](const View& v, int code) {
             View out = v;
             out.offset = v.offset * isa::size_of(v.dtype) / isa::size_of(static_cast<Dtype>(code));
             out.dtype = static_cast<Dtype>(code);
             return out;
           })
      .def("_permuted", &runtime::nki::permuted)
      .def("_with_index", with_index)
      .def("_rows", rows_of)
      .def("_from_there", rest_of_partitions)
      .def("_as", as_type);
}

}  // namespace

int kind_of(const View& v) {
  static std::unordered_map<std::string, int> kinds;
  if (v.indirect || !v.claims.empty() || v.elements() <= 1 || (v.on_chip() && v.rank < 2)) return -1;
  std::array<std::int64_t, runtime::nki::kMostAxes + 2> key{};
  key[0] = static_cast<std::int64_t>(v.storage->space), key[1] = static_cast<std::int64_t>(v.dtype);
  for (std::size_t d = 0; d < static_cast<std::size_t>(v.rank); ++d) key[d + 2] = v.axes[d].size;
  const auto bytes = sizeof(std::int64_t) * static_cast<std::size_t>(v.rank + 2);
  const auto number = static_cast<int>(kinds.size());
  return kinds.try_emplace(std::string{reinterpret_cast<const char*>(key.data()), bytes}, number).first->second;
}

void bind_views(py::module_& m) {
  ViewClass view{m, "View", "a tensor of a kernel, or a part of one", py::dynamic_attr()};
  view.def(py::init<>());
  add_figures(view);
  add_parts(view);
  m.def("same_sizes", [](const View& a, const View& b) {
    const auto size = [](const runtime::nki::Axis& axis) { return axis.size; };
    return a.rank == b.rank &&
           std::ranges::equal(std::span{a.axes}.first(static_cast<std::size_t>(a.rank)),
                              std::span{b.axes}.first(static_cast<std::size_t>(b.rank)), {}, size, size);
  });
  m.def("common", [](const View& a, const View& b) { return py::tuple(py::cast(runtime::nki::common_sizes(a, b))); });
}

}  // namespace trnsim_python
