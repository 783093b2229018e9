// Finds bytes that are read before they are written, or overwritten before they are read. Knows nothing of how the
// compiler tracked dependencies: it compares the simulated order with program order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/memory/shadow.h"
#include "isa/program.h"

namespace hw {

/// The operands of each instruction of each call when everything runs in program order: a checksum of the last writers
/// of the bytes that it reads.
struct Expected {
  struct Reads {
    std::uint64_t at_begin = 0;
    std::uint64_t at_end = 0;  // of the operands that it does not itself write to
  };
  int granule = 1;  // bytes that the shadow tells apart
  std::uint64_t hbm_bytes = 0;
  std::vector<std::uint32_t> first;  // by call: number of its first instruction, counted from 1 over the program
  std::vector<Reads> reads;          // by that number
  std::vector<std::uint8_t> lane;    // by that number: engine or ring, each in order
};

/// Errors: Fault::kProgram when an instruction reads SBUF or PSUM bytes that nothing has written.
Expected expect(const isa::Program& program);

/// Follows one rank through a simulation.
class RaceCheck {
 public:
  RaceCheck(const isa::Program& program, std::shared_ptr<const Expected> expected, std::uint32_t rank);
  /// Errors of both: Fault::kProgram naming the instruction that raced.
  void begins(std::uint32_t call, std::uint32_t index);
  void retires(std::uint32_t call, std::uint32_t index);

 private:
  [[noreturn]] void report(std::uint32_t call, std::uint32_t index, const char* what) const;

  const isa::Program& program_;
  std::shared_ptr<const Expected> expected_;
  std::uint32_t rank_;
  Shadow shadow_;
};

}  // namespace hw
