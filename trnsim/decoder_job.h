// A decoder's training job on a plan: model, degrees, machines; what it is as steps of stages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/prices.h"
#include "hw/params.h"
#include "runtime/compile.h"
#include "trnsim/settings.h"
#include "workloads/decoder_graph.h"
#include "workloads/job.h"

namespace trnsim {

struct DecoderJob {
  workloads::ModelConfig config;
  workloads::StepSpec step;  // of one rank: step.ranks data-parallel ranks, each step.tensor_parallel cores wide
  std::int64_t pipeline = 1;
  std::int64_t instances = 1;  // of the whole job
  double sequences = 0;        // of the whole job, packed to step.length tokens
  double epochs = 1;
  double log_every = 10;
  std::string stack = "torch-xla";
  runtime::Passes passes{};
  bool exact = false;
  analysis::PriceTerms price{};
  /// Micro-batches that are simulated when there are more: the rest takes as long as the last of them. 0: all.
  std::int64_t simulated_micro_batches = 0;
  bool may_exceed_memory = false;  // a published plan is timed although our memory plan says that it does not fit

  std::int64_t cores() const { return static_cast<std::int64_t>(step.world()) * pipeline; }
  double sequences_per_step() const {
    return static_cast<double>(step.batch * step.micro_batches) * static_cast<double>(step.ranks);
  }
  double tokens_per_step() const { return sequences_per_step() * static_cast<double>(step.length); }
};

/// Memory of the fullest core.
struct DecoderMemory {
  std::map<std::string, std::uint64_t> by_kind;
  std::uint64_t total = 0;
  std::uint64_t capacity = 0;
  bool fits() const { return total <= capacity; }
  void add(const std::string& kind, std::uint64_t bytes) {
    if (bytes > 0) by_kind[kind] += bytes, total += bytes;
  }
};

/// One stage as a model of its own: its layers, with embeddings and head. Errors: as workloads::check(ShardPlan).
workloads::ModelConfig stage_config(const DecoderJob& job);
/// A step of it, and how it is compiled.
workloads::DecoderStep stage_step(const DecoderJob& job, std::int64_t micro_batches);
runtime::CompileOptions stage_options(const DecoderJob& job);

/// What no compiler can do without, per core: weights, gradients, optimizer state, and what enters each layer (with
/// everything kept, also attention's probabilities). Takes no time: most plans of a large model are refused by it.
std::uint64_t least_memory(const DecoderJob& job);
/// The step of the first of all stages, as they run together.
workloads::StepSpec step_of_stages(const DecoderJob& job);
/// Micro-batches of it that show what the others take: two rounds through the stages, three of interleaved ones.
std::int64_t micro_batches_to_run(const DecoderJob& job);

DecoderMemory memory_of(const runtime::Compiled& compiled, const hw::MachineParams& machine);

/// So many of an instance, with what --set changed.
hw::MachineParams load_cluster(const std::string& instance, std::vector<std::string> set, std::int64_t instances);
/// All instances of a job, and those that hold one stage.
struct JobMachines {
  hw::MachineParams whole, stage;
};
/// Errors: Fault::kUsage when the plan's cores are not those of the instances.
JobMachines machines_of(const DecoderJob& job, const std::string& instance, const std::vector<std::string>& set);

/// Errors: Fault::kProgram, naming legal ones, when the machine of all stages cannot form the plan's replica groups.
void require_groups(const DecoderJob& job, const hw::MachineParams& whole);

/// The job that the options describe: cores of --nproc_per_node x --nnodes, shared as the plan says. `sequences`: of
/// the whole job. Errors: Fault::kUsage when the plan does not divide the cores.
DecoderJob decoder_job(const TrainOptions& options, const workloads::ModelConfig& config, double sequences);

/// "llama2-7b", or a Hugging Face folder. Errors: Fault::kUsage for neither.
workloads::ModelConfig decoder_config(const std::string& name_or_folder);

/// Whether the job's model is a Llama or GPT.
bool is_decoder(const workloads::Job& job);

/// "TP 8, PP 1, DP 4, sequence parallel, ZeRO-1, recompute full, 16 micro-batches of 1".
std::string describe(const DecoderJob& job);
/// The same as flags.
std::string flags_of(const DecoderJob& job);

}  // namespace trnsim
