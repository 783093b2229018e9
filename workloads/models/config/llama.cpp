// The config.json of Llama and its relatives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "workloads/models/config/table.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

using nlohmann::json;
using L = LlamaConfig;
using R = RopeScaling;

// ---- "rope_scaling"

/// "rope_type", in older files "type": "default" changes nothing.
struct RopeName {
  std::string_view name;
  RopeScaling::Type type;
};
constexpr std::array kRopes = {RopeName{"llama3", R::Type::kLlama3}, RopeName{"linear", R::Type::kLinear},
                               RopeName{"dynamic", R::Type::kDynamic}, RopeName{"longrope", R::Type::kLong},
                               RopeName{"su", R::Type::kLong}};  // as Phi-3's first files call it

bool is_llama3(const R& rope) { return rope.type == R::Type::kLlama3; }
bool is_long(const R& rope) { return rope.type == R::Type::kLong; }
bool is_short(const R& rope) { return !is_long(rope); }

void check_high(const Rules& rules, const R& rope) {
  if (!(rope.high_freq_factor > rope.low_freq_factor && rope.high_freq_factor < 1e12))
    rules.fail("high_freq_factor",
               fmt::format("{} is not above low_freq_factor {}", rope.high_freq_factor, rope.low_freq_factor));
}

void check_factors(const Rules& rules, const R& rope) {
  for (const auto* list : {&rope.short_factor, &rope.long_factor})
    for (const double factor : *list) rules.positive("long_factor", factor);
}

// clang-format off
constexpr auto kRopeFields = std::to_array<Field<R>>({
    {.key = "rope_type",
     .write = [](const R& r) { return json(std::ranges::find(kRopes, r.type, &RopeName::type)->name); }},
    {.key = "factor", .member = &R::factor, .required = true, .when = is_short},
    {.key = "low_freq_factor", .member = &R::low_freq_factor, .required = true, .when = is_llama3},
    {.key = "high_freq_factor", .member = &R::high_freq_factor, .required = true, .when = is_llama3,
     .check = check_high},
    {.key = "original_max_position_embeddings", .member = &R::original_max_position_embeddings, .required = true,
     .when = is_llama3},
    // Keys of Phi-3; written files have the length it was trained for beside the scaling.
    {.key = "original_max_position_embeddings", .member = &R::original_max_position_embeddings, .when = is_long,
     .written = kNever},
    {.key = "factor", .member = &R::factor, .when = is_long, .written = kNever},
    {.key = "attention_factor", .member = &R::attention_factor, .range = kPositiveOrNone, .when = is_long,
     .written = [](const R& r) { return r.attention_factor > 0; }},
    {.key = "short_factor", .when = is_long, .write = [](const R& r) { return json(r.short_factor); }},
    {.key = "long_factor", .when = is_long, .write = [](const R& r) { return json(r.long_factor); },
     .check = check_factors},
});
// clang-format on

std::vector<double> factors(const Keys& keys, const char* key, std::int64_t pairs) {
  const json list = keys.has(key) ? keys.at(key) : json();
  const bool numbers = list.is_array() && std::ranges::all_of(list, [](const json& x) { return x.is_number(); });
  if (!numbers || std::ssize(list) != pairs)
    keys.fail(fmt::format("\"{}\" is no list of {} numbers, one for each pair of a head that turns", key, pairs),
              "copy the model's config.json as it is published");
  return list.get<std::vector<double>>();
}

/// Positions over those that the model was trained for first.
double long_factor(const LlamaConfig& c) {
  return static_cast<double>(c.max_position_embeddings) /
         static_cast<double>(std::max<std::int64_t>(1, c.rope_scaling->original_max_position_embeddings));
}

/// Source: transformers, modeling_rope_utils.py; of "longrope" _compute_longrope_parameters() and Ding et al.,
/// arXiv:2402.13753.
void read_scaling(const Keys& keys, LlamaConfig& c) {
  keys.optional("rope_theta", c.rope_theta);
  const char* type_key = keys.has("rope_type") ? "rope_type" : "type";
  const json type = keys.has(type_key) ? keys.at(type_key) : json();
  if (type == "default") return;
  const auto* known = std::ranges::find(kRopes, type.is_string() ? type.get<std::string>() : "", &RopeName::name);
  if (known == kRopes.end())
    keys.fail(fmt::format("the rotary scaling of type {} is not modelled", type.dump()),
              "use a model without scaled rotary embedding, or with rope_type \"llama3\", \"linear\", \"dynamic\" or "
              "\"longrope\"");
  R& rope = c.rope_scaling.emplace(read_fields<R>(kRopeFields, keys, {.type = known->type}));
  if (!is_long(rope)) return;
  const auto pairs = static_cast<std::int64_t>(c.rotary_share * static_cast<double>(c.head_dim)) / 2;
  rope.short_factor = factors(keys, "short_factor", pairs);
  rope.long_factor = factors(keys, "long_factor", pairs);
  if (!keys.has("factor")) rope.factor = long_factor(c);
}

/// transformers 5 renamed the key and moved rope_theta inside.
void read_rope(const Keys& keys, LlamaConfig& c) {
  for (const char* key : {"rope_scaling", "rope_parameters"})
    if (keys.has(key)) read_scaling(Keys{keys, key}, c);
}

void check_rope(const Rules& rules, const LlamaConfig& c) {
  if (c.rope_scaling) check_fields<R>(kRopeFields, *c.rope_scaling, rules.inside("rope_scaling"));
}

json rope_json(const LlamaConfig& c) { return c.rope_scaling ? write_fields<R>(kRopeFields, *c.rope_scaling) : json(); }

/// In Phi-3's files the original positions are beside the scaling.
void read_original_positions(const Keys& keys, LlamaConfig& c) {
  if (!keys.has("original_max_position_embeddings")) return;
  keys.optional("original_max_position_embeddings", c.rope_scaling->original_max_position_embeddings);
  c.rope_scaling->factor = long_factor(c);
}

// ---- the other keys

void check_head(const Rules& rules, const LlamaConfig& c) {
  rules.positive("head_dim", c.head_dim, kHeadCounts.most);
  rules.divides("head_dim", 2, "head_dim", c.head_dim);  // the rotary embedding turns pairs
}

void check_balance(const Rules& rules, const LlamaConfig& c) {
  if (!(c.router_aux_loss_coef >= 0 && c.router_aux_loss_coef < 1e6))
    rules.fail("router_aux_loss_coef", fmt::format("{} is no weight of a loss", c.router_aux_loss_coef));
}

void check_capacity(const Rules& rules, const LlamaConfig& c) {
  if (!(c.capacity_factor >= 0 && c.capacity_factor < 1e6))
    rules.fail("capacity_factor", fmt::format("{} is below 0", c.capacity_factor));
}

void check_experts(const Rules& rules, const LlamaConfig& c) {
  rules.positive(dialect_of(c.kind).experts.count, c.num_experts, 512);
}

void check_chosen(const Rules& rules, const LlamaConfig& c) {
  rules.positive("num_experts_per_tok", c.num_experts_per_tok, c.num_experts);
}

void read_lora(const Keys& keys, LlamaConfig& c) {
  if (keys.has("lora")) c.lora = resolved(lora_from(keys.at("lora"), keys.where()), llama_weights(c));
}

/// The factor of the scores, as transformers reads it.
json score_multiplier(const LlamaConfig& c) {
  return json(c.attention_multiplier > 0 ? c.attention_multiplier : 1 / std::sqrt(static_cast<double>(c.head_dim)));
}

constexpr std::string_view kPredicts = "ForCausalLM", kClassifies = "ForSequenceClassification";

/// A model that was saved from classifying has labels.
void read_task(const Keys& keys, LlamaConfig& c) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  if (made.find(kClassifies) != std::string::npos) c.classes = {.names = keys.label_names()};
}

json architectures_of(const LlamaConfig& c) {
  std::string name{dialect_of(c.kind).architecture};
  if (c.classes) name.replace(name.find(kPredicts), kPredicts.size(), kClassifies);
  return json::array({name});
}

bool classifies(const L& c) { return c.classes.has_value(); }
/// Checks that a list with an entry per layer follows the period that another key gives.
void require_pattern(const Keys& keys, const char* key, std::int64_t layers, std::int64_t every,
                     const std::pair<json, json>& most_and_last) {
  if (!keys.has(key)) return;
  const json& list = keys.at(key);
  bool alike = list.is_array() && std::ssize(list) == layers && every > 0;
  for (std::int64_t l = 0; alike && l < layers; ++l)
    alike = list[static_cast<std::size_t>(l)] == ((l + 1) % every == 0 ? most_and_last.second : most_and_last.first);
  if (!alike)
    keys.fail(fmt::format("\"{}\" is {}; only every {}th layer may differ", key, list.dump(), every),
              "use a model whose layers alternate regularly");
}

void read_layer_types(const Keys& keys, LlamaConfig& c) {
  require_pattern(keys, "layer_types", c.num_hidden_layers, c.full_every, {"sliding_attention", "full_attention"});
}

void read_no_rope_layers(const Keys& keys, LlamaConfig& c) {
  require_pattern(keys, "no_rope_layers", c.num_hidden_layers, c.no_rope_every, {1, 0});
}

bool is_gemma3(const L& c) { return c.kind == LlamaKind::kGemma3; }
bool is_phi3(const L& c) { return c.kind == LlamaKind::kPhi3; }
bool is_stablelm(const L& c) { return c.kind == LlamaKind::kStableLm; }
bool is_no_stablelm(const L& c) { return !is_stablelm(c); }

void check_turned(const Rules& rules, const LlamaConfig& c) {
  if (!(c.rotary_share > 0 && c.rotary_share <= 1) || rope_frequencies(c).empty())
    rules.fail("partial_rotary_factor", fmt::format("{} leaves a head no pair of elements that turn", c.rotary_share));
}

bool is_smollm3(const L& c) { return c.kind == LlamaKind::kSmolLm3; }
bool has_norms_around(const L& c) { return dialect_of(c.kind).norms_around; }
double gemma2_or_none(const L& c, double value) { return c.kind == LlamaKind::kGemma2 ? value : 0; }
bool has_window(const L& c) { return dialect_of(c.kind).window; }
bool has_no_window(const L& c) { return !has_window(c); }
bool is_gemma(const L& c) { return dialect_of(c.kind).gemma; }
bool is_not_gemma(const L& c) { return !is_gemma(c); }
bool is_granite(const L& c) { return dialect_of(c.kind).multipliers; }
bool is_mixtral(const L& c) { return c.kind == LlamaKind::kMixtral; }
bool is_qwen3_moe(const L& c) { return c.kind == LlamaKind::kQwen3Moe; }
bool is_olmoe(const L& c) { return c.kind == LlamaKind::kOlmoe; }
bool has_num_experts(const L& c) { return is_qwen3_moe(c) || is_olmoe(c); }
bool has_experts(const L& c) { return is_mixtral(c) || has_num_experts(c); }
bool has_rotary_share(const L& c) { return is_stablelm(c) || is_phi3(c); }
bool has_no_rotary_share(const L& c) { return !has_rotary_share(c); }
bool has_long_rope(const L& c) { return c.rope_scaling && is_long(*c.rope_scaling); }

// clang-format off
constexpr auto kLlamaFields = std::to_array<Field<L>>({
    {.key = "vocab_size", .member = &L::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &L::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &L::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &L::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &L::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &L::max_position_embeddings, .required = true},
    {.key = "num_key_value_heads", .member = &L::num_key_value_heads, .range = kHeadCounts,
     .otherwise = [](L& c) { c.num_key_value_heads = c.num_attention_heads; }},
    {.key = "head_dim", .member = &L::head_dim,
     .otherwise = [](L& c) { c.head_dim = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0; },
     .check = check_head},
    {.key = "sliding_window", .member = &L::sliding_window, .range = kPositiveOrNone, .when = has_window,
     .otherwise = [](L& c) { c.sliding_window = has_norms_around(c) ? 4096 : 0; }},
    {.key = "sliding_window_pattern", .member = &L::full_every, .when = is_gemma3},
    {.key = "layer_types", .when = has_norms_around, .read = read_layer_types},
    {.key = "query_pre_attn_scalar", .member = &L::query_scalar, .when = has_norms_around,
     .otherwise = [](L& c) { c.query_scalar = 256; }},
    {.key = "attn_logit_softcapping", .member = &L::score_cap, .range = kPositiveOrNone, .when = has_norms_around,
     .otherwise = [](L& c) { c.score_cap = gemma2_or_none(c, 50); }},
    {.key = "final_logit_softcapping", .member = &L::logit_cap, .range = kPositiveOrNone, .when = has_norms_around,
     .otherwise = [](L& c) { c.logit_cap = gemma2_or_none(c, 30); }},
    {.key = "use_bidirectional_attention", .only = false, .when = is_gemma3, .written = kNever},
    {.key = "no_rope_layer_interval", .member = &L::no_rope_every, .when = is_smollm3,
     .otherwise = [](L& c) { c.no_rope_every = 4; }},
    {.key = "no_rope_layers", .when = is_smollm3, .read = read_no_rope_layers},
    {.key = "use_sliding_window", .only = false, .when = has_no_window, .written = kNever},
    {.key = "embedding_multiplier", .member = &L::embedding_multiplier, .when = is_granite},
    {.key = "residual_multiplier", .member = &L::residual_multiplier, .when = is_granite},
    {.key = "attention_multiplier", .member = &L::attention_multiplier, .range = kPositiveOrNone, .when = is_granite,
     .otherwise = [](L& c) { c.attention_multiplier = 1; }, .write = score_multiplier},
    {.key = "logits_scaling", .member = &L::logits_scaling, .when = is_granite},
    // Old files of Gemma say "gelu" under "hidden_act" where transformers computes the tanh formula all the same.
    {.key = "hidden_activation", .member = &L::hidden_act, .choices = kGeluTanhOnly, .when = is_gemma},
    {.key = "hidden_act", .when = is_gemma, .write = [](const L& c) { return json(name_of(c.hidden_act)); }},
    {.key = "hidden_act", .member = &L::hidden_act, .choices = kSiluOnly, .when = is_not_gemma},
    {.key = "attention_bias", .only = false},
    {.key = "mlp_bias", .only = false},
    {.key = "partial_rotary_factor", .only = 1.0, .when = has_no_rotary_share, .written = kNever},
    {.key = "partial_rotary_factor", .member = &L::rotary_share, .when = has_rotary_share,
     .otherwise = [](L& c) { c.rotary_share = is_stablelm(c) ? 0.25 : 1; }, .check = check_turned},
    {.key = "use_qkv_bias", .member = &L::qkv_bias, .when = is_stablelm},
    {.key = "use_parallel_residual", .only = false, .when = is_stablelm},
    {.key = "qk_layernorm", .only = false, .when = is_stablelm},
    {.key = "hidden_dropout", .only = 0.0, .when = is_stablelm},
    {.key = "layer_norm_eps", .member = &L::rms_norm_eps, .when = is_stablelm},
    {.key = "num_local_experts", .member = &L::num_experts, .required = true, .when = is_mixtral,
     .check = check_experts},
    {.key = "num_experts", .member = &L::num_experts, .required = true, .when = has_num_experts,
     .check = check_experts},
    {.key = "moe_intermediate_size", .member = &L::intermediate_size, .required = true, .range = kWidth,
     .when = is_qwen3_moe},
    {.key = "num_experts_per_tok", .member = &L::num_experts_per_tok, .required = true, .when = has_experts,
     .check = check_chosen},
    {.key = "router_aux_loss_coef", .member = &L::router_aux_loss_coef, .when = has_experts,
     .otherwise = [](L& c) { c.router_aux_loss_coef = is_olmoe(c) ? 0.01 : 0.001; },  // as transformers
     .check = check_balance},
    {.key = "output_router_logits", .member = &L::output_router_logits, .when = has_experts},
    {.key = "capacity_factor", .member = &L::capacity_factor, .when = has_experts,
     .written = [](const L& c) { return c.capacity_factor > 0; }, .check = check_capacity},
    {.key = "norm_topk_prob", .member = &L::norm_topk_prob, .when = has_num_experts,
     .otherwise = [](L& c) { c.norm_topk_prob = false; }},
    {.key = "router_jitter_noise", .only = 0.0, .when = has_experts, .written = kNever},
    {.key = "decoder_sparse_step", .only = 1, .when = has_experts, .written = is_qwen3_moe},
    {.key = "mlp_only_layers", .only = Listed{}, .when = has_experts, .written = is_qwen3_moe},
    {.key = "clip_qkv", .only = None{}, .when = is_olmoe, .written = kNever},
    {.key = "rms_norm_eps", .member = &L::rms_norm_eps, .when = is_no_stablelm},
    {.key = "rope_theta", .member = &L::rope_theta, .otherwise = [](L& c) { c.rope_theta = dialect_of(c.kind).theta; }},
    {.key = "rope_local_base_freq", .member = &L::local_theta, .when = is_gemma3,
     .otherwise = [](L& c) { c.local_theta = 10000; }},
    {.key = "initializer_range", .member = &L::initializer_range},
    {.key = "tie_word_embeddings", .member = &L::tie_word_embeddings},
    {.key = "bos_token_id", .member = &L::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &L::eos_token_ids, .range = kToken},
    {.key = "rope_scaling", .read = read_rope, .write = rope_json, .check = check_rope},
    {.key = "original_max_position_embeddings", .when = has_long_rope, .read = read_original_positions,
     .write = [](const L& c) { return json(c.rope_scaling->original_max_position_embeddings); }},
    {.key = "attention_dropout", .member = &L::attention_dropout, .range = kProbability},
    {.key = "resid_pdrop", .only = 0.0, .when = is_phi3, .written = kNever},
    {.key = "embd_pdrop", .only = 0.0, .when = is_phi3, .written = kNever},
    {.key = "lora", .written = [](const L& c) { return c.lora.has_value(); }, .read = read_lora,
     .write = [](const L& c) { return to_json(*c.lora); }},
    {.key = "architectures", .read = read_task, .write = architectures_of},
    {.key = "id2label", .when = classifies, .write = [](const L& c) { return labels_by_id(c.classes->names); }},
    {.key = "label2id", .when = classifies, .write = [](const L& c) { return ids_by_label(c.classes->names); }},
    {.key = "problem_type", .only = "single_label_classification", .when = classifies},
    {.key = "pad_token_id", .when = classifies, .written = [](const L& c) { return c.classes->pad_token_id >= 0; },
     .read = [](const Keys& keys, L& c) { keys.optional("pad_token_id", c.classes->pad_token_id); },
     .write = [](const L& c) { return json(c.classes->pad_token_id); }},
    {.key = "model_type", .write = [](const L& c) { return json(dialect_of(c.kind).type); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

LlamaConfig read_llama(const Keys& keys, LlamaKind kind) {
  LlamaConfig c = blank_config(kind);
  c.rms_norm_eps = dialect_of(kind).eps;
  c = read_fields<L>(kLlamaFields, keys, std::move(c));
  check(c, keys.where());
  return c;
}

void check(const LlamaConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<L>(kLlamaFields, c, rules);
  rules.divides("num_key_value_heads", c.num_key_value_heads, "num_attention_heads", c.num_attention_heads);
}

json to_json(const LlamaConfig& c) { return write_fields<L>(kLlamaFields, c); }

}  // namespace workloads
