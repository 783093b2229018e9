#include "trnsim/graphs/graph_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "isa/dtype.h"
#include "runtime/compiler/compile.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using frontend::Element;
using frontend::Literal;

/// Numbers of `From` at `from` as numbers of `To` at `to`, one behind the other.
template <typename From, typename To>
void convert(const std::byte* from, std::byte* to, std::int64_t count, const std::string& name) {
  for (std::int64_t i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, from + static_cast<std::size_t>(i) * sizeof(From), sizeof(From));
    if constexpr (std::is_integral_v<From> && sizeof(From) > sizeof(To))
      if (!std::in_range<To>(x))
        throw Error{Fault::kData, name, fmt::format("{} does not fit into the 32 bits of the device", x),
                    "keep whole numbers within 32 bits"};
    const auto y = static_cast<To>(x);
    std::memcpy(to + static_cast<std::size_t>(i) * sizeof(To), &y, sizeof(To));
  }
}

/// Numbers of fp32 as those of a narrower type: of a constant that the device stores so.
void round(const std::byte* from, isa::Dtype dtype, std::byte* to, std::int64_t count) {
  const auto size = static_cast<std::size_t>(isa::size_of(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    float x = 0;
    std::memcpy(&x, from + static_cast<std::size_t>(i) * sizeof(float), sizeof(float));
    const std::uint32_t bits = isa::encode(dtype, x);
    std::memcpy(to + static_cast<std::size_t>(i) * size, &bits, size);
  }
}

bool same_bytes(Element element, isa::Dtype dtype) {
  return frontend::stored_bytes(element) == static_cast<std::size_t>(isa::size_of(dtype));
}

void copy_in(const Literal& literal, const isa::Region& region, std::byte* to) {
  const std::int64_t count = literal.count();
  const std::size_t size = frontend::stored_bytes(literal.type.element);
  std::vector<std::byte> repeated;
  const std::byte* from = literal.bytes.data();
  if (literal.splat) {
    for (std::int64_t i = 0; i < count; ++i) repeated.insert(repeated.end(), from, from + size);
    from = repeated.data();
  }
  const Element element = literal.type.element;
  if (same_bytes(element, region.dtype))
    std::memcpy(to, from, static_cast<std::size_t>(count) * size);
  else if (element == Element::kF32)
    round(from, region.dtype, to, count);
  else if (element == Element::kF64)
    convert<double, float>(from, to, count, region.name);
  else if (element == Element::kI64)
    convert<std::int64_t, std::int32_t>(from, to, count, region.name);
  else if (element == Element::kU64)
    convert<std::uint64_t, std::uint32_t>(from, to, count, region.name);
  else
    throw Error{
        Fault::kProgram, region.name,
        fmt::format("{} takes less than a byte, which the device cannot store", frontend::mlir_text(literal.type)),
        "convert it to a type of at least 8 bits"};
}

frontend::LiteralPtr copy_out(const frontend::Type& type, const isa::Region* region, const std::byte* from) {
  auto out = std::make_shared<Literal>(Literal{.type = type, .bytes = {}});
  const std::int64_t count = out->count();
  const std::size_t size = static_cast<std::size_t>(count) * frontend::stored_bytes(type.element);
  if (region != nullptr && same_bytes(type.element, region->dtype)) {
    out->bytes.assign(from, from + size);
    return out;
  }
  out->bytes.resize(size);
  if (region == nullptr) return out;
  if (type.element == Element::kF64)
    convert<float, double>(from, out->bytes.data(), count, region->name);
  else if (type.element == Element::kI64)
    convert<std::int32_t, std::int64_t>(from, out->bytes.data(), count, region->name);
  else
    convert<std::uint32_t, std::uint64_t>(from, out->bytes.data(), count, region->name);
  return out;
}

/// Errors: Fault::kProgram where the numbers of a graph are not the device's.
frontend::LoweredGraph computable(const frontend::Module& module, std::int64_t ranks, isa::Dtype operand) {
  frontend::LowerOptions options{.computed = true};
  if (operand != isa::Dtype::kFp32) options.operand = operand;
  frontend::LoweredGraph lowered = frontend::lower(module, options);
  if (!lowered.timed_only.empty())
    throw Error{Fault::kProgram, lowered.timed_only.front(), "can be timed, but not computed",
                "build it from other operators"};
  if (lowered.ranks > ranks)
    throw Error{Fault::kProgram, module.file, fmt::format("is for {} cores, but runs on {}", lowered.ranks, ranks),
                "start that number of cores"};
  return lowered;
}

std::uint64_t transposed(isa::Device& device, std::int64_t ranks) {
  std::uint64_t count = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) count += device.memory(rank).events().transposed;
  return count;
}

}  // namespace

CoreProgram::CoreProgram(const frontend::Module& module, const isa::Target& target, std::int64_t ranks,
                         const runtime::Numerics& numerics) {
  frontend::LoweredGraph lowered = computable(module, ranks, numerics.operand);
  runtime::Compiled compiled = runtime::compile(std::move(lowered.graph), target,
                                                {.name = module.name, .ranks = static_cast<std::uint32_t>(ranks)});
  program_ = std::move(compiled.program);
  program_.rounding = numerics.rounding;
  for (const frontend::Port& port : lowered.inputs) inputs_.push_back({port.type, find(port.name)});
  for (const frontend::Port& port : lowered.outputs) outputs_.push_back({port.type, find(port.name)});
  for (const frontend::ConstantPort& constant : lowered.constants)
    if (const isa::Region* region = find(constant.name)) constants_.emplace_back(region, constant.literal);
}

const isa::Region* CoreProgram::find(const std::string& name) const {
  const auto found = std::ranges::find(program_.regions, name, &isa::Region::name);
  return name.empty() || found == program_.regions.end() ? nullptr : &*found;
}

void CoreProgram::load(isa::Device& device) const {
  device.load(program_);
  for (std::uint32_t rank = 0; rank < program_.ranks; ++rank)
    for (const auto& [region, literal] : constants_)
      copy_in(*literal, *region, device.memory(rank).hbm() + region->offset);
}

std::vector<Literals> CoreProgram::run(isa::Device& device, std::span<const Literals> inputs,
                                       const isa::RunOptions& options) const {
  base::ensure(inputs.size() == program_.ranks, program_.name, "has inputs for another number of cores");
  for (std::uint32_t rank = 0; rank < program_.ranks; ++rank) {
    base::ensure(inputs[rank].size() == inputs_.size(), program_.name, "has another number of inputs");
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (const isa::Region* region = inputs_[i].region)
        copy_in(*inputs[rank][i], *region, device.memory(rank).hbm() + region->offset);
  }
  device.run(options);
  std::vector<Literals> out(program_.ranks);
  for (std::uint32_t rank = 0; rank < program_.ranks; ++rank)
    for (const Place& place : outputs_)
      out[rank].push_back(copy_out(place.type, place.region,
                                   place.region ? device.memory(rank).hbm() + place.region->offset : nullptr));
  return out;
}

std::vector<Literals> GraphCores::run(const std::shared_ptr<const CoreProgram>& program,
                                      std::span<const Literals> inputs) {
  if (!device_) device_ = isa::make_numeric_device();
  if (loaded_ != program) {
    program->load(*device_);
    loaded_ = program;
  }
  const std::uint64_t before = transposed(*device_, program->ranks());
  std::vector<Literals> out = program->run(*device_, inputs, {.seed = seed_, .step = runs_++});
  spread_ = transposed(*device_, program->ranks()) > before;
  return out;
}

}  // namespace trnsim
