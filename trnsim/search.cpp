#include "trnsim/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>
#include <tuple>

#include "analysis/sweep.h"
#include "base/error.h"
#include "base/units.h"
#include "hw/timed_block.h"
#include "runtime/block.h"
#include "trnsim/decoder_projection.h"
#include "trnsim/project.h"
#include "workloads/pipeline.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

std::string readable(std::uint64_t bytes) {
  return base::readable(static_cast<double>(bytes), base::Dimension::kBytes);
}

std::string too_much(std::uint64_t memory, std::uint64_t there) {
  return fmt::format("needs {} of HBM per core at least, there are {}", readable(memory), readable(there));
}

/// Throws what the model, its graph or the machine has against a plan: nothing is compiled for it.
void require_legal(const DecoderJob& job, const hw::MachineParams& whole) {
  stage_config(job);
  DecoderJob layers = job;  // one in each chunk: they are all alike
  std::visit([&](auto& c) { c.num_hidden_layers = job.pipeline * job.step.virtual_stages; }, layers.config);
  stage_step(layers, 1);
  require_groups(job, whole);
  workloads::pipeline_turns(job.pipeline, 0, job.step.virtual_stages, job.step.micro_batches);
}

std::string no_batch(const DecoderJob& job, std::int64_t batch) {
  return fmt::format("a batch of {} is no whole number of micro-batches of {} on {} data-parallel ranks", batch,
                     job.step.batch, job.step.ranks);
}

/// What is known of a plan before anything is compiled.
TriedPlan looked_at(DecoderJob job, const PlanSpace& space, const hw::MachineParams& whole) {
  const std::int64_t samples = job.step.batch * static_cast<std::int64_t>(job.step.ranks);
  job.step.micro_batches = std::max<std::int64_t>(1, space.batch / samples);
  job.sequences = job.sequences_per_step();
  job.simulated_micro_batches = 3;
  TriedPlan plan{.job = std::move(job)};
  try {
    require_legal(plan.job, whole);
    plan.memory = least_memory(plan.job);
  } catch (const Error& e) {
    if (e.fault() != Fault::kUsage && e.fault() != Fault::kProgram) throw;
    plan.refused = e.reason();
    return plan;
  }
  if (space.batch % samples != 0)
    plan.refused = no_batch(plan.job, space.batch);
  else if (plan.job.step.micro_batches < plan.job.pipeline)
    plan.refused =
        fmt::format("{} micro-batches never keep {} stages at work", plan.job.step.micro_batches, plan.job.pipeline);
  else if (const std::uint64_t there = whole.hbm_bytes_per_core(); plan.memory > there) {
    plan.too_large = true;
    plan.refused = too_much(plan.memory, there);
  }
  return plan;
}

/// Divisors of the layers: each is a number of stages.
std::vector<std::int64_t> stages_of(const workloads::ModelConfig& config) {
  constexpr std::int64_t kMost = 16;
  const std::int64_t layers = std::visit([](const auto& c) { return c.num_hidden_layers; }, config);
  std::vector<std::int64_t> out;
  for (std::int64_t n = 1; n <= std::min(layers, kMost); ++n)
    if (layers % n == 0) out.push_back(n);
  return out;
}

/// Chunks of layers on each stage: one, and if asked for, several in turn.
std::vector<std::int64_t> chunks_of(const TrainOptions& o, std::int64_t pipeline) {
  if (pipeline == 1 || o.virtual_pipeline_size == 1) return {1};
  return {1, o.virtual_pipeline_size};
}

/// With and without what costs or spares memory alone.
std::vector<DecoderJob> jobs_of(TrainOptions o, const workloads::ModelConfig& config) {
  std::vector<DecoderJob> out;
  for (const bool zero : {true, false})
    for (const char* recompute : {"none", "selective", "full"}) {
      o.zero_1 = zero;
      o.recompute = recompute;
      DecoderJob job = decoder_job(o, config, 0);
      if (!zero || job.step.ranks > 1) out.push_back(std::move(job));
    }
  return out;
}

/// What decides most of a plan's blocks.
using Kin = std::tuple<std::int64_t, std::int64_t, workloads::Recompute>;
Kin kin_of(const DecoderJob& job) { return {job.step.batch, job.step.tensor_parallel, job.step.recompute}; }

/// Names of what a child process says of plan `i`.
std::string name_of(std::size_t i, const char* what) { return fmt::format("{}.{}", i, what); }
constexpr const char *kSeconds = "seconds", *kMfu = "mfu", *kMemory = "memory";

/// What the plans that a child process tries have in common; the least recently used of it goes.
struct Shared {
  runtime::BlockCache blocks{kKeptInstructions};
  hw::BlockTimes times;
};

void try_out(const DecoderJob& job, std::size_t i, const TrainOptions& o, Shared& shared, analysis::Metrics& out) {
  DecoderProjection p;
  try {
    p = project_if_it_fits(job, machines_of(job, o.instance_type, o.set),
                           {.blocks = &shared.blocks, .times = &shared.times, .one_stage = false, .give_up = true});
  } catch (const Error& e) {
    if (e.fault() != Fault::kCapacity) throw;  // a tile is too large for SBUF
    out[name_of(i, kMemory)] = 0;
    return;
  }
  out[name_of(i, kMemory)] = static_cast<double>(p.memory.total);
  if (!p.memory.fits()) return;
  out[name_of(i, kSeconds)] = p.time.step;
  out[name_of(i, kMfu)] = p.mfu;
}

void note(TriedPlan& plan, std::size_t i, const analysis::Metrics& metrics, std::uint64_t there) {
  plan.memory = static_cast<std::uint64_t>(metrics.at(name_of(i, kMemory)));
  if (const auto found = metrics.find(name_of(i, kSeconds)); found != metrics.end()) {
    plan.seconds = found->second;
    plan.mfu = metrics.at(name_of(i, kMfu));
    return;
  }
  plan.too_large = true;
  plan.refused = plan.memory == 0 ? "a tile does not fit in SBUF" : too_much(plan.memory, there);
}

/// Numbers of the plans without a reason by kin, the kin with most plans first: they take longest.
std::vector<std::vector<std::size_t>> families_of(const std::vector<TriedPlan>& plans) {
  std::map<Kin, std::vector<std::size_t>> families;
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (plans[i].refused.empty()) families[kin_of(plans[i].job)].push_back(i);
  std::vector<std::vector<std::size_t>> out;
  for (auto& [kin, members] : families) out.push_back(std::move(members));
  std::ranges::stable_sort(out, std::greater{}, &std::vector<std::size_t>::size);
  return out;
}

}  // namespace

std::vector<TriedPlan> plans_of(const PlanSpace& space) {
  const hw::MachineParams whole = load_cluster(space.options.instance_type, space.options.set, space.options.nnodes);
  std::vector<TriedPlan> out;
  for (const std::int64_t micro : space.micro_batches)
    for (std::int64_t tensor = 1; tensor <= whole.instance_cores(); tensor *= 2)
      for (const std::int64_t pipeline : stages_of(space.config)) {
        TrainOptions o = space.options;
        o.per_device_train_batch_size = micro;
        o.tensor_parallel_size = tensor;
        o.pipeline_parallel_size = pipeline;
        if (cores_of(o, whole) % (tensor * pipeline) != 0) continue;  // leaves cores without work
        for (const std::int64_t chunks : chunks_of(space.options, pipeline)) {
          o.virtual_pipeline_size = chunks;
          for (const DecoderJob& job : jobs_of(o, space.config)) out.push_back(looked_at(job, space, whole));
        }
      }
  return out;
}

/// A sweep whose points are families of plans by number, and whose results nobody keeps.
void time_plans(std::vector<TriedPlan>& plans, const TrainOptions& o) {
  const std::vector<std::vector<std::size_t>> families = families_of(plans);
  if (families.empty()) return;
  std::vector<analysis::SweepPoint> points;
  for (std::size_t f = 0; f < families.size(); ++f) points.push_back({{"family", std::to_string(f)}});
  const auto number = [](const analysis::SweepPoint& point) { return std::stoull(point.front().second); };
  const auto evaluate = [&](const analysis::SweepPoint& point) {
    static Shared shared;  // of this child process, for the next family too
    analysis::Metrics metrics;
    for (const std::size_t i : families[number(point)]) try_out(plans[i].job, i, o, shared, metrics);
    return metrics;
  };
  const auto processes = o.host_threads > 0 ? static_cast<int>(o.host_threads)
                                            : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const analysis::SweepRun run =
      analysis::run_sweep(points, {.hash = number, .evaluate = evaluate, .name = "plan"}, ":memory:", processes);
  if (run.interrupted)
    throw Error{Fault::kUsage, "trnsim plan", "was interrupted", "let it end, or try fewer --nnodes"};
  const std::uint64_t there = hw::load_machine(o.instance_type, o.set).hbm_bytes_per_core();
  for (std::size_t f = 0; f < families.size(); ++f) {
    if (const std::string& error = run.results[f].error; !error.empty())
      throw Error{Fault::kInternal, describe(plans[families[f].front()].job), error, "report it with the command"};
    for (const std::size_t i : families[f]) note(plans[i], i, run.results[f].metrics, there);
  }
}

}  // namespace trnsim
