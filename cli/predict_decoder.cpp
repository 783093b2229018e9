// Rows of kind "train" that train a decoder: any plan, on any number of instances.
#include <fmt/format.h>

#include <regex>

#include "base/error.h"
#include "cli/decoder_stages.h"
#include "cli/predict_row.h"
#include "workloads/presets.h"

namespace cli {
namespace {

using analysis::Known;
using analysis::Prediction;
using analysis::Row;
using analysis::TrainingRow;

bool is_yes(Known known, bool otherwise, const char* what, std::vector<std::string>& assumed) {
  if (known == Known::kUnknown) assumed.push_back(fmt::format("{}{}", otherwise ? "" : "no ", what));
  return known == Known::kUnknown ? otherwise : known == Known::kYes;
}

}  // namespace

std::optional<workloads::ModelConfig> decoder_config_of(const TrainingRow& row) {
  if (!row.seq_len) return {};
  if (workloads::is_model_preset(row.model)) {
    workloads::ModelConfig config = workloads::model_preset(row.model);
    std::visit(
        [&](auto& c) { c.max_position_embeddings = std::max<std::int64_t>(c.max_position_embeddings, *row.seq_len); },
        config);
    return config;
  }
  if (!row.layers || !row.hidden || !row.heads || !row.ffn || !row.vocab) return {};
  const auto fill = [&](auto c) {
    c.num_hidden_layers = *row.layers, c.hidden_size = *row.hidden, c.num_attention_heads = *row.heads;
    c.intermediate_size = *row.ffn, c.vocab_size = *row.vocab, c.max_position_embeddings = *row.seq_len;
    return c;
  };
  if (!row.model.starts_with("llama")) return fill(workloads::GptConfig{});
  workloads::LlamaConfig llama = fill(workloads::LlamaConfig{});
  llama.num_key_value_heads = row.kv_heads.value_or(*row.heads);
  llama.head_dim = llama.hidden_size / llama.num_attention_heads;
  return llama;
}

namespace {

/// "about 10.57M tokens over 3 epochs": of the whole job.
std::optional<double> tokens_of(const std::string& notes) {
  static const std::regex kTokens{R"((\d+(\.\d+)?)\s*M tokens)"};
  std::smatch found;
  if (!std::regex_search(notes, found, kTokens)) return {};
  return std::stod(found[1]) * 1e6;
}

}  // namespace

Prediction predict_decoder(const Row& row, const PredictContext& context) {
  const TrainingRow& r = std::get<TrainingRow>(row.job);
  const auto config = decoder_config_of(r);
  if (!config || !r.micro_batch || !r.dp)
    return Prediction::skip("a size of the model or of the plan is not published");
  if (r.optimizer != "adamw") return Prediction::skip(fmt::format("optimizer '{}' is not modelled here", r.optimizer));
  DecoderJob job{.config = *config, .step = {}};
  std::vector<std::string> assumed;
  const bool master = r.optimizer_state.find("master") != std::string::npos;
  const bool moments = r.optimizer_state.find("fp32") != std::string::npos;
  const bool rounding = r.weights == "bf16+SR";
  const std::string numerics = std::string{moments ? "bf16+fp32-optimizer" : "bf16"} + (rounding ? "+sr" : "");
  job.step = {.batch = *r.micro_batch,
              .length = *r.seq_len,
              .micro_batches = r.grad_accum.value_or(1),
              .ranks = static_cast<std::uint32_t>(*r.dp),
              .training = true,
              .numerics = runtime::numerics(numerics),
              .weight_decay = 0.01,
              .max_grad_norm = 1,
              .tensor_parallel = r.tp.value_or(1)};
  const std::string stack_name = analysis::stack_for(r.stack);
  const analysis::Stack stack = analysis::load_stack(stack_name.empty() ? "torch-xla" : stack_name);
  job.step.sequence_parallel = is_yes(r.seq_parallel, stack.sequence_parallel == "yes", "sequence parallel", assumed) &&
                               job.step.tensor_parallel > 1;
  job.step.zero1 = is_yes(r.zero1, false, "ZeRO-1", assumed) && *r.dp > 1;
  job.step.master_weights = master;
  if (r.recompute == "unknown") assumed.push_back("recompute " + stack.recompute);
  job.step.recompute = workloads::recompute_of(r.recompute == "unknown" ? stack.recompute : r.recompute);
  job.pipeline = r.pp.value_or(1);
  job.instances = r.nodes.value_or(1);
  job.exact = context.exact;
  job.may_exceed_memory = true;
  job.stack = stack.name;
  job.passes = runtime::parse_passes(analysis::passes_of(stack, static_cast<double>(job.step.length), ""));
  assumed.push_back("stack " + job.stack);
  const std::optional<double> tokens = tokens_of(row.notes);
  const bool whole = row.metric.starts_with("minutes");
  if (whole && !tokens) return Prediction::skip("how many tokens the job trains on is not published");
  const double length = static_cast<double>(job.step.length);
  job.sequences = whole ? *tokens / length : job.sequences_per_step();
  if (whole) assumed.push_back(fmt::format("{:.0f} sequences in all, by the tokens of another run", job.sequences));
  try {
    const hw::MachineParams stage = stage_machine(job, r.instance, context.set);
    DecoderProjection p = project(job, stage);
    if (job.pipeline > 1) {
      const hw::MachineParams whole = load_cluster(r.instance, context.set, job.instances);
      const Stages stages = compile_stages(job, whole);
      use_stages(stages, simulate_stages(job, whole, stages, p.micro_seconds), job, stage, p);
    }
    if (!p.memory.fits())
      assumed.push_back(fmt::format("our memory plan needs {:.1f} of {:.0f} GiB per core",
                                    static_cast<double>(p.memory.total) / (1 << 30),
                                    static_cast<double>(p.memory.capacity) / (1 << 30)));
    if (job.pipeline > 1)
      assumed.push_back(fmt::format("pipeline: all stages simulated, a bubble of {:.3g} s", p.bubble_seconds));
    assumed.push_back(fmt::format("numerics {}; MFU of the device's time {:.1f} %", numerics, p.mfu * 100));
    assumed.push_back(fmt::format("device {:.4g} s of a step of {:.4g} s", p.time.device_step, p.time.step));
    const double samples = p.steps * job.sequences_per_step();
    return in_row_metric(row,
                         {.seconds = p.time.total,
                          .samples = samples,
                          .tokens = samples * length,
                          .flops = {},
                          .bytes = {},
                          .job_seconds = p.time.total},
                         std::move(assumed), shares(p.time), work_of(p.device, p.steps));
  } catch (const base::Error& e) {
    if (e.fault() != base::Fault::kCapacity && e.fault() != base::Fault::kUsage) throw;
    const std::string text = e.what();
    return Prediction::skip("the plan is refused: " + text.substr(0, text.find('\n')));
  }
}

}  // namespace cli
