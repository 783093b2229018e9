// A job's plan and number format in words and as settings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "isa/names.h"
#include "trnsim/job.h"
#include "workloads/models/model.h"

namespace trnsim {

std::string describe(const Job& job) {
  const runtime::Plan& p = job.step.plan;
  if (job.generation && job.generation->new_tokens == 0)
    return fmt::format("{}DP {}, {} x {}", p.tensor > 1 ? fmt::format("TP {}, ", p.tensor) : "", p.data, p.micro_batch,
                       job.step.kind.length);
  if (job.generation)
    return fmt::format("TP {}, {} x ({} + {})", p.tensor, p.micro_batch, job.generation->prompt_tokens,
                       base::counted(job.generation->new_tokens, "token"));
  const std::string chunks = p.chunks > 1 ? fmt::format(" x {} chunks", p.chunks) : "";
  const auto lora = job.model->lora();
  const std::string written = job.model->pairs() ? fmt::format(" to {}", job.step.kind.target_length) : "";
  return fmt::format("{}TP {}, PP {}{}, DP {}{}{}{}, recompute {}, {} of {} x {}{}",
                     lora ? fmt::format("LoRA of rank {}, ", lora->rank) : "", p.tensor, p.pipeline, chunks, p.data,
                     p.sequence ? ", sequence parallel" : "", p.zero1 && p.data > 1 ? ", ZeRO-1" : "",
                     p.master_weights ? ", fp32 master weights" : "", runtime::name_of(p.recompute),
                     base::counted(p.micro_batches, "micro-batch"), p.micro_batch, job.step.kind.length, written);
}

std::string describe(const runtime::Numerics& n) {
  if (!n.name.starts_with("fp32+")) return n.name;
  const bool all = n.activation != n.weight;
  return fmt::format("{}: fp32 weights, {} cast to {} by the compiler, unless `auto_cast` is none", n.name,
                     all ? "all arithmetic" : "matmuls", isa::name_of(n.operand));
}

std::vector<std::pair<std::string, std::string>> plan_settings(const Job& job) {
  const runtime::Plan& p = job.step.plan;
  if (job.generation)
    return {{"tensor_parallel_size", std::to_string(p.tensor)}, {"batch_size", std::to_string(p.micro_batch)}};
  std::vector<std::pair<std::string, std::string>> out{{"tensor_parallel_size", std::to_string(p.tensor)},
                                                       {"pipeline_parallel_size", std::to_string(p.pipeline)}};
  // An encoder's job has more than one where nothing is said (jobs_of_model()).
  if (p.micro_batch > 1 || !job.model->splits())
    out.emplace_back("per_device_train_batch_size", std::to_string(p.micro_batch));
  if (p.chunks > 1) out.emplace_back("virtual_pipeline_size", std::to_string(p.chunks));
  if (p.tensor > 1 && !p.sequence && job.model->splits()) out.emplace_back("disable_sequence_parallel", "");
  if (p.zero1) out.emplace_back("zero_1", "");
  if (p.master_weights) out.emplace_back("optimizer_use_master_weights", "");
  out.emplace_back("recompute", runtime::name_of(p.recompute));
  out.emplace_back("gradient_accumulation_steps", std::to_string(p.micro_batches));
  if (const auto lora = job.model->lora()) {
    out.emplace_back("lora_r", std::to_string(lora->rank));
    out.emplace_back("lora_alpha", fmt::format("{:g}", lora->alpha));
    if (lora->dropout > 0) out.emplace_back("lora_dropout", fmt::format("{:g}", lora->dropout));
    out.emplace_back("lora_target_modules", fmt::format("{}", fmt::join(lora->targets, ",")));
  }
  return out;
}

}  // namespace trnsim
