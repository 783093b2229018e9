// trnsim._core.Program: a program in StableHLO's text, read and compiled once and computed many times: by the
// instructions of simulated cores, or by the frontend's interpreter where the device's compiler refuses it.
// DeviceProgram: the same on simulated cores alone, and timed. Buffer: a value between programs. The GIL is free
// meanwhile.
#include "python/api/programs.h"

#include <pybind11/stl.h>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/stablehlo/reader.h"
#include "hw/params.h"
#include "python/api/gil.h"
#include "runtime/graph/numerics.h"
#include "trnsim/graphs/graph_cores.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/graphs/graph_program.h"
#include "trnsim/job.h"

namespace py = pybind11;

namespace trnsim_python {
namespace {

namespace frontend = trnsim::frontend;
using base::Error;
using base::Fault;
using frontend::Element;
using frontend::Literal;
using frontend::Value;

constexpr frontend::InterpreterLimits kUnlimited{.nodes = std::numeric_limits<std::int64_t>::max(), .depth = 500};

struct Buffer {
  frontend::LiteralPtr literal;
};

std::vector<Buffer> buffers_of(const trnsim::Literals& literals) {
  std::vector<Buffer> out;
  for (const frontend::LiteralPtr& literal : literals) out.push_back({literal});
  return out;
}

std::vector<Buffer> buffers_of(const std::vector<Value>& values) {
  std::vector<Buffer> out;
  for (const Value& value : values) out.push_back({frontend::literal_of(value)});
  return out;
}

std::vector<Value> values_of(const std::vector<Buffer>& buffers) {
  std::vector<Value> out;
  for (const Buffer& buffer : buffers) out.push_back(frontend::value_of(*buffer.literal));
  return out;
}

using Row = std::vector<Buffer>;

/// A program of so many cores.
class Program {
 public:
  Program(const std::string& text, const std::string& file, const std::string& instance_type, std::int64_t ranks,
          const std::string& numerics)
      : module_{std::make_unique<frontend::Module>(frontend::read_stablehlo(text, file))} {
    const WithoutGil free;
    module_->replicas = ranks;
    try {
      const hw::MachineParams machine = trnsim::load_machine(instance_type, {}, 1);
      device_ =
          std::make_shared<const trnsim::CoreProgram>(*module_, machine.target(), ranks, runtime::numerics(numerics));
    } catch (const Error& e) {
      if (e.fault() == Fault::kInternal || e.fault() == Fault::kUsage) throw;
      refused_ = std::string{e.where()} + ": " + std::string{e.problem()};
    }
  }

  /// The results of each core.
  std::vector<Row> run(trnsim::GraphCores& cores, const std::vector<Row>& rows) {
    const WithoutGil free;
    if (!device_) return interpreted(rows);
    std::vector<trnsim::Literals> inputs;
    for (const Row& row : rows) {
      inputs.emplace_back();
      for (const Buffer& buffer : row) inputs.back().push_back(buffer.literal);
    }
    std::vector<Row> out;
    for (const trnsim::Literals& results : cores.run(device_, inputs)) out.push_back(buffers_of(results));
    if (!cores.spread()) return out;
    ++spread_;
    return interpreted(rows);
  }
  std::size_t nodes() const { return module_->node_count(); }
  const std::string& refused() const { return refused_; }
  std::int64_t spread() const { return spread_; }

 private:
  std::vector<Row> interpreted(const std::vector<Row>& rows) {
    std::vector<Row> out;
    if (rows.size() == 1) {
      if (!interpreter_) interpreter_.emplace(*module_, frontend::Process{}, kUnlimited);
      out.push_back(buffers_of(interpreter_->run(module_->entry, values_of(rows.front()))));
    } else {
      std::vector<std::vector<Value>> inputs;
      for (const Row& row : rows) inputs.push_back(values_of(row));
      for (const auto& results : frontend::run_on_processes(*module_, inputs)) out.push_back(buffers_of(results));
    }
    return out;
  }

  std::unique_ptr<frontend::Module> module_;
  std::shared_ptr<const trnsim::CoreProgram> device_;  // null: refused
  std::optional<frontend::Interpreter> interpreter_;
  std::string refused_;
  std::int64_t spread_ = 0;  // runs
};

/// As numerics have them: fp32 operands of TensorE are the program's own.
frontend::LowerOptions lowering(const std::string& numerics, bool computed) {
  frontend::LowerOptions out{.computed = computed};
  if (const isa::Dtype type = runtime::numerics(numerics).operand; type != isa::Dtype::kFp32) out.operand = type;
  return out;
}

/// Compiled once, its numbers from the instructions that it is timed by. Only a program that differs by the rank's
/// number, or by a branch that data chooses, has numbers of its own, whose instructions the time leaves out.
class DeviceProgram {
 public:
  DeviceProgram(const std::string& text, const std::string& file, const std::string& instance_type,
                const std::string& numerics)
      : module_{text.empty() ? trnsim::load_graph(file) : frontend::read_stablehlo(text, file)},
        program_{frontend::lower(module_, lowering(numerics, false)), hw::load_machine(instance_type)} {
    if (program_.timed_only().empty()) return;
    frontend::LoweredGraph numbers = frontend::lower(module_, lowering(numerics, true));
    if (numbers.timed_only.empty()) numbers_.emplace(std::move(numbers), hw::load_machine(instance_type));
  }

  Row run(const Row& arguments) {
    const WithoutGil free;
    return buffers_of(numbers().run(values_of(arguments)));
  }
  std::vector<Row> run_together(const std::vector<Row>& rows) {
    const WithoutGil free;
    std::vector<std::vector<Value>> inputs;
    for (const Row& row : rows) inputs.push_back(values_of(row));
    std::vector<Row> out;
    for (const std::vector<Value>& results : numbers().run_together(inputs)) out.push_back(buffers_of(results));
    return out;
  }
  double seconds() {
    const WithoutGil free;
    return program_.seconds();
  }
  const trnsim::GraphProgram& program() const { return program_; }
  std::vector<std::string> timed_only() const { return numbers_ ? std::vector<std::string>{} : program_.timed_only(); }
  std::vector<std::pair<std::string, frontend::Dims>> types(bool inputs) const {
    std::vector<std::pair<std::string, frontend::Dims>> out;
    const frontend::Function& entry = module_.entry_function();
    for (const frontend::Type& t : inputs ? entry.parameter_types() : entry.result_types())
      out.emplace_back(frontend::info(t.element).mlir, t.dims);
    return out;
  }

 private:
  trnsim::GraphProgram& numbers() { return numbers_ ? *numbers_ : program_; }

  frontend::Module module_;
  trnsim::GraphProgram program_;
  std::optional<trnsim::GraphProgram> numbers_{};
};

Buffer buffer_from(const std::string& element, frontend::Dims dims, const py::buffer& buffer) {
  const auto found = frontend::element_from_mlir(element);
  if (!found) throw Error{Fault::kUsage, "Buffer", element + " is not an element type", "give one of StableHLO's"};
  const py::buffer_info info = buffer.request();
  Literal literal{.type = frontend::tensor_type(*found, std::move(dims)), .bytes = {}};
  const std::size_t bytes = static_cast<std::size_t>(info.size * info.itemsize);
  const std::size_t needed = static_cast<std::size_t>(literal.count()) * frontend::stored_bytes(*found);
  if (bytes != needed)
    throw Error{Fault::kUsage, "Buffer", std::to_string(bytes) + " bytes for " + frontend::mlir_text(literal.type),
                "give " + std::to_string(needed)};
  const auto* data = static_cast<const std::byte*>(info.ptr);
  literal.bytes.assign(data, data + bytes);
  return {std::make_shared<const Literal>(std::move(literal))};
}

py::bytes bytes_of(const Buffer& buffer) {
  const Literal& literal = *buffer.literal;
  const auto* data = reinterpret_cast<const char*>(literal.bytes.data());
  if (!literal.splat) return py::bytes{data, literal.bytes.size()};
  std::string all;  // of a splat the only element, repeated
  for (std::int64_t i = 0; i < literal.count(); ++i) all.append(data, literal.bytes.size());
  return py::bytes{all};
}

std::size_t size_of(const Buffer& buffer) {
  const Literal& literal = *buffer.literal;
  return static_cast<std::size_t>(literal.count()) * frontend::stored_bytes(literal.type.element);
}

void copy_to(const Buffer& buffer, const py::buffer& place) {
  const std::vector<std::byte>& bytes = buffer.literal->bytes;
  const py::buffer_info info = place.request(true);
  const std::size_t size = size_of(buffer);
  if (static_cast<std::size_t>(info.size * info.itemsize) != size)
    throw Error{Fault::kUsage, "Buffer", std::to_string(info.size * info.itemsize) + " bytes of memory",
                "give " + std::to_string(size)};
  for (std::size_t i = 0; i < size; i += bytes.size())  // of a splat the only element
    std::memcpy(static_cast<std::byte*>(info.ptr) + i, bytes.data(), bytes.size());
}

/// Its bytes where they are. Readers share them: none writes, though PyTorch only takes memory that it may.
py::buffer_info memory_of(const Buffer& buffer) {
  const Literal& literal = *buffer.literal;
  if (literal.splat) throw py::buffer_error{"one element that stands for all"};
  auto* data = const_cast<std::byte*>(literal.bytes.data());
  return {reinterpret_cast<std::uint8_t*>(data), static_cast<py::ssize_t>(literal.bytes.size())};
}

}  // namespace

void bind_programs(py::module_& m) {
  py::class_<Buffer>(m, "Buffer", "a tensor where programs compute it", py::buffer_protocol())
      .def_buffer(&memory_of)
      .def(py::init(&buffer_from), py::arg("element"), py::arg("dims"), py::arg("data"))
      .def("bytes", &bytes_of, "its elements in row-major order, little-endian; one byte for a truth value")
      .def("copy_to", &copy_to, py::arg("place"), "writes these bytes into memory")
      .def_property_readonly("splat", [](const Buffer& b) { return b.literal->splat; })
      .def_property_readonly("size", &size_of, "how many bytes these are")
      .def_property_readonly("element",
                             [](const Buffer& b) { return std::string{frontend::info(b.literal->type.element).mlir}; })
      .def_property_readonly("dims", [](const Buffer& b) { return b.literal->type.dims; });
  py::class_<trnsim::GraphCores>(m, "Cores", "simulated cores that compute programs one after the other")
      .def(py::init<std::uint64_t>(), py::arg("seed") = 42, "`seed`: of stochastic rounding");
  py::class_<Program>(m, "Program", "a program in StableHLO's text, of so many cores")
      .def(py::init<const std::string&, const std::string&, const std::string&, std::int64_t, const std::string&>(),
           py::arg("text"), py::arg("file"), py::arg("instance_type"), py::arg("ranks") = 1,
           py::arg("numerics") = "fp32")
      .def("run", &Program::run, py::arg("cores"), py::arg("rows"), "the results of each core, from the inputs of each")
      .def_property_readonly("refused", &Program::refused,
                             "why the device's compiler refuses it; empty: the instructions compute it")
      .def_property_readonly("spread", &Program::spread,
                             "runs that the interpreter computed again: an infinity or a NaN reached a transpose or a "
                             "choice of rows by TensorE, which spreads it")
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
      .def_property_readonly("timed_only", [](const D& d) { return d.timed_only(); });
}

}  // namespace trnsim_python
