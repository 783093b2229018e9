// What can run a program: host threads (isa/numeric.h) or the SystemC machine (hw/sim_device.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isa/memory.h"
#include "isa/program.h"

namespace isa {

struct RunOptions {
  std::uint64_t seed = 42;
  std::uint32_t step = 0;
  int host_threads = 0;  // 0: as many as the host has; never changes the result
};

/// Runs programs on `ranks` cores whose HBM stays from run to run.
class Device {
 public:
  virtual ~Device() = default;
  /// Reserves HBM of every rank for `program`; keeps the pointer. Errors: Fault::kCapacity.
  virtual void load(const Program& program) = 0;
  virtual void run(const RunOptions& options) = 0;
  virtual Memory& memory(std::uint32_t rank) = 0;
};

/// Executes each rank's calls in program order on host threads, without time.
std::unique_ptr<Device> make_numeric_device();

}  // namespace isa
