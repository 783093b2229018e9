#include "trnsim/project/compile_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/host/stack.h"
#include "runtime/compiler/compile.h"

namespace trnsim {

std::string CompileCost::refusal() const {
  if (instructions > limit)
    return fmt::format(
        "the compiler is known to refuse a module of more than {:.0f} instructions (NCC_EBVF030); the largest layer "
        "has "
        "{:.0f}: use a larger `tensor_parallel_size` or a smaller batch",
        limit, instructions);
  if (host_bytes > host_capacity)
    return fmt::format(
        "the processes of an instance read {:.0f} GB of weights, its host has {:.0f} GB (\"Killed\", "
        "F137): load shards, or use a larger `instance_type`",
        host_bytes / 1e9, host_capacity / 1e9);
  return {};
}

CompileCost compile_cost(const Job& job, const Projection& projection) {
  CompileCost out{.cold_seconds = projection.time.compile,
                  .first_seconds = projection.time.compile_first,
                  .warm_seconds = projection.time.start,
                  .limit = job.load_stack().compile_instructions.value};
  for (const Stage& stage : projection.stages)
    for (const isa::Block& block : stage.compiled().program.blocks)
      out.instructions = std::max(out.instructions, static_cast<double>(block.instrs.size()));
  const auto processes = static_cast<double>(job.cores() / job.instances());
  out.host_bytes = processes * job.parameters() * static_cast<double>(isa::size_of(job.step.plan.numerics.weight));
  out.host_capacity = job.machine.host_memory.value;
  return out;
}

}  // namespace trnsim
