// The config.json of Llama and its relatives, and the rotary embedding.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "workloads/models/config_keys.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

using nlohmann::json;

/// "rope_type", in older files "type": "default" changes nothing.
struct RopeName {
  std::string_view name;
  RopeScaling::Type type;
};
constexpr std::array kRopes = {
    RopeName{"llama3", RopeScaling::Type::kLlama3}, RopeName{"linear", RopeScaling::Type::kLinear},
    RopeName{"dynamic", RopeScaling::Type::kDynamic}, RopeName{"longrope", RopeScaling::Type::kLong},
    RopeName{"su", RopeScaling::Type::kLong}};  // as Phi-3's first files call it

std::vector<double> factors(const Keys& keys, const char* key, std::int64_t pairs) {
  const json list = keys.has(key) ? keys.at(key) : json();
  const bool numbers = list.is_array() && std::ranges::all_of(list, [](const json& x) { return x.is_number(); });
  if (!numbers || std::ssize(list) != pairs)
    keys.fail(fmt::format("\"{}\" is no list of {} numbers, one for each pair of a head", key, pairs),
              "copy the model's config.json as it is published");
  return list.get<std::vector<double>>();
}

/// Source: transformers, modeling_rope_utils.py _compute_longrope_parameters(); Ding et al., arXiv:2402.13753.
void read_long_rope(const Keys& keys, LlamaConfig& c) {
  RopeScaling& rope = *c.rope_scaling;
  rope.short_factor = factors(keys, "short_factor", c.head_dim / 2);
  rope.long_factor = factors(keys, "long_factor", c.head_dim / 2);
  keys.optional("attention_factor", rope.attention_factor);
  keys.optional("original_max_position_embeddings", rope.original_max_position_embeddings);
  rope.factor = static_cast<double>(c.max_position_embeddings) /
                static_cast<double>(std::max<std::int64_t>(1, rope.original_max_position_embeddings));
  keys.optional("factor", rope.factor);
}

void read_rope(const Keys& keys, LlamaConfig& c) {
  keys.optional("rope_theta", c.rope_theta);
  const char* type_key = keys.has("rope_type") ? "rope_type" : "type";
  const json type = keys.has(type_key) ? keys.at(type_key) : json();
  if (type == "default") return;
  const auto* known = std::ranges::find(kRopes, type.is_string() ? type.get<std::string>() : "", &RopeName::name);
  if (known == kRopes.end())
    keys.fail(fmt::format("the rotary scaling of type {} is not modelled", type.dump()),
              "use a model without scaled rotary embedding, or with rope_type \"llama3\", \"linear\", \"dynamic\" or "
              "\"longrope\"");
  RopeScaling& rope = c.rope_scaling.emplace();
  rope.type = known->type;
  if (rope.type == RopeScaling::Type::kLong) return read_long_rope(keys, c);
  keys.required("factor", rope.factor);
  if (rope.type != RopeScaling::Type::kLlama3) return;
  keys.required("low_freq_factor", rope.low_freq_factor);
  keys.required("high_freq_factor", rope.high_freq_factor);
  keys.required("original_max_position_embeddings", rope.original_max_position_embeddings);
}

/// The original positions stand beside the scaling in Phi-3's files.
void settle_long_rope(const Keys& keys, LlamaConfig& c) {
  if (!keys.has("original_max_position_embeddings")) return;
  RopeScaling& rope = *c.rope_scaling;
  keys.optional("original_max_position_embeddings", rope.original_max_position_embeddings);
  rope.factor = static_cast<double>(c.max_position_embeddings) /
                static_cast<double>(std::max<std::int64_t>(1, rope.original_max_position_embeddings));
}

double scaled(double frequency, const RopeScaling& rope, std::size_t pair, bool longer) {
  if (rope.type == RopeScaling::Type::kLong)
    return frequency / (longer ? rope.long_factor : rope.short_factor).at(pair);
  if (rope.type != RopeScaling::Type::kLlama3)
    return rope.type == RopeScaling::Type::kLinear ? frequency / rope.factor : frequency;
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto context = static_cast<double>(rope.original_max_position_embeddings);
  if (wavelength < context / rope.high_freq_factor) return frequency;
  if (wavelength > context / rope.low_freq_factor) return frequency / rope.factor;
  const double kept = (context / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

/// What only some relatives have. Others' keys, where a file has them all the same, must say that they have no effect.
void read_traits(const Keys& keys, const LlamaDialect& dialect, LlamaConfig& c) {
  if (dialect.window)
    keys.optional("sliding_window", c.sliding_window);
  else
    keys.only("use_sliding_window", false);
  if (dialect.multipliers) {
    keys.optional("embedding_multiplier", c.embedding_multiplier);
    keys.optional("residual_multiplier", c.residual_multiplier);
    keys.optional("attention_multiplier", c.attention_multiplier);
    keys.optional("logits_scaling", c.logits_scaling);
  }
  // Old files of Gemma say "gelu" where transformers computes the tanh formula all the same.
  if (dialect.gemma)
    keys.optional("hidden_activation", c.hidden_act, {Activation::kGeluTanh});
  else
    keys.optional("hidden_act", c.hidden_act, {Activation::kSilu});
  keys.only("attention_bias", false);
  keys.only("mlp_bias", false);
  keys.only("partial_rotary_factor", 1.0);
}

/// A router of every layer, and no expert that all tokens share.
void read_experts(const Keys& keys, const LlamaDialect& dialect, LlamaConfig& c) {
  const ExpertNames& names = dialect.experts;
  if (!names.count) return;
  keys.required(names.count, c.num_experts);
  keys.required(names.size, c.intermediate_size);
  keys.required("num_experts_per_tok", c.num_experts_per_tok);
  c.router_aux_loss_coef = 0.001;  // as transformers
  keys.optional("router_aux_loss_coef", c.router_aux_loss_coef);
  keys.optional("output_router_logits", c.output_router_logits);
  keys.optional("capacity_factor", c.capacity_factor);
  if (c.kind == LlamaKind::kQwen3Moe) {
    c.norm_topk_prob = false;
    keys.optional("norm_topk_prob", c.norm_topk_prob);
  }
  keys.only("router_jitter_noise", 0.0);
  keys.only("decoder_sparse_step", 1);
  keys.only("mlp_only_layers", json::array());
}

void check_experts(const LlamaConfig& c, const Rules& rules) {
  const char* count = dialect_of(c.kind).experts.count;
  if (!count) return;
  rules.positive(count, c.num_experts, 512);
  rules.positive("num_experts_per_tok", c.num_experts_per_tok, c.num_experts);
  if (!(c.router_aux_loss_coef >= 0 && c.router_aux_loss_coef < 1e6))
    rules.fail("router_aux_loss_coef", fmt::format("{} is no weight of a loss", c.router_aux_loss_coef));
  if (!(c.capacity_factor >= 0 && c.capacity_factor < 1e6))
    rules.fail("capacity_factor", fmt::format("{} is below 0", c.capacity_factor));
}

void put_experts(json& file, const LlamaConfig& c) {
  const ExpertNames& names = dialect_of(c.kind).experts;
  if (!names.count) return;
  file[names.count] = c.num_experts, file[names.size] = c.intermediate_size;
  file["num_experts_per_tok"] = c.num_experts_per_tok, file["router_aux_loss_coef"] = c.router_aux_loss_coef;
  file["output_router_logits"] = c.output_router_logits;
  if (c.capacity_factor > 0) file["capacity_factor"] = c.capacity_factor;
  if (c.kind == LlamaKind::kQwen3Moe)
    file.update({{"norm_topk_prob", c.norm_topk_prob}, {"decoder_sparse_step", 1}, {"mlp_only_layers", json::array()}});
}

}  // namespace

LlamaConfig read_llama(const Keys& keys, LlamaKind kind) {
  const LlamaDialect& dialect = dialect_of(kind);
  LlamaConfig c{.kind = kind};
  c.hidden_act = dialect.activation, c.tie_word_embeddings = dialect.tied, c.rms_norm_eps = dialect.eps;
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
  read_traits(keys, dialect, c);
  read_experts(keys, dialect, c);
  keys.optional("rms_norm_eps", c.rms_norm_eps);
  keys.optional("rope_theta", c.rope_theta);
  keys.optional("initializer_range", c.initializer_range);
  keys.optional("tie_word_embeddings", c.tie_word_embeddings);
  keys.optional("bos_token_id", c.bos_token_id);
  keys.optional("eos_token_id", c.eos_token_ids);
  for (const char* key : {"rope_scaling", "rope_parameters"})  // transformers 5 renamed it and moved rope_theta inside
    if (keys.has(key)) read_rope(Keys{keys, key}, c);
  if (c.rope_scaling && c.rope_scaling->type == RopeScaling::Type::kLong) settle_long_rope(keys, c);
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
  check_experts(c, rules);
  if (c.sliding_window != 0) rules.positive("sliding_window", c.sliding_window);
  rules.positive("embedding_multiplier", c.embedding_multiplier);
  rules.positive("residual_multiplier", c.residual_multiplier);
  rules.positive("logits_scaling", c.logits_scaling);
  if (c.attention_multiplier != 0) rules.positive("attention_multiplier", c.attention_multiplier);
  if (const auto& rope = c.rope_scaling) {
    rules.positive("rope_scaling.factor", rope->factor);
    rules.positive("rope_scaling.low_freq_factor", rope->low_freq_factor);
    if (!(rope->high_freq_factor > rope->low_freq_factor && rope->high_freq_factor < 1e12))
      rules.fail("rope_scaling.high_freq_factor",
                 fmt::format("{} is not above low_freq_factor {}", rope->high_freq_factor, rope->low_freq_factor));
    rules.positive("rope_scaling.original_max_position_embeddings", rope->original_max_position_embeddings);
    if (rope->attention_factor != 0) rules.positive("rope_scaling.attention_factor", rope->attention_factor);
    for (const auto* list : {&rope->short_factor, &rope->long_factor})
      for (const double factor : *list) rules.positive("rope_scaling.long_factor", factor);
  }
  rules.token("bos_token_id", c.bos_token_id, c.vocab_size);
  if (c.eos_token_ids.empty()) rules.fail("eos_token_id", "has no id");
  for (const std::int64_t id : c.eos_token_ids) rules.token("eos_token_id", id, c.vocab_size);
}

std::vector<double> rope_frequencies(const LlamaConfig& c, bool longer) {
  std::vector<double> frequencies;
  for (std::int64_t j = 0; j < c.head_dim / 2; ++j) {
    const double exponent = 2 * static_cast<double>(j) / static_cast<double>(c.head_dim);
    const double frequency = std::pow(c.rope_theta, -exponent);
    frequencies.push_back(c.rope_scaling ? scaled(frequency, *c.rope_scaling, static_cast<std::size_t>(j), longer)
                                         : frequency);
  }
  return frequencies;
}

double rope_magnitude(const LlamaConfig& c) {
  const auto& rope = c.rope_scaling;
  if (!rope || rope->type != RopeScaling::Type::kLong) return 1;
  if (rope->attention_factor > 0) return rope->attention_factor;
  if (rope->factor <= 1) return 1;
  return std::sqrt(1 + std::log(rope->factor) / std::log(static_cast<double>(rope->original_max_position_embeddings)));
}

namespace {

json to_json(const std::optional<RopeScaling>& rope) {
  if (!rope) return {};
  if (rope->type == RopeScaling::Type::kLong) {
    json out = {{"rope_type", "longrope"}, {"short_factor", rope->short_factor}, {"long_factor", rope->long_factor}};
    if (rope->attention_factor > 0) out["attention_factor"] = rope->attention_factor;
    return out;
  }
  json out = {{"rope_type", std::ranges::find(kRopes, rope->type, &RopeName::type)->name}, {"factor", rope->factor}};
  if (rope->type == RopeScaling::Type::kLlama3)
    out.update({{"low_freq_factor", rope->low_freq_factor},
                {"high_freq_factor", rope->high_freq_factor},
                {"original_max_position_embeddings", rope->original_max_position_embeddings}});
  return out;
}

}  // namespace

json to_json(const LlamaConfig& c) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  json file = {{"architectures", {dialect.architecture}},
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
               {"model_type", dialect.type},
               {"num_attention_heads", c.num_attention_heads},
               {"num_hidden_layers", c.num_hidden_layers},
               {"num_key_value_heads", c.num_key_value_heads},
               {"rms_norm_eps", c.rms_norm_eps},
               {"rope_scaling", to_json(c.rope_scaling)},
               {"rope_theta", c.rope_theta},
               {"tie_word_embeddings", c.tie_word_embeddings},
               {"torch_dtype", "float32"},
               {"vocab_size", c.vocab_size}};
  put_experts(file, c);
  if (c.rope_scaling && c.rope_scaling->type == RopeScaling::Type::kLong)
    file["original_max_position_embeddings"] = c.rope_scaling->original_max_position_embeddings;
  if (dialect.window) file["sliding_window"] = c.sliding_window > 0 ? json(c.sliding_window) : json();
  if (dialect.gemma) file["hidden_activation"] = name_of(c.hidden_act);
  if (dialect.multipliers)
    file.update({{"embedding_multiplier", c.embedding_multiplier},
                 {"residual_multiplier", c.residual_multiplier},
                 {"attention_multiplier", c.attention_multiplier},
                 {"logits_scaling", c.logits_scaling}});
  if (c.lora) file["lora"] = to_json(*c.lora);
  return file;
}

}  // namespace workloads
