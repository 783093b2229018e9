#include "trnsim/plans/possible.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "hw/params.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "workloads/models/model.h"
#include "workloads/step/pipeline.h"
#include "workloads/step/step_graph.h"

namespace trnsim {
namespace {

/// Throws the objection of the model, its graph or the machine to a plan, without compiling.
void require_legal(const Job& job) {
  if (writes_text(job)) return require_legal_generation(job);
  if (job.generation) return;  // cores that answer requests of their own form no groups
  Job layers = job;            // one in each chunk: they are all alike
  layers.model = job.model->with_sizes({.layers = job.step.plan.pipeline * job.step.plan.chunks});
  layers.step.plan.micro_batches = job.step.plan.pipeline;
  layers.model->step(layers.step);
  require_groups(job);
  workloads::pipeline_turns(job.step.plan.pipeline, 0, job.step.plan.chunks, job.step.plan.micro_batches);
}

}  // namespace

std::optional<Problem> problem_of(const std::function<void()>& ask) {
  try {
    ask();
    return {};
  } catch (const base::Error& e) {
    const base::Fault fault = e.fault();
    if (fault != base::Fault::kUsage && fault != base::Fault::kProgram && fault != base::Fault::kCapacity) throw;
    return Problem{.text = fmt::format("{}: {}", e.where(), e.problem()), .too_large = fault == base::Fault::kCapacity};
  }
}

std::optional<hw::MachineParams> machine_with(std::string_view name, std::span<const std::string> set) {
  hw::machine_file(name, set);  // a key that no machine has is the user's mistake
  std::optional<hw::MachineParams> out;
  problem_of([&] { out = hw::load_machine(name, set); });
  return out;
}

Problem too_large(std::uint64_t memory, const Job& job) {
  const auto readable = [](std::uint64_t bytes) {
    return base::readable(static_cast<double>(bytes), base::Dimension::kBytes);
  };
  return {.text = fmt::format("needs at least {} of HBM per core, which has {}", readable(memory),
                              readable(job.machine.hbm_bytes_per_core())),
          .too_large = true,
          .memory = memory,
          .capacity = static_cast<double>(job.machine.hbm_bytes_per_core())};
}

std::optional<Problem> possible(const Job& job) {
  Memory least;
  const auto problem = problem_of([&] {
    least = least_memory(job);
    require_legal(job);
  });
  if (problem || least.fits()) return problem;
  return too_large(least.total, job);
}

bool is_possible(const Job& job, KnownFacts& known) {
  bool fits = false;
  const auto problem = problem_of([&] {
    fits = least_memory(job, known).fits();
    if (fits) require_legal(job);
  });
  return fits && !problem;
}

}  // namespace trnsim
