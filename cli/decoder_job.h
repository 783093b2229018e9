// A decoder's training job on a plan: compiled and timed by one stage of the pipeline, and the host around it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host_model.h"
#include "cli/train_options.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "runtime/compile.h"
#include "workloads/decoder_graph.h"

namespace cli {

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
  /// Micro-batches that are simulated when there are more: the rest takes as long as the last of them. 0: all.
  std::int64_t simulated_micro_batches = 0;
  bool may_exceed_memory = false;  // a published plan is timed although our memory plan says that it does not fit

  std::int64_t cores() const { return static_cast<std::int64_t>(step.world()) * pipeline; }
  double sequences_per_step() const {
    return static_cast<double>(step.batch * step.micro_batches) * static_cast<double>(step.ranks);
  }
  double tokens_per_step() const { return sequences_per_step() * static_cast<double>(step.length); }
};

/// Memory of the fullest core. A pipeline's first stage keeps the activations of as many micro-batches as there are
/// stages; embeddings and head are counted on one stage, which none has both of.
struct DecoderMemory {
  std::map<std::string, std::uint64_t> by_kind;
  std::uint64_t total = 0;
  std::uint64_t capacity = 0;
  bool fits() const { return total <= capacity; }
  void add(const std::string& kind, std::uint64_t bytes) {
    if (bytes > 0) by_kind[kind] += bytes, total += bytes;
  }
};

struct DecoderProjection {
  runtime::Compiled compiled;  // of one stage
  DecoderMemory memory;
  hw::SimResult device;           // a step of one stage
  double micro_seconds = 0;       // of a micro-batch, forward and backward, on that stage
  double bubble_seconds = 0;      // stages that wait for the first and the last micro-batch
  bool bubble_simulated = false;  // by all stages (cli/decoder_stages.h); otherwise computed from one
  double device_seconds = 0;      // of a step
  double computed_seconds = 0;    // the same by one stage and a computed bubble
  analysis::JobTime time;         // of the job
  double steps = 0;
  double dollars = 0;
  double model_flops = 0;  // of a step, all cores
  double mfu = 0;          // model_flops over what all cores could do in the device's time of a step
};

/// A step of one stage, and how it is compiled.
workloads::DecoderStep stage_step(const DecoderJob& job, std::int64_t micro_batches);
runtime::CompileOptions stage_options(const DecoderJob& job);

/// What no compiler can do without, per core: weights, gradients, optimizer state, and what enters each layer (with
/// everything kept, also attention's probabilities). Takes no time: most plans of a large model are refused by it.
std::uint64_t least_memory(const DecoderJob& job);
/// Compiles alone: what it needs. `blocks`: of other plans of the model, which is then compiled in less time to the
/// same program. Errors: Fault::kUsage for a plan that the model or the machine does not allow.
DecoderMemory decoder_memory(const DecoderJob& job, const hw::MachineParams& stage,
                             runtime::BlockCache* blocks = nullptr);
/// Errors: as above; Fault::kCapacity when it does not fit.
DecoderProjection project(const DecoderJob& job, const hw::MachineParams& stage, runtime::BlockCache* blocks = nullptr);
/// The two halves of project(), for callers to whom what does not fit is no error: program and memory, then the rest.
DecoderProjection compile_job(const DecoderJob& job, const hw::MachineParams& stage,
                              runtime::BlockCache* blocks = nullptr);
void simulate_job(const DecoderJob& job, const hw::MachineParams& stage, DecoderProjection& projection);
/// The job around a step of `projection.device_seconds`.
void time_job(const DecoderJob& job, const hw::MachineParams& stage, DecoderProjection& projection);

/// The step of the first of all stages, as they run together (project() has one stage as a model of its own).
workloads::StepSpec step_of_stages(const DecoderJob& job);

/// So many of an instance, with what --set changed.
hw::MachineParams load_cluster(const std::string& instance, std::vector<std::string> set, std::int64_t instances);
/// The instances that hold one stage. Errors: Fault::kUsage when the plan's cores are not those of the instances.
hw::MachineParams stage_machine(const DecoderJob& job, const std::string& instance,
                                const std::vector<std::string>& set);

/// Errors: Fault::kProgram, naming legal ones, when the machine of all stages cannot form the plan's replica groups.
void require_groups(const DecoderJob& job, const hw::MachineParams& whole);

/// The job that the options describe: cores of --nproc_per_node x --nnodes, shared as the plan says. `sequences`: of
/// the whole job. Errors: Fault::kUsage when the plan does not divide the cores.
DecoderJob decoder_job(const TrainOptions& options, const workloads::ModelConfig& config, double sequences);

/// "llama2-7b", or a Hugging Face folder. Errors: Fault::kUsage for neither.
workloads::ModelConfig decoder_config(const std::string& name_or_folder);

/// A plan that fits, changed as little as may be: recomputation first, then ZeRO, then wider, then longer. Nothing when
/// none does.
std::optional<DecoderJob> nearest_that_fits(DecoderJob job, const std::string& instance,
                                            const std::vector<std::string>& set);

/// "TP 8, PP 1, DP 4, sequence parallel, ZeRO-1, recompute full, 16 micro-batches of 1".
std::string describe(const DecoderJob& job);
/// The same as flags.
std::string flags_of(const DecoderJob& job);

}  // namespace cli
