#include "analysis/host_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

struct OptimizerOps {
  std::string_view name;
  double per_tensor;
};
// Counted with PyTorch's dispatch mode: the per-tensor loop of torch.optim (1.2 and 11.2 operations for a tensor; 19
// for LAMB as the AWS example has it from timm: 24 where weights decay, 14 elsewhere), with clip_grad_norm_ (6.6, all
// but SGD) and zero_grad (1.2).
constexpr std::array kOptimizerOps = {OptimizerOps{"sgd", 2.4}, OptimizerOps{"adam", 19}, OptimizerOps{"adamw", 19},
                                      OptimizerOps{"lamb", 26.8}};

void check(const JobShape& shape) {
  const std::array figures = {shape.device_step_seconds, shape.traced_ops,        shape.launches,
                              shape.samples_per_step,    shape.bytes_in_per_step, shape.log_every,
                              shape.eval_passes,         shape.eval_steps,        shape.eval_device_step_seconds,
                              shape.eval_traced_ops,     shape.checkpoints,       shape.checkpoint_bytes};
  const bool sound = std::ranges::all_of(figures, [](double f) { return f >= 0 && std::isfinite(f); });
  if (sound && shape.steps > 0 && shape.cores >= 1) return;
  throw Error{Fault::kUsage, "job", "a job needs at least one step and no negative time, count or size",
              "check `max_steps`, `num_train_epochs` and the batch size against the data set"};
}

double sum(const std::vector<TimeItem>& items) {
  double total = 0;
  for (const TimeItem& item : items) total += item.seconds;
  return total;
}

/// What the loop's own thread does for one step.
std::vector<TimeItem> host_work(const Stack& stack, const JobShape& shape, double ops) {
  return {{"tracing", ops * stack.per_op.value},
          {"loop", stack.per_step.value},
          {"data loading", shape.prefetch ? 0 : shape.samples_per_step * stack.per_sample.value},
          {"input copies", shape.bytes_in_per_step / stack.copy_bandwidth.value},
          {"launch", shape.launches * launch_seconds(stack, shape.cores)}};
}

/// One step: the parts add up to max(host, device) when they overlap, to their sum when the loop blocks.
struct Step {
  double total = 0, host = 0, device = 0;
  std::vector<TimeItem> parts;
};

Step step_of(const Stack& stack, const JobShape& shape, double ops, double device_seconds, bool overlap) {
  Step step{.parts = host_work(stack, shape, ops)};
  step.host = sum(step.parts);
  const double lead_in = shape.launches * stack.lead_in.value;
  step.device = device_seconds + lead_in;
  if (overlap) {
    const double exposed = std::max(0.0, step.host - step.device);
    for (TimeItem& part : step.parts) part.seconds *= step.host > 0 ? exposed / step.host : 0;
  }
  step.parts.push_back({"launch lead-in", lead_in});
  step.parts.push_back({"device", device_seconds});
  if (shape.prefetch) {  // a loader of its own thread can still be the slowest of the three
    const double loader = shape.samples_per_step * stack.per_sample.value;
    step.parts.push_back({"data loading behind", std::max(0.0, loader - sum(step.parts))});
  }
  step.total = sum(step.parts);
  return step;
}

}  // namespace

double traced_ops(const TracedModel& model) {
  const double passes = model.micro_steps * (model.forward_ops + model.backward_ops);
  if (model.optimizer.empty()) return passes;
  for (const OptimizerOps& row : kOptimizerOps)
    if (row.name == model.optimizer) return passes + row.per_tensor * model.tensors;
  throw Error{Fault::kUsage, "optimizer", fmt::format("'{}' has no count of framework operations", model.optimizer),
              "use sgd, adam, adamw or lamb"};
}

double launch_seconds(const Stack& stack, int cores) {
  return stack.per_launch.value + cores * stack.per_launch_core.value;
}

JobTime job_time(const Stack& stack, const JobShape& shape) {
  check(shape);
  const bool overlap = stack.in_flight.value > 0 && !shape.blocking;
  const Step step = step_of(stack, shape, shape.traced_ops, shape.device_step_seconds, overlap);
  JobTime job{
      .step = step.total, .host_step = step.host, .device_step = step.device, .overlapped = overlap, .parts = {}};
  for (const TimeItem& part : step.parts) job.parts.push_back({part.name, part.seconds * shape.steps});

  // A read-back drains what is in flight: the overlap of that step is lost.
  const double drained = overlap ? std::min(step.host, step.device) : 0;
  const double logs = shape.log_every > 0 ? std::floor(shape.steps / shape.log_every) : 0;
  job.parts.push_back({"logging", logs * (drained + stack.read_back.value)});

  // Each evaluation batch hands its logits to the host, so it blocks.
  const Step eval = step_of(stack, shape, shape.eval_traced_ops, shape.eval_device_step_seconds, false);
  job.parts.push_back({"evaluation", shape.eval_passes * shape.eval_steps * (eval.total + stack.read_back.value)});
  const double save = drained + shape.checkpoint_bytes / stack.copy_bandwidth.value;
  job.parts.push_back({"checkpoints", shape.checkpoints * save});
  job.total = sum(job.parts);
  job.compile = ((shape.compiled_ops > 0 ? shape.compiled_ops : shape.traced_ops) +
                 (shape.eval_passes > 0 ? shape.eval_traced_ops : 0)) *
                stack.compile_per_op.value;
  return job;
}

}  // namespace analysis
