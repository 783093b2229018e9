// A traced NKI kernel on the simulated machine: its numbers, its time, and where the time goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/params.h"
#include "hw/trace.h"
#include "isa/device.h"
#include "runtime/nki/arrange.h"
#include "runtime/nki/trace.h"

namespace trnsim {

/// A tensor of the kernel in HBM, in the order of the trace's registers.
struct NkiTensor {
  std::string name;
  std::uint64_t bytes = 0;
  bool input = false;
};

/// One line of the kernel: the work of its instructions.
struct NkiLine {
  std::string label;
  std::uint64_t instructions = 0;
  double busy = 0, waiting = 0;  // seconds, summed over its instructions
  std::string engine;
  double critical = 0;  // seconds of the critical path
};

/// The label of the time before the first instruction and between lines: the launch of the kernel and its lead-in.
inline constexpr const char* kLaunch = "launch and lead-in";

struct NkiTime {
  hw::SimResult result;
  std::vector<NkiLine> lines;  // by time on the critical path, or with waiting, falling
};

/// Debian's Python: another one earlier in PATH has neither Debian's NumPy nor its headers.
inline constexpr const char* kNkiPython = "/usr/bin/python3";
/// The folder with the Python package, beside the binary or below its prefix; nothing when it was built without.
std::optional<std::filesystem::path> nki_module();

/// Bytes of each SBUF partition that the compiler reserves. Source: AWS Neuron docs, nki.compiler.sbuf.alloc.
inline constexpr std::int64_t kCompilerSbuf = std::int64_t{16} * 1024;
/// Bytes of a partition that kernels get.
inline std::int64_t sbuf_for_kernels(const isa::Target& target) {
  return target.geometry.sbuf_partition_bytes - kCompilerSbuf;
}

/// Seconds of the critical path that each label of the block holds. `result`: with the trace of all instructions.
std::vector<double> critical_lines(const isa::Block& block, const hw::SimResult& result);

class NkiKernel {
 public:
  /// Compiles the traced kernel. Errors: as runtime::nki::arrange().
  NkiKernel(runtime::nki::Trace& trace, std::vector<NkiTensor> tensors, const hw::MachineParams& machine,
            const runtime::nki::NkiPasses& passes);
  /// A kernel that is still being traced, as far as it has come and as it is written. Errors: as above.
  NkiKernel(runtime::VirtualBlock&& so_far, const std::vector<NkiTensor>& tensors, const hw::MachineParams& machine);
  ~NkiKernel();

  const hw::MachineParams& machine() const { return machine_; }
  const isa::Program& program() const { return program_; }
  const runtime::nki::Arranged& arranged() const { return arranged_; }
  const isa::Block& block() const { return program_.blocks.front(); }

  /// Bytes of a tensor in the memory of the device that computes. Valid until the kernel ends.
  std::span<std::byte> memory(std::size_t tensor);
  /// Executes the instructions. Errors: as isa::Device::run().
  void compute(int host_threads);
  /// Doubts that the numbers of the last compute() raise.
  std::vector<runtime::nki::Doubt> outside() const;
  /// Kernels of the two physical cores of a logical one: each is timed with the other at its side from now on. Returns
  /// whether the second one takes longer. Errors: as hw::simulate().
  static bool beside(NkiKernel& first, NkiKernel& second);
  /// Simulates it, with the other one at its side if there is one; with `path` also its critical path. Errors: as
  /// hw::simulate().
  NkiTime time(bool path) const;

 private:
  hw::MachineParams machine_;
  runtime::nki::Arranged arranged_;
  isa::Program program_;
  std::optional<isa::Program> other_;  // of the other physical core
  std::unique_ptr<isa::Device> device_;
  bool newer_ = false;
  std::map<std::uint32_t, std::uint64_t> outside_;  // as isa::RunOptions
};

}  // namespace trnsim
