// What a decoder's training job takes: its plan compiled and on the clock, pipelines by all of their stages, and the
// host around it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/host_model.h"
#include "hw/sim_device.h"
#include "runtime/compile.h"
#include "trnsim/decoder_job.h"

namespace trnsim {

/// Of the blocks that plans of one model share, as many instructions are kept: a 7B Llama's layers have 2 million, with
/// two sequences of 2048 and no tensor parallelism.
inline constexpr std::size_t kKeptInstructions = 4'000'000;

struct DecoderProjection {
  DecoderMemory memory;         // of the core that needs most
  runtime::Compiled compiled;   // one stage as a model of its own: its layers, embeddings and head
  hw::SimResult device;         // a step of it; without it, of the pipeline's core that took longest
  double micro_seconds = 0;     // from micro-batch to micro-batch
  double bubble_seconds = 0;    // what the slowest stage waits for the others in a step
  double device_seconds = 0;    // of a step
  double computed_seconds = 0;  // of a pipeline: the same by one stage alone and a computed bubble
  analysis::JobTime time;       // of the job
  double steps = 0;
  std::optional<double> dollars, price_per_hour;  // nothing when nobody says what the machine costs
  double model_flops = 0;                         // of a step, all cores
  double mfu = 0;  // model_flops over what all cores could do in the device's time of a step
};

struct ProjectOptions {
  /// Of other plans of the model: theirs are compiled and timed in less time, to the same figures.
  runtime::BlockCache* blocks = nullptr;
  hw::BlockTimes* times = nullptr;
  /// Of a pipeline also one stage as a model of its own, which has the record of a whole step.
  bool one_stage = true;
  /// What does not fit is compiled only until that is seen.
  bool give_up = false;
};

/// The plan's memory and time. What does not fit is no error here, but has a memory alone (memory.fits() is false),
/// unless job.may_exceed_memory. Errors: Fault::kUsage, Fault::kProgram for a plan that model or machine do not allow.
DecoderProjection project_if_it_fits(const DecoderJob& job, const JobMachines& machines,
                                     const ProjectOptions& options = {});
/// Errors: as above; Fault::kCapacity when it does not fit.
DecoderProjection project(const DecoderJob& job, const JobMachines& machines, const ProjectOptions& options = {});

/// A plan that fits, changed as little as may be: recomputation first, then ZeRO, then wider, then longer. Nothing when
/// none does.
std::optional<DecoderJob> nearest_that_fits(const DecoderJob& job, const std::string& instance,
                                            const std::vector<std::string>& set);

}  // namespace trnsim
