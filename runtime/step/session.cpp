#include "runtime/step/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "isa/dtype.h"

namespace runtime {
namespace {

std::size_t count_of(const isa::Region& region) {
  std::size_t n = 1;
  for (const std::int64_t size : region.shape) n *= static_cast<std::size_t>(size);
  return n;
}

void need_count(const isa::Region& region, std::size_t count) {
  base::ensure(count_of(region) == count, region.name,
               fmt::format("has {} elements, given {}", count_of(region), count));
}

}  // namespace

const isa::Program& Session::program_of(std::uint32_t rank) const {
  const auto found = std::ranges::find_if(programs_, [&](const isa::Program* p) { return p->runs_on(rank); });
  base::ensure(found != programs_.end(), "session", fmt::format("rank {} runs no program", rank));
  return **found;
}

bool Session::has(std::uint32_t rank, std::string_view name) const {
  return std::ranges::any_of(program_of(rank).regions, [&](const isa::Region& r) { return r.name == name; });
}

const isa::Region& Session::region(std::uint32_t rank, std::string_view name) const {
  const isa::Program& program = program_of(rank);
  const auto found = std::ranges::find(program.regions, name, &isa::Region::name);
  base::ensure(found != program.regions.end(), program.name, fmt::format("has no tensor '{}'", name));
  return *found;
}

std::span<std::byte> Session::bytes(std::uint32_t rank, std::string_view name) {
  const isa::Region& r = region(rank, name);
  return {device_.memory(rank).hbm() + r.offset, r.bytes};
}

void Session::write(std::uint32_t rank, std::string_view name, std::span<const float> values) {
  const isa::Region& r = region(rank, name);
  need_count(r, values.size());
  std::byte* to = device_.memory(rank).hbm() + r.offset;
  if (r.dtype == isa::Dtype::kFp32) {
    std::memcpy(to, values.data(), values.size_bytes());
    return;
  }
  const auto size = static_cast<std::size_t>(isa::size_of(r.dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = isa::encode(r.dtype, values[i]);
    std::memcpy(to + i * size, &bits, size);
  }
}

void Session::write(std::uint32_t rank, std::string_view name, std::span<const std::int32_t> values) {
  const isa::Region& r = region(rank, name);
  need_count(r, values.size());
  base::ensure(r.dtype == isa::Dtype::kInt32, r.name, "is not an int32 tensor");
  std::memcpy(device_.memory(rank).hbm() + r.offset, values.data(), values.size_bytes());
}

std::vector<float> Session::read(std::uint32_t rank, std::string_view name) {
  const isa::Region& r = region(rank, name);
  std::vector<float> out(count_of(r));
  const std::byte* from = device_.memory(rank).hbm() + r.offset;
  const auto size = static_cast<std::size_t>(isa::size_of(r.dtype));
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, from + i * size, size);
    out[i] = isa::decode(r.dtype, bits);
  }
  return out;
}

}  // namespace runtime
