#include "analysis/host/host_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

struct OptimizerOps {
  std::string_view name;
  double per_tensor;
  double clipping = 0;  // of them
};
// Counted with PyTorch's dispatch mode: the per-tensor loop of torch.optim (1.2 and 11.2 operations for a tensor; 19
// for LAMB as the AWS example has it from timm: 24 where weights decay, 14 elsewhere), with clip_grad_norm_ (6.6, all
// but SGD) and zero_grad (1.2).
constexpr std::array kOptimizerOps = {OptimizerOps{"sgd", 2.4}, OptimizerOps{"adam", 19, 6.6},
                                      OptimizerOps{"adamw", 19, 6.6}, OptimizerOps{"lamb", 26.8, 6.6}};

void check(const JobShape& shape) {
  const std::array figures = {shape.device_step_seconds, shape.traced_ops,        shape.launches,
                              shape.samples_per_step,    shape.bytes_in_per_step, shape.log_every,
                              shape.eval_passes,         shape.eval_steps,        shape.eval_device_step_seconds,
                              shape.eval_traced_ops,     shape.checkpoints.count, shape.checkpoints.bytes};
  const bool sound = std::ranges::all_of(figures, [](double f) { return f >= 0 && std::isfinite(f); });
  if (sound && shape.steps > 0 && shape.cores >= 1 && shape.loaders >= 1) return;
  throw Error{Fault::kUsage, "job", "needs at least one step, and no negative time, count or size",
              "check `max_steps`, `num_train_epochs` and the batch size against the data set"};
}

double sum(const std::vector<TimeItem>& items) {
  double total = 0;
  for (const TimeItem& item : items) total += item.seconds;
  return total;
}

/// How much longer the host's work takes than of a process alone.
double slow_down(const Stack& stack, const JobShape& shape) {
  return shape.physical_cores > 0 ? 1 + stack.contention.value * shape.cores / shape.physical_cores : 1;
}

/// Parts of a step on the host's side.
struct HostWork {
  std::vector<TimeItem> ahead;   // while the device may still be at the step before
  std::vector<TimeItem> behind;  // once it is idle
};

/// The work of the loop's own thread for one step.
HostWork host_work(const Stack& stack, const JobShape& shape, double ops) {
  const double slow = slow_down(stack, shape), traced = ops * stack.per_op.value * slow, share = stack.behind.value;
  return {{{"tracing", traced * (1 - share)},
           {"loop", stack.per_step.value * slow},
           {"data loading", shape.prefetch ? 0 : shape.samples_per_step * stack.per_sample.value * slow},
           {"input copies", shape.bytes_in_per_step / stack.copy_bandwidth.value}},
          {{"hashing", traced * share},
           {"launch",
            shape.launches * launch_seconds(stack, shape.cores) + (shape.cores > 1 ? stack.per_exchange.value : 0)}}};
}

/// How far the host gets while the device runs. kTraced: it traces the next graph, whose hashing and launch wait for
/// the device (the device lock of torch-xla's CollectSyncTensors); kQueued: launches are queued too.
enum class Ahead { kNothing, kTraced, kQueued };

Ahead ahead_of(const Stack& stack, bool blocking) {
  if (blocking || stack.in_flight.value < 1) return Ahead::kNothing;
  return stack.in_flight.value < 2 ? Ahead::kTraced : Ahead::kQueued;
}

/// One step: the parts add up to `total`.
struct Step {
  double total = 0, host = 0, device = 0;
  double hidden = 0;  // of the host's work, behind the device's
  std::vector<TimeItem> parts;
};

Step step_of(const Stack& stack, const JobShape& shape, double ops, double device_seconds, Ahead ahead) {
  HostWork work = host_work(stack, shape, ops);
  if (ahead == Ahead::kQueued) std::ranges::move(std::exchange(work.behind, {}), std::back_inserter(work.ahead));
  const double first = sum(work.ahead), second = sum(work.behind);
  const double lead_in = shape.launches * stack.lead_in.value;
  Step step{.host = first + second, .device = device_seconds + lead_in, .parts = std::move(work.ahead)};
  if (ahead != Ahead::kNothing) {
    step.hidden = std::min(first, step.device);
    for (TimeItem& part : step.parts) part.seconds *= first > 0 ? (first - step.hidden) / first : 0;
  }
  std::ranges::move(work.behind, std::back_inserter(step.parts));
  step.parts.push_back({"launch lead-in", lead_in});
  step.parts.push_back({"device", device_seconds});
  if (shape.prefetch) {  // a loader of its own thread can still be the slowest of the three
    const double loader = shape.samples_per_step * stack.per_sample.value * slow_down(stack, shape) / shape.loaders;
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
    if (row.name == model.optimizer)
      return passes + (row.per_tensor - (model.clips ? 0 : row.clipping) + model.optimizer_ops) * model.tensors;
  throw Error{Fault::kUsage, "optimizer", fmt::format("'{}' has no count of framework operations", model.optimizer),
              "use sgd, adam, adamw or lamb"};
}

double JobTime::part(std::string_view name) const {
  const auto found = std::ranges::find(parts, name, &TimeItem::name);
  return found == parts.end() ? 0 : found->seconds;
}

double launch_seconds(const Stack& stack, int cores) {
  return stack.per_launch.value + cores * stack.per_launch_core.value;
}

namespace {

/// A checkpoint drains the steps in flight. One in the background is waited for where the next one, or the end of the
/// job, comes before it is written.
void add_checkpoints(const Stack& stack, const Checkpoints& saved, const Step& step, double steps, JobTime& job) {
  const double copy = saved.bytes / stack.copy_bandwidth.value, write = saved.write_seconds();
  job.restore = copy + write;
  job.checkpoint = step.hidden + copy + (saved.in_background ? 0 : write);
  job.background = saved.in_background ? write : 0;
  double seconds = saved.count * job.checkpoint;
  if (saved.in_background && saved.count > 0) {
    const double between = steps / saved.count * step.total;
    seconds += (saved.count - 1) * std::max(0.0, write - between) + write;
  }
  job.parts.push_back({"checkpoints", seconds});
}

}  // namespace

JobTime job_time(const Stack& stack, const JobShape& shape) {
  check(shape);
  const Ahead ahead = ahead_of(stack, shape.blocking);
  const Step step = step_of(stack, shape, shape.traced_ops, shape.device_step_seconds, ahead);
  JobTime job{.step = step.total,
              .host_step = step.host,
              .device_step = step.device,
              .overlapped = ahead != Ahead::kNothing,
              .parts = {}};
  const double eval_ops = shape.eval_passes > 0 ? shape.eval_traced_ops : 0;
  const double graph_ops = (shape.compiled_ops > 0 ? shape.compiled_ops : shape.traced_ops) + eval_ops;
  job.start = graph_ops * stack.start_per_op.value;
  job.compile_first = stack.compile_base.value + graph_ops * stack.compile_per_op.value;
  job.compile = job.compile_first * stack.compile_graphs.value;
  job.parts.push_back({"start", shape.started ? job.start : 0});
  for (const TimeItem& part : step.parts) job.parts.push_back({part.name, part.seconds * shape.steps});

  // A read-back drains the steps in flight: the overlap of that step is lost.
  const double logs = shape.log_every > 0 ? std::floor(shape.steps / shape.log_every) : 0;
  job.parts.push_back({"logging", logs * (step.hidden + stack.read_back.value)});

  // Each evaluation batch hands its logits to the host, so it blocks.
  const Step eval = step_of(stack, shape, shape.eval_traced_ops, shape.eval_device_step_seconds, Ahead::kNothing);
  job.parts.push_back({"evaluation", shape.eval_passes * shape.eval_steps * (eval.total + stack.read_back.value)});
  add_checkpoints(stack, shape.checkpoints, step, shape.steps, job);
  job.total = sum(job.parts);
  return job;
}

}  // namespace analysis
