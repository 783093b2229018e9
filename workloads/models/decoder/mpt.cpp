// MPT (MosaicML, 2023): layers without any bias, in norms neither, and slopes of heads in the place of positions. Names
// and keys as in transformers' modeling_mpt.py.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;
using nlohmann::json;

constexpr std::int64_t kExpansion = 4;  // of the MLP; transformers reads no other

void read_expansion(const Keys& keys, P& c) {
  c.intermediate_size = kExpansion * c.hidden_size;
  keys.only("expansion_ratio", kExpansion);
}

void read_attention(const Keys& outer, P& c) {
  if (!outer.has("attn_config")) return;
  const Keys keys{outer, "attn_config"};
  keys.only("alibi", true);
  keys.only("attn_type", "multihead_attention");
  keys.optional("clip_qkv", c.clip_qkv);
  keys.only("rope", false);
  keys.only("softmax_scale", json());
  for (const char* key : {"prefix_lm", "qk_ln", "attn_uses_sequence_id"}) keys.only(key, false);
  keys.optional("alibi_bias_max", c.alibi_bias_max);
  keys.optional("attn_pdrop", c.attention_dropout);
  c.dropout = c.attention_dropout;  // of the layer's parts, too
}

void check_attention(const Rules& rules, const P& c) {
  const Rules inside = rules.inside("attn_config");
  inside.positive("alibi_bias_max", c.alibi_bias_max);
  inside.probability("attn_pdrop", c.attention_dropout);
  if (c.clip_qkv != 0) inside.positive("clip_qkv", c.clip_qkv);
}

json attention_json(const P& c) {
  const double most = c.alibi_bias_max;
  const bool whole = most == std::floor(most);  // as files have it
  json file{{"alibi", true},
            {"alibi_bias_max", whole ? json(static_cast<std::int64_t>(most)) : json(most)},
            {"attn_pdrop", c.attention_dropout},
            {"attn_type", "multihead_attention"}};
  if (c.clip_qkv > 0) file["clip_qkv"] = c.clip_qkv;
  return file;
}

void check_expansion(const Rules& rules, const P& c) {
  if (c.intermediate_size != kExpansion * c.hidden_size)
    rules.fail("expansion_ratio", fmt::format("the MLP's size is {}, not 4 times d_model", c.intermediate_size));
}

// clang-format off
constexpr auto kMptFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "d_model", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "max_seq_len", .member = &P::max_position_embeddings, .required = true},
    {.key = "expansion_ratio", .read = read_expansion, .write = [](const P&) { return json(kExpansion); },
     .check = check_expansion},
    {.key = "attn_config", .read = read_attention, .write = attention_json, .check = check_attention},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "emb_pdrop", .only = 0.0},
    {.key = "resid_pdrop", .only = 0.0},
    {.key = "logit_scale", .only = None{}, .written = kNever},
    {.key = "no_bias", .only = true},
    {.key = "tie_word_embeddings", .only = true, .written = kNever},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"MptForCausalLM"}},
    {.key = "model_type", .always = "mpt"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& mpt_family() {
  static const PlainFamily family{
      .name = "MPT",
      .type = "mpt",
      .defaults = [](P& c) { c.alibi_bias_max = 8, c.tie_word_embeddings = true; },
      .fields = kMptFields,
      .blocks = "transformer.blocks.",
      .block = {.attention = {.query = "attn.query",
                              .key = "attn.key",
                              .value = "attn.value",
                              .out = "attn.out_proj",
                              .fused = "attn.Wqkv"},
                .mlp = {.up = "ffn.up_proj", .down = "ffn.down_proj"},
                .norm1 = "norm_1",
                .norm2 = "norm_2"},
      .embedding = {.name = "transformer.wte"},
      .head = {.norm = "transformer.norm_f", .name = "lm_head"},
      .qkv_bias = false,
      .out_bias = false,
      .mlp_bias = false,
      .norm_bias = false,
      .scores = {.fp32_softmax = true},
      .expansion = 4,
      .names = {.prefix = "transformer.", .tops = {"wte.", "blocks.", "norm_f."}},
      // Counted on its modeling file beside a Llama's layer (tests/golden/make/count_ops.py).
      .layer = {.forward = 66, .backward = 74, .core = 22}};
  return family;
}

}  // namespace workloads
