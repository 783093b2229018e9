#include "trnsim/generate/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/profile/stats.h"
#include "base/error.h"
#include "base/text.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/project/memory.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/generation/generator.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// What any compiler needs per core: weights with the embeddings, and caches.
std::map<std::string, std::uint64_t> least_bytes(const GenerationJob& job) {
  double weights = 0;
  for (const auto& w : workloads::generation_weights(job.config, job.spec.tensor_parallel))
    weights += static_cast<double>(workloads::element_count(w.spec.shape)) *
               static_cast<double>(isa::size_of(job.spec.numerics.weight));
  workloads::GenerationSpec whole = job.spec;
  whole.read = 0;
  const double cache = workloads::token_work(job.config, whole).cache_bytes;
  return {{"weights", static_cast<std::uint64_t>(weights)}, {"cache", static_cast<std::uint64_t>(cache)}};
}

std::uint64_t sum(const std::map<std::string, std::uint64_t>& bytes) {
  std::uint64_t all = 0;
  for (const auto& [kind, n] : bytes) all += n;
  return all;
}

bool is_legal(const GenerationJob& job) {
  try {
    workloads::check(workloads::generation_plan(job.spec.tensor_parallel), job.config);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// More cores, if weights and caches would fit on them.
std::string fix_for(GenerationJob job, const hw::MachineParams& machine) {
  constexpr double kRoom = 0.9;  // the rest is for activations
  for (std::int64_t ranks = 2 * job.spec.tensor_parallel; ranks <= machine.instance_cores(); ranks *= 2) {
    job.spec.tensor_parallel = ranks;
    if (is_legal(job) &&
        static_cast<double>(sum(least_bytes(job))) < kRoom * static_cast<double>(machine.hbm_bytes_per_core()))
      return fmt::format("use `tensor_parallel_size` {}", ranks);
  }
  return "use a smaller `batch_size` or `max_length`, `numerics` bf16, or a larger `instance_type`";
}

void require_room(const GenerationJob& job, const hw::MachineParams& machine,
                  const std::map<std::string, std::uint64_t>& by_kind) {
  runtime::require_fit("trnsim generate", by_kind, sum(by_kind), machine.hbm_bytes_per_core(), fix_for(job, machine));
}

/// One run: the loop waits for the logits before it can choose the next tokens, so nothing overlaps.
GenerationStep step_of(const GenerationJob& job, const hw::MachineParams& machine, const runtime::Compiled& compiled,
                       std::int64_t rows) {
  GenerationStep step;
  step.device = hw::simulate_in_child(compiled.program, machine, {.exact = job.exact});
  const analysis::Stack stack = analysis::load_stack(job.stack, job.stack_changes);
  const auto cores = static_cast<int>(job.spec.tensor_parallel);
  // The library looks embeddings up on the host (transformers-neuronx, on_device_embedding is off) and hands them to
  // each core; logits come back once, fp32. Each chip has its own way to the host.
  const double chips = std::ceil(cores / machine.cores.value);
  const auto width = static_cast<double>(job.config->sizes().hidden * isa::size_of(job.spec.numerics.activation));
  const double in = static_cast<double>(rows * cores) * width / chips;
  const double out = static_cast<double>(job.spec.batch * job.config->sizes().vocabulary) * 4 / chips;
  step.parts = {{"device", hw::seconds(step.device.total)},
                {"launch", analysis::launch_seconds(stack, cores)},
                {"loop", stack.per_step.value},
                {"copies", (in + out) / stack.copy_bandwidth.value}};
  for (const analysis::TimeItem& part : step.parts) step.seconds += part.seconds;
  return step;
}

/// The physical lower bound: what a token must read cannot come faster than HBM gives it.
void require_physical(const GenerationJob& job, const GenerationStep& step) {
  workloads::GenerationSpec spec = job.spec;
  spec.read = step.read;
  const workloads::TokenWork work = workloads::token_work(job.config, spec);
  const double bytes = work.weight_bytes + work.cache_bytes;
  base::ensure(static_cast<double>(step.device.dma.read_bytes) >= bytes, "token",
               fmt::format("reads {} bytes, weights and caches are {:.0f}", step.device.dma.read_bytes, bytes));
  const double least = bytes / step.device.peaks.hbm_bandwidth;
  base::ensure(hw::seconds(step.device.total) >= least, "token",
               fmt::format("takes {} s, reading takes {} s", hw::seconds(step.device.total), least));
}

/// The median of tokens whose times rise from bucket to bucket.
double median(const std::vector<GenerationStep>& steps) {
  std::int64_t all = 0, seen = 0;
  for (const GenerationStep& step : steps) all += step.tokens;
  for (const GenerationStep& step : steps)
    if ((seen += step.tokens) * 2 >= all) return step.seconds;
  return 0;
}

}  // namespace

void check(const GenerationJob& job, const hw::MachineParams& machine) {
  workloads::check(job.spec, job.config);
  if (job.spec.tensor_parallel > machine.instance_cores())
    throw Error{Fault::kUsage, "`tensor_parallel_size`",
                fmt::format("{}, but {} has {}", base::counted(job.spec.tensor_parallel, "core"), machine.name,
                            machine.instance_cores()),
                fmt::format("use {} or less, or a larger `instance_type`", machine.instance_cores())};
  require_room(job, machine, least_bytes(job));
}

GenerationTime generation_time(const GenerationJob& given, const hw::MachineParams& machine) {
  check(given, machine);
  GenerationJob job = given;
  job.spec.expected_experts = true;
  // The first new token comes from the prompt; token i of the others is at position prompt_tokens + i.
  // Of a text that is written apart, at position i.
  const std::int64_t others = job.new_tokens - 1, first = job.config->pairs() ? 1 : job.prompt_tokens;
  const std::int64_t last = first + std::max<std::int64_t>(others, 1) - 1;
  const workloads::GenerationPrograms programs{job.config, job.spec, first, last, machine.target(), job.programs.get()};
  GenerationTime out;
  out.memory = {.by_kind = programs.tokens.back().compiled.memory.bytes_by_kind,
                .total = programs.hbm_bytes(),
                .capacity = machine.hbm_bytes_per_core()};
  std::uint64_t& scratch = out.memory.by_kind["activations"];
  scratch = std::max(scratch, programs.prompt.memory.bytes_by_kind.at("activations"));
  out.memory.name_rest();
  require_room(job, machine, out.memory.by_kind);
  out.prompt = step_of(job, machine, programs.prompt, job.spec.batch * job.spec.prompt);
  out.first_token = out.total = out.prompt.seconds;
  std::int64_t at = first;
  for (const auto& token : programs.tokens) {
    const std::int64_t end = std::min(token.read + 1, first + others);  // positions below
    if (end <= at) continue;
    GenerationStep step = step_of(job, machine, token.compiled, job.spec.batch);
    step.read = token.read, step.tokens = end - at;
    require_physical(job, step);
    out.total += step.seconds * static_cast<double>(step.tokens);
    out.tokens.push_back(std::move(step));
    at = end;
  }
  out.per_token = median(out.tokens);
  out.tokens_per_second = static_cast<double>(job.spec.batch * job.new_tokens) / out.total;
  return out;
}

std::string experts_text(const GenerationJob& job) {
  const std::int64_t experts = job.config->sizes().experts;
  if (experts == 0) return "";
  return fmt::format(
      "of each layer's {} experts the prompt reads {}, a token of each sequence {}: as many as are expected to be "
      "chosen by a router that prefers none; all tokens of a program pass through each of them",
      experts, workloads::expected_experts(job.config, job.spec.batch * job.spec.prompt),
      workloads::expected_experts(job.config, job.spec.batch));
}

std::string bound_of(const GenerationStep& step) {
  const double device = step.parts.front().seconds;
  if (2 * device < step.seconds)
    return fmt::format("the host ({:.0f} % of the time)", 100 * (1 - device / step.seconds));
  const analysis::Resource most = analysis::resources(step.device).front();
  return fmt::format("{} ({:.0f} % of the device's time)", most.name, most.busy);
}

}  // namespace trnsim
