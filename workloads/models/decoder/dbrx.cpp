// DBRX (Databricks, 2024): experts behind a LayerNorm without a bias, queries, keys and values within limits. Names and
// keys as in transformers' modeling_dbrx.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;
using nlohmann::json;

void read_dbrx_attention(const Keys& outer, P& c) {
  if (!outer.has("attn_config")) return;
  const Keys keys{outer, "attn_config"};
  keys.optional("attn_pdrop", c.attention_dropout);
  keys.optional("clip_qkv", c.clip_qkv);
  keys.optional("kv_n_heads", c.num_key_value_heads);
  keys.optional("rope_theta", c.rope_theta);
}

void check_dbrx_attention(const Rules& rules, const P& c) {
  const Rules inside = rules.inside("attn_config");
  inside.probability("attn_pdrop", c.attention_dropout);
  if (c.clip_qkv != 0) inside.positive("clip_qkv", c.clip_qkv);
  inside.positive("rope_theta", c.rope_theta);
  inside.divides("kv_n_heads", c.kv_heads(), "n_heads", c.num_attention_heads);
}

json dbrx_attention_json(const P& c) {
  json file{{"attn_pdrop", c.attention_dropout}, {"kv_n_heads", c.kv_heads()}, {"rope_theta", c.rope_theta}};
  if (c.clip_qkv > 0) file["clip_qkv"] = c.clip_qkv;
  return file;
}

void read_dbrx_experts(const Keys& outer, P& c) {
  if (!outer.has("ffn_config")) return;
  const Keys keys{outer, "ffn_config"};
  keys.optional("ffn_hidden_size", c.intermediate_size);
  keys.optional("moe_num_experts", c.experts);
  keys.optional("moe_top_k", c.top_k);
  keys.optional("moe_loss_weight", c.balance);
  keys.optional("capacity_factor", c.capacity_factor);
  if (keys.has("moe_jitter_eps")) keys.only("moe_jitter_eps", 0);
  if (keys.has("ffn_act_fn")) Keys{keys, "ffn_act_fn"}.only("name", "silu");
  c.normalised = !keys.is_null("moe_normalize_expert_weights");
  if (c.normalised) keys.only("moe_normalize_expert_weights", 1);
}

void check_dbrx_experts(const Rules& rules, const P& c) {
  constexpr std::int64_t kMost = 512;
  const Rules inside = rules.inside("ffn_config");
  inside.positive("ffn_hidden_size", c.intermediate_size);
  inside.positive("moe_num_experts", c.experts, kMost);
  inside.positive("moe_top_k", c.top_k, c.experts);
  if (c.balance != 0) inside.positive("moe_loss_weight", c.balance);
  if (c.capacity_factor != 0) inside.positive("capacity_factor", c.capacity_factor);
}

json dbrx_experts_json(const P& c) {
  json file{{"ffn_act_fn", {{"name", "silu"}}}, {"ffn_hidden_size", c.intermediate_size},
            {"moe_loss_weight", c.balance},     {"moe_normalize_expert_weights", c.normalised ? json(1.0) : json()},
            {"moe_num_experts", c.experts},     {"moe_top_k", c.top_k}};
  if (c.capacity_factor > 0) file["capacity_factor"] = c.capacity_factor;
  return file;
}

/// As configuration_dbrx.py has them.
void set_dbrx_defaults(P& c) {
  c.hidden_act = Activation::kSilu, c.rotary_share = 1, c.num_key_value_heads = 1;
  c.intermediate_size = 3584, c.experts = 4, c.top_k = 1, c.balance = 0.01;
}

// clang-format off
constexpr auto kDbrxFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "d_model", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "max_seq_len", .member = &P::max_position_embeddings, .required = true},
    {.key = "attn_config", .read = read_dbrx_attention, .write = dbrx_attention_json, .check = check_dbrx_attention},
    {.key = "ffn_config", .read = read_dbrx_experts, .write = dbrx_experts_json, .check = check_dbrx_experts},
    {.key = "resid_pdrop", .member = &P::dropout, .range = kProbability},
    {.key = "emb_pdrop", .member = &P::embedding_dropout, .range = kProbability},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "output_router_logits", .member = &P::output_router_logits},
    {.key = "tie_word_embeddings", .only = false, .written = kNever},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"DbrxForCausalLM"}},
    {.key = "model_type", .always = "dbrx"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& dbrx_family() {
  static const PlainFamily family{
      .name = "DBRX",
      .type = "dbrx",
      .defaults = set_dbrx_defaults,
      .fields = kDbrxFields,
      .blocks = "transformer.blocks.",
      .block = {.attention = {.query = "norm_attn_norm.attn.query",
                              .key = "norm_attn_norm.attn.key",
                              .value = "norm_attn_norm.attn.value",
                              .out = "norm_attn_norm.attn.out_proj",
                              .fused = "norm_attn_norm.attn.Wqkv"},
                .norm1 = "norm_attn_norm.norm_1",
                .norm2 = "norm_attn_norm.norm_2"},
      .embedding = {.name = "transformer.wte"},
      .head = {.norm = "transformer.norm_f", .name = "lm_head"},
      .qkv_bias = false,
      .out_bias = false,
      .mlp_bias = false,
      .norm_bias = false,
      .scores = {.fp32_softmax = true},
      .experts = {.router = "ffn.router.layer",
                  .prefix = "ffn.experts.mlp.",
                  .gate = "gate",
                  .up = "up",
                  .down = "down",
                  .fused = {.down = "ffn.experts.mlp.w2", .gate = "ffn.experts.mlp.w1", .up = "ffn.experts.mlp.v1"}},
      .names = {.prefix = "transformer.",
                .tops = {"wte.", "blocks.", "norm_f."},
                .left_out = {"*.rotary_emb.inv_freq"}},
      // Counted on its modeling file beside a Llama's layer (tests/golden/make/count_ops.py), with experts that are one
      // tensor each of gate, up and down, as a Llama's relatives have them.
      .layer = {.forward = 143, .backward = 141, .core = 22}};
  return family;
}

}  // namespace workloads
