// Rows of kinds "train" and "infer": encoders, and bare transformer blocks, on one instance.
#include <fmt/format.h>

#include "cli/predict_pretraining.h"
#include "cli/predict_row.h"
#include "cli/project.h"
#include "hw/sim_device.h"
#include "workloads/block_graph.h"
#include "workloads/framework_ops.h"

namespace cli {
namespace {

using analysis::Prediction;
using analysis::Row;
using analysis::TrainingRow;

/// The encoder that the row describes; nothing when a size of it is not published.
std::optional<workloads::BertConfig> encoder_config_of(const TrainingRow& row) {
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

analysis::Measured measured(double seconds, double samples) {
  return {.seconds = seconds, .samples = samples, .tokens = {}, .flops = {}, .bytes = {}, .job_seconds = {}};
}

bool is_token_task(const Row& row) { return row.notes.find("token classification") != std::string::npos; }

/// "4 decoder blocks ...": no embedding, no head.
bool is_blocks(const TrainingRow& job) { return job.model.find(" blocks") != std::string::npos; }

/// Gradients are accumulated only by BERT's pre-training among the encoders' published runs: its heads are assumed.
bool is_pretraining(const TrainingRow& job) { return job.model.starts_with("bert") && job.grad_accum.value_or(1) > 1; }

std::string refusal(const TrainingRow& job) {
  if (!job.model.starts_with("bert") && !is_blocks(job))
    return fmt::format("model '{}' has no training step here yet", job.model);
  if (job.tp.value_or(1) != 1 || job.pp.value_or(1) != 1 || job.dp.value_or(1) != job.cores.value_or(1))
    return "plans of encoders beyond data parallelism are not modelled";
  if (job.nodes.value_or(1) != 1 && !is_pretraining(job))
    return "of encoders, pre-training alone is modelled on several instances";
  const bool sized = is_blocks(job) ? job.layers && job.hidden && job.heads && job.ffn && job.seq_len
                                    : encoder_config_of(job).has_value();
  if (!sized || !job.micro_batch) return "a size of the model is not published";
  if (numerics_of(job).empty()) return fmt::format("weights '{}' are unknown", job.weights);
  return "";
}

/// Bare blocks with plain SGD in a training loop of the row's stack.
Prediction predict_blocks(const Row& row, const hw::MachineParams& machine, const analysis::Stack& stack,
                          std::vector<std::string> assumed, bool exact) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (job.optimizer != "sgd" || job.cores.value_or(1) != 1 || job.grad_accum.value_or(1) != 1)
    return Prediction::skip("blocks are trained by SGD, on one core, without accumulation");
  const auto says = [&](std::string_view word) {
    return job.model.find(word) != std::string::npos || row.notes.find(word) != std::string::npos;
  };
  const workloads::BlockSpec spec{.layers = *job.layers,
                                  .hidden = *job.hidden,
                                  .heads = *job.heads,
                                  .ffn = *job.ffn,
                                  .batch = *job.micro_batch,
                                  .seq = *job.seq_len,
                                  .causal = !says("full attention") && !says("non-causal"),
                                  .training = true,
                                  .numerics = runtime::numerics(numerics_of(job))};
  const runtime::Graph graph = workloads::block_graph(spec);
  const runtime::Compiled compiled = runtime::compile(graph, {.name = "blocks"});
  const hw::SimResult device = hw::simulate(compiled.program, machine, {.exact = exact});
  analysis::JobShape shape;
  shape.steps = 1;
  shape.device_step_seconds = hw::seconds(device.total - device.lead_in);
  const workloads::FrameworkOps ops = workloads::framework_ops(spec);
  shape.traced_ops = analysis::traced_ops(
      {.forward_ops = ops.forward, .backward_ops = ops.backward, .tensors = ops.tensors, .optimizer = job.optimizer});
  shape.samples_per_step = static_cast<double>(spec.batch);
  shape.prefetch = true;  // one tensor, made once
  const analysis::JobTime time = analysis::job_time(stack, shape);
  assumed.push_back("stack " + stack.name);
  assumed.push_back("the same batch in every step");
  assumed.push_back(fmt::format("device {:.1f} ms of a step of {:.1f} ms", time.device_step * 1e3, time.step * 1e3));
  return in_row_metric(row, measured(time.total, shape.samples_per_step), std::move(assumed), shares(time),
                       work_of(device));
}

}  // namespace

Prediction predict_train(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (job.model.starts_with("llama") || job.model.starts_with("gpt")) return predict_decoder(row, context);
  if (const std::string why = refusal(job); !why.empty()) return Prediction::skip(why);
  const std::string stack = analysis::stack_for(job.stack);
  if (stack.empty()) return Prediction::skip(fmt::format("stack '{}' is not modelled", job.stack));
  std::vector<std::string> assumed;
  const hw::MachineParams machine = machine_of(job.instance, context, assumed);
  if (is_blocks(job))
    return predict_blocks(row, machine, analysis::load_stack(stack), std::move(assumed), context.exact);
  if (is_pretraining(job))
    return predict_pretraining(row, runtime::numerics(numerics_of(job)), *encoder_config_of(job), context);
  ProjectedJob plan;
  plan.config = *encoder_config_of(job);
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
  assumed.push_back("stack " + stack);
  assumed.push_back("clipping of the gradient norm at 1");
  assumed.push_back("the loss is read back every 10 steps");
  assumed.push_back(
      fmt::format("device {:.1f} ms of a step of {:.1f} ms", p.time.device_step * 1e3, p.time.step * 1e3));
  return in_row_metric(row, measured(p.time.total / p.steps, per_step), std::move(assumed), shares(p.time),
                       work_of(p.device));
}

Prediction predict_infer(const Row& row, const PredictContext& context) {
  const TrainingRow& job = std::get<TrainingRow>(row.job);
  if (const std::string why = refusal(job); !why.empty()) return Prediction::skip(why);
  std::vector<std::string> assumed;
  const hw::MachineParams machine = machine_of(job.instance, context, assumed);
  const auto cores = static_cast<std::uint32_t>(job.cores.value_or(1));
  const workloads::StepSpec spec{.batch = *job.micro_batch,
                                 .length = *job.seq_len,
                                 .ranks = cores,
                                 .training = false,
                                 .fold_weights = true,
                                 .head = workloads::Head::kNone,
                                 .numerics = runtime::numerics(numerics_of(job))};
  const runtime::Compiled compiled =
      runtime::compile(workloads::bert_graph(*encoder_config_of(job), spec), {.name = "infer", .ranks = cores});
  const hw::SimResult device = hw::simulate(compiled.program, machine, {.exact = context.exact});
  const analysis::Stack bare = analysis::load_stack("bare");
  const double launch = analysis::launch_seconds(bare, 1), seconds = hw::seconds(device.total) + launch;
  assumed.push_back("the graph is traced ahead of time: the host launches it and waits");
  assumed.push_back("matmul weights are stored as TensorE takes them");
  assumed.push_back(fmt::format("latency of a batch {:.3f} ms", seconds * 1e3));
  return in_row_metric(row, measured(seconds, static_cast<double>(*job.micro_batch) * cores), std::move(assumed),
                       {{"device", hw::seconds(device.total) / seconds}, {"launch", launch / seconds}},
                       work_of(device));
}

}  // namespace cli
