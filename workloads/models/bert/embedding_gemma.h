// EmbeddingGemma among the relatives of BERT.
#pragma once

#include "workloads/models/bert/llama_layer.h"

namespace workloads {

/// It has further norms, around both parts and of heads.
constexpr BertLayerNames gemma_layer() {
  BertLayerNames names = kLlamaLayer;
  names.norm2 = "pre_feedforward_layernorm";
  names.norms = {.query = "self_attn.q_norm",
                 .key = "self_attn.k_norm",
                 .behind1 = "post_attention_layernorm",
                 .behind2 = "post_feedforward_layernorm"};
  return names;
}

/// Schechter Vera et al., arXiv:2509.20354: the layers of Gemma 3, in which tokens see each other on both sides. Texts
/// are read by the mean of their tokens, as its publishers do.
inline constexpr BertDialect kEmbeddingGemma{
    .kind = BertKind::kEmbeddingGemma,
    .family = "EmbeddingGemma",
    .type = "gemma3_text",
    .architecture = "Gemma3Text",
    .prefix = "model.",
    .layers = "model.layers.",
    .in_layer = gemma_layer(),
    .pooled = "",
    .classifier = "score",
    .masked = {"", "", "", "", ""},
    .embedding = {"embed_tokens", "", "", ""},
    .last_norm = "model.norm",
    .norms = NormPlace::kAround,
    .heads = {.same_layer = true, .dropout_key = false},
    .keys = BertKeys::kEmbeddingGemma,
    .defaults = [](BertConfig& c) {
      c.rotary = c.rms = c.mean_pooling = c.scale_embedding = true, c.norm_offset = 1, c.full_first = false;
      c.global_theta = 1e6, c.local_theta = 1e4, c.local_attention = 4096, c.full_every = 6, c.layer_norm_eps = 1e-6;
      c.norm_bias = c.attention_bias = c.mlp_bias = false, c.hidden_act = Activation::kGeluTanh;
      c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.query_scalar = 256;
      c.max_position_embeddings = 131072, c.type_vocab_size = 0;
    }};

}  // namespace workloads
