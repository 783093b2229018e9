// EuroBERT among the relatives of BERT.
#pragma once

#include "workloads/models/bert/llama_layer.h"

namespace workloads {

/// Boizard et al., arXiv:2503.05500: a Llama's layers, in which tokens see each other on both sides.
inline constexpr BertDialect kEuroBert{
    .kind = BertKind::kEuroBert,
    .family = "EuroBERT",
    .type = "eurobert",
    .architecture = "EuroBert",
    .prefix = "model.",
    .layers = "model.layers.",
    .in_layer = kLlamaLayer,
    .pooled = "dense",
    .classifier = "out_proj",
    .masked = {"", "", "lm_head.bias", "lm_head.weight", "", true},
    .embedding = {"embed_tokens", "", "", ""},
    .last_norm = "model.norm",
    .norms = NormPlace::kBefore,
    .heads = {.pooled_fn = isa::Fn::kGelu, .dropout_key = false},
    .keys = BertKeys::kEuro,
    .defaults = [](BertConfig& c) {
      c.rotary = c.rms = c.late_pooling = true, c.global_theta = 250000, c.layer_norm_eps = 1e-5;
      c.norm_bias = c.attention_bias = c.mlp_bias = c.decoder_bias = false, c.hidden_act = Activation::kSilu;
      c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.pad_token_id = 128001, c.mask_token_id = 128002;
      c.max_position_embeddings = 8192, c.type_vocab_size = 0;
    }};

}  // namespace workloads
