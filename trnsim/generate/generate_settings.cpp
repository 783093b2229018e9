// What a generation may be told, and what it answers, in names.
#include <array>

#include "trnsim/generate/generate.h"

namespace trnsim {
namespace {

using G = GenerateSettings;
// clang-format off
constexpr std::array kGenerateRows = {
    OptionRow<G>{"prompt", at<&G::prompt>, {}, "Text",
         "a text to go on with; several are a batch; default: the empty text"},
    OptionRow<G>{"max_new_tokens", at<&G::max_new_tokens>, {}, "Text", "tokens to add to each prompt", {}, {}, 1},
    OptionRow<G>{"batch_size", at<&G::batch_size>, {}, "Text",
                 "sequences at once, all from one prompt; 0: one per prompt", {}, {}, 0},
    OptionRow<G>{"prompt_length", at<&G::prompt_length>, {}, "Text",
         "tokens of a prompt where there is no text to count",
                 {}, {}, 1},
    OptionRow<G>{"max_length", at<&G::max_length>, {}, "Text", "tokens that the caches hold; 0: prompt and new tokens",
                 {}, {}, 0},
    OptionRow<G>{"temperature", at<&G::temperature>, {}, "Sampling", "0: always the likeliest token", {}, {}, 0},
    OptionRow<G>{"top_k", at<&G::top_k>, {}, "Sampling",
         "draw from so many of the likeliest tokens; 0: all", {}, {}, 0},
    OptionRow<G>{"top_p", at<&G::top_p>, {}, "Sampling", "draw from the likeliest tokens that reach this probability"},
    OptionRow<G>{"seed", at<&G::seed>, {}, "Sampling", "of the draws", {}, {}, 0},
    OptionRow<G>{"ignore_eos", at<&G::ignore_eos>, {}, "Sampling", "go on behind the end of a text"},
    OptionRow<G>{"numerics", at<&G::numerics>, {}, "Machine",
                 "of weights, caches and operands; default: fp32 with weights, else bf16", "fp32|bf16|fp16|off"},
    OptionRow<G>{"tensor_parallel_size,tp_degree", at<&G::tensor_parallel_size>, {}, "Machine",
                 "cores that share the model", {}, {}, 1},
    OptionRow<G>{"instance_type", at<&G::instance_type>, {}, "Machine", "machine to simulate, or a TOML file"},
    OptionRow<G>{"set", at<&G::set>, {}, "Machine", "change a machine number: KEY=VALUE (repeatable)"},
    OptionRow<G>{"stack", at<&G::stack>, {}, "Machine", "host software around the device"},
    OptionRow<G>{"exact", at<&G::exact>, {}, "Machine", "simulate every core and call"},
    OptionRow<G>{"host_threads", at<&G::host_threads>, {}, "Machine", "threads that compute; 0: all", {}, {}, 0},
    OptionRow<G>{"vocab", at<&G::vocab>, {}, "Model", "tokenizer, when it is not in the model's folder"},
};
// clang-format on

}  // namespace

std::span<const OptionRow<GenerateSettings>> generate_table() { return kGenerateRows; }

nlohmann::ordered_json to_json(const Generation& generation, const std::string& model) {
  const auto& [job, machine, texts, t] = generation;
  nlohmann::ordered_json out{{"model", model},
                             {"cores", job.spec.tensor_parallel},
                             {"batch_size", job.spec.batch},
                             {"numerics", job.spec.numerics.name},
                             {"prompt_tokens", job.prompt_tokens},
                             {"new_tokens", job.new_tokens},
                             {"texts", nlohmann::ordered_json::array()}};
  for (const GeneratedText& s : texts) out["texts"].push_back({{"text", s.text}, {"ids", s.ids}});
  out["time_to_first_token_seconds"] = t.first_token;
  out["time_per_output_token_p50_seconds"] = t.per_token;
  out["tokens_per_second"] = t.tokens_per_second;
  out["total_seconds"] = t.total;
  out["prompt_bound_by"] = bound_of(t.prompt);
  if (const std::string experts = experts_text(job); !experts.empty()) out["experts"] = experts;
  out["buckets"] = nlohmann::ordered_json::array();
  for (const GenerationStep& step : t.tokens) {
    nlohmann::ordered_json bucket{{"positions", step.read}, {"tokens", step.tokens}, {"seconds", step.seconds}};
    for (const analysis::TimeItem& part : step.parts) bucket["parts"][part.name] = part.seconds;
    bucket["collectives_seconds"] = hw::seconds(step.device.collective_exposed);
    bucket["read_bytes"] = step.device.dma.read_bytes;
    bucket["bound_by"] = bound_of(step);
    out["buckets"].push_back(std::move(bucket));
  }
  for (const auto& [kind, bytes] : t.memory.by_kind) out["memory"][kind] = bytes;
  out["memory"]["total"] = t.memory.total;
  out["memory"]["capacity"] = t.memory.capacity;
  return out;
}

}  // namespace trnsim
