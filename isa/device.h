// Devices that run a program: host threads (isa/numeric.h) or the SystemC machine (hw/sim_device.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "isa/memory.h"
#include "isa/program.h"

namespace isa {

struct RunOptions {
  std::uint64_t seed = 42;
  std::uint32_t step = 0;
  int host_threads = 0;  // 0: as many as the host has; never changes the result
  /// Called between calls: true ends the run there, and its output so far is invalid.
  bool (*give_up)() = nullptr;
  /// Gets, by instruction of a program of one rank, inputs outside the documented range of ScalarE's functions, and
  /// rows that a scatter adds to more than once.
  std::map<std::uint32_t, std::uint64_t>* outside = nullptr;
};

/// Runs programs on `ranks` cores whose HBM stays from run to run.
class Device {
 public:
  virtual ~Device() = default;
  /// Reserves HBM of every rank for its program; keeps the pointers. Errors: Fault::kCapacity; as require_together().
  virtual void load_all(const Programs& programs) = 0;
  void load(const Program& program) { load_all({&program}); }
  virtual void run(const RunOptions& options) = 0;
  virtual Memory& memory(std::uint32_t rank) = 0;
};

/// Checked before a numeric device is made, so that nothing has been written yet. Errors: Fault::kUsage when
/// TRNSIM_HOST_ISA is unknown, Fault::kEnvironment when the host lacks it.
void require_host();

/// Executes each rank's calls in program order on host threads, without time. Programs that run together take turns:
/// each continues until it needs a message that is not sent yet. Errors of run(): Fault::kProgram when none can
/// (the error lists the waiting ranks). Errors of this function: as require_host().
std::unique_ptr<Device> make_numeric_device();

}  // namespace isa
