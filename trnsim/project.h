// What a training job takes on the simulated machine: its step compiled and timed, and the host around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host_model.h"
#include "analysis/prices.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "runtime/compile.h"
#include "trnsim/settings.h"
#include "workloads/bert_graph.h"
#include "workloads/job.h"

namespace trnsim {

/// The part of a step whose instructions are recorded, in s of simulated time; nothing when the ends are equal.
struct TraceWindow {
  double from = 0, until = 0;
};

/// A job taken apart: model, step, sizes of the data.
struct ProjectedJob {
  workloads::BertConfig config;
  workloads::StepSpec step;
  std::int64_t samples = 0, eval_samples = 0, eval_batch = 8;
  double epochs = 1;
  std::int64_t max_steps = -1;
  bool eval_each_epoch = true;
  double log_every = 10;
  std::string stack = "hf-trainer";
  runtime::Passes passes;
  bool exact = false;
  TraceWindow trace{};
  analysis::PriceTerms price{};
};

struct Projection {
  runtime::Compiled compiled;
  hw::SimResult device;                      // one training step
  std::optional<hw::SimResult> eval_device;  // one evaluation batch
  analysis::JobTime time;
  double steps = 0, samples = 0;
  std::optional<double> dollars, price_per_hour;     // nothing when nobody says what the machine costs
  double model_flops = 0;                            // of a step, all cores
  double compile_seconds = 0, simulate_seconds = 0;  // of this host

  double samples_per_second() const { return samples / time.total; }
};

/// Errors: Fault::kCapacity when it does not fit into a core's HBM.
Projection project(const ProjectedJob& job, const hw::MachineParams& machine);

/// The job that the options describe, on `config`.
ProjectedJob projected_job(const TrainOptions& options, const workloads::BertConfig& config, std::int64_t samples,
                           std::int64_t eval_samples);

/// Cores of the job: --nproc_per_node, or all of the instance. Errors: Fault::kUsage when there are not so many.
std::uint32_t cores_of(const TrainOptions& options, const hw::MachineParams& machine);

/// Seconds of the host's clock.
double wall_clock();

}  // namespace trnsim
