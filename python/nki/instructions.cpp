// Instructions of a kernel, and the names of opcodes, operations, functions and types.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "isa/names.h"
#include "python/nki/bind.h"

namespace trnsim_python {
namespace {

using isa::Dtype;
using runtime::nki::Mask;
using runtime::nki::Trace;
using runtime::nki::View;

const View* view_or_none(py::handle value) { return value.is_none() ? nullptr : &value.cast<const View&>(); }

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

/// The settings of an instruction that Python may give, by the names of isa::Instr's members.
struct Setting {
  std::string_view name;
  void (*set)(isa::Instr&, py::handle);
};

template <auto kMember>
void set_number(isa::Instr& i, py::handle value) {
  using Member = std::remove_reference_t<decltype(i.*kMember)>;
  if constexpr (std::is_enum_v<Member>)
    i.*kMember = static_cast<Member>(value.cast<int>());
  else
    i.*kMember = value.cast<Member>();
}

void set_imm(isa::Instr& i, py::handle value) {
  const auto numbers = value.cast<std::array<float, 4>>();
  i.imm0 = numbers[0], i.imm1 = numbers[1], i.imm2 = numbers[2], i.imm3 = numbers[3];
}

void set_ints(isa::Instr& i, py::handle value) {
  i.integers = true, i.ints = value.cast<std::array<std::int32_t, 4>>();
}

void set_steps(isa::Instr& i, py::handle value) {
  const auto steps = value.cast<std::vector<std::int32_t>>();
  for (std::size_t d = 0; d < steps.size(); ++d) i.steps.at(d) = steps[d];
}

void set_pe(isa::Instr& i, py::handle value) {
  const auto pe = value.cast<std::array<std::uint8_t, 4>>();
  i.pe = {pe[0], pe[1], pe[2], pe[3]};
}

constexpr std::array kSettings = {
    Setting{"imm", set_imm},
    Setting{"ints", set_ints},
    Setting{"pe", set_pe},
    Setting{"steps", set_steps},
    Setting{"fn", set_number<&isa::Instr::fn>},
    Setting{"alu0", set_number<&isa::Instr::alu0>},
    Setting{"alu1", set_number<&isa::Instr::alu1>},
    Setting{"reverse0", set_number<&isa::Instr::reverse0>},
    Setting{"reverse1", set_number<&isa::Instr::reverse1>},
    Setting{"accumulate", set_number<&isa::Instr::accumulate>},
    Setting{"negate", set_number<&isa::Instr::negate>},
    Setting{"skip", set_number<&isa::Instr::skip>},
    Setting{"onezero", set_number<&isa::Instr::onezero>},
    Setting{"bitwise", set_number<&isa::Instr::bitwise>},
    Setting{"registers", set_number<&isa::Instr::registers>},
    Setting{"rng", set_number<&isa::Instr::rng>},
};

/// None: not given.
void set(isa::Instr& i, const py::dict& settings) {
  for (const auto& [name, value] : settings) {
    if (value.is_none()) continue;
    const auto key = name.cast<std::string_view>();
    const auto found = std::ranges::find(kSettings, key, &Setting::name);
    base::ensure(found != kSettings.end(), "instruction", "a setting that does not exist");
    found->set(i, value);
  }
}

void emit(Trace& trace, int op, int engine, const py::tuple& operands, const Mask* mask, const py::dict& settings) {
  Trace::Op out = instruction(op, engine, operands, settings);
  std::array<std::optional<View>, 5> kept;
  if (mask) mask_all(*mask, kept, out);
  label_line(trace);
  trace.emit(out);
}

/// `more`: partition_axis, fill, name and places ([(partition, byte)]), where they are given.
View declare(Trace& trace, int space, int dtype, const std::vector<std::int64_t>& sizes, const py::kwargs& more) {
  runtime::nki::TensorSpec spec{
      .space = static_cast<isa::Space>(space), .dtype = static_cast<Dtype>(dtype), .sizes = sizes};
  if (more.contains("partition_axis")) spec.partition_axis = more["partition_axis"].cast<int>();
  if (more.contains("fill")) spec.fill = more["fill"].cast<std::optional<double>>();
  if (more.contains("name")) spec.name = more["name"].cast<std::string>();
  if (more.contains("places"))
    for (const auto& [part, byte] : more["places"].cast<std::vector<std::pair<std::int64_t, std::int64_t>>>())
      spec.places.push_back({part, byte});
  return trace.tensor(spec);
}

using TraceClass = py::class_<Trace, std::shared_ptr<Trace>>;

void add_loops(TraceClass& trace) {
  trace.def("begin_loop", &Trace::begin_loop)
      .def("next_iteration", &Trace::next_iteration)
      .def("end_loop", &Trace::end_loop)
      .def("begin_body", &Trace::begin_body)
      .def("next_in_body",
           [](Trace& t, std::size_t body) {
             label_line(t);
             t.next_in_body(body);
           })
      .def("end_body", &Trace::end_body);
}

void bind_trace(py::module_& m) {
  TraceClass trace{m, "Trace"};
  trace.def("tensor", &declare)
      .def("temporary",
           [](Trace& t, int space, int dtype, const std::vector<std::int64_t>& sizes) {
             return t.temporary(static_cast<isa::Space>(space), static_cast<Dtype>(dtype), sizes);
           })
      .def("emit", &emit)
      .def("accumulate",
           [](Trace& t, const View& dst, const py::object& src) {
             label_line(t);
             return t.accumulate(dst, src.cast<const View&>(), src.ref_count() <= unnamed().added);
           })
      .def("copy",
           [](Trace& t, const View& dst, const View& src) {
             label_line(t);
             t.copy(dst, src);
           })
      .def("spread",
           [](Trace& t, const View& v, std::int64_t partitions, bool in_psum) {
             label_line(t);
             return t.spread(v, partitions, in_psum);
           })
      .def("constant", &Trace::constant)
      .def("starts_sum", &Trace::starts_sum)
      .def_property_readonly("made", &Trace::made)
      .def("program", &Trace::program)
      .def("programs_met", &Trace::programs_met)
      .def("set_apart", &Trace::set_apart)
      .def("set_timed", &Trace::set_timed)
      .def("set_beside", &Trace::set_beside)
      .def("set_newer", &Trace::set_newer);
  add_loops(trace);
}

template <class Names>
py::dict numbered(std::size_t count, const Names& name) {
  py::dict out;
  for (std::size_t i = 0; i < count; ++i) out[py::str(std::string{name(i)})] = i;
  return out;
}

}  // namespace

Trace::Op instruction(int op, int engine, const py::tuple& operands, const py::dict& settings) {
  Trace::Op out;
  isa::Instr& i = out.instr;
  i.op = static_cast<isa::Opcode>(op), i.engine = engine < 0 ? isa::Engine::kVector : static_cast<isa::Engine>(engine);
  out.any_engine = engine < 0;
  set(i, settings);
  out.dst = view_or_none(operands[0]), out.a = view_or_none(operands[1]);
  out.b = operand(operands[2], i.imm0), out.c = operand(operands[3], i.imm1);
  out.dst2 = view_or_none(operands[4]);
  return out;
}

void bind_instructions(py::module_& m) {
  bind_trace(m);
  m.attr("opcodes") =
      numbered(isa::kOpcodeCount, [](std::size_t i) { return isa::name_of(static_cast<isa::Opcode>(i)); });
  m.attr("alus") = numbered(isa::kAluCount, [](std::size_t i) { return isa::name_of(static_cast<isa::Alu>(i)); });
  m.attr("functions") = numbered(isa::kFnCount, [](std::size_t i) { return isa::name_of(static_cast<isa::Fn>(i)); });
  m.attr("dtypes") = numbered(isa::kDtypeCount, [](std::size_t i) { return isa::name_of(static_cast<Dtype>(i)); });
}

}  // namespace trnsim_python
