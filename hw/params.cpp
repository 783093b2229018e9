#include "hw/params.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <filesystem>

#include "base/bundled_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "hw/machine_check.h"

namespace hw {
namespace {

using base::Dimension;
using M = MachineParams;

constexpr std::array kFields = {
    M::Field{"chip.count", &M::chips, Dimension::kCount, "Trainium or Inferentia chips in the instance"},
    M::Field{"chip.cores", &M::cores, Dimension::kCount, "NeuronCores per chip"},
    M::Field{"chip.logical", &M::logical, Dimension::kCount,
             "physical cores that the runtime joins to one logical core (LNC), which is the core that programs see"},
    M::Field{
        "chip.exchange", &M::exchange, Dimension::kTime,
        "time until a physical core sees its partner's part of a result of their logical core; none at chip.logical 1"},
    M::Field{"chip.training", &M::training, Dimension::kCount, "1: the machine can train; 0: it is for inference only"},
    M::Field{"core.generation", &M::generation, Dimension::kCount,
             "NeuronCore version, which decides the instruction set"},
    M::Field{"sbuf.partitions", &M::sbuf_partitions, Dimension::kCount, "partitions of SBUF and of PSUM"},
    M::Field{"sbuf.partition", &M::sbuf_partition, Dimension::kBytes, "one partition of SBUF"},
    M::Field{"sbuf.shared_port", &M::sbuf_shared_port, Dimension::kCount,
             "1: VectorE and GpSimdE exclude each other on SBUF; 0: they do not"},
    M::Field{"psum.partition", &M::psum_partition, Dimension::kBytes, "one partition of PSUM"},
    M::Field{"psum.bank", &M::psum_bank, Dimension::kBytes,
             "one bank of a PSUM partition: as much as one matmul may write"},
    M::Field{"psum.shared_port", &M::psum_shared_port, Dimension::kCount,
             "1: VectorE and ScalarE exclude each other on PSUM; 0: they do not"},
    M::Field{"tensor.rows", &M::tensor_rows, Dimension::kCount, "rows of the PE array: the contracted axis"},
    M::Field{"tensor.columns", &M::tensor_columns, Dimension::kCount, "columns of the stationary operand, at most"},
    M::Field{"tensor.moving", &M::tensor_moving, Dimension::kCount, "columns of the moving operand, at most"},
    M::Field{"tensor.advertised", &M::tensor_advertised, Dimension::kFlops, "published dense bf16 rate of a core"},
    M::Field{"tensor.clock", &M::tensor_clock, Dimension::kFrequency, "clock of the PE array"},
    M::Field{"vector.clock", &M::vector_clock, Dimension::kFrequency, "clock of VectorE"},
    M::Field{"scalar.clock", &M::scalar_clock, Dimension::kFrequency, "clock of ScalarE"},
    M::Field{"gpsimd.clock", &M::gpsimd_clock, Dimension::kFrequency, "clock of GpSimdE"},
    M::Field{"sync.clock", &M::sync_clock, Dimension::kFrequency, "clock of the Sync sequencer"},
    M::Field{"engine.min_interval", &M::min_interval, Dimension::kCycles,
             "shortest time between two issues of any engine"},
    M::Field{"engine.semaphore", &M::semaphore, Dimension::kTime,
             "time from a visible result to the start of the waiting instruction"},
    M::Field{"engine.semaphore_clear", &M::semaphore_clear, Dimension::kTime,
             "time to clear all semaphores between two calls"},
    M::Field{"engine.register", &M::register_step, Dimension::kTime,
             "time of a sequencer's step that only changes registers"},
    M::Field{"engine.iteration", &M::iteration, Dimension::kTime,
             "time between two iterations of a kernel's loop that the sequencers count, when all engines have met"},
    M::Field{"tensor.latency", &M::tensor_latency, Dimension::kCycles,
             "time from the last column to the visible result"},
    M::Field{"vector.latency", &M::vector_latency, Dimension::kCycles,
             "time from the last element of VectorE to the visible result"},
    M::Field{"scalar.latency", &M::scalar_latency, Dimension::kCycles,
             "time from the last element of ScalarE to the visible result"},
    M::Field{"gpsimd.latency", &M::gpsimd_latency, Dimension::kCycles,
             "time from the last element of GpSimdE to the visible result"},
    M::Field{"sync.latency", &M::sync_latency, Dimension::kCycles, "time from the issue to the raised semaphore"},
    M::Field{"tensor.fp32_passes", &M::tensor_fp32_passes, Dimension::kCount, "passes of a matmul with fp32 operands"},
    M::Field{"tensor.fp32_transpose_passes", &M::tensor_fp32_transpose_passes, Dimension::kCount,
             "passes of a transpose of fp32 data"},
    M::Field{"vector.start", &M::vector_start, Dimension::kCycles,
             "time that VectorE is held before its first element"},
    M::Field{"vector.operand_read", &M::vector_operand_read, Dimension::kCycles,
             "time in which VectorE reads operands with one number per partition"},
    M::Field{"vector.wide", &M::vector_wide, Dimension::kCount,
             "elements that a lane reads from SBUF per cycle, where tiles are dense and in SBUF"},
    M::Field{"vector.narrow_copy", &M::vector_narrow_copy, Dimension::kCount,
             "speed-up of tensor_copy and tensor_scalar for dense bf16 and fp16 from SBUF to SBUF"},
    M::Field{"vector.narrow_copy_part", &M::vector_narrow_copy_part, Dimension::kCount,
             "the same speed-up with gaps, or with PSUM on one side"},
    M::Field{"vector.narrow_pair", &M::vector_narrow_pair, Dimension::kCount,
             "speed-up of tensor_tensor for bf16 and fp16 with both inputs in SBUF"},
    M::Field{"tensor.fast_load", &M::tensor_fast_load, Dimension::kCount, "stationary columns loaded per cycle"},
    M::Field{"tensor.swap", &M::tensor_swap, Dimension::kCycles,
             "time to switch from one stationary tile to the next, already loaded one"},
    M::Field{"scalar.start", &M::scalar_start, Dimension::kCycles,
             "time that ScalarE is held before its first element"},
    M::Field{"scalar.function", &M::scalar_function, Dimension::kCycles,
             "additional time that ScalarE is held when it computes a function"},
    M::Field{"scalar.table_load", &M::scalar_table_load, Dimension::kTime, "time to load another activation table"},
    M::Field{"scalar.accumulator_read", &M::scalar_accumulator_read, Dimension::kCycles,
             "time of activation_reduce to read out its sum"},
    M::Field{"gpsimd.start", &M::gpsimd_start, Dimension::kCycles, "time before GpSimdE's first element"},
    M::Field{"engine.dynamic_address", &M::dynamic_address, Dimension::kCycles,
             "least time of a register-addressed copy"},
    M::Field{"power.utilisation", &M::power_utilisation, Dimension::kRatio, "highest sustained use of the PE array"},
    M::Field{"power.window", &M::power_window, Dimension::kTime, "time over which the use is averaged"},
    M::Field{"power.cold", &M::power_cold, Dimension::kRatio,
             "relative rate of a PE array that has not run for power.ramp"},
    M::Field{"power.ramp", &M::power_ramp, Dimension::kTime, "time that the PE array runs at the rate of a cold one"},
    M::Field{"program.lead_in", &M::lead_in, Dimension::kTime,
             "time from the start of a program to its first instruction"},
    M::Field{"program.benchmark", &M::benchmark, Dimension::kTime,
             "time of the runtime around a program, in the end-to-end latency of neuron-bench; not part of a program"},
    M::Field{"hbm.stacks", &M::hbm_stacks, Dimension::kCount,
             "HBM stacks per chip; a core's memory lies in one, which its cores share evenly"},
    M::Field{"hbm.bytes", &M::hbm_bytes, Dimension::kBytes, "device memory per chip"},
    M::Field{"hbm.bandwidth", &M::hbm_bandwidth, Dimension::kBandwidth,
             "HBM bandwidth per chip, reads and writes together"},
    M::Field{"hbm.turnaround", &M::hbm_turnaround, Dimension::kRatio,
             "time lost relative to the time of moving bytes while a core reads as much as it writes"},
    M::Field{"dma.rings", &M::dma_rings, Dimension::kCount, "DMA rings per core, each processed in order"},
    M::Field{"dma.engines", &M::dma_engines, Dimension::kCount, "DMA engines per core"},
    M::Field{"dma.start", &M::dma_start, Dimension::kTime, "time from the issue to the first descriptor"},
    M::Field{"dma.wake", &M::dma_wake, Dimension::kTime,
             "time from a semaphore to the issue of the DMA that waits for it"},
    M::Field{"dma.generators", &M::dma_generators, Dimension::kCount,
             "hardware units of a core that make descriptors; 0: descriptors are made before"},
    M::Field{"dma.generation", &M::dma_generation, Dimension::kTime,
             "time of such a unit for the descriptors of one DMA"},
    M::Field{"dma.engine_rate", &M::dma_engine_rate, Dimension::kBandwidth,
             "rate of one DMA engine alone, reading or writing"},
    M::Field{"dma.setup", &M::dma_setup, Dimension::kTime, "time of a descriptor before its data moves"},
    M::Field{"dma.indexed_setup", &M::dma_indexed_setup, Dimension::kTime,
             "the same time of a descriptor of a gather or scatter, which software makes"},
    M::Field{"dma.overlap", &M::dma_overlap, Dimension::kBytes,
             "descriptors of at least this size are written while they are read"},
    M::Field{"dma.completion", &M::dma_completion, Dimension::kTime, "time of the descriptor that raises a semaphore"},
    M::Field{"dma.rate", &M::dma_rate, Dimension::kBandwidth,
             "rate of one engine on the path that all engines of a core share"},
    M::Field{"dma.descriptor_overhead", &M::dma_descriptor_overhead, Dimension::kBytes,
             "overhead of a descriptor on that path, in bytes at that rate: b bytes run at b / (b + this)"},
    M::Field{"dma.packet", &M::dma_packet, Dimension::kBytes, "longest descriptor"},
    M::Field{"dma.transpose", &M::dma_transpose, Dimension::kRatio,
             "rate of a transpose relative to a copy; 0: it takes descriptors of one element"},
    M::Field{"collective.queues", &M::cc_queues, Dimension::kCount,
             "queues of collectives per core, each processed in order"},
    M::Field{"collective.floor", &M::cc_floor, Dimension::kTime, "time of any collective before data moves"},
    M::Field{"collective.launch", &M::cc_launch, Dimension::kTime,
             "least time between two that a benchmark launches one after the other; not part of a program"},
    M::Field{"collective.barrier", &M::cc_barrier, Dimension::kTime, "time of a barrier"},
    M::Field{"collective.bandwidth", &M::cc_bandwidth, Dimension::kBandwidth, "bandwidth with which one core sends"},
    M::Field{"collective.packet", &M::cc_packet, Dimension::kBytes, "longest descriptor of a collective"},
    M::Field{"collective.mesh_below", &M::cc_mesh_below, Dimension::kBytes, "smaller collectives use a mesh"},
    M::Field{"collective.peer", &M::cc_peer, Dimension::kTime,
             "additional time for each other rank that a rank of a mesh writes to"},
    M::Field{"collective.halving_below", &M::cc_halving_below, Dimension::kBytes,
             "smaller ones, of a power of two of ranks, use recursive halving and doubling; others a ring"},
    M::Field{"collective.loop", &M::cc_loop, Dimension::kTime, "time that a benchmark's loop adds to each collective"},
    M::Field{"collective.step", &M::cc_step, Dimension::kTime,
             "time of a step of a ring, until the next chip can pass on what it has got"},
    M::Field{"collective.network_sync", &M::cc_network_sync, Dimension::kTime,
             "time that a benchmark on several instances adds for each crossing of the network; not part of a program"},
    M::Field{"link.bandwidth", &M::link_bandwidth, Dimension::kBandwidth,
             "NeuronLink bandwidth of a chip, all ports, in and out"},
    M::Field{"link.ports", &M::link_ports, Dimension::kCount, "NeuronLink ports of a chip"},
    M::Field{"link.hop", &M::link_hop, Dimension::kTime, "time from a chip to its neighbour"},
    M::Field{"link.rows", &M::torus_rows, Dimension::kCount, "chips in a column of the torus"},
    M::Field{"link.columns", &M::torus_columns, Dimension::kCount, "chips in a row of the torus"},
    M::Field{"cluster.instances", &M::instances, Dimension::kCount, "instances joined by EFA"},
    M::Field{"efa.bandwidth", &M::efa_bandwidth, Dimension::kBandwidth, "network bandwidth of the instance, each way"},
    M::Field{"efa.latency", &M::efa_latency, Dimension::kTime, "time from the HBM of one instance to that of another"},
    M::Field{"host.vcpus", &M::vcpus, Dimension::kCount, "virtual CPUs of the instance"},
    M::Field{"host.memory", &M::host_memory, Dimension::kBytes, "host memory of the instance"},
};

base::ParamFile file_as_written(std::string_view name_or_path) {
  const auto known = machine_names();
  if (std::ranges::find(known, name_or_path) != known.end())
    return base::bundled_file(fmt::format("hw/params/{}.toml", name_or_path));
  const bool is_path = name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".toml");
  if (is_path || std::filesystem::is_regular_file(name_or_path)) return base::ParamFile::load(name_or_path);
  // Amazon's families with GPUs: p4d, g5, ...
  const bool has_gpus = name_or_path.size() > 1 && (name_or_path[0] == 'p' || name_or_path[0] == 'g') &&
                        std::isdigit(static_cast<unsigned char>(name_or_path[1])) != 0;
  if (has_gpus)
    throw base::Error{base::Fault::kUsage, "machine", fmt::format("{} has GPUs, which are not simulated", name_or_path),
                      fmt::format("compare it by trnsim cost, or choose one of {}", fmt::join(known, ", "))};
  throw base::Error{base::Fault::kUsage, "machine", fmt::format("unknown machine '{}'", name_or_path),
                    base::suggest_fix(name_or_path, known) + ", or give the path of a .toml file"};
}

}  // namespace

std::span<const MachineParams::Field> MachineParams::fields() { return kFields; }

isa::Timing MachineParams::timing() const {
  return {.min_interval = min_interval.value,
          .semaphore = semaphore.value,
          .iteration = iteration.value,
          .fixed = {tensor_latency.value, vector_latency.value, scalar_latency.value, gpsimd_latency.value,
                    sync_latency.value},
          .fp32_passes = tensor_fp32_passes.value,
          .fp32_transpose_passes = tensor_fp32_transpose_passes.value,
          .load_stationary_speedup = tensor_fast_load.value,
          .scalar_start = scalar_start.value,
          .activation_read = scalar_accumulator_read.value,
          .gpsimd_start = gpsimd_start.value,
          .dynamic_min = dynamic_address.value,
          .scalar_function = scalar_function.value,
          .vector_start = vector_start.value,
          .operand_read = vector_operand_read.value,
          .vector = {.wide = vector_wide.value,
                     .narrow_copy = vector_narrow_copy.value,
                     .narrow_copy_part = vector_narrow_copy_part.value,
                     .narrow_pair = vector_narrow_pair.value},
          .clock = {tensor_clock.value, vector_clock.value, scalar_clock.value, gpsimd_clock.value, sync_clock.value},
          .dma = {.start = dma_start.value,
                  .wake = dma_wake.value,
                  .engines = dma_engines.value,
                  .engine_rate = dma_engine_rate.value,
                  .setup = dma_setup.value,
                  .indexed_setup = dma_indexed_setup.value,
                  .overlap = dma_overlap.value,
                  .completion = dma_completion.value,
                  .rate = dma_rate.value,
                  .descriptor_overhead = dma_descriptor_overhead.value,
                  .packet = dma_packet.value,
                  .transpose = dma_transpose.value}};
}

isa::Target MachineParams::target() const {
  const auto whole = [](const Number& number) { return static_cast<std::int64_t>(number.value); };
  return {.generation = static_cast<int>(generation.value),
          .geometry = {.partitions = whole(sbuf_partitions),
                       .sbuf_partition_bytes = whole(sbuf_partition),
                       .psum_partition_bytes = whole(psum_partition),
                       .psum_bank_bytes = whole(psum_bank),
                       .array_rows = whole(tensor_rows),
                       .array_columns = whole(tensor_columns),
                       .moving_columns = whole(tensor_moving),
                       .dma_rings = whole(dma_rings),
                       .collective_queues = whole(cc_queues)},
          .timing = timing(),
          .instructions = isa::instructions(static_cast<int>(generation.value))};
}

bool MachineParams::forms_groups_of(std::uint32_t size) const {
  const bool ring = torus_rows.value == 1 && chips.value > 1;
  return std::has_single_bit(size) || (ring && size > 0 && static_cast<std::uint32_t>(instance_cores()) % size == 0);
}

double MachineParams::clock(isa::Engine engine) const {
  const std::array clocks{&tensor_clock, &vector_clock, &scalar_clock, &gpsimd_clock, &sync_clock};
  return clocks.at(static_cast<std::size_t>(engine))->value;
}

std::uint64_t MachineParams::hbm_bytes_per_core() const {
  return static_cast<std::uint64_t>(hbm_bytes.value / cores.value);
}

double MachineParams::hbm_bandwidth_per_core() const { return hbm_bandwidth.value / cores.value; }

MachineParams MachineParams::with_cores(int in_use) const {
  MachineParams out = *this;
  if (in_use == ranks_per_instance()) return out;
  out.cores_in_use = in_use;
  out.hash += static_cast<std::uint64_t>(in_use) << 32;
  return out;
}

MachineParams MachineParams::used_by(std::uint32_t ranks) const {
  const double of_stack = cores.value / hbm_stacks.value;
  const double sharing = std::min({of_stack, static_cast<double>(ranks), static_cast<double>(ranks_per_instance())});
  MachineParams out = *this;
  if (sharing == of_stack) return out;
  out.hbm_bandwidth.value *= of_stack / sharing;
  out.hash += static_cast<std::uint64_t>(sharing);
  return out;
}

Peaks MachineParams::peaks() const {
  Peaks peaks{.matmul_flops = 2.0 * tensor_rows.value * tensor_columns.value * tensor_clock.value,
              .advertised_flops = tensor_advertised.value,
              .hbm_bandwidth = hbm_bandwidth_per_core(),
              .link_bandwidth = cc_bandwidth.value,
              .dma_bandwidth = dma_engines.value * dma_rate.value,
              .dma_engines = dma_engines.value};
  for (int e = 0; e < isa::kEngineCount; ++e) peaks.clock[e] = clock(static_cast<isa::Engine>(e));
  return peaks;
}

base::ParamFile machine_file(std::string_view name_or_path, std::span<const std::string> overrides) {
  base::ParamFile file = file_as_written(name_or_path);
  for (const std::string& assignment : overrides)
    if (!assignment.starts_with("price.")) file.set(assignment);
  for (const auto& field : kFields)
    if (file.has(field.key)) file.explain(field.key, field.text);
  return file;
}

namespace {

/// Logical cores in place of the physical ones: each has the work of its physical cores divided evenly, so it does so
/// many times as much in a second, and a result takes as long as before to be visible to its own core, and
/// `chip.exchange` longer to the other one. Assumed: an even division costs nothing else; SBUF is counted once, because
/// both halves of a tile's work read the same operand.
void join_cores(MachineParams& p) {
  const double each = p.logical.value;
  p.cores.value /= each;
  for (auto* rate : {&p.tensor_clock, &p.vector_clock, &p.scalar_clock, &p.gpsimd_clock, &p.sync_clock,
                     &p.tensor_advertised, &p.dma_engines, &p.dma_generators, &p.cc_bandwidth})
    rate->value *= each;
  for (auto* latency : {&p.tensor_latency, &p.vector_latency, &p.scalar_latency, &p.gpsimd_latency, &p.sync_latency})
    latency->value *= each;
  if (each == 1) p.exchange.value = 0;
}

}  // namespace

MachineParams load_machine(std::string_view name_or_path, std::span<const std::string> overrides) {
  base::ParamFile file = machine_file(name_or_path, overrides);
  MachineParams params;
  params.name = file.read_string("name").value;
  for (const auto& field : kFields) {
    if (field.dimension == Dimension::kCount) {
      const auto count = file.read_count(field.key);
      params.*field.member = {static_cast<double>(count.value), count.source};
    } else {
      params.*field.member = file.read(field.key, field.dimension);
    }
  }
  const std::vector<std::string> prices = file.keys("price");
  if (!prices.empty())
    throw base::Error{base::Fault::kUsage, file.name(), "has a price, which is not part of a machine",
                      "remove [price]: prices are in analysis/cost/prices, or given with `set` price.on_demand=$2/h"};
  file.reject_unread();
  check_machine(params);
  params.toml = file.to_toml();
  params.hash = file.hash();
  join_cores(params);
  return params;
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  const auto folder = base::data_path("hw/params/trn1.2xlarge.toml").parent_path();
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace hw
