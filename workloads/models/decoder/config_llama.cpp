// Llama's config.json and its rotary embedding.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "workloads/models/config_keys.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

using nlohmann::json;

/// "rope_type", in older files "type": "default" changes nothing, "llama3" is modelled.
void read_rope(const Keys& keys, LlamaConfig& c) {
  keys.optional("rope_theta", c.rope_theta);
  const char* type_key = keys.has("rope_type") ? "rope_type" : "type";
  const json type = keys.has(type_key) ? keys.at(type_key) : json();
  if (type == "default") return;
  if (type != "llama3")
    keys.fail(fmt::format("the rotary scaling of type {} is not modelled", type.dump()),
              "use a model without scaled rotary embedding, or with rope_type \"llama3\"");
  RopeScaling& rope = c.rope_scaling.emplace();
  keys.required("factor", rope.factor);
  keys.required("low_freq_factor", rope.low_freq_factor);
  keys.required("high_freq_factor", rope.high_freq_factor);
  keys.required("original_max_position_embeddings", rope.original_max_position_embeddings);
}

double scaled(double frequency, const RopeScaling& rope) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto context = static_cast<double>(rope.original_max_position_embeddings);
  if (wavelength < context / rope.high_freq_factor) return frequency;
  if (wavelength > context / rope.low_freq_factor) return frequency / rope.factor;
  const double kept = (context / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

}  // namespace

LlamaConfig read_llama(const Keys& keys) {
  LlamaConfig c;
  keys.required("vocab_size", c.vocab_size);
  keys.required("hidden_size", c.hidden_size);
  keys.required("num_hidden_layers", c.num_hidden_layers);
  keys.required("num_attention_heads", c.num_attention_heads);
  keys.required("intermediate_size", c.intermediate_size);
  keys.required("max_position_embeddings", c.max_position_embeddings);
  c.num_key_value_heads = c.num_attention_heads;
  keys.optional("num_key_value_heads", c.num_key_value_heads);
  c.head_dim = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0;
  keys.optional("head_dim", c.head_dim);
  keys.optional("hidden_act", c.hidden_act, {Activation::kSilu});
  keys.optional("rms_norm_eps", c.rms_norm_eps);
  keys.optional("rope_theta", c.rope_theta);
  keys.optional("initializer_range", c.initializer_range);
  keys.optional("tie_word_embeddings", c.tie_word_embeddings);
  keys.only("attention_bias", false);
  keys.only("mlp_bias", false);
  keys.optional("bos_token_id", c.bos_token_id);
  keys.optional("eos_token_id", c.eos_token_ids);
  for (const char* key : {"rope_scaling", "rope_parameters"})  // transformers 5 renamed it and moved rope_theta inside
    if (keys.has(key)) read_rope(Keys{keys, key}, c);
  if (keys.has("lora")) c.lora = settled(lora_from(keys.at("lora"), keys.where()), llama_weights(c));
  check(c, keys.where());
  return c;
}

void check(const LlamaConfig& c, std::string_view where) {
  const Rules rules{where};
  rules.positive("vocab_size", c.vocab_size);
  rules.positive("hidden_size", c.hidden_size);
  rules.positive("num_hidden_layers", c.num_hidden_layers, 10'000);
  rules.positive("num_attention_heads", c.num_attention_heads);
  rules.positive("num_key_value_heads", c.num_key_value_heads);
  rules.positive("head_dim", c.head_dim);
  rules.positive("intermediate_size", c.intermediate_size);
  rules.positive("max_position_embeddings", c.max_position_embeddings);
  rules.divides("num_key_value_heads", c.num_key_value_heads, "num_attention_heads", c.num_attention_heads);
  rules.divides("head_dim", 2, "head_dim", c.head_dim);  // rotary embedding turns pairs
  rules.positive("rms_norm_eps", c.rms_norm_eps);
  rules.positive("rope_theta", c.rope_theta);
  rules.positive("initializer_range", c.initializer_range);
  if (const auto& rope = c.rope_scaling) {
    rules.positive("rope_scaling.factor", rope->factor);
    rules.positive("rope_scaling.low_freq_factor", rope->low_freq_factor);
    if (!(rope->high_freq_factor > rope->low_freq_factor && rope->high_freq_factor < 1e12))
      rules.fail("rope_scaling.high_freq_factor",
                 fmt::format("{} is not above low_freq_factor {}", rope->high_freq_factor, rope->low_freq_factor));
    rules.positive("rope_scaling.original_max_position_embeddings", rope->original_max_position_embeddings);
  }
  rules.token("bos_token_id", c.bos_token_id, c.vocab_size);
  if (c.eos_token_ids.empty()) rules.fail("eos_token_id", "has no id");
  for (const std::int64_t id : c.eos_token_ids) rules.token("eos_token_id", id, c.vocab_size);
}

std::vector<double> rope_frequencies(const LlamaConfig& c) {
  std::vector<double> frequencies;
  for (std::int64_t j = 0; j < c.head_dim / 2; ++j) {
    const double exponent = 2 * static_cast<double>(j) / static_cast<double>(c.head_dim);
    const double frequency = std::pow(c.rope_theta, -exponent);
    frequencies.push_back(c.rope_scaling ? scaled(frequency, *c.rope_scaling) : frequency);
  }
  return frequencies;
}

json to_json(const LlamaConfig& c) {
  json rope;
  if (const auto& r = c.rope_scaling) {
    rope = {{"rope_type", "llama3"},
            {"factor", r->factor},
            {"low_freq_factor", r->low_freq_factor},
            {"high_freq_factor", r->high_freq_factor},
            {"original_max_position_embeddings", r->original_max_position_embeddings}};
  }
  json out = {{"architectures", {"LlamaForCausalLM"}},
              {"attention_bias", false},
              {"attention_dropout", 0.0},
              {"bos_token_id", c.bos_token_id},
              {"eos_token_id", c.eos_token_ids.size() == 1 ? json(c.eos_token_ids[0]) : json(c.eos_token_ids)},
              {"head_dim", c.head_dim},
              {"hidden_act", name_of(c.hidden_act)},
              {"hidden_size", c.hidden_size},
              {"initializer_range", c.initializer_range},
              {"intermediate_size", c.intermediate_size},
              {"max_position_embeddings", c.max_position_embeddings},
              {"mlp_bias", false},
              {"model_type", "llama"},
              {"num_attention_heads", c.num_attention_heads},
              {"num_hidden_layers", c.num_hidden_layers},
              {"num_key_value_heads", c.num_key_value_heads},
              {"rms_norm_eps", c.rms_norm_eps},
              {"rope_scaling", rope},
              {"rope_theta", c.rope_theta},
              {"tie_word_embeddings", c.tie_word_embeddings},
              {"torch_dtype", "float32"},
              {"vocab_size", c.vocab_size}};
  if (c.lora) out["lora"] = to_json(*c.lora);
  return out;
}

}  // namespace workloads
