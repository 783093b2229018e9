// Rows of kinds "train" and "infer": models whose cores share data alone, and bare transformer blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/text.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "trnsim/projection.h"
#include "validation/kernels/block_graph.h"
#include "validation/predict/model_of_row.h"
#include "validation/predict/predict_row.h"
#include "validation/predict/pretraining.h"
#include "validation/predict/projections.h"
#include "validation/predict/stack_of_row.h"
#include "workloads/models/model.h"
#include "workloads/step/step_graph.h"

namespace validation {
namespace {

bool is_unstated(const std::string& cell) { return cell.empty() || cell == "unknown"; }

/// The number format that the table's word for the weights' type means; empty for an unknown word.
std::string numerics_of(const TrainingRow& row) {
  if (is_unstated(row.weights)) return "bf16";
  if (row.weights == "bf16") return "bf16";
  if (row.weights == "bf16+SR") return "bf16+sr";
  if (row.weights == "bf16 (fp32 softmax)") return "bf16+fp32-softmax";
  // The compiler's auto-cast sends operands of fp32 matmuls to TensorE as bf16, unless the row says that it is off.
  const std::string weights = base::lower(row.weights);
  if (weights == "fp32" || weights == "fp32 (matmuls cast to bf16)" || weights == "fp32 (matmult-bf16)")
    return "fp32+bf16-matmul";
  if (weights == "fp32 (none)") return "fp32";
  return "";
}

/// Models whose layers are convolutions, of which trnsim has no operator.
bool is_convolution_network(const std::string& model) {
  constexpr std::array kWords = {"resnet",   "vgg",          "unet",      "stable diffusion",
                                 "densenet", "efficientnet", "mobilenet", "inception",
                                 "convnext", "yolo",         "sdxl"};
  const std::string name = base::lower(model);
  return std::ranges::any_of(kWords, [&](const char* word) { return name.find(word) != std::string::npos; });
}

bool is_blocks(const TrainingRow& job) { return job.like == kBlocks; }

bool is_trial(const TrainingRow& job) { return job.timing == "trial"; }

/// Masked-LM and next-sentence heads, of a model that has them.
bool is_pretraining(const TrainingRow& job, const workloads::Model& model) {
  return job.head == "pretraining" &&
         model.with_head(workloads::Head::kPretraining)->head() == workloads::Head::kPretraining;
}

int cores_of(const TrainingRow& job) { return job.cores.value_or(job.dp.value_or(1) * job.tp.value_or(1)); }

/// Why a row of a model without stages, or of bare blocks, is not predicted; empty when it is. `shares`: cores may
/// share its tensors.
std::string refusal(const Row& row, bool shares) {
  const auto& job = std::get<TrainingRow>(row.job);
  const int cores = cores_of(job), tensor = job.tp.value_or(1);
  if (job.pp.value_or(1) != 1) return "plans of encoders with pipeline stages are not modelled";
  if (tensor != 1 && !shares) return "tensor parallelism is not modelled here";
  if (tensor < 1 || cores % tensor != 0 || job.dp.value_or(cores / tensor) * tensor != cores)
    return "dp and tp do not make its cores";
  if (!job.micro_batch) return "the batch is not published";
  if (numerics_of(job).empty()) return fmt::format("weights '{}' are unknown", job.weights);
  return "";
}

/// The size of the job that a metric such as "minutes for 3 epochs" measures.
struct JobSize {
  std::int64_t samples = 16000, eval_samples = 0;
  double epochs = 3;
  std::int64_t steps = -1;
  bool told = false;
};

JobSize size_of(const TrainingRow& job) {
  JobSize size{.eval_samples = job.eval_samples.value_or(0), .steps = job.steps.value_or(-1)};
  if (is_trial(job)) size.samples = 1000, size.epochs = 2;
  size.samples = job.samples.value_or(static_cast<int>(size.samples));
  size.epochs = job.epochs.value_or(static_cast<int>(size.epochs));
  size.told = job.samples.value_or(0) > 0 || job.steps;
  return size;
}

/// Bare blocks as the row has them; or why they are not modelled.
std::variant<BlockSpec, std::string> blocks_of(const Row& row) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (!job.layers || !job.hidden || !job.heads || !job.ffn || !job.seq_len)
    return std::string{"a size of the blocks is not published"};
  if (job.cores.value_or(1) != 1 || job.grad_accum.value_or(1) != 1)
    return std::string{"blocks run on one core, without accumulation"};
  if (!job.block.empty()) return fmt::format("blocks have LayerNorm and a GELU MLP, this row says {}", job.block);
  return BlockSpec{.layers = *job.layers,
                   .hidden = *job.hidden,
                   .heads = *job.heads,
                   .ffn = *job.ffn,
                   .batch = *job.micro_batch,
                   .seq = *job.seq_len,
                   .causal = job.causal != Known::kNo,
                   .training = row.kind == "train",
                   .numerics = runtime::numerics(numerics_of(job))};
}

/// The row's software, or a plain training loop.
std::string stack_or_loop(const TrainingRow& job) {
  const std::string named = stack_of(job);
  return named.empty() ? "torch-xla" : named;
}

/// Whether a row counts steps one after the other: a rate, of a job whose size nothing says.
bool is_rate(const TrainingRow& job, const JobSize& size) { return !size.told && job.timing.empty(); }

/// Seconds of a step as the row counts them: of timed steps, which begin when their batch is there and end with the
/// launch, before the loss is read (torchneuronx, academic/train_academic.py), of one among many, or of all that the
/// job takes.
double step_seconds(const TrainingRow& job, const JobSize& size, const analysis::JobTime& time, double steps) {
  if (job.timing == "steps") return time.host_step;
  return is_rate(job, size) ? time.step : time.total / steps;
}

/// The parts of the time that the row counts: a timed step begins when its batch is there, a rate has no start.
analysis::JobTime counted_parts(const TrainingRow& job, const JobSize& size, analysis::JobTime time) {
  const std::string_view out = job.timing == "steps" ? "data loading behind" : is_rate(job, size) ? "start" : "";
  const auto untimed = [&](const analysis::TimeItem& part) { return part.name == out; };
  for (const analysis::TimeItem& part : time.parts)
    if (untimed(part)) time.total -= part.seconds;
  std::erase_if(time.parts, untimed);
  return time;
}

/// Bare blocks with plain SGD in a training loop of the row's stack.
Prediction train_blocks(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (const std::string why = refusal(row, false); !why.empty()) return Prediction::skip(why);
  if (job.optimizer != "sgd") return Prediction::skip("blocks are trained by SGD");
  const auto found = blocks_of(row);
  if (const auto* why = std::get_if<std::string>(&found)) return Prediction::skip(*why);
  const auto& spec = std::get<BlockSpec>(found);
  std::vector<std::string> assumed;
  const hw::MachineParams machine = machine_of_job(job, context, assumed);
  const analysis::Stack stack = context.stack(stack_or_loop(job));
  const runtime::Compiled compiled =
      runtime::compile(block_graph(spec), machine.target(), {.name = "blocks", .cache = context.programs.get()});
  const hw::SimResult device = hw::simulate(compiled.program, machine, {.exact = context.exact});
  analysis::JobShape shape;
  shape.steps = 1;
  shape.device_step_seconds = hw::seconds(device.total - device.lead_in);
  const workloads::FrameworkOps ops = framework_ops(spec);
  shape.traced_ops = analysis::traced_ops(
      {.forward_ops = ops.forward, .backward_ops = ops.backward, .tensors = ops.tensors, .optimizer = job.optimizer});
  shape.physical_cores = machine.physical_cores();
  shape.samples_per_step = static_cast<double>(spec.batch);
  shape.prefetch = true;  // one tensor, made once
  const analysis::JobTime time = analysis::job_time(stack, shape);
  assumed.push_back("stack " + stack.name);
  assumed.push_back("the same batch in every step");
  assumed.push_back(fmt::format("device {:.1f} ms of a step of {:.1f} ms", time.device_step * 1e3, time.step * 1e3));
  return in_row_metric(row,
                       {.seconds = time.total,
                        .samples = shape.samples_per_step,
                        .tokens = shape.samples_per_step * static_cast<double>(spec.seq),
                        .flops = block_flops(spec)},
                       std::move(assumed), shares(time), work_of(device));
}

/// The Trainer's training time includes its evaluations.
std::string evaluations_of(const trnsim::Sizes& sizes) {
  if (sizes.eval_samples == 0) return "evaluations between epochs, if any, are left out";
  return fmt::format("counts an evaluation of {} samples after each epoch, in batches of {}", sizes.eval_samples,
                     sizes.eval_batch);
}

/// Names the loop of a training: its stack, clipping, losses that are read back, and evaluations where the whole job is
/// told.
void assume_loop(const trnsim::Job& plan, bool whole, std::vector<std::string>& assumed) {
  const bool clips = plan.step.optimizer.max_grad_norm > 0;
  assumed.push_back("stack " + plan.stack);
  assumed.push_back(clips ? "clipping of the gradient norm at 1" : "no clipping of gradients");
  assumed.push_back("the loss is read back every 10 steps");
  if (clips && whole) assumed.push_back(evaluations_of(plan.sizes));
}

/// The job of a row's training loop.
trnsim::Job loop_of(const TrainingRow& job, const workloads::ModelPtr& model, const JobSize& size,
                    hw::MachineParams machine) {
  const bool clips = stack_for(job.stack) == "hf-trainer";  // the Trainer's default; torch has none
  const int tensor = job.tp.value_or(1);
  trnsim::Job plan{.machine = std::move(machine), .model = model, .step = {}, .sizes = {}, .stack = stack_or_loop(job)};
  plan.step = {
      .plan = {.tensor = tensor,
               .data = static_cast<std::uint32_t>(cores_of(job) / tensor),
               .micro_batch = *job.micro_batch,
               .micro_batches = job.grad_accum.value_or(1),
               .numerics = runtime::numerics(numerics_of(job))},
      .kind = {.length = model->sequence_length(job.seq_len.value_or(0)),
               .head = job.head == "tokens" ? workloads::Head::kTokens : workloads::Head::kClassifier},
      .optimizer = {
          .name = job.optimizer == "lamb" ? "lamb" : "adamw", .decay_all = false, .max_grad_norm = clips ? 1.0 : 0.0}};
  plan.sizes = {.samples = static_cast<double>(size.samples),
                .eval_samples = size.eval_samples,
                .epochs = size.epochs,
                .max_steps = size.steps};
  return plan;
}

/// The model's own training loop, an epoch like the other.
Prediction train_classifier(const Row& row, const workloads::ModelPtr& model, std::vector<std::string> assumed,
                            const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (job.optimizer != "lamb" && !job.optimizer.starts_with("adam") && !is_unstated(job.optimizer))
    return Prediction::skip(fmt::format("optimizer '{}' is not modelled here", job.optimizer));
  const JobSize size = size_of(job);
  const trnsim::Job plan = loop_of(job, model, size, machine_of_job(job, context, assumed));
  if (const auto problem = model->refuses(plan.step.plan)) return Prediction::skip(problem->what);
  if (is_rate(job, size)) assumed.push_back("rate of steps, without the start of the job");
  if (is_trial(job)) assumed.push_back("a trial of 2 x 1,000 samples, its start included");
  const trnsim::Projection p = projected(plan, context, true);
  const bool whole = !is_rate(job, size) && job.timing != "steps";  // its last steps hold fewer samples
  const double per_step = whole ? p.samples / p.steps : plan.sequences_per_step();
  assume_loop(plan, size.told, assumed);
  const double seconds = step_seconds(job, size, p.time, p.steps);
  const double step = job.timing == "steps" ? seconds : p.time.step;
  assumed.push_back(fmt::format("device {:.1f} ms of a step of {:.1f} ms", p.time.device_step * 1e3, step * 1e3));
  return in_row_metric(row,
                       {.seconds = seconds,
                        .samples = per_step,
                        .tokens = per_step * static_cast<double>(plan.step.kind.length),
                        .job_seconds = size.told ? std::optional{p.time.total} : std::nullopt},
                       std::move(assumed), shares(counted_parts(job, size, p.time)), work_of(p.stage().device()));
}

/// A forward pass of a row: its program, tokens of a sequence, and bytes that the host reads of each batch.
struct Forward {
  runtime::Compiled compiled;
  std::int64_t length;
  double read_back = 0;
};

std::variant<Forward, std::string> forward_of_blocks(const Row& row, const isa::Target& target,
                                                     const PredictContext& context) {
  const auto found = blocks_of(row);
  if (const auto* why = std::get_if<std::string>(&found)) return *why;
  const auto& spec = std::get<BlockSpec>(found);
  return Forward{runtime::compile(block_graph(spec), target, {.name = "infer", .cache = context.programs.get()}),
                 spec.seq};
}

/// The bytes that a model of texts or pictures returns of a batch, in the type of its weights: a figure for each label
/// of a text or of each token, or for each token of the vocabulary, of each token.
double read_back(const TrainingRow& job, const workloads::Model& model, std::int64_t length) {
  const auto batch = static_cast<double>(*job.micro_batch);
  const double figures = job.head == "masked"   ? static_cast<double>(length * model.sizes().vocabulary)
                         : job.head == "tokens" ? static_cast<double>(length * job.labels.value_or(1))
                                                : job.labels.value_or(1);
  const runtime::Numerics numbers = runtime::numerics(numerics_of(job));
  return batch * figures * static_cast<double>(isa::size_of(numbers.weight));
}

std::variant<Forward, std::string> forward_of_model(const Row& row, const isa::Target& target,
                                                    const PredictContext& context, std::vector<std::string>& assumed) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  const auto found = model_of_row(row, assumed);
  if (const auto* why = std::get_if<std::string>(&found)) return *why;
  const auto& model = std::get<workloads::ModelPtr>(found);
  if (model->task() != workloads::Task::kClassification)
    return fmt::format("model '{}' is not modelled in rows of kind '{}'", job.model, row.kind);
  const auto cores = static_cast<std::uint32_t>(cores_of(job));
  const std::int64_t length = model->sequence_length(job.seq_len.value_or(0));
  const bool masked = job.head == "masked";
  const workloads::Step spec{
      .plan = {.data = cores, .micro_batch = *job.micro_batch, .numerics = runtime::numerics(numerics_of(job))},
      .kind = {.length = length,
               .training = false,
               .head = masked ? workloads::Head::kMaskedTokens : workloads::Head::kNone,
               .fold_weights = true,
               .keep_logits = masked}};
  assumed.push_back("matmul weights are stored as TensorE takes them");
  const workloads::ModelPtr run = masked ? model->with_head(workloads::Head::kMaskedTokens) : model;
  return Forward{runtime::compile(run->step(spec).graph, target,
                                  {.name = "infer", .ranks = cores, .cache = context.programs.get()}),
                 length, read_back(job, *run, length)};
}

}  // namespace

Prediction predict_train(const Row& row, const PredictContext& context) {
  if (is_blocks(std::get<TrainingRow>(row.job))) return train_blocks(row, context);
  std::vector<std::string> assumed;
  const auto found = model_of_row(row, assumed);
  if (const auto* why = std::get_if<std::string>(&found)) return Prediction::skip(*why);
  const auto& model = std::get<workloads::ModelPtr>(found);
  if (model->splits()) return predict_decoder(row, model, std::move(assumed), context);
  const auto& job = std::get<TrainingRow>(row.job);
  const bool shares = model->shares_tensors() && !is_pretraining(job, *model);
  if (const std::string why = refusal(row, shares); !why.empty()) return Prediction::skip(why);
  if (is_unstated(job.weights)) assumed.emplace_back("bf16 weights");
  if (is_pretraining(job, *model))
    return predict_pretraining(row, runtime::numerics(numerics_of(job)), model, std::move(assumed), context);
  return train_classifier(row, model, std::move(assumed), context);
}

Prediction predict_infer(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (is_convolution_network(job.model))
    return Prediction::skip(
        fmt::format("'{}' is a convolution network: examples/torch/infer.py predicts it", job.model));
  if (const std::string why = refusal(row, false); !why.empty()) return Prediction::skip(why);
  if (job.nodes.value_or(1) != 1) return Prediction::skip("inference on several instances is not modelled");
  std::vector<std::string> assumed;
  const hw::MachineParams machine = machine_of_job(job, context, assumed);
  const auto found = is_blocks(job) ? forward_of_blocks(row, machine.target(), context)
                                    : forward_of_model(row, machine.target(), context, assumed);
  if (const auto* why = std::get_if<std::string>(&found)) return Prediction::skip(*why);
  const auto& forward = std::get<Forward>(found);
  const hw::SimResult device = hw::simulate(forward.compiled.program, machine, {.exact = context.exact});
  const analysis::Stack bare = context.stack("bare");
  const double launch = analysis::launch_seconds(bare, 1), copies = forward.read_back / bare.copy_bandwidth.value;
  const int cores = std::min(cores_of(job), job.at_once.value_or(cores_of(job)));
  const bool overlaps = job.at_once.value_or(0) > cores;
  const double on_device = hw::seconds(device.total), on_host = launch + copies;
  const double seconds = overlaps ? std::max(on_device, on_host) : on_device + on_host;
  assumed.push_back(overlaps ? "the graph is traced ahead of time: a core works while the host prepares its next batch"
                             : "the graph is traced ahead of time: the host launches it, waits, reads what it returns");
  assumed.push_back(fmt::format("latency of a batch {:.3f} ms", (on_device + on_host) * 1e3));
  const double samples = static_cast<double>(*job.micro_batch) * cores;
  return in_row_metric(
      row, {.seconds = seconds, .samples = samples, .tokens = samples * static_cast<double>(forward.length)},
      std::move(assumed), {{"device", on_device / seconds}, {"launch", launch / seconds}, {"copies", copies / seconds}},
      work_of(device));
}

}  // namespace validation
