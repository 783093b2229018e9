#include "trnsim/project/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "hw/replica_groups.h"
#include "hw/trace.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/optimizer_inputs.h"
#include "trnsim/project/compiler_memory.h"
#include "workloads/models/model.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/pipeline.h"

namespace trnsim {
namespace {

/// At least as many as show the time of the others: with a pipeline two rounds through the stages, three of interleaved
/// ones.
std::int64_t micro_batches_of(const Job& job, std::int64_t asked) {
  const runtime::Plan& p = job.step.plan;
  if (asked == 0) return p.micro_batches;
  const std::int64_t rounds = p.chunks > 1 ? 3 : 2;
  return std::min(p.micro_batches, p.pipeline > 1 ? std::max(asked, rounds * p.pipeline) : asked);
}

/// The calls of the core that took longest: when forward passes begin, and when the last backward pass ends.
struct StagePasses {
  std::vector<hw::Fs> begin;
  hw::Fs end = 0;
  hw::Fs update = 0;  // when the optimizer begins
};

/// Errors: Fault::kProgram for a program without work.
StagePasses passes_of(const Stage& stage) {
  const isa::Program& program = stage.compiled().program;
  if (program.calls.empty())
    throw base::Error{base::Fault::kProgram, program.name, "has nothing to do: none of its results needs an operation",
                      "return the value that it should compute"};
  StagePasses out{.begin = {}, .update = stage.device().total};
  const std::uint32_t first = program.calls.front().block;  // embeddings, or the message of the previous stage
  for (const hw::CallTime& call : stage.device().calls) {
    if (call.block == first) out.begin.push_back(call.begin);
    if (call.phase == isa::Phase::kBackward) out.end = std::max(out.end, call.end);
    if (call.phase == isa::Phase::kOptimizer) out.update = std::min(out.update, call.begin);
  }
  if (out.end == 0) out.end = out.update;  // a program without passes of its own
  base::ensure(!out.begin.empty() && out.end > out.begin.front(), program.name, "no micro-batch passes through");
  return out;
}

/// The time that a core of the last passes waits for cores of other stages where all of them, or both ends, meet.
hw::Fs waits_at_the_end(const runtime::Plan& plan, const Stage& stage) {
  const isa::Program& program = stage.compiled().program;
  hw::Fs sum = 0;
  for (const hw::CollectiveTime& one : stage.device().collectives) {
    const hw::CallTime& call = stage.device().calls.at(one.call);
    const isa::Instrs& instrs = program.blocks[call.block].instrs;
    const auto* issued = std::ranges::find_if(instrs, [](const isa::Instr& i) { return isa::is_collective(i.op); });
    if (issued->group != workloads::stages_group(plan) && issued->group != workloads::ends_group(plan)) continue;
    sum += std::max(one.issued, call.begin) - call.begin;  // issued by the last of them
  }
  return sum;
}

/// From micro-batch to micro-batch when all stages are at work: by the last two, or, of interleaved ones, by the last
/// two rounds; when fewer run, the time of one by itself. `passes`: of the last stage, which begins a forward pass only
/// after its backward pass of the one before, so that it never runs ahead as the others do while the pipeline fills.
double period_of(const Job& job, const StagePasses& passes, std::int64_t run) {
  const runtime::Plan& p = job.step.plan;
  const bool interleaved = p.chunks > 1;
  if (run <= (interleaved ? 2 : 1) * (p.pipeline > 1 ? p.pipeline : 1))
    return hw::seconds((p.pipeline > 1 ? passes.end : passes.update) - passes.begin.front()) /
           static_cast<double>(p.pipeline > 1 ? run + p.pipeline - 1 : run);
  const std::size_t span = interleaved ? static_cast<std::size_t>(p.pipeline) : 1;
  const std::size_t apart = passes.begin.size() * span / static_cast<std::size_t>(run);
  return hw::seconds(passes.begin.back() - passes.begin[passes.begin.size() - 1 - apart]) / static_cast<double>(span);
}

isa::Programs programs_of(const std::vector<Stage>& stages) {
  isa::Programs out;
  for (const Stage& stage : stages) out.push_back(&stage.compiled().program);
  return out;
}

}  // namespace

std::uint64_t Stage::hbm_bytes() const { return program->memory.total; }

void require_trains(const hw::MachineParams& machine) {
  if (machine.training.value > 0) return;
  throw base::Error{base::Fault::kUsage, "`instance_type`", fmt::format("{} is for inference only", machine.name),
                    "train on a Trainium instance, such as trn1.32xlarge; `trnsim generate` and kernels do run here"};
}

void require_groups(const Job& job) {
  // A given program is a forward pass as often as a training step: nothing says which.
  if (job.step.kind.training && !job.model->is_given()) require_trains(job.machine);
  const runtime::Plan& plan = job.step.plan;
  const bool shared = plan.tensor > 1 || plan.pipeline > 1;  // by degrees, which then decide on the groups
  const char* setting = plan.tensor > 1 ? "`tensor_parallel_size`"
                        : shared        ? "`pipeline_parallel_size`"
                                        : "`nproc_per_node`";
  if (job.cores() > job.machine.core_count())
    throw base::Error{
        base::Fault::kUsage, "plan",
        fmt::format("needs {} (TP {} x PP {} x DP {}), but {} x {} have {}", base::counted(job.cores(), "core"),
                    plan.tensor, plan.pipeline, plan.data, job.instances(), job.machine.name, job.machine.core_count()),
        "use more `nnodes`, or a smaller plan"};
  if (!job.model->splits() && plan.tensor == 1) {  // its ranks are one group, all of them; a program has its own groups
    hw::Ranks all(static_cast<std::size_t>(job.cores()));
    std::iota(all.begin(), all.end(), 0U);
    if (!job.model->is_given() && all.size() > 1) hw::shape_of({all}, job.machine, setting);
    return;
  }
  const auto groups = job.model->groups(plan);
  // Messages between stages run in pairs, wherever their two ranks are.
  const std::size_t first = workloads::link_group(plan, 0), last = workloads::stages_group(plan);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (plan.pipeline > 1 && g >= first && g < last)
      hw::require_pairs(groups[g], job.machine, setting);
    else
      hw::shape_of(groups[g], job.machine, setting);
  }
}

namespace {

/// The stages of a job, compiled one by one.
class StageCompiler {
 public:
  StageCompiler(const Job& job, SharedBlocks& shared, const CompileStages& options)
      : job_{job},
        shared_{shared},
        limit_{options.give_up_at},
        micro_batches_{micro_batches_of(job, options.micro_batches)} {}

  CompiledStages run() {
    CompiledStages out{.stages = {}, .memory = of_a_large_end(), .micro_batches = micro_batches_};
    if (limit_ > 0 && out.memory.total > limit_) return out;
    const std::int64_t stages = job_.step.plan.pipeline;
    out.memory = {};
    for (std::int64_t s = 0; s < stages; ++s) {
      const auto too_large = [&](const runtime::MemoryPlan& least) { return whole(least, s).total > limit_; };
      runtime::Compiled compiled = limit_ > 0 ? compile(s, too_large) : compile(s, {});
      keep_larger(out.memory, whole(compiled.memory, s));
      out.stages.push_back(
          {.program = std::make_shared<const runtime::Compiled>(std::move(compiled)), .record = nullptr});
      if (limit_ > 0 && out.memory.total > limit_) break;
    }
    return out;
  }

  /// With the micro-batches that are compiled.
  Memory memory(std::int64_t stage) { return whole(compile(stage, {}).memory, stage); }

 private:
  static void keep_larger(Memory& most, Memory memory) {
    if (memory.total > most.total) most = std::move(memory);
  }

  /// The memory of an end of the pipeline that is seen to be too large: blocks take long, and mostly one of the ends is
  /// too large, the last stage, which has the logits, or the first one, with the activations of most micro-batches.
  Memory of_a_large_end() {
    constexpr std::int64_t kFew = 2;  // all that they keep at once, more of them keep, too
    Memory memory;
    if (limit_ == 0) return memory;
    StageCompiler few{job_, shared_, {.micro_batches = kFew, .give_up_at = limit_}};
    if (few.micro_batches_ < micro_batches_) memory = few.of_ends();
    if (memory.total <= limit_ && job_.step.plan.pipeline > 1) memory = of_ends();
    return memory;
  }

  /// The memory of the last stage if it is too large, else of the first.
  Memory of_ends() {
    const std::int64_t last = job_.step.plan.last_stage();
    Memory memory = least_memory(last);
    if (last > 0 && memory.total <= limit_) memory = least_memory(0);
    return memory;
  }

  /// From the graph alone, which is kept for compile().
  Memory least_memory(std::int64_t stage) {
    graphs_.emplace(stage, job_.model->step(step_of(stage)).graph);
    const auto enough = [](const runtime::MemoryPlan&) { return true; };
    return whole(compile(graphs_.at(stage), stage, enough).memory, stage);
  }

  workloads::Step step_of(std::int64_t stage) const {
    workloads::Step step = workloads::of_stage(job_.step, stage);
    step.plan.micro_batches = micro_batches_;
    return step;
  }

  using GiveUp = std::function<bool(const runtime::MemoryPlan&)>;

  runtime::Compiled compile(std::int64_t stage, GiveUp give_up) {
    if (auto known = graphs_.extract(stage)) return compile(std::move(known.mapped()), stage, std::move(give_up));
    return compile(job_.model->step(step_of(stage)).graph, stage, std::move(give_up));
  }

  runtime::Compiled compile(runtime::Graph graph, std::int64_t stage, GiveUp give_up) const {
    runtime::CompileOptions options =
        workloads::compile_options(step_of(stage), "train", job_.passes, job_.programs.get());
    options.blocks = &shared_.compiled, options.give_up = std::move(give_up);
    return runtime::compile(std::move(graph), job_.machine.target(), options);
  }

  /// With what the host hands over and takes for the micro-batches that were not compiled; nothing else grows with
  /// them.
  Memory whole(const runtime::MemoryPlan& plan, std::int64_t stage) const {
    Memory memory = memory_of(plan, job_.machine);
    const std::int64_t all = job_.step.plan.micro_batches;
    const std::string last = workloads::micro_name("", micro_batches_ - 1);
    for (const isa::Region& region : plan.regions)
      if (all > micro_batches_ && (region.kind == "inputs" || region.kind == "outputs") && region.name.ends_with(last))
        memory.add(region.kind, static_cast<std::uint64_t>(all - micro_batches_) * runtime::aligned(region.bytes));
    memory.add("messages", inbox_bytes(job_, stage, all));
    add_software(job_, stage, memory);
    return memory;
  }

  const Job& job_;
  SharedBlocks& shared_;
  const std::uint64_t limit_;  // bytes that a stage may have; 0: any
  const std::int64_t micro_batches_;
  std::map<std::int64_t, runtime::Graph> graphs_;  // of stages that will be compiled
};

}  // namespace

CompiledStages compile_stages(const Job& job, SharedBlocks& shared, const CompileStages& options) {
  require_groups(job);
  const runtime::Plan& plan = job.step.plan;
  workloads::pipeline_turns(plan.pipeline, 0, plan.chunks,
                            plan.micro_batches);  // refuses a pipeline without a schedule
  return StageCompiler{job, shared, options}.run();
}

Memory memory_of_all_micro_batches(const Job& job, SharedBlocks& shared) {
  constexpr std::int64_t kFew = 2;
  // Only activations have gaps, which took up to an eighth of them more where this was tried: small and published
  // Llamas, GPTs and Mixtrals.
  constexpr double kGaps = 0.25;
  StageCompiler some{job, shared, {.micro_batches = kFew}}, all{job, shared, {}};
  std::vector<std::pair<std::uint64_t, std::int64_t>> at_most;  // bytes, stage
  for (std::int64_t s = 0; s < job.step.plan.pipeline; ++s) {
    const Memory few = some.memory(s);
    const auto found = few.by_kind.find("activations");
    const double gaps = found == few.by_kind.end() ? 0 : kGaps * static_cast<double>(found->second);
    at_most.emplace_back(few.total + static_cast<std::uint64_t>(gaps), s);
  }
  std::ranges::sort(at_most, std::greater{});
  Memory most;
  for (const auto& [bytes, stage] : at_most) {
    if (bytes <= most.total) break;
    Memory whole = all.memory(stage);
    if (whole.total > most.total) most = std::move(whole);
  }
  return most;
}

runtime::Graph stage_graph(const Job& job, std::int64_t stage) {
  if (stage < 0 || stage >= job.step.plan.pipeline)
    throw base::Error{base::Fault::kUsage, "stage",
                      fmt::format("{} of a pipeline of {}", stage, base::counted(job.step.plan.pipeline, "stage")),
                      fmt::format("choose one from 0 to {}", job.step.plan.last_stage())};
  return job.model->step(workloads::of_stage(job.step, stage)).graph;
}

runtime::Compiled compile_stage(const Job& job, std::int64_t stage) {
  return runtime::compile(
      stage_graph(job, stage), job.machine.target(),
      workloads::compile_options(workloads::of_stage(job.step, stage), "train", job.passes, job.programs.get()));
}

std::vector<runtime::Compiled> compile_evaluation(const Job& job, runtime::BlockCache* blocks) {
  std::vector<runtime::Compiled> out;
  for (std::int64_t s = 0; s < job.step.plan.pipeline; ++s) {
    workloads::Step step = workloads::of_stage(job.step, s);
    step.kind.training = false;
    step.kind.with_loss = true;
    step.plan.micro_batch = job.sizes.eval_batch;
    step.plan.micro_batches = step.plan.pipeline;
    runtime::CompileOptions compile = workloads::compile_options(step, "evaluate", job.passes, job.programs.get());
    compile.blocks = blocks;
    out.push_back(runtime::compile(job.model->step(step).graph, job.machine.target(), compile));
  }
  return out;
}

StepTime simulate_stages(const Job& job, CompiledStages& compiled, SharedBlocks& shared,
                         const SimulateStages& options) {
  for (const Stage& stage : compiled.stages) shared.checker.check(stage.compiled().program);
  const auto simulate = options.in_child ? hw::simulate_each_in_child : hw::simulate_each;
  auto results = simulate(programs_of(compiled.stages), job.machine,
                          {.exact = options.exact,
                           .trace_from = options.trace.from,
                           .trace_until = options.trace.until,
                           .trace_layer = options.trace.layer,
                           .any_memory = options.any_memory,
                           .times = &shared.times});
  StepTime time;
  for (std::size_t s = 0; s < results.size(); ++s) {
    compiled.stages[s].record = std::make_shared<const hw::SimResult>(std::move(results[s]));
    if (compiled.stages[s].device().total > compiled.stages[time.slowest].device().total) time.slowest = s;
  }
  const Stage& slowest = compiled.stages[time.slowest];
  const StagePasses passes = passes_of(slowest);
  time.micro_seconds = period_of(job, passes_of(compiled.stages.back()), compiled.micro_batches);
  const auto further = static_cast<double>(job.step.plan.micro_batches - compiled.micro_batches);
  time.seconds = hw::seconds(slowest.device().total - slowest.device().lead_in) + further * time.micro_seconds;
  if (job.step.plan.pipeline == 1) return time;
  const double busy = static_cast<double>(compiled.micro_batches) * time.micro_seconds;
  time.bubble_seconds = std::max(0.0, hw::seconds(passes.end - passes.begin.front()) - busy) +
                        hw::seconds(waits_at_the_end(job.step.plan, slowest));
  return time;
}

double simulate_evaluation(const Job& job, SharedBlocks& shared, const SimulateStages& options) {
  const std::vector<runtime::Compiled> stages = compile_evaluation(job, &shared.compiled);
  isa::Programs programs;
  for (const runtime::Compiled& stage : stages) programs.push_back(&stage.program);
  const auto simulate = options.in_child ? hw::simulate_each_in_child : hw::simulate_each;
  const hw::SimResult result = hw::slowest(
      simulate(programs, job.machine, {.exact = options.exact, .any_memory = true, .times = &shared.times}));
  return hw::seconds(result.total - result.lead_in);
}

}  // namespace trnsim
