// A program of any framework, compiled once for simulated cores: computed as often as one likes, and timed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/interpret/value.h"
#include "frontend/lower/lower.h"
#include "hw/params.h"
#include "isa/device.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"

namespace trnsim {

/// Not for several threads at once.
class GraphProgram {
 public:
  /// Errors: as frontend::lower() and runtime::compile().
  GraphProgram(frontend::LoweredGraph lowered, const hw::MachineParams& machine);

  /// The results of one core. Errors: Fault::kProgram when a part of the lowering is only timed, or it needs several
  /// cores; Fault::kUsage for inputs that are not the program's.
  std::vector<frontend::Value> run(const std::vector<frontend::Value>& inputs);
  /// The results of each core; `inputs` has the inputs of each core. Errors: as run().
  std::vector<std::vector<frontend::Value>> run_together(const std::vector<std::vector<frontend::Value>>& inputs);
  /// Seconds of one run on the machine, simulated once. Errors: as hw::simulate().
  double seconds();

  std::int64_t ranks() const { return lowered_.ranks; }
  double flops() const { return lowered_.flops; }  // of one core
  std::uint64_t hbm_bytes() const { return compiled_.program.hbm_bytes; }
  /// The parts that are timed and not computed; empty: run() computes the program.
  const std::vector<std::string>& timed_only() const { return lowered_.timed_only; }

 private:
  void prepare();

  frontend::LoweredGraph lowered_;
  hw::MachineParams machine_;
  runtime::Compiled compiled_;
  std::unique_ptr<isa::Device> device_{};
  std::optional<runtime::Session> session_{};
  std::optional<double> seconds_{};
};

/// A value of the host's, as the bits that a tensor of the device holds, and back. Numbers that the device's type has
/// are exact; 64-bit integers keep their lowest 32 bits.
void write_value(runtime::Session& session, std::uint32_t rank, std::string_view name, const frontend::Value& value);
frontend::Value read_value(runtime::Session& session, std::uint32_t rank, std::string_view name,
                           const frontend::Type& type);

}  // namespace trnsim
