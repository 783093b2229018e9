// Rows of kind "train" that pre-train BERT: data parallel over any number of instances, gradients accumulated.
#include <fmt/format.h>

#include <algorithm>

#include "hw/params.h"
#include "hw/sim_device.h"
#include "isa/check.h"
#include "runtime/compiler/compile.h"
#include "trnsim/job/settings.h"
#include "trnsim/projection.h"
#include "validation/predict/predict_row.h"
#include "validation/predict/pretraining.h"
#include "validation/predict/stack_of_row.h"
#include "workloads/models/model.h"
#include "workloads/step/step_graph.h"

namespace validation {
namespace {

/// The two graphs of an optimizer step, on one of the job's equal cores.
struct MicroSteps {
  double micro_seconds = 0;   // forward, backward, and the sum of gradients
  double update_seconds = 0;  // all-reduce, clipping, optimizer
  double count = 1;           // micro-steps of an optimizer step
  DeviceWork work{};          // of a whole step
};

hw::SimResult on_device(const workloads::ModelPtr& model, workloads::Step step, workloads::Part part,
                        const hw::MachineParams& machine, const PredictContext& context) {
  step.kind.part = part;
  step.plan.micro_batches = 1;
  const runtime::Compiled compiled =
      runtime::compile(model->step(step).graph, machine.target(),
                       {.name = part == workloads::Part::kUpdate ? "update" : "micro_step",
                        .ranks = step.plan.data,
                        .hbm_bytes = machine.hbm_bytes_per_core(),
                        .cache = context.programs.get()});
  isa::check(compiled.program, machine.target());
  return hw::simulate(compiled.program, machine, {.exact = context.exact});
}

/// An optimizer step as the host drives it: a graph per micro-step, the loss read back after the last one, then the
/// update's own graph.
std::pair<analysis::JobTime, analysis::JobTime> host_times(const analysis::Stack& stack, const MicroSteps& device,
                                                           const TrainingRow& job, const workloads::FrameworkOps& ops,
                                                           int launched, double physical_cores) {
  const double samples = *job.micro_batch;
  analysis::JobShape micro;
  micro.steps = device.count;
  micro.device_step_seconds = device.micro_seconds;
  micro.traced_ops = ops.forward + ops.backward;
  micro.cores = launched;
  micro.physical_cores = physical_cores;
  micro.samples_per_step = samples;
  micro.bytes_in_per_step = samples * *job.seq_len * 4 * 8;  // ids, types, mask and labels as int64
  micro.prefetch = true;                                     // torch-xla's MpDeviceLoader
  micro.log_every = device.count;
  analysis::JobShape update;
  update.steps = 1;
  update.device_step_seconds = device.update_seconds;
  update.traced_ops = analysis::traced_ops({.tensors = ops.tensors, .optimizer = job.optimizer});
  update.cores = launched;
  update.physical_cores = physical_cores;
  return {analysis::job_time(stack, micro), analysis::job_time(stack, update)};
}

std::vector<TimePart> shares_of(const analysis::JobTime& micro, const analysis::JobTime& update) {
  const double total = micro.total + update.total;
  std::vector<TimePart> parts;
  for (const analysis::TimeItem& item : micro.parts)
    if (item.seconds > 0) parts.push_back({item.name, item.seconds / total});
  parts.push_back({"update", update.total / total});
  return parts;
}

}  // namespace

Prediction predict_pretraining(const Row& row, const runtime::Numerics& numerics, workloads::ModelPtr model,
                               std::vector<std::string> assumed, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  const int nodes = job.nodes.value_or(1);
  const hw::MachineParams machine = machine_of_job(job, context, assumed);
  const auto cores = static_cast<std::uint32_t>(job.cores.value_or(job.dp.value_or(1)));
  if (cores > machine.instance_cores() * static_cast<std::uint32_t>(nodes))
    return Prediction::skip(fmt::format("{} cores are more than {} x {} has", cores, nodes, machine.name));
  model = model->with_head(workloads::Head::kPretraining);
  const workloads::Step spec{
      .plan = {.data = cores, .micro_batch = *job.micro_batch, .numerics = numerics},
      .kind = {.length = *job.seq_len,
               .head = workloads::Head::kPretraining,
               .predictions = trnsim::predictions_of(*job.seq_len)},
      .optimizer = {.name = job.optimizer, .weight_decay = 0.01, .decay_all = false, .max_grad_norm = 1}};
  const hw::SimResult step = on_device(model, spec, workloads::Part::kMicroStep, machine, context),
                      last = on_device(model, spec, workloads::Part::kUpdate, machine, context);
  const double micro_steps = job.grad_accum.value_or(1);
  const MicroSteps device{hw::seconds(step.total - step.lead_in), hw::seconds(last.total - last.lead_in), micro_steps,
                          work_of(step, micro_steps) + work_of(last)};
  const std::string named = stack_of(job), stack = named.empty() ? "torch-xla" : named;
  const auto [micro, update] =
      host_times(context.stack(stack), device, job, model->traced_ops(spec),
                 static_cast<int>(std::min<std::uint32_t>(cores, machine.instance_cores())), machine.physical_cores());
  assumed.push_back("stack " + stack + "; one graph for each micro-step, one for the update");
  assumed.push_back(
      fmt::format("masked-LM and next-sentence heads, {} predictions, dropout 0.1", spec.kind.predictions));
  assumed.push_back("clipping of the gradient norm at 1; the loss is read back once in an optimizer step");
  assumed.push_back(fmt::format(
      "micro-step: device {:.1f} ms, host {:.1f} ms; update: device {:.1f} ms, host {:.1f} ms",
      device.micro_seconds * 1e3, micro.host_step * 1e3, device.update_seconds * 1e3, update.host_step * 1e3));
  const double samples = static_cast<double>(spec.plan.micro_batch) * micro_steps * cores;
  const double seconds = micro.total + update.total;
  return in_row_metric(
      row, {.seconds = seconds, .samples = samples, .tokens = samples * static_cast<double>(spec.kind.length)},
      std::move(assumed), shares_of(micro, update), device.work);
}

}  // namespace validation
