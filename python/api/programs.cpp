// trnsim._core.Program: a program in StableHLO's text is read once and computed many times by the frontend's
// interpreter; DeviceProgram: the same on simulated cores; Buffer: a value that remains where programs compute it. The
// GIL is free meanwhile.
#include "python/api/programs.h"

#include <pybind11/stl.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/stablehlo/reader.h"
#include "hw/params.h"
#include "runtime/graph/numerics.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/graphs/graph_program.h"

namespace py = pybind11;

namespace trnsim_python {
namespace {

namespace frontend = trnsim::frontend;
using base::Error;
using base::Fault;
using frontend::Element;
using frontend::Value;

constexpr frontend::InterpreterLimits kUnlimited{.nodes = std::numeric_limits<std::int64_t>::max(), .depth = 500};

/// A program that keeps its plan between runs.
class Program {
 public:
  Program(const std::string& text, const std::string& file)
      : module_{std::make_unique<frontend::Module>(frontend::read_stablehlo(text, file))},
        interpreter_{*module_, frontend::Process{}, kUnlimited} {}

  std::vector<Value> run(std::vector<Value> arguments) {
    const py::gil_scoped_release release;
    return interpreter_.run(module_->entry, std::move(arguments));
  }
  std::vector<std::vector<Value>> run_together(const std::vector<std::vector<Value>>& arguments) {
    const py::gil_scoped_release release;
    module_->replicas = static_cast<std::int64_t>(arguments.size());
    return frontend::run_on_processes(*module_, arguments);
  }
  std::size_t nodes() const { return module_->node_count(); }

 private:
  std::unique_ptr<frontend::Module> module_;
  frontend::Interpreter interpreter_;
};

/// The same for simulated cores: compiled once, its numbers from the instructions that it is timed by.
class DeviceProgram {
 public:
  DeviceProgram(const std::string& text, const std::string& file, const std::string& instance_type,
                const std::string& numerics)
      : module_{text.empty() ? trnsim::load_graph(file) : frontend::read_stablehlo(text, file)},
        program_{frontend::lower(module_, {.operand = runtime::numerics(numerics).operand}),
                 hw::load_machine(instance_type)} {}

  std::vector<Value> run(const std::vector<Value>& arguments) {
    const py::gil_scoped_release release;
    return program_.run(arguments);
  }
  std::vector<std::vector<Value>> run_together(const std::vector<std::vector<Value>>& arguments) {
    const py::gil_scoped_release release;
    return program_.run_together(arguments);
  }
  double seconds() {
    const py::gil_scoped_release release;
    return program_.seconds();
  }
  const trnsim::GraphProgram& program() const { return program_; }
  std::vector<std::pair<std::string, frontend::Dims>> types(bool inputs) const {
    std::vector<std::pair<std::string, frontend::Dims>> out;
    const frontend::Function& entry = module_.entry_function();
    for (const frontend::Type& t : inputs ? entry.parameter_types() : entry.result_types())
      out.emplace_back(frontend::info(t.element).mlir, t.dims);
    return out;
  }

 private:
  frontend::Module module_;
  trnsim::GraphProgram program_;
};

Value value_from(const std::string& element, frontend::Dims dims, const py::buffer& buffer) {
  const auto found = frontend::element_from_mlir(element);
  if (!found) throw Error{Fault::kUsage, "Buffer", element + " is no type of elements", "give one of StableHLO's"};
  const py::buffer_info info = buffer.request();
  frontend::Literal literal{.type = frontend::tensor_type(*found, std::move(dims)), .bytes = {}};
  const std::size_t bytes = static_cast<std::size_t>(info.size * info.itemsize);
  const std::size_t needed = static_cast<std::size_t>(literal.count()) * frontend::stored_bytes(*found);
  if (bytes != needed)
    throw Error{Fault::kUsage, "Buffer", std::to_string(bytes) + " bytes for " + frontend::mlir_text(literal.type),
                "give " + std::to_string(needed)};
  literal.bytes.resize(bytes);
  if (bytes != 0) std::memcpy(literal.bytes.data(), info.ptr, bytes);
  const py::gil_scoped_release release;
  return frontend::value_of(literal);
}

py::bytes bytes_of(const Value& value) {
  const frontend::LiteralPtr literal = frontend::literal_of(value);
  const auto* data = reinterpret_cast<const char*>(literal->bytes.data());
  if (!literal->splat) return py::bytes{data, literal->bytes.size()};
  std::string all;  // of a splat the only element, repeated
  for (std::int64_t i = 0; i < literal->count(); ++i) all.append(data, literal->bytes.size());
  return py::bytes{all};
}

}  // namespace

void bind_programs(py::module_& m) {
  py::class_<Value>(m, "Buffer", "a tensor where programs compute it")
      .def(py::init(&value_from), py::arg("element"), py::arg("dims"), py::arg("data"))
      .def("bytes", &bytes_of, "its elements in row-major order, little-endian; one byte for a truth value")
      .def_property_readonly("element", [](const Value& v) { return std::string{frontend::info(v.type.element).mlir}; })
      .def_property_readonly("dims", [](const Value& v) { return v.type.dims; });
  py::class_<Program>(m, "Program", "a program in StableHLO's text")
      .def(py::init<const std::string&, const std::string&>(), py::arg("text"), py::arg("file"))
      .def("run", &Program::run, py::arg("arguments"), "the results of one process")
      .def("run_together", &Program::run_together, py::arg("arguments"), "the results of each process")
      .def_property_readonly("nodes", &Program::nodes);
  using D = DeviceProgram;
  py::class_<D>(m, "DeviceProgram", "a program compiled for simulated cores")
      .def(py::init<const std::string&, const std::string&, const std::string&, const std::string&>(), py::arg("text"),
           py::arg("file"), py::arg("instance_type"), py::arg("numerics"))
      .def("run", &D::run, py::arg("arguments"), "the results of one core")
      .def("run_together", &D::run_together, py::arg("arguments"), "the results of each core")
      .def_property_readonly("inputs", [](const D& d) { return d.types(true); })
      .def_property_readonly("outputs", [](const D& d) { return d.types(false); })
      .def_property_readonly("seconds", &D::seconds)
      .def_property_readonly("flops", [](const D& d) { return d.program().flops(); })
      .def_property_readonly("ranks", [](const D& d) { return d.program().ranks(); })
      .def_property_readonly("hbm_bytes", [](const D& d) { return d.program().hbm_bytes(); })
      .def_property_readonly("timed_only", [](const D& d) { return d.program().timed_only(); });
}

}  // namespace trnsim_python
