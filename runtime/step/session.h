// Host access to a loaded program's tensors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isa/device.h"
#include "isa/program.h"

namespace runtime {

/// Tensors of loaded programs by name, on any device. Values are fp32 on the host and converted (nearest even) to the
/// tensor's type. A rank has the tensors of the program that it runs.
class Session {
 public:
  Session(isa::Device& device, const isa::Program& program) : Session{device, isa::Programs{&program}} {}
  Session(isa::Device& device, isa::Programs programs) : device_{device}, programs_{std::move(programs)} {}

  bool has(std::uint32_t rank, std::string_view name) const;
  bool has(std::string_view name) const { return has(0, name); }
  /// Errors of all: Fault::kInternal for an unknown name or a size that is not the tensor's.
  void write(std::uint32_t rank, std::string_view name, std::span<const float> values);
  void write(std::uint32_t rank, std::string_view name, std::span<const std::int32_t> values);
  std::vector<float> read(std::uint32_t rank, std::string_view name);
  /// The raw bytes, to save and restore a state bit for bit.
  std::span<std::byte> bytes(std::uint32_t rank, std::string_view name);
  const isa::Region& region(std::uint32_t rank, std::string_view name) const;
  const isa::Region& region(std::string_view name) const { return region(0, name); }

 private:
  const isa::Program& program_of(std::uint32_t rank) const;

  isa::Device& device_;
  const isa::Programs programs_;
};

}  // namespace runtime
