// The machine's parameters: every number with its unit and source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/param_file.h"

namespace isa {
enum class Engine : std::uint8_t;  // isa/instr.h
struct Target;                     // isa/target.h
struct Timing;                     // isa/cost.h
}  // namespace isa

namespace hw {

struct Peaks;  // hw/trace.h

/// One instance type and the number of instances. Values are in base units: seconds, hertz, bytes, bytes per
/// second, cycles of the engine named.
struct MachineParams {
  using Number = base::Sourced<double>;

  std::string name;

  Number chips, cores, logical, hbm_stacks;
  Number training, exchange;
  Number generation, sbuf_partitions, sbuf_partition, sbuf_shared_port, psum_partition, psum_bank, psum_shared_port;
  Number tensor_rows, tensor_columns, tensor_moving, tensor_advertised;
  Number tensor_clock, vector_clock, scalar_clock, gpsimd_clock, sync_clock;
  Number min_interval, semaphore, semaphore_clear, register_step, iteration;
  Number tensor_latency, vector_latency, scalar_latency, gpsimd_latency, sync_latency;
  Number tensor_fp32_passes, tensor_fp32_transpose_passes, tensor_fast_load, tensor_swap;
  Number vector_wide, vector_narrow_copy, vector_narrow_copy_part, vector_narrow_pair;
  Number vector_start, vector_operand_read, scalar_start, scalar_function, scalar_table_load;
  Number scalar_accumulator_read, gpsimd_start, dynamic_address;
  Number power_utilisation, power_window, power_cold, power_ramp;
  Number lead_in, benchmark;
  Number hbm_bytes, hbm_bandwidth, hbm_turnaround;
  Number dma_rings, dma_engines, dma_start, dma_wake, dma_completion, dma_packet, dma_transpose;
  Number dma_generators, dma_generation, dma_indexed_setup, dma_engine_rate, dma_setup, dma_overlap, dma_rate,
      dma_descriptor_overhead;
  Number cc_queues, cc_floor, cc_barrier, cc_bandwidth, cc_packet, cc_mesh_below, cc_halving_below, cc_peer;
  Number cc_launch, cc_loop, cc_step, cc_network_sync;
  Number link_bandwidth, link_ports, link_hop, torus_rows, torus_columns;
  Number instances, efa_bandwidth, efa_latency;
  Number vcpus, host_memory;

  struct Field {
    std::string_view key;
    Number MachineParams::*member;
    base::Dimension dimension;
    std::string_view text;
  };
  /// The only list of fields: the loader, `trnsim params` and the tests walk it.
  static std::span<const Field> fields();

  int cores_in_use = 0;    // of each instance, the first ones; 0: all
  std::string toml;        // everything as resolved, see base::ParamFile::to_toml
  std::uint64_t hash = 0;  // two machines with the same hash behave the same

  /// The target that programs for this machine are compiled for and checked against.
  isa::Target target() const;
  /// The numbers that cost functions of isa/ read.
  isa::Timing timing() const;
  double clock(isa::Engine engine) const;
  /// Cores of one instance.
  int instance_cores() const { return static_cast<int>(chips.value * cores.value); }
  /// Those in use: ranks 0 to core_count() - 1 are instance by instance, chip by chip.
  int ranks_per_instance() const { return cores_in_use > 0 ? cores_in_use : instance_cores(); }
  int core_count() const { return ranks_per_instance() * static_cast<int>(instances.value); }
  /// Physical cores of an instance's host, whose CPUs run two threads per core: Ice Lake of Trn1, EPYC of Inf2.
  double physical_cores() const { return vcpus.value / 2; }
  /// Whether its cores may be shared evenly by groups of that many: powers of two, on a ring also other equal parts.
  bool forms_groups_of(std::uint32_t cores) const;
  std::uint64_t hbm_bytes_per_core() const;
  /// B/s of a core's part of its stack, all cores of it at work.
  double hbm_bandwidth_per_core() const;
  /// The machine with so many cores of each instance in use.
  MachineParams with_cores(int in_use) const;
  /// The machine as a program of so many ranks has it: the cores of a stack that it uses share the stack's bandwidth.
  MachineParams used_by(std::uint32_t ranks) const;
  Peaks peaks() const;
};

/// The file of a machine: `name_or_path` is "trn1.2xlarge" (a file of hw/params) or the path of a file of that form.
/// `overrides`: "key=value"; those of "price." do not change the machine: analysis::price_per_hour
/// reads them. Errors: Fault::kUsage for an unknown machine, with a suggestion, and for an unknown key.
base::ParamFile machine_file(std::string_view name_or_path, std::span<const std::string> overrides = {});

/// The same as a machine. Errors: also Fault::kUsage for a missing or misspelt key, a number without unit or source,
/// and values that no machine can have.
MachineParams load_machine(std::string_view name_or_path, std::span<const std::string> overrides = {});

/// Names of the machines in hw/params, in alphabetical order.
std::vector<std::string> machine_names();

}  // namespace hw
