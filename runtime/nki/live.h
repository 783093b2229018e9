// Facts about a block for its passes: the buffers that instructions need, and the SBUF that they take.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/compiler/emitter.h"

namespace runtime::nki {

inline constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// Which instructions are left when `same` takes the place of buffers (0: of none): those whose results reach HBM.
class Live {
 public:
  Live(const VirtualBlock& block, const std::vector<std::uint32_t>& same);
  std::vector<bool> keep;
  std::vector<std::uint32_t> first, last;  // per buffer: the instructions that name it

 private:
  void use(std::uint32_t reg, std::uint32_t i, std::vector<char>& wanted);
};

/// The instruction at which most of SBUF is needed, and how many bytes of a partition.
std::pair<std::uint32_t, std::int64_t> peak(const VirtualBlock& block, const Live& live);

/// The label of the instruction that wrote each buffer first.
std::vector<std::uint32_t> lines_of(const VirtualBlock& block);

}  // namespace runtime::nki
