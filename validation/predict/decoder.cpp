// Rows of kind "train" that train a model which splits: any plan, on any number of instances.
#include <fmt/format.h>

#include <variant>

#include "base/text.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "trnsim/job/settings.h"
#include "trnsim/projection.h"
#include "validation/predict/predict_row.h"
#include "validation/predict/projections.h"
#include "validation/predict/stack_of_row.h"
#include "workloads/models/model.h"

namespace validation {
namespace {

bool is_yes(Known known, bool otherwise, const char* what, std::vector<std::string>& assumed) {
  if (known == Known::kUnknown) assumed.push_back(fmt::format("{}{}", otherwise ? "" : "no ", what));
  return known == Known::kUnknown ? otherwise : known == Known::kYes;
}

/// The number format that the table's word for the weights' type means for a decoder; empty when it is unknown.
std::string decoder_numerics(const std::string& weights, bool fp32_moments, std::vector<std::string>& assumed) {
  if (weights == "fp32") return "fp32+bf16-matmul";
  if (weights.empty() || weights == "unknown") assumed.push_back("bf16 weights");
  const std::string base = fp32_moments ? "bf16+fp32-optimizer" : "bf16";
  if (weights == "bf16+SR") return base + "+sr";
  return weights.empty() || weights == "unknown" || weights == "bf16" ? base : "";
}

/// Cores that hold the same part of the model; derived where it is not published. Nothing when that is impossible.
std::optional<int> data_parallel_of(const TrainingRow& r, std::vector<std::string>& assumed) {
  if (r.dp) return r.dp;
  if (!r.cores) return std::nullopt;
  const int share = r.tp.value_or(1) * r.pp.value_or(1);
  if (*r.cores % share != 0) return std::nullopt;
  assumed.push_back(fmt::format("data parallel {}", *r.cores / share));
  return *r.cores / share;
}

/// A cell's size, or the assumed one.
int size_or(const std::optional<int>& cell, int otherwise, const char* what, std::vector<std::string>& assumed) {
  if (!cell) assumed.push_back(fmt::format("{} {}", what, otherwise));
  return cell.value_or(otherwise);
}

/// The adapters of a row, if it has any. Missing values are peft's defaults, and all linear layers.
std::optional<workloads::Lora> lora_of(const Words& cell) {
  const auto rank = cell.number("rank");
  if (!rank) return std::nullopt;
  workloads::Lora lora{.rank = *rank, .alpha = static_cast<double>(cell.number("alpha").value_or(8))};
  if (cell.has("dropout")) lora.dropout = std::stod(cell.text("dropout"));
  if (cell.has("layers"))
    for (const std::string& layer : base::split(cell.text("layers"), ',')) lora.targets.push_back(layer + "_proj");
  return lora;
}

/// The plan of the row, with its stack's scripts for missing values; or why it has none.
std::variant<trnsim::Job, std::string> job_of(const Row& row, const workloads::ModelPtr& model,
                                              const PredictContext& context, std::vector<std::string>& assumed) {
  const TrainingRow& r = std::get<TrainingRow>(row.job);
  const auto dp = data_parallel_of(r, assumed);
  if (!dp) return std::string{"a size of the plan is not published"};
  if (!r.optimizer.empty() && r.optimizer != "unknown" && !r.optimizer.starts_with("adam"))
    return fmt::format("optimizer '{}' is not modelled here", r.optimizer);
  const bool moments = r.optimizer_state.find("fp32") != std::string::npos;
  const std::string numerics = decoder_numerics(r.weights, moments, assumed);
  if (numerics.empty()) return fmt::format("weights '{}' are unknown", r.weights);
  const std::string stack_name = stack_of(r);
  const analysis::Stack stack = context.stack(stack_name.empty() ? "torch-xla" : stack_name);
  trnsim::Job job{.machine = machine_of_job(r, context, assumed),
                  .model = model,
                  .step = {},
                  .sizes = {},
                  .stack = stack.name,
                  .stack_changes = context.stack_changes,
                  .programs = context.programs};
  job.step = {.plan = {.data = static_cast<std::uint32_t>(*dp),
                       .micro_batch = size_or(r.micro_batch, 1, "a micro-batch of", assumed),
                       .micro_batches = size_or(r.grad_accum, 1, "micro-batches of a step:", assumed),
                       .numerics = runtime::numerics(numerics)},
              .kind = {.length = *r.seq_len, .training = true},
              .optimizer = {.weight_decay = 0.01, .decay_all = false, .max_grad_norm = 1}};
  job.step.plan.tensor = size_or(r.tp, 1, "tensor parallel", assumed);
  job.step.plan.sequence = is_yes(r.seq_parallel, stack.sequence_parallel == "yes", "sequence parallel", assumed) &&
                           job.step.plan.tensor > 1;
  job.step.plan.zero1 = is_yes(r.zero1, false, "ZeRO-1", assumed) && *dp > 1;
  job.step.plan.master_weights = r.optimizer_state.find("master") != std::string::npos;
  const bool untold = r.recompute.empty() || r.recompute == "unknown";
  if (untold) assumed.push_back("recompute " + stack.recompute);
  job.step.plan.recompute = runtime::recompute_of(untold ? stack.recompute : r.recompute);
  job.step.plan.pipeline = size_or(r.pp, 1, "pipeline stages:", assumed);
  job.passes = runtime::parse_passes(analysis::passes_of(stack, static_cast<double>(job.step.kind.length), ""));
  assumed.push_back("stack " + job.stack);
  return job;
}

}  // namespace

Prediction predict_decoder(const Row& row, const workloads::ModelPtr& model, std::vector<std::string> assumed,
                           const PredictContext& context) {
  const auto& r = std::get<TrainingRow>(row.job);
  const auto lora = lora_of(r.lora);
  if (lora) assumed.push_back(fmt::format("adapters of rank {}, dropout {:g}", lora->rank, lora->dropout));
  auto found = job_of(row, lora ? model->with_lora(lora) : model, context, assumed);
  if (const auto* why = std::get_if<std::string>(&found)) return Prediction::skip(*why);
  trnsim::Job& job = std::get<trnsim::Job>(found);
  const bool whole = row.metric.starts_with("minutes") || row.metric.starts_with("hours");
  if (whole && !r.tokens) return Prediction::skip("how many tokens the job trains on is not published");
  const double length = static_cast<double>(job.step.kind.length);
  if (whole) job.sizes.samples = *r.tokens / length;
  if (whole) assumed.push_back(fmt::format("{:.0f} sequences in all, by the tokens of another run", job.sizes.samples));
  if (r.steps) job.sizes.max_steps = *r.steps;
  if (r.timing == "logged") {
    job.sizes.log_every = 1;
    assumed.push_back("the loss is read in every step");
  }
  // A published plan is timed although our memory plan may say that it does not fit.
  const trnsim::Projection p = projected(job, context, true);
  if (!p.memory.fits())
    assumed.push_back(fmt::format("the memory plan needs {:.1f} of {:.0f} GiB per core",
                                  static_cast<double>(p.memory.total) / (1 << 30),
                                  static_cast<double>(p.memory.capacity) / (1 << 30)));
  if (job.step.plan.pipeline > 1)
    assumed.push_back(fmt::format("pipeline: all stages simulated, a bubble of {:.3g} s", p.bubble_seconds));
  assumed.push_back(
      fmt::format("numerics {}; MFU of the device's time {:.1f} %", job.step.plan.numerics.name, p.mfu * 100));
  assumed.push_back(fmt::format("device {:.4g} s of a step of {:.4g} s", p.time.device_step, p.time.step));
  const double samples = p.samples / p.steps;  // the last step of an epoch may hold fewer
  return in_row_metric(row,
                       {.seconds = p.time.total / p.steps,
                        .samples = samples,
                        .tokens = samples * length,
                        .job_seconds = whole ? std::optional{p.time.total} : std::nullopt},
                       std::move(assumed), shares(p.time),
                       work_of(p.stage().device(), static_cast<double>(job.step.plan.micro_batches) /
                                                       static_cast<double>(p.micro_batches)));
}

}  // namespace validation
