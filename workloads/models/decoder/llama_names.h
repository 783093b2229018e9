// The names of tensors and keys of Llama's relatives, where they are not Llama's.
#pragma once

#include "workloads/models/decoder/decoder_config.h"

namespace workloads {

inline constexpr DialectNames kLlamaNames{.prefix = "model.",
                                          .tokens = "embed_tokens",
                                          .layers = "layers.",
                                          .last = "norm",
                                          .head = "lm_head",
                                          .norm1 = "input_layernorm",
                                          .norm2 = "post_attention_layernorm",
                                          .query = "self_attn.q_proj",
                                          .key = "self_attn.k_proj",
                                          .value = "self_attn.v_proj",
                                          .qkv = "self_attn.qkv_proj",
                                          .out = "self_attn.o_proj",
                                          .gate = "gate_proj",
                                          .up = "up_proj",
                                          .down = "down_proj",
                                          .wide = "gate_up_proj"};
/// Names and words of relatives whose code is in no release of transformers: as in their publishers' modeling_NAME.py.
inline constexpr DialectNames kInternLm2Names{.prefix = "model.",
                                              .tokens = "tok_embeddings",
                                              .layers = "layers.",
                                              .last = "norm",
                                              .head = "output",
                                              .norm1 = "attention_norm",
                                              .norm2 = "ffn_norm",
                                              .query = "attention.wq",
                                              .key = "attention.wk",
                                              .value = "attention.wv",
                                              .qkv = "attention.wqkv",
                                              .out = "attention.wo",
                                              .groups = 0,
                                              .gate = "w1",
                                              .up = "w3",
                                              .down = "w2",
                                              .wide = ""};
inline constexpr DialectNames kExaoneNames{.prefix = "transformer.",
                                           .tokens = "wte",
                                           .layers = "h.",
                                           .last = "ln_f",
                                           .head = "lm_head",
                                           .norm1 = "ln_1",
                                           .norm2 = "ln_2",
                                           .query = "attn.attention.q_proj",
                                           .key = "attn.attention.k_proj",
                                           .value = "attn.attention.v_proj",
                                           .qkv = "",
                                           .out = "attn.attention.out_proj",
                                           .gate = "c_fc_0",
                                           .up = "c_fc_1",
                                           .down = "c_proj",
                                           .wide = ""};
inline constexpr DialectNames kChatGlmNames{.prefix = "transformer.",
                                            .tokens = "embedding.word_embeddings",
                                            .layers = "encoder.layers.",
                                            .last = "encoder.final_layernorm",
                                            .head = "transformer.output_layer",
                                            .norm1 = "input_layernorm",
                                            .norm2 = "post_attention_layernorm",
                                            .query = "self_attention.query",
                                            .key = "self_attention.key",
                                            .value = "self_attention.value",
                                            .qkv = "self_attention.query_key_value",
                                            .out = "self_attention.dense",
                                            .gate = "gate",
                                            .up = "up",
                                            .down = "dense_4h_to_h",
                                            .wide = "dense_h_to_4h"};
inline constexpr DialectNames kQwenNames{.prefix = "transformer.",
                                         .tokens = "wte",
                                         .layers = "h.",
                                         .last = "ln_f",
                                         .head = "lm_head",
                                         .norm1 = "ln_1",
                                         .norm2 = "ln_2",
                                         .query = "attn.query",
                                         .key = "attn.key",
                                         .value = "attn.value",
                                         .qkv = "attn.c_attn",
                                         .out = "attn.c_proj",
                                         .gate = "w2",
                                         .up = "w1",
                                         .down = "c_proj",
                                         .wide = ""};
inline constexpr DialectNames kBailingNames{.prefix = "model.",
                                            .tokens = "word_embeddings",
                                            .layers = "layers.",
                                            .last = "norm",
                                            .head = "lm_head",
                                            .norm1 = "input_layernorm",
                                            .norm2 = "post_attention_layernorm",
                                            .query = "attention.query",
                                            .key = "attention.key",
                                            .value = "attention.value",
                                            .qkv = "attention.query_key_value",
                                            .out = "attention.dense",
                                            .gate = "gate_proj",
                                            .up = "up_proj",
                                            .down = "down_proj",
                                            .wide = ""};
inline constexpr DialectNames kModernNames{.prefix = "model.",
                                           .tokens = "embeddings.tok_embeddings",
                                           .layers = "layers.",
                                           .last = "final_norm",
                                           .head = "decoder",
                                           .norm1 = "attn_norm",
                                           .norm2 = "mlp_norm",
                                           .query = "attn.q_proj",
                                           .key = "attn.k_proj",
                                           .value = "attn.v_proj",
                                           .qkv = "",
                                           .out = "attn.Wo",
                                           .gate = "gate",
                                           .up = "up",
                                           .down = "Wo",
                                           .wide = "Wi",
                                           .first = "embeddings.norm",
                                           .dense = "lm_head.dense",
                                           .dense_norm = "lm_head.norm"};
constexpr DialectNames baichuan_names() {
  DialectNames names = kLlamaNames;
  names.qkv = "self_attn.W_pack";
  return names;
}
constexpr DialectNames yi_names() {
  DialectNames names = kLlamaNames;
  names.norm1 = "ln1", names.norm2 = "ln2";
  return names;
}
constexpr DialectNames apertus_names() {
  DialectNames names = kLlamaNames;
  names.norm1 = "attention_layernorm", names.norm2 = "feedforward_layernorm";
  return names;
}
constexpr DialectNames granite4_names() {
  DialectNames names = kLlamaNames;
  names.gate = "gate_linear", names.up = "up_linear", names.down = "output_linear", names.wide = "input_linear";
  return names;
}
inline constexpr DialectNames kBaichuanNames = baichuan_names(), kYiNames = yi_names(),
                              kGranite4Names = granite4_names(), kApertusNames = apertus_names();
inline constexpr KeyName kGranite4Keys[] = {{"intermediate_size", "shared_intermediate_size"}};
inline constexpr KeyName kExaoneKeys[] = {
    {"num_hidden_layers", "num_layers"}, {"rms_norm_eps", "layer_norm_epsilon"}, {"hidden_act", "activation_function"}};
inline constexpr KeyName kChatGlmKeys[] = {{"vocab_size", "padded_vocab_size"},
                                           {"num_hidden_layers", "num_layers"},
                                           {"intermediate_size", "ffn_hidden_size"},
                                           {"max_position_embeddings", "seq_length"},
                                           {"num_key_value_heads", "multi_query_group_num"},
                                           {"head_dim", "kv_channels"},
                                           {"rms_norm_eps", "layernorm_epsilon"},
                                           {"attention_bias", "add_qkv_bias"}};
inline constexpr KeyName kQwenKeys[] = {
    {"max_position_embeddings", "seq_length"}, {"head_dim", "kv_channels"},
    {"rms_norm_eps", "layer_norm_epsilon"},    {"rope_theta", "rotary_emb_base"},
    {"partial_rotary_factor", "rotary_pct"},   {"attention_dropout", "attn_dropout_prob"}};
inline constexpr KeyName kErnieMoeKeys[] = {{"n_routed_experts", "moe_num_experts"},
                                            {"num_experts_per_tok", "moe_k"},
                                            {"n_shared_experts", "moe_num_shared_experts"},
                                            {"first_k_dense_replace", "moe_layer_start_index"},
                                            {"moe_layer_freq", "moe_layer_interval"}};
inline constexpr KeyName kBailingKeys[] = {{"n_routed_experts", "num_experts"},
                                           {"n_shared_experts", "num_shared_experts"},
                                           {"scoring_func", "score_function"},
                                           {"attention_bias", "use_qkv_bias"}};
inline constexpr KeyName kModernKeys[] = {{"rope_theta", "global_rope_theta"}};
inline constexpr KeyName kBaichuanKeys[] = {{"max_position_embeddings", "model_max_length"}};

}  // namespace workloads
