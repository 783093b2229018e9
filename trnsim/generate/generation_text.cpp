// A generation in words and in JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "analysis/profile/stats.h"
#include "hw/trace.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/generation.h"
#include "trnsim/project/figures.h"
#include "workloads/models/model.h"

namespace trnsim {

std::string experts_text(const Job& job) {
  const std::int64_t experts = job.model->sizes().experts;
  if (experts == 0) return "";
  const std::int64_t block = expert_block(job);
  const std::string how = block > 0 ? fmt::format("; a long prompt passes them in blocks of {} tokens", block) : "";
  return fmt::format(
      "of each layer's {} experts a prompt loads {} and a token of each sequence {}: those that each token chooses, at "
      "most all; all tokens of a program pass through each loaded expert{}",
      experts, workloads::loaded_experts(job.model, job.step.plan.micro_batch * generation_spec(job).prompt),
      workloads::loaded_experts(job.model, job.step.plan.micro_batch), how);
}

std::int64_t prompt_bucket(const Job& job) { return generation_spec(job).prompt; }

std::string padding_text(const Job& job) {
  const workloads::Sizes &own = job.model->sizes(), padded = trnsim::padded(job).model->sizes();
  std::vector<std::string> out;
  if (padded.heads != own.heads) out.push_back(fmt::format("{} heads padded to {}", own.heads, padded.heads));
  if (padded.kv_heads != own.kv_heads && own.kv_heads != own.heads)
    out.push_back(fmt::format("{} key-value heads copied for {} heads", own.kv_heads, padded.kv_heads));
  if (padded.ffn != own.ffn) out.push_back(fmt::format("feed-forward size {} padded to {}", own.ffn, padded.ffn));
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string bound_of(const GenerationStep& step) {
  const double device = step.parts.front().seconds;
  if (2 * device < step.seconds)
    return fmt::format("the host ({:.0f} % of the time)", 100 * (1 - device / step.seconds));
  const analysis::Resource most = analysis::resources(step.stage.device()).front();
  return fmt::format("{} ({:.0f} % of the device's time)", most.name, most.busy);
}

nlohmann::ordered_json to_json(const Generated& generated, const std::string& model) {
  const auto& [job, texts, p] = generated;
  const GenerationTime& t = p.generation.value();
  nlohmann::ordered_json out{{"model", model},
                             {"batch_size", job.step.plan.micro_batch},
                             {"prompt_tokens", job.generation->prompt_tokens},
                             {"prompt_bucket", prompt_bucket(job)},
                             {"new_tokens", job.generation->new_tokens},
                             {"texts", nlohmann::ordered_json::array()}};
  for (const GeneratedText& s : texts) out["texts"].push_back({{"text", s.text}, {"ids", s.ids}});
  out.update(analysis::flat_json(figures_of(job, p)));
  out["prompt_bound_by"] = bound_of(t.prompt);
  if (const std::string experts = experts_text(job); !experts.empty()) out["experts"] = experts;
  if (const std::string padding = padding_text(job); !padding.empty()) out["padding"] = padding;
  out["buckets"] = nlohmann::ordered_json::array();
  for (const GenerationStep& step : t.tokens) {
    nlohmann::ordered_json bucket{{"positions", step.read}, {"tokens", step.tokens}, {"seconds", step.seconds}};
    for (const analysis::TimeItem& part : step.parts) bucket["parts"][part.name] = part.seconds;
    bucket["collectives_seconds"] = hw::seconds(step.stage.device().collective_exposed);
    bucket["read_bytes"] = step.stage.device().dma.read_bytes;
    bucket["bound_by"] = bound_of(step);
    out["buckets"].push_back(std::move(bucket));
  }
  return out;
}

}  // namespace trnsim
