// Programs of graphs computed by the instructions of simulated cores: each compiled once, run as often as one likes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/graph/graph.h"
#include "frontend/lower/lower.h"
#include "isa/device.h"
#include "isa/target.h"
#include "runtime/graph/numerics.h"

namespace trnsim {

using Literals = std::vector<frontend::LiteralPtr>;

/// A graph as a program of the device, and where the host finds its tensors.
class CoreProgram {
 public:
  /// `ranks` cores run it together; of `numerics`, the type of TensorE's operands and the rounding count. Errors: as
  /// frontend::lower() and runtime::compile(); Fault::kProgram for a part whose time is known and whose numbers are
  /// not, and for a graph that names more cores.
  CoreProgram(const frontend::Module& module, const isa::Target& target, std::int64_t ranks,
              const runtime::Numerics& numerics);

  const isa::Program& program() const { return program_; }
  std::int64_t ranks() const { return program_.ranks; }
  CoreProgram(const CoreProgram&) = delete;  // places point into the program
  CoreProgram& operator=(const CoreProgram&) = delete;
  /// Before the first run of it on this device, or after another program's. Errors: as isa::Device::load().
  void load(isa::Device& device) const;
  /// `inputs`: of each core. Errors: Fault::kData for a whole number that 32 bits do not hold.
  std::vector<Literals> run(isa::Device& device, std::span<const Literals> inputs,
                            const isa::RunOptions& options) const;

 private:
  /// A tensor of the program for the host; null: it has no elements, or nothing reads it.
  struct Place {
    frontend::Type type;
    const isa::Region* region = nullptr;
  };
  const isa::Region* find(const std::string& name) const;

  isa::Program program_;
  std::vector<Place> inputs_, outputs_;
  std::vector<std::pair<const isa::Region*, frontend::LiteralPtr>> constants_;
};

/// The cores of this process. Programs take turns, and share their memory.
class GraphCores {
 public:
  explicit GraphCores(std::uint64_t seed) : seed_{seed} {}  // of stochastic rounding
  std::vector<Literals> run(const std::shared_ptr<const CoreProgram>& program, std::span<const Literals> inputs);
  /// Whether an infinity or a NaN reached a transpose or a choice of rows by TensorE in the last run, which spreads it.
  bool spread() const { return spread_; }

 private:
  std::unique_ptr<isa::Device> device_;
  std::shared_ptr<const CoreProgram> loaded_;
  std::uint64_t seed_;
  std::uint32_t runs_ = 0;
  bool spread_ = false;
};

}  // namespace trnsim
