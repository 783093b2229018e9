// From the device time of one step to the time of a job: the cost of the host software around the device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/interruptions.h"
#include "analysis/host/stack.h"

namespace analysis {

/// Decides how many framework operations the host dispatches in one optimizer step.
struct TracedModel {
  double forward_ops = 0;   // per micro-step
  double backward_ops = 0;  // per micro-step; 0: forward only
  double tensors = 0;      // weights, biases, gains that the optimizer walks: 199 for BERT-base with a token classifier
  double micro_steps = 1;  // gradient accumulation: forward and backward are traced in each
  std::string optimizer;   // "adamw"; empty: no update
  bool clips = true;       // gradients by their norm; SGD's do not
  double optimizer_ops = 0;  // more that the stack's optimizer dispatches for each tensor
};

/// Framework operations of one step: micro_steps * (forward + backward) + tensors * operations of the optimizer for
/// each.
/// Errors: Fault::kUsage for an optimizer that has no count.
double traced_ops(const TracedModel& model);

/// Checkpoints of one instance: copied to its host, then written to its disk.
struct Checkpoints {
  double count = 0;            // in the job
  double bytes = 0;            // of one checkpoint that the instance writes
  double disk_rate = 0;        // B/s; 0: nothing is written
  bool in_background = false;  // written while the job goes on; copied before it does

  double write_seconds() const { return disk_rate > 0 ? bytes / disk_rate : 0; }
};

/// A job as the host sees it. Seconds, bytes; per process (one process drives one core) unless said otherwise.
struct JobShape {
  double steps = 0;
  double device_step_seconds = 0;
  double traced_ops = 0;        // per step; 0 when the graph was traced ahead of time
  double compiled_ops = 0;      // of the distinct graphs; 0: all of a step's
  double launches = 1;          // graphs per step
  int cores = 1;                // that one launch starts together: processes of the instance
  double physical_cores = 0;    // of the instance; 0: enough for all processes
  bool started = false;         // `total` begins before the first step: its graphs are lowered, found and loaded
  double samples_per_step = 0;  // that this process loads
  double bytes_in_per_step = 0;
  bool prefetch = false;  // data loading runs alongside the loop
  double loaders = 1;     // processes that load, each its share of the samples
  bool blocking = false;  // the loop reads a result in every step, even if the stack allows more in flight
  double log_every = 0;   // steps between two read-backs of the loss; 0: never
  double eval_passes = 0, eval_steps = 0;  // whole evaluations in the job, steps of each
  double eval_device_step_seconds = 0, eval_traced_ops = 0;
  Checkpoints checkpoints{};
};

struct TimeItem {
  std::string name;
  double seconds = 0;
};

/// `parts` add up to `total`; the device is booked in full, the host only by its excess over the device.
struct JobTime {
  double total = 0;         // the train_runtime that a trainer reports
  double step = 0;          // steady step, without logging, evaluation, checkpoints
  double host_step = 0;     // host work in it
  double device_step = 0;   // device work in it, with the lead-in of each launch
  bool overlapped = false;  // the next step is traced while the device is at work
  std::vector<TimeItem> parts;
  double compile = 0;        // once, outside `total`, when no cache holds the graphs
  double compile_first = 0;  // of it, until the first step is done
  double start = 0;          // until cached graphs are loaded; in `total` of a shape that is `started`
  double checkpoint = 0;     // that the job waits for one checkpoint
  double background = 0;     // in which it is then written while the job goes on
  double restore = 0;        // until a checkpoint is read and on the device
  std::optional<InterruptedTime> interrupted{};  // of a job that is

  /// Seconds of a part by its name; 0 for one that the job does not have.
  double part(std::string_view name) const;
};

/// Errors: Fault::kUsage for a shape without steps or with a negative figure.
JobTime job_time(const Stack& stack, const JobShape& shape);

/// Host seconds of one launch that starts `cores` cores.
double launch_seconds(const Stack& stack, int cores);

}  // namespace analysis
