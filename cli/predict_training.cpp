// Rows of kinds "train" and "infer": encoders on one instance.
#include <fmt/format.h>

#include "analysis/metric.h"
#include "cli/predict.h"
#include "cli/project.h"
#include "hw/sim_device.h"

namespace cli {
namespace {

using analysis::Prediction;
using analysis::Row;
using analysis::TrainingRow;

/// The encoder that the row describes; nothing when a size of it is not published.
std::optional<workloads::BertConfig> config_of(const TrainingRow& row) {
  if (!row.layers || !row.hidden || !row.heads || !row.ffn || !row.vocab || !row.seq_len) return {};
  workloads::BertConfig c;
  c.num_hidden_layers = *row.layers, c.hidden_size = *row.hidden, c.num_attention_heads = *row.heads;
  c.intermediate_size = *row.ffn, c.vocab_size = *row.vocab;
  c.max_position_embeddings = std::max(512, *row.seq_len);
  return c;
}

/// What the table's word for the weights' type means here; empty when it is unknown.
std::string numerics_of(const TrainingRow& row) {
  if (row.weights == "bf16") return "bf16";
  if (row.weights == "bf16+SR") return "bf16+sr";
  if (row.weights == "bf16 (fp32 softmax)") return "bf16+fp32-softmax";
  if (row.weights == "fp32 (matmuls cast to bf16)") return "fp32+bf16-matmul";
  if (row.weights == "fp32") return "fp32+bf16-matmul";
  return "";
}

/// Shares of the step: what TensorE, VectorE, ... are busy with does not add up to it, so the host and the device do.
std::vector<analysis::TimePart> shares(const analysis::JobTime& job) {
  std::vector<analysis::TimePart> parts;
  for (const analysis::TimeItem& item : job.parts)
    if (item.seconds > 0) parts.push_back({item.name, item.seconds / job.total});
  return parts;
}

Prediction answer(const Row& row, const analysis::Measured& measured, std::vector<std::string> assumptions,
                  std::vector<analysis::TimePart> time) {
  const std::optional<double> value = analysis::in_metric(row.metric, measured);
  if (!value) return Prediction::skip(fmt::format("metric '{}' is unknown", row.metric));
  return {.value = value, .skip_reason = "", .assumptions = std::move(assumptions), .time = std::move(time)};
}

analysis::Measured measured(double seconds, double samples) {
  return {.seconds = seconds, .samples = samples, .tokens = {}, .flops = {}, .bytes = {}, .job_seconds = {}};
}

/// The row's machine with the user's changes.
hw::MachineParams machine_of(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  return hw::load_machine(job.instance, context.set);
}

bool is_token_task(const Row& row) { return row.notes.find("token classification") != std::string::npos; }

std::string refusal(const TrainingRow& job) {
  if (!job.model.starts_with("bert")) return fmt::format("model '{}' has no training step here yet", job.model);
  if (job.nodes.value_or(1) != 1 || job.tp.value_or(1) != 1 || job.pp.value_or(1) != 1 || job.cores.value_or(1) > 2)
    return "plans beyond the data parallelism of one chip are not modelled yet";
  if (!config_of(job) || !job.micro_batch) return "a size of the model is not published";
  if (numerics_of(job).empty()) return fmt::format("weights '{}' are unknown", job.weights);
  return "";
}

}  // namespace

Prediction predict_train(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (const std::string why = refusal(job); !why.empty()) return Prediction::skip(why);
  const std::string stack = analysis::stack_for(job.stack);
  if (stack.empty()) return Prediction::skip(fmt::format("stack '{}' is not modelled", job.stack));
  const hw::MachineParams machine = machine_of(row, context);
  ProjectedJob plan;
  plan.config = *config_of(job);
  plan.config.label_names.assign(is_token_task(row) ? 9 : 6, "");
  plan.samples = 16000, plan.epochs = 3;
  plan.eval_each_epoch = false;
  plan.stack = stack;
  plan.exact = context.exact;
  plan.step = {.batch = *job.micro_batch,
               .length = *job.seq_len,
               .micro_batches = job.grad_accum.value_or(1),
               .ranks = static_cast<std::uint32_t>(job.cores.value_or(1)),
               .training = true,
               .head = is_token_task(row) ? workloads::Head::kTokens : workloads::Head::kClassifier,
               .numerics = runtime::numerics(numerics_of(job)),
               .max_grad_norm = 1};
  const Projection p = project(plan, machine);
  const double per_step = static_cast<double>(plan.step.batch * plan.step.micro_batches * plan.step.ranks);
  return answer(row, measured(p.time.total / p.steps, per_step),
                {"stack " + stack, "clipping of the gradient norm at 1", "the loss is read back every 10 steps",
                 fmt::format("device {:.1f} ms of a step of {:.1f} ms", p.time.device_step * 1e3, p.time.step * 1e3)},
                shares(p.time));
}

Prediction predict_infer(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (const std::string why = refusal(job); !why.empty()) return Prediction::skip(why);
  const hw::MachineParams machine = machine_of(row, context);
  const auto cores = static_cast<std::uint32_t>(job.cores.value_or(1));
  const workloads::StepSpec spec{.batch = *job.micro_batch,
                                 .length = *job.seq_len,
                                 .ranks = cores,
                                 .training = false,
                                 .fold_weights = true,
                                 .head = workloads::Head::kNone,
                                 .numerics = runtime::numerics(numerics_of(job))};
  const runtime::Compiled compiled =
      runtime::compile(workloads::bert_graph(*config_of(job), spec), {.name = "infer", .ranks = cores});
  const hw::SimResult device = hw::simulate(compiled.program, machine, {.exact = context.exact});
  const analysis::Stack bare = analysis::load_stack("bare");
  const double launch = analysis::launch_seconds(bare, 1), seconds = hw::seconds(device.total) + launch;
  return answer(
      row, measured(seconds, static_cast<double>(*job.micro_batch) * cores),
      {"the graph is traced ahead of time: the host launches it and waits",
       "matmul weights are stored as TensorE takes them", fmt::format("latency of a batch {:.3f} ms", seconds * 1e3)},
      {{"device", hw::seconds(device.total) / seconds}, {"launch", launch / seconds}});
}

}  // namespace cli
