#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/cost/cost.h"
#include "analysis/profile/stats.h"
#include "base/error.h"
#include "base/text.h"
#include "hw/params.h"
#include "hw/replica_groups.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/generation.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/compiler_memory.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/generation/generator.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

GenerationStep step_of(const Job& job, const ProjectOptions& options, runtime::Compiled compiled) {
  const hw::SimOptions simulate{.exact = options.exact, .any_memory = options.any_memory};
  GenerationStep step;
  step.stage.record = std::make_shared<const hw::SimResult>(
      options.in_child ? hw::simulate_in_child(compiled.program, job.machine, simulate)
                       : hw::simulate(compiled.program, job.machine, simulate));
  step.stage.program = std::make_shared<const runtime::Compiled>(std::move(compiled));
  return step;
}

/// One run of a program: the loop waits for the logits before it can choose the next tokens, so nothing overlaps.
void time_step(const Job& job, const analysis::Stack& stack, std::int64_t rows, GenerationStep& step) {
  const auto cores = static_cast<int>(job.cores());
  const runtime::Numerics& numerics = job.step.plan.numerics;
  // Each core gets all embeddings or tokens; logits come back once, fp32. Each chip has its own way to the host.
  const double chips = std::ceil(cores / job.machine.cores.value);
  const double width = stack.embeds.value > 0 ? static_cast<double>(job.model->sizes().hidden) *
                                                    static_cast<double>(isa::size_of(numerics.activation))
                                              : static_cast<double>(isa::size_of(isa::Dtype::kInt32));
  const double in = static_cast<double>(rows * cores) * width / chips;
  const double out = static_cast<double>(job.step.plan.micro_batch * job.model->sizes().vocabulary) * 4 / chips;
  step.parts = {{"device", hw::seconds(step.stage.device().total)},
                {"launch", analysis::launch_seconds(stack, cores)},
                {"loop", stack.per_step.value},
                {"copies", (in + out) / stack.copy_bandwidth.value}};
  step.seconds = 0;
  for (const analysis::TimeItem& part : step.parts) step.seconds += part.seconds;
}

/// The physical lower bound: a token's operands cannot arrive faster than HBM delivers them.
void require_physical(const Job& job, const GenerationStep& step) {
  workloads::GenerationSpec spec = generation_spec(job);
  spec.timed_experts = true;
  spec.read = step.read;
  const workloads::TokenWork work = workloads::token_work(job.model, spec);
  const double bytes = work.weight_bytes + work.cache_bytes;
  const hw::SimResult& device = step.stage.device();
  base::ensure(static_cast<double>(device.dma.read_bytes) >= bytes, "token",
               fmt::format("reads {} bytes, weights and caches are {:.0f}", device.dma.read_bytes, bytes));
  const double least = bytes / device.peaks.hbm_bandwidth;
  base::ensure(hw::seconds(device.total) >= least, "token",
               fmt::format("takes {} s, reading takes {} s", hw::seconds(device.total), least));
}

/// The median of tokens whose times rise from bucket to bucket, and of the first one, which is the slowest; null
/// without any. Published medians, of which half of the tokens but one have a smaller bucket, are those of the larger
/// one.
const GenerationStep* median(const std::vector<GenerationStep>& steps) {
  std::int64_t all = 0, seen = 0;
  for (const GenerationStep& step : steps) all += step.tokens;
  for (const GenerationStep& step : steps)
    if ((seen += step.tokens) * 2 > all + 1) return &step;
  return nullptr;
}

void add_parts(analysis::JobTime& time, const GenerationStep& step, double times) {
  for (const analysis::TimeItem& part : step.parts) {
    const auto at = std::ranges::find(time.parts, part.name, &analysis::TimeItem::name);
    if (at == time.parts.end())
      time.parts.push_back({part.name, part.seconds * times});
    else
      at->seconds += part.seconds * times;
  }
}

/// Memory of both programs, which share weights and caches, and of the software besides.
Memory memory_of(const workloads::GenerationPrograms& programs, const Job& job) {
  Memory out{.by_kind = programs.tokens.back().compiled.memory.bytes_by_kind,
             .total = programs.hbm_bytes(),
             .capacity = job.machine.hbm_bytes_per_core()};
  std::uint64_t& scratch = out.by_kind["activations"];
  scratch = std::max(scratch, programs.prompt.memory.bytes_by_kind.at("activations"));
  out.name_rest();
  add_software(job, 0, out);
  return out;
}

/// The place of the first token that a token's program reads: the first new one comes from the prompt.
std::int64_t first_place(const Job& job) { return job.model->pairs() ? 1 : job.generation->prompt_tokens; }
/// And of the last.
std::int64_t last_place(const Job& job) {
  return first_place(job) + std::max<std::int64_t>(job.generation->new_tokens - 1, 1) - 1;
}

workloads::GenerationSpec timed_spec(const Job& job) {
  workloads::GenerationSpec spec = program_spec(job);
  spec.timed_experts = true;
  spec.expert_block = expert_block(job);
  return spec;
}

workloads::GenerationPrograms programs_of(const Job& job) {
  return {job.model, timed_spec(job), first_place(job), last_place(job), job.machine.target(), job.programs.get()};
}

}  // namespace

bool writes_text(const Job& job) { return job.generation && job.generation->new_tokens > 0; }

workloads::GenerationSpec generation_spec(const Job& job) {
  const PromptAndTokens& g = *job.generation;
  const std::int64_t positions = job.model->sizes().positions;
  const std::int64_t most = job.model->pairs() ? positions : std::min(g.length, positions);
  const std::int64_t fixed = job.model->fixed_length();
  return {.batch = job.step.plan.micro_batch,
          .prompt = fixed > 0      ? fixed
                    : g.bucket > 0 ? g.bucket
                                   : workloads::prompt_bucket(g.prompt_tokens, most),
          .length = g.length,
          .tensor_parallel = job.step.plan.tensor,
          .sequence = job.step.plan.sequence,
          .numerics = job.step.plan.numerics};
}

workloads::GenerationSpec program_spec(const Job& job) {
  workloads::GenerationSpec spec = generation_spec(job);
  const analysis::Stack stack = job.load_stack();
  const auto& kernel = job.machine.logical.value > 1 ? stack.kernel_from_joined : stack.kernel_from;
  spec.kernel_from = static_cast<std::int64_t>(kernel.value);
  spec.prompt_kernel = stack.prompt_kernel.value > 0;
  spec.scores_together = stack.scores_together.value > 0;
  spec.beside = stack.cache_beside.value > 0;
  return spec;
}

std::int64_t expert_block(const Job& job) {
  return job.machine.logical.value > 1 ? static_cast<std::int64_t>(job.load_stack().expert_block.value) : 0;
}

Memory least_generation_memory(const Job& own) {
  const Job job = padded(own);
  double weights = 0;
  for (const auto& w : workloads::generation_weights(job.model, job.step.plan.tensor))
    weights += static_cast<double>(workloads::element_count(w.spec.shape)) *
               static_cast<double>(isa::size_of(job.step.plan.numerics.weight));
  Memory out{.capacity = job.machine.hbm_bytes_per_core()};
  out.by_kind["cache"] = static_cast<std::uint64_t>(workloads::token_work(job.model, generation_spec(job)).cache_bytes);
  out.by_kind["weights"] = static_cast<std::uint64_t>(weights);
  out.by_kind["runtime"] = static_cast<std::uint64_t>(job.load_stack().runtime_bytes.value);
  for (const auto& [kind, bytes] : out.by_kind) out.total += bytes;
  return out;
}

double copies_of(const Job& job) {
  if (job.generation->new_tokens == 0) return 1;
  return static_cast<double>(job.machine.instance_cores() / job.cores());
}

std::optional<double> generation_dollars(const Job& job, double seconds) {
  if (!job.price_per_hour) return {};
  return analysis::dollars_of(seconds, *job.price_per_hour, 1 / copies_of(job));
}

Job padded(const Job& job) {
  Job out = job;
  out.model = job.model->padded_for(job.step.plan.tensor);
  return out;
}

void require_legal_generation(const Job& job) {
  workloads::check(generation_spec(job), job.model->padded_for(job.step.plan.tensor));
  if (job.cores() > job.machine.instance_cores())
    throw Error{Fault::kUsage, "`tensor_parallel_size`",
                fmt::format("{}, but {} has {}", base::counted(job.cores(), "core"), job.machine.name,
                            job.machine.instance_cores()),
                fmt::format("use {} or less, or a larger `instance_type`", job.machine.instance_cores())};
  for (const auto& group : job.model->groups(job.step.plan)) hw::shape_of(group, job.machine, "`tensor_parallel_size`");
}

std::string generation_fix(const Job& job) {
  constexpr double kRoom = 0.9;  // the rest is for activations
  Job wider = job;
  while ((wider.step.plan.tensor *= 2) <= job.machine.instance_cores()) {
    const auto problem = problem_of([&] { require_legal_generation(wider); });
    if (problem) continue;
    const Memory least = least_generation_memory(wider);
    if (static_cast<double>(least.total) < kRoom * static_cast<double>(least.capacity))
      return fmt::format("use `tensor_parallel_size` {}", wider.step.plan.tensor);
  }
  const bool shrinks = isa::size_of(job.step.plan.numerics.weight) > isa::size_of(isa::Dtype::kBf16);
  const Memory least = least_generation_memory(job);
  if (least.by_kind.at("weights") + least.by_kind.at("runtime") > least.capacity)
    return fmt::format(
        "the weights alone are too large: use {}an `instance_type` with more memory for each core, or a "
        "smaller model",
        shrinks ? "`numerics` bf16, " : "");
  return fmt::format("use a smaller `batch_size`{}{}, or a larger `instance_type`",
                     job.model->fixed_length() > 0 ? "" : " or `max_length`", shrinks ? ", `numerics` bf16" : "");
}

runtime::Graph generation_graph(const Job& own, GenerationProgram program) {
  const Job job = padded(own);
  require_legal_generation(job);
  workloads::GenerationSpec spec = timed_spec(job);
  if (program == GenerationProgram::kPrompt) return workloads::prompt_graph(job.model, spec);
  spec.read = workloads::rows_read(job.model, spec, first_place(job), last_place(job)).back();
  return workloads::token_graph(job.model, spec);
}

runtime::Compiled compile_generation(const Job& own, GenerationProgram program) {
  const Job job = padded(own);
  require_legal_generation(job);
  workloads::GenerationPrograms programs = programs_of(job);
  return program == GenerationProgram::kPrompt ? std::move(programs.prompt)
                                               : std::move(programs.tokens.back().compiled);
}

Projection project_generation(const Job& own, const ProjectOptions& options) {
  const Job job = padded(own);
  require_legal_generation(job);
  Projection p;
  p.memory = least_generation_memory(job);
  if (!p.memory.fits() && !options.any_memory) return p;
  workloads::GenerationPrograms programs = programs_of(job);
  p.memory = memory_of(programs, job);
  if (!p.memory.fits() && !options.any_memory) return p;
  GenerationTime& g = p.generation.emplace();
  g.prompt = step_of(job, options, std::move(programs.prompt));
  const std::int64_t others = job.generation->new_tokens - 1, first = first_place(job);
  std::int64_t at = first;
  for (auto& token : programs.tokens) {
    const std::int64_t end = std::min(token.read, first + others);  // positions below
    if (end <= at) continue;
    GenerationStep step = step_of(job, options, std::move(token.compiled));
    step.read = token.read, step.tokens = end - at;
    require_physical(job, step);
    g.tokens.push_back(std::move(step));
    at = end;
  }
  p.micro_batches = 1;
  p.stages = {g.tokens.empty() ? g.prompt.stage : g.tokens.back().stage};
  time_generation(job, p);
  return p;
}

void time_generation(const Job& own, Projection& p) {
  const Job job = padded(own);
  const analysis::Stack stack = job.load_stack();
  GenerationTime& g = *p.generation;
  const std::int64_t batch = job.step.plan.micro_batch;
  time_step(job, stack, batch * generation_spec(job).prompt, g.prompt);
  p.time = {};
  p.time.total = g.first_token = g.prompt.seconds;
  add_parts(p.time, g.prompt, 1);
  for (GenerationStep& step : g.tokens) {
    time_step(job, stack, batch, step);
    p.time.total += step.seconds * static_cast<double>(step.tokens);
    add_parts(p.time, step, static_cast<double>(step.tokens));
  }
  const GenerationStep* of = median(g.tokens);
  g.per_token = of ? of->seconds : 0;
  if (!of) of = &g.prompt;
  p.steps = job.steps(), p.samples = job.samples();
  p.device_seconds = p.micro_seconds = p.time.device_step = of->parts.front().seconds;
  p.time.step = of->seconds, p.time.host_step = of->seconds - p.device_seconds;
  workloads::GenerationSpec spec = generation_spec(job);
  spec.timed_experts = true, spec.read = of->read;
  const auto cores = static_cast<double>(job.cores());
  p.model_flops = cores * workloads::token_work(job.model, spec).flops;
  const double peak = cores * of->stage.device().peaks.matmul_flops;
  p.mfu = p.model_flops / (p.device_seconds * peak);
  p.job_mfu = p.model_flops / (p.time.step * peak);
  const double weights = job.parameters() * static_cast<double>(isa::size_of(job.step.plan.numerics.weight));
  p.time.compile = p.time.compile_first =
      compile_seconds(stack, generation_work(own.model, generation_spec(own), static_cast<double>(g.tokens.size())));
  p.end_to_end = p.time.total + weights / stack.copy_bandwidth.value;  // copied in, once
  p.price_per_hour = job.price_per_hour;
  p.dollars = generation_dollars(job, p.time.total);
}

}  // namespace trnsim
