// Rows of kind "generate": tokens per second of a decoder on tensor-parallel cores.
#include <fmt/format.h>

#include "trnsim/generation.h"
#include "validation/predict/model_of_row.h"
#include "validation/predict/predict_row.h"
#include "validation/predict/projections.h"
#include "validation/predict/stack_of_row.h"
#include "workloads/models/decoder/generation_graph.h"
#include "workloads/models/model.h"

namespace validation {
namespace {

/// 16-bit types take the same bytes and time.
std::string generation_type(const std::string& weights) {
  if (weights == "fp32") return "fp32";
  if (weights.starts_with("fp16")) return "fp16";
  return weights.starts_with("bf16") ? "bf16" : "";
}

std::vector<TimePart> time_shares(const trnsim::GenerationTime& time, double total) {
  std::vector<TimePart> parts{{"prompt", time.prompt.seconds / total}};
  for (const trnsim::GenerationStep& step : time.tokens)
    for (const analysis::TimeItem& part : step.parts) {
      const double share = part.seconds * static_cast<double>(step.tokens) / total;
      const auto at = std::ranges::find(parts, part.name, &TimePart::name);
      if (at != parts.end())
        at->share += share;
      else if (share > 0)
        parts.push_back({part.name, share});
    }
  return parts;
}

/// The job of a row; `type`: of its weights, as generation_numerics() takes it.
trnsim::Job job_of(const Row& row, const workloads::ModelPtr& model, const hw::MachineParams& machine,
                   const std::string& type, const PredictContext& context, std::vector<std::string>& assumed) {
  const auto& r = std::get<TrainingRow>(row.job);
  trnsim::Job job{.machine = machine, .model = model, .step = {}, .sizes = {}};
  const std::int64_t cores = r.cores.value_or(machine.instance_cores());
  const std::int64_t ranks = r.tp.value_or(static_cast<int>(cores / r.dp.value_or(1)));
  if (!r.tp) assumed.push_back(fmt::format("tensor parallel over {} cores", ranks));
  if (!r.micro_batch) assumed.push_back("a batch of 1");
  const std::int64_t length = *r.seq_len;
  trnsim::PromptAndTokens& g = job.generation.emplace();
  g.prompt_tokens = r.prompt_tokens ? *r.prompt_tokens : length / 2;
  g.new_tokens = r.new_tokens ? *r.new_tokens : length - g.prompt_tokens;
  if (!r.prompt_tokens) assumed.push_back(fmt::format("prompts of {} tokens", g.prompt_tokens));
  g.bucket = r.prompt_bucket.value_or(0);
  if (!r.new_tokens) assumed.push_back(fmt::format("{} new tokens", g.new_tokens));
  g.length = workloads::cache_length(std::max(length, g.prompt_tokens + g.new_tokens));
  job.step.plan = {.tensor = ranks,
                   .sequence = r.seq_parallel == Known::kYes,
                   .micro_batch = r.micro_batch.value_or(1),
                   .numerics = workloads::generation_numerics(type)};
  job.model = job.model->with_sizes({.positions = std::max(job.model->sizes().positions, g.length)});
  if (std::string padding = trnsim::padding_text(job); !padding.empty()) assumed.push_back(std::move(padding));
  job.stack_changes = context.stack_changes;
  job.programs = context.programs;
  const std::string stack = stack_of(r);
  job.stack = stack.empty() ? "transformers-neuronx" : stack;
  assumed.push_back("stack " + job.stack);
  return job;
}

}  // namespace

Prediction predict_generate(const Row& row, const PredictContext& context) {
  const auto& r = std::get<TrainingRow>(row.job);
  std::vector<std::string> assumed;
  const auto found = model_of_row(row, assumed);
  if (const auto* why = std::get_if<std::string>(&found)) return Prediction::skip(*why);
  const auto& config = std::get<workloads::ModelPtr>(found);
  if (config->task() != workloads::Task::kNextToken)
    return Prediction::skip(fmt::format("model '{}' generates nothing here", r.model));
  if (r.pp.value_or(1) != 1 || r.nodes.value_or(1) != 1)
    return Prediction::skip("generation in pipeline stages or on several instances is not modelled");
  if (!r.draft.empty() && row.metric.find("TTFT") == std::string::npos)
    return Prediction::skip(fmt::format("the acceptance rate of the tokens drafted by {} is not published", r.draft));
  const std::string type = generation_type(r.weights);
  if (type.empty()) return Prediction::skip(fmt::format("weights '{}' are not modelled in generation", r.weights));
  const hw::MachineParams machine = machine_of_job(r, context, assumed);
  const trnsim::Job job = job_of(row, config, machine, type, context, assumed);
  const trnsim::Projection projection = projected(job, context, false);
  const trnsim::GenerationTime& time = projection.generation.value();
  assumed.push_back("each token reads a bucket of its caches: the next power of two");
  assumed.push_back(
      fmt::format("first token {:.1f} ms, then {:.2f} ms (median)", time.first_token * 1e3, time.per_token * 1e3));
  const double replicas = std::max(1.0, static_cast<double>(r.dp.value_or(1)));
  return in_row_metric(
      row,
      {.seconds = projection.time.total,
       .samples = static_cast<double>(job.step.plan.micro_batch) * replicas,
       .tokens = static_cast<double>(job.step.plan.micro_batch * job.generation->new_tokens) * replicas,
       .job_seconds = projection.time.total,
       .first_token = time.first_token,
       .token_interval = time.per_token},
      std::move(assumed), time_shares(time, projection.time.total));
}

}  // namespace validation
