#include "trnsim/graphs/graph_program.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "hw/sim_device.h"
#include "isa/dtype.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using frontend::Type;
using frontend::Value;

std::uint32_t bits_of(isa::Dtype dtype, const Value& value, std::size_t i) {
  const bool real = is_float(value.type.element);
  if (isa::is_integer(dtype) && !real) return static_cast<std::uint32_t>(value.integers()[i]);
  return isa::encode(dtype, real ? static_cast<float>(value.reals()[i]) : static_cast<float>(value.integers()[i]));
}

/// The integer of `bytes` stored bytes.
std::int64_t whole_number(std::uint32_t bits, std::size_t bytes, bool is_signed) {
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  const std::uint64_t high = std::uint64_t{bits} << unused;
  return is_signed ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
}

void require_inputs(const frontend::LoweredGraph& lowered, const std::vector<Value>& inputs) {
  if (inputs.size() != lowered.inputs.size())
    throw Error{Fault::kUsage, "inputs", fmt::format("{} of {} are given", inputs.size(), lowered.inputs.size()),
                "give one for each parameter"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = lowered.inputs[i].type;
    if (!lowered.inputs[i].name.empty() && !(inputs[i].type == type))
      throw Error{Fault::kUsage, fmt::format("inputs[{}]", i),
                  fmt::format("is {}, but the program takes {}", mlir_text(inputs[i].type), mlir_text(type)),
                  "give a value of that type"};
  }
}

}  // namespace

void write_value(runtime::Session& session, std::uint32_t rank, std::string_view name, const Value& value) {
  const isa::Dtype dtype = session.region(rank, name).dtype;
  const auto size = static_cast<std::size_t>(isa::size_of(dtype));
  std::byte* to = session.bytes(rank, name).data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(value.count()); ++i) {
    const std::uint32_t bits = bits_of(dtype, value, i);
    std::memcpy(to + i * size, &bits, size);
  }
}

Value read_value(runtime::Session& session, std::uint32_t rank, std::string_view name, const Type& type) {
  const isa::Dtype dtype = session.region(rank, name).dtype;
  const auto size = static_cast<std::size_t>(isa::size_of(dtype));
  const std::byte* from = session.bytes(rank, name).data();
  const auto count = static_cast<std::size_t>(frontend::element_count(type.dims));
  const bool real = is_float(type.element), whole = isa::is_integer(dtype);
  const bool is_signed = !is_unsigned_integer(type.element) && !is_bool(type.element);
  frontend::Reals reals(real ? count : 0);
  frontend::Integers integers(real ? 0 : count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, from + i * size, size);
    if (real)
      reals[i] = whole ? static_cast<double>(whole_number(bits, size, true)) : isa::decode(dtype, bits);
    else
      integers[i] = whole ? whole_number(bits, size, is_signed) : static_cast<std::int64_t>(isa::decode(dtype, bits));
  }
  return real ? frontend::value_of(type, std::move(reals)) : frontend::value_of(type, std::move(integers));
}

GraphProgram::GraphProgram(frontend::LoweredGraph lowered, const hw::MachineParams& machine)
    : lowered_{std::move(lowered)},
      machine_{machine},
      compiled_{runtime::compile(lowered_.graph, machine.target(),
                                 {.name = "graph", .ranks = static_cast<std::uint32_t>(lowered_.ranks)})} {}

void GraphProgram::prepare() {
  if (!lowered_.timed_only.empty())
    throw Error{Fault::kProgram, lowered_.timed_only.front(), "can be timed, but not computed",
                "ask for its time alone, or build it from other operators"};
  if (device_) return;
  device_ = isa::make_numeric_device();
  device_->load(compiled_.program);
  session_.emplace(*device_, compiled_.program);
  for (std::uint32_t r = 0; r < compiled_.program.ranks; ++r)
    for (const frontend::ConstantPort& constant : lowered_.constants)
      if (session_->has(constant.name)) write_value(*session_, r, constant.name, frontend::value_of(*constant.literal));
}

std::vector<Value> GraphProgram::run(const std::vector<Value>& inputs) {
  if (lowered_.ranks != 1)
    throw Error{Fault::kProgram, "graph", fmt::format("needs {} cores", lowered_.ranks), "give each its inputs"};
  return run_together({inputs}).front();
}

std::vector<std::vector<Value>> GraphProgram::run_together(const std::vector<std::vector<Value>>& inputs) {
  if (inputs.size() != static_cast<std::size_t>(lowered_.ranks))
    throw Error{Fault::kUsage, "inputs",
                fmt::format("are given for only {} of {} cores", inputs.size(), lowered_.ranks),
                "give each core its own"};
  prepare();
  for (std::uint32_t r = 0; r < inputs.size(); ++r) {
    require_inputs(lowered_, inputs[r]);
    for (std::size_t i = 0; i < inputs[r].size(); ++i)
      if (!lowered_.inputs[i].name.empty() && session_->has(lowered_.inputs[i].name))
        write_value(*session_, r, lowered_.inputs[i].name, inputs[r][i]);
  }
  device_->run({});
  std::vector<std::vector<Value>> out(inputs.size());
  for (std::uint32_t r = 0; r < inputs.size(); ++r)
    for (const frontend::Port& port : lowered_.outputs)
      out[r].push_back(port.name.empty() ? frontend::zeros(port.type) : read_value(*session_, r, port.name, port.type));
  return out;
}

double GraphProgram::seconds() {
  if (!seconds_) seconds_ = hw::seconds(hw::simulate_in_child(compiled_.program, machine_).total);
  return *seconds_;
}

}  // namespace trnsim
