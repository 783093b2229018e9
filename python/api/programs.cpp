// trnsim._core.Program: a program in StableHLO's text is read once and computed many times by the frontend's
// interpreter; trnsim._core.Buffer: a value that remains where programs compute it. The GIL is free meanwhile.
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
}

}  // namespace trnsim_python
