// What a job takes: memory, the time of a step and of the whole, dollars; the same for every family and plan.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/host/host_model.h"
#include "trnsim/job.h"

namespace hw {
struct SimResult;  // hw/trace.h
}
namespace runtime {
struct Compiled;  // runtime/compiler/compile.h
}  // namespace runtime

namespace trnsim {

struct SharedBlocks;  // trnsim/project/stages.h

/// Bytes of one core's HBM by kind ("weights", "activations", ...), which add up to `total`.
struct Memory {
  std::map<std::string, std::uint64_t> by_kind{};
  std::uint64_t total = 0;
  std::uint64_t capacity = 0;
  bool least = false;  // a lower bound, not what was compiled

  bool fits() const { return total <= capacity; }
  /// What the kinds leave of `total` is room that makes ranks divide buckets: "alignment".
  void name_rest();
  void add(const std::string& kind, std::uint64_t bytes) {
    if (bytes > 0) by_kind[kind] += bytes, total += bytes;
  }
};

/// One stage as a core runs it; a job without a pipeline has one. Copies share program and record.
struct Stage {
  std::shared_ptr<const runtime::Compiled> program;
  std::shared_ptr<const hw::SimResult> record;  // of the core that took longest; null until it is simulated

  const runtime::Compiled& compiled() const { return *program; }
  const hw::SimResult& device() const { return *record; }
  std::uint64_t hbm_bytes() const;  // of the program
};

/// The part of a step whose instructions are recorded, in s of simulated time; nothing when the ends are equal.
struct TraceWindow {
  double from = 0, until = 0;
  std::int32_t layer = -1;  // calls of this layer of the model alone; -1: all
};

/// Of the samples that are padded to one of several lengths.
struct LengthTime {
  std::int64_t length = 0;
  double device_seconds = 0, eval_seconds = 0;  // as a projection's
  double samples = 0, steps = 0;                // of the job
  double step_seconds = 0, seconds = 0;         // of such a step, and of all of them with the host's part
};

struct Projection {
  Memory memory;                           // of the core that needs most
  std::vector<Stage> stages;               // in their order, as they were simulated
  std::size_t slowest = 0;                 // which of them sets the time of a step
  std::int64_t micro_batches = 0;          // of a step that were simulated; the others take micro_seconds each
  double device_seconds = 0;               // of a step
  double micro_seconds = 0;                // from micro-batch to micro-batch
  double bubble_seconds = 0;               // what the slowest stage waits for the others in a step
  double eval_seconds = 0;                 // of the device, an evaluation batch; 0: nothing is evaluated
  std::vector<LengthTime> lengths;         // of a job with several; the stages are of the last, times are means
  std::optional<LengthTime> one_length{};  // if all samples were padded to that; none: it does not fit
  analysis::JobTime time;                  // of the job
  double steps = 0, samples = 0;           // of the job
  std::optional<double> price_per_hour{};  // dollars of one instance; none: it has no price
  std::optional<double> dollars{};
  double end_to_end = 0;   // s: the job with its weights copied in and, once, out
  double model_flops = 0;  // of a step, all cores
  double mfu = 0;          // model_flops over what all cores could do in the device's time of a step
  double job_mfu = 0;      // the same in the time of a step, with the host's

  /// The slowest stage: its record speaks for the step.
  const Stage& stage() const { return stages.at(slowest); }
  double samples_per_second() const { return samples / time.total; }
};

struct ProjectOptions {
  bool exact = false;              // simulate every core and call
  bool any_memory = false;         // time it although it does not fit
  bool in_child = true;            // as SimulateStages::in_child; a process made for the job needs none
  std::int64_t micro_batches = 0;  // simulated of a step when there are more; 0: all
  TraceWindow trace{};
  SharedBlocks* shared = nullptr;  // with other jobs on the machine: theirs take less time, to the same figures
  bool give_up = false;            // what does not fit is compiled only until that is seen
};

/// Errors: Fault::kCapacity when it does not fit; Fault::kUsage, Fault::kProgram for a plan that model or machine do
/// not allow.
Projection project(const Job& job, const ProjectOptions& options = {});
/// The same, but what does not fit is not an error: it has a memory alone (memory.fits() is false), the least that it
/// needs when that is too much already.
Projection project_if_it_fits(const Job& job, const ProjectOptions& options = {});

/// Of all that decides what the machine does and what its memory holds: jobs that differ in their hosts, sizes or
/// prices alone have the same.
std::uint64_t device_hash(const Job& job);
/// Whether two jobs run the same programs on the same machine.
inline bool same_on_the_device(const Job& a, const Job& b) { return device_hash(a) == device_hash(b); }
/// `device` with the host, the sizes and the price of `job`, which is the same on the device.
Projection with_host_of(const Job& job, Projection device);

/// Seconds of a job that is projected, on one instance of each other type that has the same device: as many cores are
/// at work, and the host is that type's. `set`: changes of a machine's parameters, as the job's. None for a job on
/// several instances.
std::map<std::string, double> runtime_elsewhere(const Job& job, const Projection& projection,
                                                std::span<const std::string> set);

/// A plan that fits, changed as little as may be: recomputation first, then ZeRO, then wider, then longer. Nothing when
/// none does.
std::optional<Job> nearest_that_fits(const Job& job);

/// Programs of the settings' jobs are looked for in the folder that `compile_cache` names, if it names one. Errors: as
/// runtime::ProgramCache.
void open_compile_cache(Settings& settings);
/// "programs: 3 from the cache, 1 compiled".
std::string text_of(const runtime::ProgramCache& cache);

}  // namespace trnsim
