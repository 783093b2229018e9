// The config.json of Llama and its relatives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/models/config/llama4.h"
#include "workloads/models/config/llama_experts.h"
#include "workloads/models/config/llama_own.h"
#include "workloads/models/config/llama_rope.h"

namespace workloads {
namespace {

using nlohmann::json;
using L = LlamaConfig;

void check_head(const Rules& rules, const LlamaConfig& c) {
  rules.positive("head_dim", c.head_dim, kHeadCounts.most);
  rules.divides("head_dim", 2, "head_dim", c.head_dim);  // the rotary embedding turns pairs
}

void check_experts(const Rules& rules, const LlamaConfig& c) {
  rules.positive(dialect_of(c.kind).experts.count, c.num_experts, 512);
}

void check_chosen(const Rules& rules, const LlamaConfig& c) {
  rules.positive("num_experts_per_tok", c.num_experts_per_tok, c.num_experts);
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
  const auto entry = [&](std::int64_t l) { return (l + 1) % every == 0 ? most_and_last.second : most_and_last.first; };
  if (every <= 0 || !keys.lists(key, layers, entry))
    keys.fail(fmt::format("\"{}\" is {}; only every {}th layer may differ", key, keys.at(key).dump(), every),
              "use a model whose layers alternate regularly");
}

/// The kind of each layer, by which newer files say what older ones say by a number.
void read_layer_types(const Keys& keys, LlamaConfig& c) {
  constexpr const char* kTypes = "layer_types";
  if (!keys.has(kTypes)) return;
  const json& list = keys.at(kTypes);
  const bool counted = dialect_of(c.kind).positions.pattern && keys.has("sliding_window_pattern");
  if (c.kind != LlamaKind::kGemma2 && !counted && list.is_array() && c.sliding_window > 0)
    c.full_every = std::find(list.begin(), list.end(), json("full_attention")) - list.begin() + 1;
  require_pattern(keys, kTypes, c.num_hidden_layers, c.sliding_window > 0 ? c.full_every : 1,
                  {"sliding_attention", "full_attention"});
}

json layer_types(const LlamaConfig& c) {
  json list = json::array();
  for (std::int64_t l = 1; l <= c.num_hidden_layers; ++l)
    list.push_back(c.sliding_window > 0 && l % c.full_every != 0 ? "sliding_attention" : "full_attention");
  return list;
}

/// A number, or "LLLG" for 4.
void read_pattern(const Keys& keys, LlamaConfig& c) {
  constexpr const char* kPattern = "sliding_window_pattern";
  if (!keys.has(kPattern) || !keys.at(kPattern).is_string()) return keys.optional(kPattern, c.full_every);
  const auto text = keys.at(kPattern).get<std::string>();
  if (text.empty() || text.find('G') + 1 != text.size() || text.find_first_not_of("LG") != std::string::npos)
    keys.fail(fmt::format("\"{}\" is \"{}\"; only several L with one G at the end are modelled", kPattern, text),
              "use a model whose layers alternate regularly");
  c.full_every = std::ssize(text);
}

void check_window(const Rules& rules, const LlamaConfig& c) {
  if (c.sliding_window != 0) rules.positive("sliding_window", c.sliding_window);
  if (c.sliding_window == 0 && c.kind == LlamaKind::kCohere2)
    rules.fail("sliding_window", "without it no layer would know positions");
}

void read_no_rope_layers(const Keys& keys, LlamaConfig& c) {
  constexpr const char* kKey = "no_rope_layers";
  if (c.kind == LlamaKind::kLlama4 && keys.has(kKey) && keys.at(kKey).empty()) return;  // as if it had none
  require_pattern(keys, kKey, c.num_hidden_layers, c.no_rope_every, {1, 0});
}

/// Llama 4's layers that turn are those in chunks.
void read_chunked_layers(const Keys& keys, LlamaConfig& c) {
  require_pattern(keys, "layer_types", c.num_hidden_layers, c.no_rope_every, {"chunked_attention", "full_attention"});
}

/// null: each head has keys and values of its own. Without the key as many as in transformers' class, if these divide.
void read_shared_heads(const Keys& keys, LlamaConfig& c) {
  constexpr const char* kKey = "num_key_value_heads";
  const std::int64_t heads = keys.is_null(kKey) ? 0 : dialect_of(c.kind).heads.kv;
  c.num_key_value_heads = heads > 0 ? heads : c.num_attention_heads;
  if (heads > 0 && c.num_attention_heads % heads != 0) keys.require(kKey);
  keys.optional(kKey, c.num_key_value_heads);
}

void read_attention_bias(const Keys& keys, LlamaConfig& c) {
  keys.optional("attention_bias", c.qkv_bias);
  if (dialect_of(c.kind).biases.out) c.out_bias = c.qkv_bias;
}

void read_use_bias(const Keys& keys, LlamaConfig& c) {
  keys.optional("use_bias", c.qkv_bias);
  c.out_bias = c.mlp_bias = c.qkv_bias;
}

void check_values(const Rules& rules, const LlamaConfig& c) {
  rules.positive("v_head_dim", c.v_head_dim, c.qk_nope_head_dim + c.qk_rope_head_dim);
}

bool has_attention_bias(const L& c) { return dialect_of(c.kind).biases.attention; }
bool has_no_attention_bias(const L& c) { return !has_attention_bias(c); }
bool has_mlp_bias(const L& c) { return dialect_of(c.kind).biases.mlp; }
bool has_no_mlp_bias(const L& c) { return !has_mlp_bias(c); }
bool is_latent(const L& c) { return dialect_of(c.kind).heads.latent; }
bool is_latent_minicpm(const L& c) { return c.kind == LlamaKind::kMiniCpm3; }
bool is_deepseek(const L& c) { return is_latent(c) && !is_latent_minicpm(c); }
bool is_plain(const L& c) { return !is_latent(c); }
bool is_deepseek2(const L& c) { return c.kind == LlamaKind::kDeepseekV2; }
bool is_deepseek3(const L& c) { return c.kind == LlamaKind::kDeepseekV3 || c.kind == LlamaKind::kKimiK2; }
bool is_shared_granite(const L& c) { return c.kind == LlamaKind::kGraniteMoeShared; }
bool is_ernie(const L& c) { return c.kind == LlamaKind::kErnie45; }
bool is_no_ernie(const L& c) { return !is_ernie(c); }
bool is_no_chatglm(const L& c) { return c.kind != LlamaKind::kChatGlm; }
bool is_seed(const L& c) { return c.kind == LlamaKind::kSeedOss; }
bool is_cohere(const L& c) { return c.kind == LlamaKind::kCohere || c.kind == LlamaKind::kCohere2; }

bool has_eps_key(const L& c, std::string_view key) { return dialect_of(c.kind).norms.key == key; }
bool has_rms_eps(const L& c) { return has_eps_key(c, "rms_norm_eps"); }
bool has_layer_norm_eps(const L& c) { return has_eps_key(c, "layer_norm_eps"); }
bool has_norm_eps(const L& c) { return has_eps_key(c, "norm_eps"); }

bool has_heads_key(const L& c, std::string_view key) {
  const char* own = dialect_of(c.kind).norms.heads_key;
  return own && own == key;
}
bool is_glm4_moe(const L& c) { return c.kind == LlamaKind::kGlm4Moe; }
bool has_own_norms_key(const L& c) { return has_heads_key(c, "use_qk_norm") && !is_glm4_moe(c); }
bool has_qk_layernorm_key(const L& c) { return has_heads_key(c, "qk_layernorm"); }
bool is_cohere2(const L& c) { return c.kind == LlamaKind::kCohere2; }

bool is_gemma3(const L& c) { return c.kind == LlamaKind::kGemma3; }
bool is_phi3(const L& c) { return c.kind == LlamaKind::kPhi3; }
bool is_stablelm(const L& c) { return c.kind == LlamaKind::kStableLm; }

void check_turned(const Rules& rules, const LlamaConfig& c) {
  if (!(c.rotary_share > 0 && c.rotary_share <= 1) || rope_frequencies(c).empty())
    rules.fail("partial_rotary_factor",
               fmt::format("{} leaves a head without a pair of rotary elements", c.rotary_share));
}

bool is_smollm3(const L& c) { return c.kind == LlamaKind::kSmolLm3; }
bool is_later_gemma(const L& c) { return c.kind == LlamaKind::kGemma2 || c.kind == LlamaKind::kGemma3; }
double gemma2_or_none(const L& c, double value) { return c.kind == LlamaKind::kGemma2 ? value : 0; }
bool has_window(const L& c) { return dialect_of(c.kind).positions.window; }
bool has_pattern(const L& c) { return dialect_of(c.kind).positions.pattern; }
bool has_layer_types(const L& c) { return dialect_of(c.kind).positions.full_every > 0; }
bool lists_layers(const L& c) { return dialect_of(c.kind).positions.listed; }
bool has_no_window(const L& c) { return !has_window(c) && !dialect_of(c.kind).positions.switched; }
bool is_gemma(const L& c) { return dialect_of(c.kind).gemma; }
bool is_granite(const L& c) { return dialect_of(c.kind).multipliers; }
bool has_expert_key(const L& c, std::string_view key) {
  const char* count = dialect_of(c.kind).experts.count;
  return count && count == key;
}
bool has_experts(const L& c) { return dialect_of(c.kind).experts.count != nullptr; }
bool has_local_experts(const L& c) { return has_expert_key(c, "num_local_experts"); }
bool has_relu2(const L& c) { return dialect_of(c.kind).mlp.activation == Activation::kRelu2; }
bool has_xielu(const L& c) { return dialect_of(c.kind).mlp.activation == Activation::kXielu; }
bool has_silu(const L& c) { return dialect_of(c.kind).mlp.activation == Activation::kSilu; }
bool is_qwen3_moe(const L& c) { return c.kind == LlamaKind::kQwen3Moe; }
bool is_olmoe(const L& c) { return c.kind == LlamaKind::kOlmoe; }
bool is_gpt_oss(const L& c) { return c.kind == LlamaKind::kGptOss; }
bool has_limit(const L& c) { return dialect_of(c.kind).mlp.limit > 0; }
bool is_flex_olmo(const L& c) { return c.kind == LlamaKind::kFlexOlmo; }
bool is_qwen2_moe(const L& c) { return c.kind == LlamaKind::kQwen2Moe; }
bool has_routed_experts(const L& c) { return has_expert_key(c, "n_routed_experts"); }
bool has_dense_key(const L& c) { return has_routed_experts(c) || has_sparse_step(c); }
bool has_no_dense_key(const L& c) { return !has_dense_key(c); }
bool is_first_ling(const L& c) { return c.kind == LlamaKind::kBailing; }
bool is_dots(const L& c) { return c.kind == LlamaKind::kDots1; }
bool is_llama4(const L& c) { return c.kind == LlamaKind::kLlama4; }
bool has_no_rope_interval(const L& c) { return is_smollm3(c) || is_llama4(c); }
bool has_moe_size(const L& c) { return is_qwen2_moe(c) || is_qwen3_moe(c) || has_routed_experts(c); }
bool has_whole_experts(const L& c) { return has_experts(c) && !has_sparse_step(c); }
bool normalises(const L& c) { return is_first_ling(c) || (has_routed_experts(c) && chooses_by_bias(c)); }
bool has_router_loss(const L& c) { return has_experts(c) && !has_routed_experts(c) && !is_llama4(c); }
bool clips(const L& c) { return is_olmoe(c) || c.kind == LlamaKind::kOlmo; }
bool has_num_experts(const L& c) { return has_expert_key(c, "num_experts"); }
bool has_rotary_share(const L& c) { return dialect_of(c.kind).positions.share > 0; }
bool has_no_rotary_share(const L& c) { return !has_rotary_share(c); }

// clang-format off
constexpr auto kLlamaFields = std::to_array<Field<L>>({
    {.key = "vocab_size", .member = &L::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &L::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &L::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &L::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &L::intermediate_size, .required = true, .range = kWidth,
     .when = has_no_dense_key},
    {.key = "intermediate_size", .member = &L::dense_size, .required = true, .range = kWidth, .when = has_dense_key},
    {.key = "max_position_embeddings", .member = &L::max_position_embeddings, .required = true},
    {.key = "num_key_value_heads", .member = &L::num_key_value_heads, .range = kHeadCounts, .read = read_shared_heads},
    {.key = "q_lora_rank", .member = &L::q_lora_rank, .range = kPositiveOrNone, .when = is_latent},
    {.key = "kv_lora_rank", .member = &L::kv_lora_rank, .required = true, .range = kWidth, .when = is_latent},
    {.key = "qk_nope_head_dim", .member = &L::qk_nope_head_dim, .required = true, .when = is_latent},
    {.key = "qk_rope_head_dim", .member = &L::qk_rope_head_dim, .required = true, .when = is_latent},
    {.key = "v_head_dim", .member = &L::v_head_dim, .required = true, .when = is_deepseek, .check = check_values},
    {.key = "v_head_dim", .member = &L::v_head_dim, .when = is_latent_minicpm,
     .otherwise = [](L& c) { c.v_head_dim = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0; },
     .check = check_values},
    {.key = "rope_interleave", .member = &L::rope_interleave, .when = is_deepseek3},
    {.key = "head_dim", .when = is_latent, .written = kNever,
     .otherwise = [](L& c) { c.head_dim = c.qk_nope_head_dim + c.qk_rope_head_dim; },
     .read = [](const Keys&, L&) {}, .check = check_head},
    {.key = "head_dim", .member = &L::head_dim, .when = is_plain,
     .otherwise = [](L& c) {
       c.head_dim = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0;
       if (const std::int64_t head = dialect_of(c.kind).heads.size; head > 0) c.head_dim = head;
     },
     .check = check_head},
    {.key = "sliding_window", .member = &L::sliding_window, .range = kPositiveOrNone, .when = has_window,
     .otherwise = [](L& c) { c.sliding_window = dialect_of(c.kind).positions.span; }, .check = check_window},
    {.key = "sliding_window_pattern", .member = &L::full_every, .when = has_pattern, .read = read_pattern},
    {.key = "layer_types", .when = has_layer_types, .written = lists_layers, .read = read_layer_types,
     .write = layer_types},
    {.key = "query_pre_attn_scalar", .member = &L::query_scalar, .when = is_later_gemma,
     .otherwise = [](L& c) { c.query_scalar = 256; }},
    {.key = "attn_logit_softcapping", .member = &L::score_cap, .range = kPositiveOrNone, .when = is_later_gemma,
     .otherwise = [](L& c) { c.score_cap = gemma2_or_none(c, 50); }},
    {.key = "final_logit_softcapping", .member = &L::logit_cap, .range = kPositiveOrNone, .when = is_later_gemma,
     .otherwise = [](L& c) { c.logit_cap = gemma2_or_none(c, 30); }},
    {.key = "is_causal", .only = true, .written = kNever},
    {.key = "use_bidirectional_attention", .only = false, .when = is_gemma3, .written = kNever},
    {.key = "no_rope_layer_interval", .member = &L::no_rope_every, .when = has_no_rope_interval,
     .otherwise = [](L& c) { c.no_rope_every = 4; }},
    {.key = "no_rope_layers", .when = is_smollm3, .read = read_no_rope_layers},
    {.key = "no_rope_layers", .when = is_llama4, .read = read_no_rope_layers, .write = turning_layers},
    {.key = "layer_types", .when = is_llama4, .read = read_chunked_layers},
    {.key = "attention_chunk_size", .member = &L::attention_chunk_size, .when = is_llama4,
     .otherwise = [](L& c) { c.attention_chunk_size = 8192; }},
    {.key = "attn_temperature_tuning", .when = is_llama4, .read = read_tuning,
     .write = [](const L& c) { return json(c.floor_scale > 0); }},
    {.key = "floor_scale", .when = is_llama4, .written = [](const L& c) { return c.floor_scale > 0; },
     .write = [](const L& c) { return json(c.floor_scale); }},
    {.key = "attn_scale", .when = is_llama4, .write = [](const L& c) { return json(c.attn_scale); }},
    {.key = "intermediate_size_mlp", .member = &L::dense_size, .required = true, .range = kWidth, .when = is_llama4},
    {.key = "interleave_moe_layer_step", .when = is_llama4, .read = read_expert_layers,
     .write = [](const L& c) { return json(c.expert_every); }},
    {.key = "use_qk_norm", .member = &L::bare_norms, .when = is_llama4},
    {.key = "use_sliding_window", .only = false, .when = has_no_window, .written = kNever},
    {.key = "embedding_multiplier", .member = &L::embedding_multiplier, .when = is_granite},
    {.key = "residual_multiplier", .member = &L::residual_multiplier, .when = is_granite},
    {.key = "attention_multiplier", .member = &L::attention_multiplier, .range = kPositiveOrNone, .when = is_granite,
     .otherwise = [](L& c) { c.attention_multiplier = 1; }, .write = score_multiplier},
    {.key = "logits_scaling", .member = &L::logits_scaling, .when = is_granite},
    // Old files of Gemma say "gelu" under "hidden_act" where transformers computes the tanh formula all the same.
    {.key = "hidden_activation", .member = &L::hidden_act, .choices = kGeluTanhOnly, .when = is_gemma},
    {.key = "hidden_act", .when = is_gemma, .write = [](const L& c) { return json(name_of(c.hidden_act)); }},
    {.key = "hidden_act", .member = &L::hidden_act, .choices = kSiluOnly, .when = has_silu},
    {.key = "hidden_act", .member = &L::hidden_act, .choices = kRelu2Only, .when = has_relu2},
    {.key = "hidden_act", .member = &L::hidden_act, .choices = kXieluOnly, .when = has_xielu},
    {.key = "attention_bias", .only = false, .when = has_no_attention_bias},
    {.key = "attention_bias", .member = &L::qkv_bias, .when = has_attention_bias, .read = read_attention_bias},
    {.key = "attention_out_bias", .member = &L::out_bias, .when = is_seed},
    {.key = "mlp_bias", .only = false, .when = has_no_mlp_bias},
    {.key = "mlp_bias", .member = &L::mlp_bias, .when = has_mlp_bias},
    {.key = "swiglu_limit", .member = &L::swiglu_limit, .when = has_limit},
    {.key = "use_bias", .member = &L::qkv_bias, .when = is_ernie, .read = read_use_bias},
    {.key = "logit_scale", .member = &L::logit_scale, .when = is_cohere,
     .otherwise = [](L& c) { c.logit_scale = 0.0625; }},
    {.key = "use_qk_norm", .member = &L::own_norms, .when = has_own_norms_key},
    {.key = "use_qk_norm", .member = &L::head_norms, .when = is_glm4_moe},
    {.key = "use_qk_norm", .only = false, .when = is_cohere2, .written = kNever},
    {.key = "partial_rotary_factor", .only = 1.0, .when = has_no_rotary_share, .written = kNever},
    {.key = "partial_rotary_factor", .member = &L::rotary_share, .when = has_rotary_share,
     .otherwise = [](L& c) { c.rotary_share = dialect_of(c.kind).positions.share; }, .check = check_turned},
    {.key = "use_qkv_bias", .member = &L::qkv_bias, .when = is_stablelm},
    {.key = "use_parallel_residual", .member = &L::parallel, .when = is_stablelm},
    {.key = "qk_layernorm", .member = &L::own_norms, .when = has_qk_layernorm_key},
    {.key = "hidden_dropout", .only = 0.0, .when = is_stablelm},
    {.key = "layer_norm_eps", .member = &L::rms_norm_eps, .when = has_layer_norm_eps},
    {.key = "norm_eps", .member = &L::rms_norm_eps, .when = has_norm_eps},
    {.key = "num_local_experts", .member = &L::num_experts, .required = true, .when = has_local_experts,
     .check = check_experts},
    {.key = "num_experts", .member = &L::num_experts, .required = true, .when = has_num_experts,
     .check = check_experts},
    {.key = "moe_intermediate_size", .member = &L::intermediate_size, .required = true, .range = kWidth,
     .when = has_moe_size},
    {.key = "n_routed_experts", .member = &L::num_experts, .required = true, .when = has_routed_experts,
     .check = check_experts},
    {.key = "n_shared_experts", .when = has_routed_experts, .read = read_shared, .write = shared_json},
    {.key = "first_k_dense_replace", .member = &L::first_dense, .when = has_routed_experts, .check = check_first},
    {.key = "moe_layer_freq", .only = 1, .when = has_routed_experts, .written = kNever},
    {.key = "sliding_window", .only = None{}, .when = is_dots, .written = kNever},
    {.key = "routed_scaling_factor", .member = &L::routed_scale, .when = has_routed_experts,
     .otherwise = [](L& c) { c.routed_scale = is_deepseek3(c) ? 2.5 : 1; }},
    {.key = "topk_method", .when = has_routed_experts, .read = read_choice, .write = choice_json},
    {.key = "n_group", .when = has_routed_experts, .write = [](const L& c) { return json(c.groups); }},
    {.key = "topk_group", .when = has_routed_experts, .write = [](const L& c) { return json(c.top_groups); },
     .check = check_groups},
    {.key = "scoring_func", .when = has_routed_experts,
     .write = [](const L& c) { return json(chooses_by_bias(c) ? "sigmoid" : "softmax"); }},
    {.key = "norm_topk_prob", .member = &L::norm_topk_prob, .when = normalises},
    {.key = "norm_topk_prob", .only = false, .when = is_deepseek2},
    {.key = "shared_intermediate_size", .member = &L::shared_size, .range = kWidth, .when = is_shared_granite,
     .otherwise = [](L& c) { c.shared_size = 1024; }},
    {.key = "shared_expert_intermediate_size", .member = &L::shared_size, .required = true, .range = kWidth,
     .when = is_qwen2_moe},
    {.key = "qkv_bias", .member = &L::qkv_bias, .when = is_qwen2_moe},
    {.key = "num_experts_per_tok", .member = &L::num_experts_per_tok, .required = true, .when = has_experts,
     .check = check_chosen},
    {.key = "router_aux_loss_coef", .member = &L::router_aux_loss_coef, .when = has_router_loss,
     .otherwise = [](L& c) {
       c.router_aux_loss_coef = is_gpt_oss(c) ? 0.9 : is_olmoe(c) || is_flex_olmo(c) ? 0.01 : 0.001;
     },
     .check = check_balance},
    {.key = "output_router_logits", .member = &L::output_router_logits, .when = has_router_loss},
    {.key = "capacity_factor", .member = &L::capacity_factor, .when = has_experts,
     .written = [](const L& c) { return c.capacity_factor > 0; }, .check = check_capacity},
    {.key = "norm_topk_prob", .member = &L::norm_topk_prob, .when = has_num_experts,
     .otherwise = [](L& c) { c.norm_topk_prob = false; }},
    {.key = "router_jitter_noise", .only = 0.0, .when = has_experts, .written = kNever},
    {.key = "decoder_sparse_step", .only = 1, .when = has_whole_experts, .written = kNever},
    {.key = "mlp_only_layers", .only = Listed{}, .when = has_whole_experts, .written = kNever},
    {.key = "clip_qkv", .member = &L::clip_qkv, .range = kPositiveOrNone, .when = clips},
    {.key = "rms_norm_eps", .member = &L::rms_norm_eps, .when = has_rms_eps},
    {.key = "rope_theta", .member = &L::rope_theta, .when = is_no_chatglm,
     .otherwise = [](L& c) { c.rope_theta = dialect_of(c.kind).positions.theta; }},
    {.key = "rope_local_base_freq", .member = &L::local_theta, .when = is_gemma3,
     .otherwise = [](L& c) { c.local_theta = 10000; }},
    {.key = "initializer_range", .member = &L::initializer_range},
    {.key = "tie_word_embeddings", .member = &L::tie_word_embeddings},
    {.key = "bos_token_id", .member = &L::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &L::eos_token_ids, .range = kToken},
    {.key = "rope_scaling", .read = read_rope, .write = rope_json, .check = check_rope},
    {.key = "original_max_position_embeddings", .when = has_long_rope, .read = read_original_positions,
     .write = [](const L& c) { return json(c.rope_scaling->original_max_position_embeddings); }},
    {.key = "attention_dropout", .member = &L::attention_dropout, .range = kProbability, .when = is_no_ernie,
     .otherwise = [](L& c) { c.attention_dropout = is_seed(c) || is_first_ling(c) ? 0.1 : 0; }},
    {.key = "attention_dropout", .only = 0.0, .when = is_ernie, .written = kNever},
    {.key = "residual_dropout", .member = &L::residual_dropout, .range = kProbability, .when = is_seed,
     .otherwise = [](L& c) { c.residual_dropout = 0.1; }},
    {.key = "resid_pdrop", .only = 0.0, .when = is_phi3, .written = kNever},
    {.key = "embd_pdrop", .only = 0.0, .when = is_phi3, .written = kNever},
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
  refuse_earlier_model(keys, kind);
  const Keys named{keys, dialect_of(kind).keys};
  const LlamaConfig c = read_own(named, read_fields<L>(kLlamaFields, named, blank_config(kind)));
  check(c, keys.where());
  return c;
}

void check(const LlamaConfig& c, std::string_view where) {
  const Rules rules{where, {}, dialect_of(c.kind).keys};
  check_fields<L>(kLlamaFields, c, rules);
  check_own(rules, c);
  rules.divides("num_key_value_heads", c.num_key_value_heads, "num_attention_heads", c.num_attention_heads);
  if (is_latent(c) && c.num_key_value_heads != c.num_attention_heads)
    rules.fail("num_key_value_heads", fmt::format("is not num_attention_heads {}", c.num_attention_heads));
}

json to_json(const LlamaConfig& c) { return with_own(write_fields<L>(kLlamaFields, c), c); }

}  // namespace workloads
