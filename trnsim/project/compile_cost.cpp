#include "trnsim/project/compile_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/host/stack.h"
#include "runtime/compiler/compile.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/model.h"

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
    out.instructions = std::max(out.instructions, static_cast<double>(stage.compiled().largest_module));
  const auto processes = static_cast<double>(job.cores() / job.instances());
  out.host_bytes = processes * job.parameters() * static_cast<double>(isa::size_of(job.step.plan.numerics.weight));
  out.host_capacity = job.machine.host_memory.value;
  return out;
}

CompilerWork generation_work(const workloads::ModelPtr& model, const workloads::GenerationSpec& spec,
                             double token_graphs) {
  // Operations of each unrolled expert, as in transformers' loop over them: see layer_ops() in llama_model.cpp.
  constexpr double kOfAnExpert = 19;
  // Tokens that experts are chosen for, from which on they are a kernel. Assumed: published prompts have 256 and 1,024
  // and take a minute for each expert of a layer, or 16,384 and more and do not depend on the number of experts.
  constexpr double kKernelFrom = 2048;
  constexpr double kTile = 128, kRows = 512;
  const auto ranks = static_cast<double>(spec.tensor_parallel), tokens = static_cast<double>(spec.batch * spec.prompt);
  const workloads::DecoderArch* arch = model->decoder();
  const auto mixture = arch ? arch->block.mixture : std::nullopt;
  const bool unrolled = mixture && tokens * static_cast<double>(mixture->top_k) < kKernelFrom;
  workloads::Step step;
  step.plan.tensor = spec.tensor_parallel, step.plan.micro_batch = spec.batch;
  step.kind.length = spec.prompt;
  double operations = model->traced_ops(step).forward;
  if (unrolled)
    operations += static_cast<double>(model->sizes().layers) * static_cast<double>(mixture->experts) * kOfAnExpert;
  double weights = 0;
  for (const workloads::WeightSpec& w : model->weights()) {
    if (w.shape.size() < 2 || w.table) continue;
    const auto all = static_cast<double>(workloads::element_count(w.shape));
    weights += w.stack > 0 && !unrolled ? all / static_cast<double>(mixture->experts) : all;
  }
  const double tiles = weights / ranks / (kTile * kTile);
  return {.operations = operations * (1 + token_graphs),
          .tiles = tiles * (std::max(1.0, tokens / kRows) + token_graphs)};
}

double compile_seconds(const analysis::Stack& stack, const CompilerWork& work) {
  return stack.compile_base.value + work.operations * stack.compile_per_op.value +
         work.tiles * stack.compile_per_tile.value;
}

}  // namespace trnsim
