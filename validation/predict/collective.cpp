// Rows of kind "collective": one collective at a time, as nccom-test runs it, on the simulated machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "hw/collective.h"
#include "hw/sim_device.h"
#include "validation/predict/predict_row.h"

namespace validation {
namespace {

using isa::Opcode;

constexpr std::array<std::pair<std::string_view, Opcode>, 6> kOperations = {{{"all-reduce", Opcode::kAllReduce},
                                                                             {"all-gather", Opcode::kAllGather},
                                                                             {"reduce-scatter", Opcode::kReduceScatter},
                                                                             {"all-to-all", Opcode::kAllToAll},
                                                                             {"broadcast", Opcode::kBroadcast},
                                                                             {"barrier", Opcode::kBarrier}}};

std::optional<Opcode> operation(std::string_view kernel) {
  for (const auto& [name, op] : kOperations) {
    if (kernel == name) return op;
  }
  return {};
}

isa::Tile words(std::uint64_t count, std::int64_t offset) {
  isa::Tile tile;
  tile.space = isa::Space::kHbm;
  tile.dtype = isa::Dtype::kFp32;
  tile.rank = 1;
  tile.partitions = 1;
  tile.offset = offset;
  tile.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(count)};
  tile.pstep = static_cast<std::int64_t>(count * sizeof(float));
  return tile;
}

/// Ranks 0 to `ranks` - 1, whose larger operand has `bytes`.
isa::Program alone(Opcode op, std::uint64_t bytes, std::uint32_t ranks) {
  const std::uint64_t count = bytes / sizeof(float);
  isa::Instr instr;
  instr.op = op;
  instr.alu0 = isa::Alu::kAdd;
  if (op != Opcode::kBarrier) {
    instr.a = words(op == Opcode::kAllGather ? count / ranks : count, 0);
    instr.dst = words(op == Opcode::kReduceScatter ? count / ranks : count, static_cast<std::int64_t>(bytes));
  }
  isa::Program program;
  program.name = "collective";
  program.blocks.resize(1);
  program.blocks[0].name = "collective";
  program.blocks[0].instrs = {instr};
  program.blocks[0].registers = 1;
  program.blocks[0].labels = {"collective"};
  program.calls.resize(1);
  program.calls[0].bases = {0};
  program.hbm_bytes = 2 * bytes;
  program.ranks = ranks;
  program.groups = {{std::vector<std::uint32_t>(ranks)}};
  std::iota(program.groups[0][0].begin(), program.groups[0][0].end(), 0u);
  return program;
}

}  // namespace

Prediction predict_collective(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  const std::optional<Opcode> op = operation(micro.kernel.name);
  if (!op) return Prediction::skip(fmt::format("'{}' is not a collective that is modelled", micro.what));
  const auto bytes = static_cast<std::uint64_t>(parse_shape(micro.shape).bytes.value_or(0));
  if (!micro.cores || *micro.cores < 1) return Prediction::skip("the number of ranks is not published");
  const auto ranks = static_cast<std::uint32_t>(*micro.cores);
  const std::uint64_t least = sizeof(float) * (*op == Opcode::kAllReduce || *op == Opcode::kBroadcast ? 1 : ranks);
  if (*op != Opcode::kBarrier && (bytes < least || bytes % least != 0))
    return Prediction::skip(fmt::format("shape '{}' is not a multiple of {} B", micro.shape, least));

  std::vector<std::string> assumed;
  hw::MachineParams machine = machine_of(micro.instance, on_physical_cores(context), assumed);
  // The printed samples are of 2023, when release notes name meshes for all-reduces and all-to-alls alone: a ring.
  if (*op == Opcode::kAllGather) machine.cc_mesh_below.value = machine.cc_halving_below.value = 0;
  const isa::Program program = alone(*op, bytes, ranks);
  hw::SimOptions options;
  options.exact = context.exact;
  const hw::SimResult result = hw::simulate_in_child(program, machine, options);
  const hw::CollectivePlan plan = hw::plan_collective(program.blocks[0].instrs[0], program.groups[0], machine);
  const double inside = hw::seconds(result.collectives.at(0).end - result.collectives.at(0).begin);
  const double sync = std::max(machine.cc_loop.value + hw::seconds(plan.standalone), machine.cc_launch.value - inside);
  const double total = inside + sync;
  assumed.push_back(fmt::format("algorithm {}", plan.algorithm));
  if (sync > 0)
    assumed.push_back(
        fmt::format("{:.4g} us in a program, {:.4g} us for the benchmark's loop", inside * 1e6, sync * 1e6));
  const double moving = hw::seconds(plan.moving);
  return in_row_metric(row, {.seconds = total, .bytes = static_cast<double>(bytes)}, std::move(assumed),
                       {{"latency", (inside - moving) / total}, {"data", moving / total}, {"benchmark", sync / total}},
                       work_of(result));
}

}  // namespace validation
