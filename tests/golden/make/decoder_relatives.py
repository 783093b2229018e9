#!/usr/bin/env python3
"""Trains a tiny decoder that is described by its traits: decoder_relatives.py FAMILY FOLDER.

Written after transformers' modeling_cohere.py, modeling_cohere2.py, modeling_glm.py, modeling_glm4.py,
modeling_helium.py, modeling_ernie4_5.py, modeling_ernie4_5_moe.py, modeling_nemotron.py, modeling_arcee.py, modeling_seed_oss.py,
modeling_exaone4.py, modeling_olmo.py, modeling_olmo3.py, modeling_granitemoe.py, modeling_qwen2_moe.py,
modeling_llama.py, modeling_stablelm.py, modeling_gptj.py, modeling_codegen.py, modeling_bloom.py, modeling_mpt.py,
modeling_granitemoeshared.py, modeling_deepseek_v2.py, modeling_deepseek_v3.py, modeling_persimmon.py,
modeling_gpt_oss.py, modeling_dbrx.py, modeling_llama4.py, modeling_ministral3.py, modeling_granitemoehybrid.py,
modeling_hunyuan_v1_dense.py, modeling_minimax_m2.py, modeling_apertus.py, modeling_modernbert_decoder.py, Ling's modeling_bailing_moe.py and
modeling_bailing_moe_v2.py, DeepSeek's own modeling_deepseek.py of deepseek-moe-16b, and
the code that their publishers have beside the weights of InternLM 1 to 3, Baichuan 1 and 2, EXAONE 3, ChatGLM2 and 3,
Qwen, MiniCPM, MiniCPM3 and Orion."""
import math
import sys

import torch
from torch.nn import functional

import common
import decoder
import plain

LLAMA = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
         "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj", "norm1": "input_layernorm",
         "norm2": "post_attention_layernorm", "tokens": "model.embed_tokens", "layers": "model.layers",
         "last": "model.norm", "head": "lm_head"}
GLM = {**LLAMA, "gate_up": "mlp.gate_up_proj"}
GPTJ = {"q": "attn.q_proj", "k": "attn.k_proj", "v": "attn.v_proj", "o": "attn.out_proj", "up": "mlp.fc_in",
        "down": "mlp.fc_out", "norm1": "ln_1", "tokens": "transformer.wte", "layers": "transformer.h",
        "last": "transformer.ln_f", "head": "lm_head"}
BEHIND = {"norm1": None, "norm2": None, "behind1": "post_attention_layernorm", "behind2": "post_feedforward_layernorm"}
ALL = {"q", "k", "v", "o", "gate", "up", "down"}

# norm: of what kind, with or without weights; pairs: neighbours turn; bias: the layers that have one where no key says
# so; keys: a file's words for keys here, nothing for those that it has not.
TRAITS = {
    "cohere": {"norm": "layer", "norm_bias": False, "pairs": True, "parallel": True,
               "keys": {"eps": "layer_norm_eps"}},
    "glm": {"names": GLM, "pairs": True, "keys": {"eps": "rms_norm_eps"}},
    "glm4": {"names": {**GLM, "behind1": "post_self_attn_layernorm", "behind2": "post_mlp_layernorm"}, "pairs": True},
    "helium": {"pairs": True}, "ernie4_5": {"pairs": True}, "seed_oss": {}, "granitemoe": {}, "granitemoeshared": {}, "llama": {},
    "arcee": {}, "deepseek": {}, "deepseek_v2": {"pairs": True}, "deepseek_v3": {"pairs": True}, "glm4_moe": {},
    "dots1": {"names": {**LLAMA, "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}},
    "flex_olmo": {"names": {**LLAMA, **BEHIND, "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"},
                  "joint": True},
    "qwen2_moe": {}, "gpt_oss": {},
    "nemotron": {"norm": "layer", "one": True, "keys": {"eps": "norm_eps"}},
    "exaone4": {"names": {**LLAMA, **BEHIND, "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}},
    "olmo": {"norm": "layer", "norm_gain": False, "norm_bias": False, "keys": {"eps": None}},
    "olmo3": {"names": {**LLAMA, **BEHIND, "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}, "joint": True},
    "stablelm": {"norm": "layer", "keys": {"eps": "layer_norm_eps"}, "parallel": True},
    "gptj": {"names": GPTJ, "norm": "layer", "pairs": True, "parallel": True, "bias": {"up", "down", "head"},
             "keys": {"eps": "layer_norm_epsilon", "hidden_size": "n_embd", "num_hidden_layers": "n_layer",
                      "num_attention_heads": "n_head", "max_position_embeddings": "n_positions",
                      "intermediate_size": "n_inner", "hidden_act": "activation_function",
                      "attention_dropout": "attn_pdrop", "num_key_value_heads": None, "head_dim": None,
                      "rope_theta": None}},
    "bloom": {"norm": "layer", "bias": ALL, "alibi": 8,
              "names": {"qkv": "self_attention.query_key_value", "o": "self_attention.dense", "up": "mlp.dense_h_to_4h",
                        "down": "mlp.dense_4h_to_h", "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
                        "tokens": "transformer.word_embeddings", "layers": "transformer.h",
                        "first": "transformer.word_embeddings_layernorm", "last": "transformer.ln_f",
                        "head": "lm_head"},
              "keys": {"eps": "layer_norm_epsilon", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
                       "max_position_embeddings": "seq_length", "intermediate_size": None, "hidden_act": None,
                       "num_key_value_heads": None, "head_dim": None, "rope_theta": None}},
    "mpt": {"norm": "layer", "norm_bias": False, "alibi": 8,
            "names": {"qkv": "attn.Wqkv", "o": "attn.out_proj", "up": "ffn.up_proj", "down": "ffn.down_proj",
                      "norm1": "norm_1", "norm2": "norm_2", "tokens": "transformer.wte",
                      "layers": "transformer.blocks", "last": "transformer.norm_f", "head": "lm_head"},
            "keys": {"eps": "layer_norm_epsilon", "hidden_size": "d_model", "num_hidden_layers": "n_layers",
                     "num_attention_heads": "n_heads", "max_position_embeddings": "max_seq_len",
                     "intermediate_size": None, "hidden_act": None, "num_key_value_heads": None, "head_dim": None,
                     "rope_theta": None, "attention_dropout": None, "tie_word_embeddings": None}},
}
# Those of experts and of attention are in objects of their own: as_written().
TRAITS["dbrx"] = {**TRAITS["mpt"], "keys": {**TRAITS["mpt"]["keys"], "eps": None},
                  "names": {**TRAITS["mpt"]["names"], "qkv": "norm_attn_norm.attn.Wqkv",
                            "o": "norm_attn_norm.attn.out_proj", "norm1": "norm_attn_norm.norm_1",
                            "norm2": "norm_attn_norm.norm_2"}}
del TRAITS["dbrx"]["alibi"]
PERSIMMON = {"qkv": "self_attn.query_key_value", "o": "self_attn.dense", "up": "mlp.dense_h_to_4h",
             "down": "mlp.dense_4h_to_h", "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
             "tokens": "model.embed_tokens", "layers": "model.layers", "last": "model.final_layernorm",
             "head": "lm_head", "q_norm": "self_attn.q_layernorm", "k_norm": "self_attn.k_layernorm"}
TRAITS["persimmon"] = {"norm": "layer", "bias": ALL, "names": PERSIMMON,
                       "keys": {"eps": "layer_norm_eps", "num_key_value_heads": None, "head_dim": None}}
TRAITS["llama4_text"] = {"pairs": True}
TRAITS["cohere2"] = {**TRAITS["cohere"], "only_windowed": True}
TRAITS["exaone4"]["only_windowed"] = True
TRAITS["codegen"] = {**TRAITS["gptj"], "names": {**GPTJ, "qkv": "attn.qkv_proj"}}

TRAITS["internlm"] = TRAITS["internlm3"] = TRAITS["minicpm"] = TRAITS["minicpm3"] = {}
TRAITS["internlm2"] = {"names": {"qkv": "attention.wqkv", "o": "attention.wo", "gate": "feed_forward.w1",
                                 "up": "feed_forward.w3", "down": "feed_forward.w2", "norm1": "attention_norm",
                                 "norm2": "ffn_norm", "tokens": "model.tok_embeddings", "layers": "model.layers",
                                 "last": "model.norm", "head": "output"}}
TRAITS["baichuan"] = {"names": {**LLAMA, "qkv": "self_attn.W_pack"},
                      "keys": {"num_key_value_heads": None, "head_dim": None, "rope_theta": None}}
EXAONE = {"q": "attn.attention.q_proj", "k": "attn.attention.k_proj", "v": "attn.attention.v_proj",
          "o": "attn.attention.out_proj", "gate": "mlp.c_fc_0", "up": "mlp.c_fc_1", "down": "mlp.c_proj",
          "norm1": "ln_1", "norm2": "ln_2", "tokens": "transformer.wte", "layers": "transformer.h",
          "last": "transformer.ln_f", "head": "lm_head"}
TRAITS["exaone"] = {"names": EXAONE, "keys": {"eps": "layer_norm_epsilon", "num_hidden_layers": "num_layers",
                                              "hidden_act": "activation_function"}}
TRAITS["qwen"] = {"names": {**EXAONE, "qkv": "attn.c_attn", "o": "attn.c_proj", "gate": "mlp.w2", "up": "mlp.w1"},
                  "bias": {"q", "k", "v"},
                  "keys": {"eps": "layer_norm_epsilon", "max_position_embeddings": "seq_length",
                           "head_dim": "kv_channels", "rope_theta": "rotary_emb_base", "num_key_value_heads": None,
                           "hidden_act": None, "attention_dropout": "attn_dropout_prob"}}
TRAITS["chatglm"] = {"names": {"qkv": "self_attention.query_key_value", "o": "self_attention.dense",
                               "gate_up": "mlp.dense_h_to_4h", "down": "mlp.dense_4h_to_h", "norm1": "input_layernorm",
                               "norm2": "post_attention_layernorm", "tokens": "transformer.embedding.word_embeddings",
                               "layers": "transformer.encoder.layers", "last": "transformer.encoder.final_layernorm",
                               "head": "transformer.output_layer"}, "pairs": True,
                     "keys": {"eps": "layernorm_epsilon", "vocab_size": "padded_vocab_size",
                              "num_hidden_layers": "num_layers", "intermediate_size": "ffn_hidden_size",
                              "max_position_embeddings": "seq_length", "num_key_value_heads": "multi_query_group_num",
                              "head_dim": "kv_channels", "attention_bias": "add_qkv_bias", "hidden_act": None,
                              "partial_rotary_factor": None, "rope_theta": None}}
TRAITS["ernie4_5_moe"] = {"pairs": True, "keys": {
    "n_routed_experts": "moe_num_experts", "num_experts_per_tok": "moe_k", "n_shared_experts": "moe_num_shared_experts",
    "first_k_dense_replace": "moe_layer_start_index", "moe_layer_freq": "moe_layer_interval", "topk_method": None,
    "scoring_func": None, "n_group": None, "norm_topk_prob": None, "routed_scaling_factor": None}}
TRAITS["orion"] = {"norm": "layer"}
TRAITS["kimi_k2"], TRAITS["ministral3"] = {"pairs": True}, {}
TRAITS["granitemoehybrid"] = {"names": {**LLAMA, "gate_up": "shared_mlp.input_linear",
                                        "down": "shared_mlp.output_linear"},
                              "keys": {"intermediate_size": "shared_intermediate_size"}}
TRAITS["hunyuan_v1_dense"] = {"names": {**LLAMA, "q_norm": "self_attn.query_layernorm",
                                        "k_norm": "self_attn.key_layernorm"}, "normed_last": True}

TRAITS["minimax_m2"] = {"names": {**LLAMA, "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"},
                        "joint": True}

TRAITS["apertus"] = {"names": {**LLAMA, "norm1": "attention_layernorm", "norm2": "feedforward_layernorm",
                               "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}}

LING = {"names": {**LLAMA, "qkv": "attention.query_key_value", "o": "attention.dense",
                  "tokens": "model.word_embeddings"},
        "keys": {"n_routed_experts": "num_experts", "n_shared_experts": "num_shared_experts", "attention_bias": "use_qkv_bias",
                 "scoring_func": "score_function", "topk_method": None, "moe_layer_freq": None}}
TRAITS["bailing_moe"] = {**LING, "keys": {**LING["keys"], "n_group": None, "routed_scaling_factor": None}}
TRAITS["bailing_moe_v2"] = {**LING, "names": {**LING["names"], "q_norm": "attention.query_layernorm",
                                              "k_norm": "attention.key_layernorm"}}

TRAITS["modernbert-decoder"] = {
    "names": {"q": "attn.q_proj", "k": "attn.k_proj", "v": "attn.v_proj", "o": "attn.Wo", "gate_up": "mlp.Wi",
              "down": "mlp.Wo", "norm1": "attn_norm", "norm2": "mlp_norm", "tokens": "model.embeddings.tok_embeddings",
              "first": "model.embeddings.norm", "layers": "model.layers", "last": "model.final_norm", "head": "decoder",
              "dense": "lm_head.dense", "dense_norm": "lm_head.norm"},
    "norm": "layer", "norm_bias": False, "bias": {"head"}, "bare_first": True,
    "keys": {"eps": "norm_eps", "rope_theta": "global_rope_theta", "hidden_act": "hidden_activation",
             "num_key_value_heads": None, "head_dim": None, "sliding_window": None}}

WIDE = {**decoder.BASE, "hidden_size": 32, "head_dim": 8, "eps": 1e-5}
WIDE.pop("rms_norm_eps")
ONES = {**WIDE, "num_key_value_heads": 4}  # as many heads of keys as of queries
# A first layer without experts; heads of queries and keys are wider than those of values.
ROUTED = {"first_k_dense_replace": 1, "moe_layer_freq": 1, "intermediate_size": 40, "moe_intermediate_size": 24,
          "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 3, "topk_method": "noaux_tc",
          "scoring_func": "sigmoid"}
LATENT = {**ONES, **ROUTED, "head_dim": None, "kv_lora_rank": 10, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
          "v_head_dim": 6, "attention_bias": False}
SCALES = {"scale_emb": 3.0, "scale_depth": 1.4, "dim_model_base": 8}
FAMILIES = {
    "cohere": {**WIDE, "tie_word_embeddings": True, "logit_scale": 0.25, "attention_bias": True, "use_qk_norm": False},
    "cohere2": {**WIDE, "tie_word_embeddings": True, "logit_scale": 0.25, "attention_bias": False,
                "sliding_window": 7, "sliding_window_pattern": 2},
    "glm": {**WIDE, "partial_rotary_factor": 0.5, "attention_bias": True},
    "glm4": {**WIDE, "partial_rotary_factor": 0.5, "attention_bias": False},
    "helium": {**WIDE, "attention_bias": True, "mlp_bias": True},
    "ernie4_5": {**WIDE, "tie_word_embeddings": True, "use_bias": True},
    "nemotron": {**WIDE, "hidden_act": "relu2", "partial_rotary_factor": 0.5, "attention_bias": False,
                 "mlp_bias": True},
    "arcee": {**WIDE, "hidden_act": "relu2", "attention_bias": False, "mlp_bias": False},
    "seed_oss": {**WIDE, "attention_bias": True, "attention_out_bias": False, "mlp_bias": False,
                 "residual_dropout": 0.0},
    "exaone4": {**WIDE, "sliding_window": 7, "sliding_window_pattern": 2,
                "layer_types": ["sliding_attention", "full_attention"]},
    "olmo": {**WIDE, "clip_qkv": None, "attention_bias": False},
    "olmo3": {**WIDE, "sliding_window": 7, "attention_bias": False,
              "layer_types": ["sliding_attention", "full_attention"]},
    "gpt_oss": {**WIDE, "num_local_experts": 8, "num_experts_per_tok": 3, "sliding_window": 7, "attention_bias": True,
                "swiglu_limit": 0.3, "router_aux_loss_coef": 0.9, "output_router_logits": False, "rope_theta": 150000.0,
                "layer_types": ["sliding_attention", "full_attention"],
                "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 10,
                                 "beta_fast": 2.0, "beta_slow": 1.0, "truncate": False}},
    "granitemoe": {**WIDE, "num_local_experts": 8, "num_experts_per_tok": 3, "embedding_multiplier": 3.0,
                   "residual_multiplier": 0.5, "attention_multiplier": 0.2, "logits_scaling": 2.0,
                   "router_aux_loss_coef": 0.001, "output_router_logits": False, "attention_bias": False},
    "qwen2_moe": {**WIDE, "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
                  "shared_expert_intermediate_size": 40, "norm_topk_prob": False, "decoder_sparse_step": 1,
                  "mlp_only_layers": [], "router_aux_loss_coef": 0.001, "output_router_logits": False,
                  "use_sliding_window": False, "qkv_bias": True},
    "cohere_norms": {**WIDE, "tie_word_embeddings": True, "logit_scale": 0.25, "attention_bias": False,
                     "use_qk_norm": True},
    "stablelm_norms": {**WIDE, "partial_rotary_factor": 0.5, "use_qkv_bias": False, "use_parallel_residual": True,
                       "qk_layernorm": True, "hidden_dropout": 0.0},
    "olmo_clip": {**WIDE, "clip_qkv": 0.2, "attention_bias": False},
    "olmo3_yarn": {**WIDE, "sliding_window": 7, "attention_bias": False,
                   "layer_types": ["sliding_attention", "full_attention"],
                   "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 10,
                                    "beta_fast": 2.0, "beta_slow": 1.0, "attention_factor": 1.2}},
    "granitemoeshared": {**WIDE, "num_local_experts": 8, "num_experts_per_tok": 3, "embedding_multiplier": 3.0,
                         "residual_multiplier": 0.5, "attention_multiplier": 0.2, "logits_scaling": 2.0,
                         "shared_intermediate_size": 40, "router_aux_loss_coef": 0.001,
                         "output_router_logits": False, "attention_bias": False},
    "persimmon": {**ONES, "hidden_act": "relu2", "partial_rotary_factor": 0.5, "rope_theta": 25000.0,
                  "qk_layernorm": True, "hidden_dropout": 0.0},
    "deepseek": {**WIDE, **ROUTED, "attention_bias": False, "norm_topk_prob": False, "scoring_func": "softmax",
                 "topk_method": "greedy", "n_group": 1, "routed_scaling_factor": 1.0},
    "deepseek_v2": {**LATENT, "q_lora_rank": None, "routed_scaling_factor": 1.0, "topk_method": "greedy",
                    "n_group": 1, "topk_group": 1, "norm_topk_prob": False, "scoring_func": "softmax"},
    "deepseek_v2_groups": {**LATENT, "q_lora_rank": 12, "routed_scaling_factor": 16.0, "n_group": 4, "topk_group": 2,
                           "topk_method": "group_limited_greedy", "norm_topk_prob": False, "scoring_func": "softmax",
                           "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 10,
                                            "beta_fast": 2.0, "beta_slow": 1.0, "mscale": 0.7,
                                            "mscale_all_dim": 0.9}},
    "deepseek_v3": {**LATENT, "q_lora_rank": 12, "attention_bias": True, "routed_scaling_factor": 2.5,
                    "n_group": 4, "topk_group": 2, "topk_method": "noaux_tc", "norm_topk_prob": True,
                    "scoring_func": "sigmoid", "rope_interleave": True},
    "glm4_moe": {**WIDE, **ROUTED, "partial_rotary_factor": 0.5, "attention_bias": True, "use_qk_norm": False,
                 "n_group": 1, "topk_group": 1, "routed_scaling_factor": 2.5, "norm_topk_prob": True},
    "dots1": {**WIDE, **ROUTED, "attention_bias": False, "sliding_window": None, "n_group": 2, "topk_group": 1,
              "routed_scaling_factor": 1.5, "norm_topk_prob": False},
    "flex_olmo": {**WIDE, "num_experts": 8, "num_experts_per_tok": 3, "norm_topk_prob": False, "attention_bias": False,
                  "router_aux_loss_coef": 0.01, "output_router_logits": False},
    "llama_bias": {**WIDE, "attention_bias": True, "mlp_bias": True},
    "stablelm_parallel": {**WIDE, "partial_rotary_factor": 0.5, "use_qkv_bias": True, "use_parallel_residual": True,
                          "qk_layernorm": False, "hidden_dropout": 0.0},
    "gptj": {**ONES, "rotary_dim": 4, "hidden_act": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0},
    "codegen": {**ONES, "rotary_dim": 4, "hidden_act": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0},
    "bloom": {**ONES, "num_attention_heads": 12, "num_key_value_heads": 12, "hidden_size": 48, "head_dim": 4,
              "intermediate_size": 192, "hidden_act": "gelu_new", "tie_word_embeddings": True, "hidden_dropout": 0.0,
              "apply_residual_connection_post_layernorm": False},
    "mpt": {**ONES, "intermediate_size": 128, "hidden_act": "gelu", "tie_word_embeddings": True, "no_bias": True,
            "expansion_ratio": 4, "emb_pdrop": 0.0, "resid_pdrop": 0.0,
            "attn_config": {"alibi": True, "alibi_bias_max": 8, "attn_pdrop": 0.0,
                            "attn_type": "multihead_attention"}},
    # Every other layer has experts, every third one does not turn; chunks and floor_scale are beyond the length.
    "llama4_text": {**WIDE, "num_hidden_layers": 4, "num_local_experts": 8, "num_experts_per_tok": 2,
                    "intermediate_size_mlp": 40, "interleave_moe_layer_step": 2, "no_rope_layer_interval": 3,
                    "attention_chunk_size": 64, "floor_scale": 64, "attn_temperature_tuning": True, "attn_scale": 0.1,
                    "use_qk_norm": True, "attention_bias": False},
    "internlm": {**WIDE, "bias": True},
    "internlm2": {**WIDE, "bias": True, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
    "internlm3": {**WIDE, "qkv_bias": False, "bias": True},
    "baichuan": {**ONES, "model_max_length": 40},
    "baichuan_slopes": {**ONES, "max_position_embeddings": None, "model_max_length": 40, "num_attention_heads": 12,
                        "num_key_value_heads": 12, "hidden_size": 48, "head_dim": 4, "z_loss_weight": 0},
    "exaone": {**WIDE, "embed_dropout": 0.0},
    "qwen": {**ONES, "no_bias": True, "emb_dropout_prob": 0.0},
    "chatglm": {**WIDE, "partial_rotary_factor": 0.5, "attention_bias": True, "multi_query_attention": True,
                "rope_theta": 500000.0, "rmsnorm": True, "post_layer_norm": True, "add_bias_linear": False},
    "minicpm": {**WIDE, **SCALES, "tie_word_embeddings": True, "attention_bias": False},
    "minicpm3": {**ONES, **SCALES, "head_dim": None, "q_lora_rank": 12, "kv_lora_rank": 10, "qk_nope_head_dim": 8,
                 "qk_rope_head_dim": 4, "v_head_dim": 8, "attention_bias": False},
    "orion": {**WIDE, "attention_bias": False},
    "ernie4_5_moe": {**WIDE, **ROUTED, "scoring_func": "softmax", "n_group": 1, "norm_topk_prob": True,
                     "routed_scaling_factor": 1.0, "use_bias": False, "tie_word_embeddings": True},
    "kimi_k2": {**LATENT, "q_lora_rank": 12, "routed_scaling_factor": 2.8, "n_group": 1, "topk_group": 1,
                "norm_topk_prob": True,
                "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 10,
                                 "beta_fast": 1.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0}},
    "ministral3": {**WIDE, "sliding_window": None,
                   "rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "beta_fast": 2.0,
                                       "beta_slow": 1.0, "original_max_position_embeddings": 10, "mscale": 1.0,
                                       "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.3}},
    "granitemoehybrid": {**WIDE, "num_local_experts": 0, "embedding_multiplier": 3.0, "residual_multiplier": 0.5,
                         "attention_multiplier": 0.2, "logits_scaling": 2.0, "attention_bias": False,
                         "tie_word_embeddings": True, "layer_types": ["attention", "attention"],
                         "position_embedding_type": "rope"},
    "granitemoehybrid_nope": {**WIDE, "num_local_experts": 0, "embedding_multiplier": 3.0, "residual_multiplier": 0.5,
                              "attention_multiplier": 0.2, "logits_scaling": 2.0, "attention_bias": True,
                              "layer_types": ["attention", "attention"], "position_embedding_type": "nope"},
    "hunyuan_v1_dense": {**WIDE, "attention_bias": False, "tie_word_embeddings": True,
                         "rope_scaling": {"type": "dynamic", "alpha": 50.0, "factor": 1.0}},
    "minimax_m2": {**WIDE, "num_local_experts": 8, "num_experts_per_tok": 3, "rotary_dim": 4, "rope_theta": 500000.0,
                   "scoring_func": "sigmoid", "router_aux_loss_coef": 0.001, "output_router_logits": False},
    "modernbert-decoder": {**ONES, "num_hidden_layers": 4, "hidden_act": "gelu", "sliding_window": 7,
                           "local_attention": 14, "global_attn_every_n_layers": 2, "local_rope_theta": 300.0,
                           "layer_types": ["full_attention", "sliding_attention"] * 2,
                           "attention_bias": True, "mlp_bias": False, "decoder_bias": True, "norm_bias": False,
                           "classifier_bias": False, "classifier_activation": "gelu", "embedding_dropout": 0.0,
                           "mlp_dropout": 0.0, "tie_word_embeddings": True},
    "bailing_moe": {**WIDE, **ROUTED, "attention_bias": True, "use_bias": False, "scoring_func": "softmax",
                    "topk_method": "greedy", "norm_topk_prob": True, "routed_scaling_factor": 1.0, "n_group": 1,
                    "first_k_dense_replace": 0},
    "bailing_moe_v2": {**WIDE, **ROUTED, "attention_bias": False, "use_bias": True, "partial_rotary_factor": 0.5,
                       "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.5, "norm_topk_prob": True},
    "apertus": {**WIDE, "hidden_act": "xielu", "attention_bias": True,
                "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                 "original_max_position_embeddings": 16}},
    "dbrx": {**WIDE, "num_local_experts": 8, "num_experts_per_tok": 3, "clip_qkv": 0.2, "router_aux_loss_coef": 0.05,
             "output_router_logits": False, "resid_pdrop": 0.0, "emb_pdrop": 0.0},
}
NAMED = {"cohere": "Cohere", "cohere2": "Cohere2", "glm": "Glm", "glm4": "Glm4", "helium": "Helium",
         "ernie4_5": "Ernie4_5", "nemotron": "Nemotron", "arcee": "Arcee", "seed_oss": "SeedOss",
         "exaone4": "Exaone4", "olmo": "Olmo", "olmo3": "Olmo3", "granitemoe": "GraniteMoe", "qwen2_moe": "Qwen2Moe",
         "granitemoeshared": "GraniteMoeShared", "deepseek": "Deepseek", "persimmon": "Persimmon",
         "deepseek_v2": "DeepseekV2", "deepseek_v3": "DeepseekV3",
         "glm4_moe": "Glm4Moe", "dots1": "Dots1", "flex_olmo": "FlexOlmo", "gpt_oss": "GptOss",
         "llama": "Llama", "stablelm": "StableLm", "gptj": "GPTJ", "codegen": "CodeGen", "bloom": "Bloom", "mpt": "Mpt",
         "internlm": "InternLM", "internlm2": "InternLM2", "internlm3": "InternLM3", "baichuan": "Baichuan",
         "exaone": "Exaone", "qwen": "QWen", "chatglm": "ChatGLM", "minicpm": "MiniCPM", "minicpm3": "MiniCPM3",
         "kimi_k2": "KimiK2", "ministral3": "Ministral3", "granitemoehybrid": "GraniteMoeHybrid",
         "hunyuan_v1_dense": "HunYuanDenseV1", "minimax_m2": "MiniMaxM2", "apertus": "Apertus", "modernbert-decoder": "ModernBertDecoder", "bailing_moe": "BailingMoe", "bailing_moe_v2": "BailingMoeV2", "orion": "Orion", "ernie4_5_moe": "Ernie4_5_Moe", "dbrx": "Dbrx", "llama4_text": "Llama4"}


def type_of(family):
    """"llama" of "llama_bias"."""
    return family if family in NAMED else family.rsplit("_", 1)[0]


def traits(c):
    return {"names": LLAMA, "norm": "rms", "norm_gain": True, "norm_bias": True, **TRAITS[c["model_type"]]}


def biases(c):
    """The linear layers that have one."""
    if c.get("use_bias"):
        return {"o"} if "bailing" in c["model_type"] else ALL
    out = set(traits(c).get("bias", ()))
    if c.get("attention_bias") or c.get("use_qkv_bias") or c.get("qkv_bias"):
        out |= {"q", "k", "v"}
    if c.get("bias"):
        out |= {"o", "gate", "up", "down"} if c["model_type"] == "internlm3" else {"q", "k", "v", "o"}
    if c.get("attention_bias") and c["model_type"] in ("minicpm", "orion", "cohere", "cohere2", "nemotron", "arcee", "olmo", "llama", "gpt_oss", "granitemoehybrid",
                                                         "hunyuan_v1_dense", "apertus", "modernbert-decoder"):
        out.add("o")
    return out | ({"gate", "up", "down"} if c.get("mlp_bias") else set())


def is_gated(c):
    return "gate" in traits(c)["names"] and c["hidden_act"] not in ("relu2", "xielu")


def latent_shapes(c, p):
    """Attention of DeepSeek."""
    h, heads, low, turned = c["hidden_size"], c["num_attention_heads"], c["kv_lora_rank"], c["qk_rope_head_dim"]
    wide, p = c["qk_nope_head_dim"] + turned, p + "self_attn."
    out = {p + "kv_a_proj_with_mqa.weight": (low + turned, h), p + "kv_a_layernorm.weight": (low,),
           p + "kv_b_proj.weight": (heads * (c["qk_nope_head_dim"] + c["v_head_dim"]), low),
           p + "o_proj.weight": (h, heads * c["v_head_dim"])}
    if c["q_lora_rank"]:
        out |= {p + "q_a_proj.weight": (c["q_lora_rank"], h), p + "q_a_layernorm.weight": (c["q_lora_rank"],),
                p + "q_b_proj.weight": (heads * wide, c["q_lora_rank"])}
    else:
        out[p + "q_proj.weight"] = (heads * wide, h)
    if c["attention_bias"]:
        out |= {p + name + ".bias": out[p + name + ".weight"][:1] for name in ("q_a_proj", "kv_a_proj_with_mqa", "o_proj")}
    return out


def choice_bias(c):
    return "gate.expert_bias" if c["model_type"] == "bailing_moe_v2" else "gate.e_score_correction_bias"


def routed_shapes(c, p, layer):
    """Experts, in the first layers an MLP."""
    h, ffn, out = c["hidden_size"], c["moe_intermediate_size"], {}
    parts = {"": c["intermediate_size"]}
    if layer >= c["first_k_dense_replace"]:
        parts = {f"experts.{e}.": ffn for e in range(c["n_routed_experts"])} | {"shared_experts.": 2 * ffn}
        out[p + "mlp.gate.weight"] = (c["n_routed_experts"], h)
        if c["scoring_func"] == "sigmoid":
            out[p + "mlp." + choice_bias(c)] = (c["n_routed_experts"],)
        if c["model_type"] == "ernie4_5_moe":
            out[p + "mlp.moe_statics.e_score_correction_bias"] = (1, c["n_routed_experts"])
    for name, size in parts.items():
        out[f"{p}mlp.{name}gate_proj.weight"] = out[f"{p}mlp.{name}up_proj.weight"] = (size, h)
        out[f"{p}mlp.{name}down_proj.weight"] = (h, size)
    return out


def gpt_oss_shapes(c, p):
    e, h, ffn = c["num_local_experts"], c["hidden_size"], c["intermediate_size"]
    return {p + "self_attn.sinks": (c["num_attention_heads"],), p + "mlp.router.weight": (e, h),
            p + "mlp.router.bias": (e,), p + "mlp.experts.gate_up_proj": (e, h, 2 * ffn),
            p + "mlp.experts.gate_up_proj_bias": (e, 2 * ffn), p + "mlp.experts.down_proj": (e, ffn, h),
            p + "mlp.experts.down_proj_bias": (e, h)}


def dbrx_shapes(c, p):
    e, h, ffn = c["num_local_experts"], c["hidden_size"], c["intermediate_size"]
    return {p + "ffn.router.layer.weight": (e, h), **{f"{p}ffn.experts.mlp.{name}": (e * ffn, h) for name in ("w1", "v1", "w2")}}


def minimax_shapes(c, p):
    e, h, ffn = c["num_local_experts"], c["hidden_size"], c["intermediate_size"]
    return {p + "gate.weight": (e, h), p + "e_score_correction_bias": (e,),
            **{f"{p}experts.{i}.{name}.weight": (h, ffn) if name == "w2" else (ffn, h)
               for i in range(e) for name in ("w1", "w2", "w3")}}


def has_experts(c, layer):
    step = c["interleave_moe_layer_step"]
    return layer % step == step - 1


def llama4_shapes(c, p, layer):
    e, h, ffn, p = c["num_local_experts"], c["hidden_size"], c["intermediate_size"], p + "feed_forward."

    def mlp(p, size):
        return {p + "gate_proj.weight": (size, h), p + "up_proj.weight": (size, h), p + "down_proj.weight": (h, size)}

    if not has_experts(c, layer):
        return mlp(p, c["intermediate_size_mlp"])
    return {p + "router.weight": (e, h), p + "experts.gate_up_proj": (e, h, 2 * ffn),
            p + "experts.down_proj": (e, ffn, h), **mlp(p + "shared_expert.", ffn)}


def linear_shapes(c):
    """Of a layer, with the biases' rows."""
    n, h, ffn, has = traits(c)["names"], c["hidden_size"], c["intermediate_size"], biases(c)
    q, kv = ((c[heads] * (c["head_dim"] or 0)) for heads in ("num_attention_heads", "num_key_value_heads"))
    out = {"qkv": (q + 2 * kv, h)} if "qkv" in n else {"q": (q, h), "k": (kv, h), "v": (kv, h)}
    out = {} if "kv_lora_rank" in c else {**out, "o": (h, q)}
    if not decoder.experts(c) and "n_routed_experts" not in c:
        out |= {"gate_up": (2 * ffn, h)} if "gate_up" in n else {"up": (ffn, h)}
        out |= {"gate": (ffn, h)} if is_gated(c) and "gate_up" not in n else {}
        out["down"] = (h, ffn)
    return {n[part]: (shape, part in has or (part == "qkv" and "q" in has)) for part, shape in out.items()}


def shapes(c):
    t = traits(c)
    n, h = t["names"], c["hidden_size"]
    out = {n["tokens"] + ".weight": (c["vocab_size"], h)}

    def norm(name, size):
        if t["norm_gain"]:
            out[name + ".weight"] = (size,)
        if t["norm"] == "layer" and t["norm_bias"]:
            out[name + ".bias"] = (size,)

    if "first" in n:
        norm(n["first"], h)
    for i in range(c["num_hidden_layers"]):
        p = f"{n['layers']}.{i}."
        if "kv_lora_rank" in c:
            out |= latent_shapes(c, p)
        if "n_routed_experts" in c:
            out |= routed_shapes(c, p, i)
        for name, (shape, biased) in linear_shapes(c).items():
            out[p + name + ".weight"] = shape
            if biased:
                out[p + name + ".bias"] = shape[:1]
        for heads, part in (("num_attention_heads", "q"), ("num_key_value_heads", "k")):
            if c.get("use_qk_norm") and c["model_type"] != "llama4_text":
                out[p + f"self_attn.{part}_norm.weight"] = (c[heads], c["head_dim"])
            for head in range(c[heads]) if c.get("qk_layernorm") and "q_norm" not in n else ():
                out[p + f"self_attn.{part}_layernorm.norms.{head}.weight"] = (c["head_dim"],)
        if c["hidden_act"] == "xielu":
            out |= {p + "mlp.act_fn.alpha_n": (1,), p + "mlp.act_fn.alpha_p": (1,)}
        if c["model_type"] == "gpt_oss":
            out |= gpt_oss_shapes(c, p)
        elif c["model_type"] == "minimax_m2":
            out |= minimax_shapes(c, p + "block_sparse_moe.")
        elif c["model_type"] == "dbrx":
            out |= dbrx_shapes(c, p)
        elif c["model_type"] == "llama4_text":
            out |= llama4_shapes(c, p, i)
        elif c.get("num_local_experts"):
            e, ffn = c["num_local_experts"], c["intermediate_size"]
            out[p + "block_sparse_moe.router.layer.weight"] = (e, h)
            out[p + "block_sparse_moe.input_linear.weight"] = (e, 2 * ffn, h)
            out[p + "block_sparse_moe.output_linear.weight"] = (e, h, ffn)
        if "shared_intermediate_size" in c:
            ffn = c["shared_intermediate_size"]
            out[p + "shared_mlp.input_linear.weight"], out[p + "shared_mlp.output_linear.weight"] = (2 * ffn, h), (h, ffn)
        if "num_experts" in c:
            ffn = c.get("shared_expert_intermediate_size")
            out[p + "mlp.gate.weight"] = (c["num_experts"], h)
            if ffn:
                out[p + "mlp.shared_expert_gate.weight"] = (1, h)
            for name, size in ((("shared_expert", ffn),) * bool(ffn) + tuple(
                    (f"experts.{e}", c.get("moe_intermediate_size", c["intermediate_size"]))
                    for e in range(c["num_experts"]))):
                out[f"{p}mlp.{name}.gate_proj.weight"] = out[f"{p}mlp.{name}.up_proj.weight"] = (size, h)
                out[f"{p}mlp.{name}.down_proj.weight"] = (h, size)
        for part in ("norm1", "norm2", "behind1", "behind2"):
            bare = part == "norm1" and i == 0 and t.get("bare_first")
            if n.get(part) and not (part == "norm2" and t.get("parallel")) and not bare:
                norm(p + n[part], h)
        for part, heads in (("q_norm", "num_attention_heads"), ("k_norm", "num_key_value_heads")):
            if part in n:
                norm(p + n[part], c["head_dim"] * (c[heads] if t.get("joint") else 1))
    norm(n["last"], h)
    if "dense" in n:
        out[n["dense"] + ".weight"] = (h, h)
        norm(n["dense_norm"], h)
    if not c["tie_word_embeddings"]:
        out[n["head"] + ".weight"] = (c["vocab_size"], h)
    if "head" in biases(c):
        out[n["head"] + ".bias"] = (c["vocab_size"],)
    return out


def rotate(x, c, layer=0):
    """x: [batch, heads, length, head], of which the first elements turn."""
    head, length = x.shape[-1], x.shape[-2]
    size = c.get("rotary_dim") or int(c.get("partial_rotary_factor", 1) * head)
    turned, still = x[..., :size], x[..., size:]
    if c.get("rope_scaling", {}).get("alpha"):
        c = {**c, "rope_theta": c["rope_theta"] * c["rope_scaling"]["alpha"] ** (size / (size - 2))}
    if "rope_parameters" in c:
        c = {**c, "rope_scaling": c["rope_parameters"], "rope_theta": c["rope_parameters"]["rope_theta"]}
    if c["model_type"] == "olmo3" and not is_full(c, layer):  # only layers without a window are scaled
        c = {key: value for key, value in c.items() if key != "rope_scaling"}
    if "local_rope_theta" in c and not is_full(c, layer):
        c = {**c, "rope_theta": c["local_rope_theta"]}
    if not traits(c).get("pairs"):
        return torch.cat((decoder.rotate(turned, c), still), -1)
    frequencies = c["rope_theta"] ** (-torch.arange(0, size, 2).double() / size)
    frequencies, magnitude = decoder.rope(c, frequencies, length)
    angles = torch.outer(torch.arange(length).double(), frequencies)
    cos, sin = ((magnitude * t).float().double() for t in (angles.cos(), angles.sin()))  # as the device has them
    a, b = turned[..., 0::2], turned[..., 1::2]
    return torch.cat((torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2).to(x.dtype), still), -1)


def queries_keys_values(y, p, w, c):
    """Each [batch, length, heads, head]."""
    n, (batch, length, _), head = traits(c)["names"], y.shape, c["head_dim"]
    if "qkv" not in n:
        return [plain.linear(y, p + n[part], w).view(batch, length, -1, head) for part in "qkv"]
    rows = plain.linear(y, p + n["qkv"], w)
    if c["model_type"] in ("bloom", "persimmon"):
        return rows.view(batch, length, -1, 3, head).unbind(-2)
    if c["model_type"] == "internlm2":  # each head of keys behind the queries that share it
        q, k, v = rows.view(batch, length, c["num_key_value_heads"], -1, head).split(
            (c["num_attention_heads"] // c["num_key_value_heads"], 1, 1), -2)
        return q.flatten(2, 3), k.squeeze(-2), v.squeeze(-2)
    if c["model_type"] in ("mpt", "dbrx", "baichuan", "qwen", "chatglm", "bailing_moe", "bailing_moe_v2"):
        sizes = [c[heads] * head for heads in ("num_attention_heads", "num_key_value_heads", "num_key_value_heads")]
        return [t.view(batch, length, -1, head) for t in rows.split(sizes, -1)]
    q, v, k = rows.view(batch, length, 4, -1).chunk(3, -1)  # heads are in four groups
    return [t.reshape(batch, length, -1, head) for t in (q, k, v)]


def latent_attention(y, p, w, c):
    """DeepSeek's: queries, and keys with values, by way of fewer elements."""
    (batch, length, _), heads, p = y.shape, c["num_attention_heads"], p + "self_attn."
    still, turned, low = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["kv_lora_rank"]
    between = {**c, "eps": 1e-6}

    def by_heads(x, size):
        return x.view(batch, length, -1, size).transpose(1, 2)

    q = y if not c["q_lora_rank"] else norm(plain.linear(y, p + "q_a_proj", w), p + "q_a_layernorm", w, between)
    q = by_heads(plain.linear(q, p + ("q_b_proj" if c["q_lora_rank"] else "q_proj"), w), still + turned)
    both, rope = plain.linear(y, p + "kv_a_proj_with_mqa", w).split((low, turned), -1)
    both = by_heads(plain.linear(norm(both, p + "kv_a_layernorm", w, between), p + "kv_b_proj", w), still + c["v_head_dim"])
    k, v = both.split((still, c["v_head_dim"]), -1)
    q = torch.cat((q[..., :still], rotate(q[..., still:], c)), -1)
    k = torch.cat((k, rotate(by_heads(rope, turned), c).expand(-1, heads, -1, -1)), -1)
    scale, scaling = 1 / math.sqrt(still + turned), c.get("rope_scaling", {})
    if scaling.get("mscale_all_dim"):
        scale *= (0.1 * scaling["mscale_all_dim"] * math.log(scaling["factor"]) + 1) ** 2
    place = torch.arange(length)
    scores = (q @ k.transpose(2, 3) * scale).masked_fill(place[:, None] < place[None, :], float("-inf"))
    return plain.linear((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, -1), p + "o_proj", w)


def deepseek_mixture(y, p, w, c):
    """Experts by scores within groups, and one of all tokens."""
    flat, groups = y.reshape(-1, y.shape[-1]), c["n_group"] if c["topk_method"] != "greedy" else 1
    logits = flat @ w[p + "gate.weight"].T
    third = c["scoring_func"] == "sigmoid"
    scores = logits.sigmoid() if third else logits.softmax(-1)
    statics = p + "moe_statics.e_score_correction_bias"
    choice = scores + w[p + choice_bias(c)].detach() if third else scores
    choice = choice + w[statics].detach() if statics in w else choice
    if groups > 1:
        of_groups = choice.view(len(flat), groups, -1).topk(2 if third else 1, -1)[0].sum(-1)
        mask = torch.zeros_like(of_groups).scatter(1, of_groups.topk(c["topk_group"], -1)[1], 1)
        choice = choice * mask.repeat_interleave(choice.shape[1] // groups, 1)
    chosen = choice.topk(c["num_experts_per_tok"], -1)[1]
    gates = scores.gather(1, chosen)
    if c["norm_topk_prob"]:
        gates = gates / gates.sum(-1, keepdim=True)
    share = torch.zeros_like(scores).scatter(1, chosen, gates * c["routed_scaling_factor"])
    out = sum(share[:, e, None] * gated(flat, f"{p}experts.{e}.", w) for e in range(c["n_routed_experts"]))
    return (out + gated(flat, p + "shared_experts.", w)).view(y.shape)


def slopes(heads, most):
    """ALiBi's, for any number of heads."""
    power = 2 ** math.floor(math.log2(heads))
    out = [2 ** (-most * (i + 1) / power) for i in range(power)]
    out += [2 ** (-most * (2 * i + 1) / (2 * power)) for i in range(heads - power)]
    return torch.tensor(out).view(heads, 1, 1)


def is_full(c, layer):
    if "sliding_window_pattern" in c:
        return (layer + 1) % c["sliding_window_pattern"] == 0
    return c.get("layer_types", {layer: "full_attention"})[layer] in ("full_attention", "attention")


def attention(y, p, w, c, layer):
    if "kv_lora_rank" in c:
        return latent_attention(y, p, w, c)
    t, (batch, length, _), heads = traits(c), y.shape, c["num_attention_heads"]
    n, q, k, v = t["names"], *queries_keys_values(y, p, w, c)

    def normed(q, k):
        return (norm(x.flatten(-2) if t.get("joint") else x, p + n[part], w, c).view(x.shape)
                for x, part in ((q, "q_norm"), (k, "k_norm")))

    if "q_norm" in n and not t.get("normed_last"):
        q, k = normed(q, k)
    every = 1 if c.get("position_embedding_type") == "nope" else c.get("no_rope_layer_interval")
    turns = not every or (layer + 1) % every != 0
    if c["model_type"] == "llama4_text":
        if turns and c["use_qk_norm"]:
            q, k = (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c["eps"]) for x in (q, k))
    elif c.get("use_qk_norm") or c.get("qk_layernorm") and "q_norm" not in n:
        q, k = (own_norms(x, p + f"self_attn.{part}", w, c) for x, part in ((q, "q"), (k, "k")))
    if c.get("clip_qkv"):
        q, k, v = (x.clamp(-c["clip_qkv"], c["clip_qkv"]) for x in (q, k, v))
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    alibi = t.get("alibi", 8 if "max_position_embeddings" in c and not c["max_position_embeddings"] else None)
    if not alibi and turns and not (t.get("only_windowed") and is_full(c, layer)):
        q, k = rotate(q, c, layer), rotate(k, c, layer)
    if t.get("normed_last"):
        q, k = normed(q, k)
    if "rope_parameters" in c:  # queries grow with their position
        spans = torch.arange(length) // c["rope_parameters"]["original_max_position_embeddings"]
        q = q * (1 + c["rope_parameters"]["llama_4_scaling_beta"] * torch.log(1 + spans.double()))[:, None].to(q.dtype)
    k, v = (x.repeat_interleave(heads // k.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(2, 3) * c.get("attention_multiplier", 1 / math.sqrt(c["head_dim"]))
    place = torch.arange(length)
    if alibi:
        scores = scores + (slopes(heads, alibi) * (place - length + 1)).to(scores.dtype)
    back = place[:, None] - place[None, :]
    hidden = (back < 0) | (back >= (length if is_full(c, layer) else c["sliding_window"]))
    scores = scores.masked_fill(hidden, float("-inf"))
    if p + "self_attn.sinks" in w:  # of each head, one score more, which has no value
        sinks = w[p + "self_attn.sinks"].reshape(1, -1, 1, 1).expand(batch, -1, length, 1)
        scores = torch.cat((scores, sinks), -1)
    context = scores.softmax(-1)[..., :length] @ v
    return plain.linear(context.transpose(1, 2).reshape(batch, length, -1), p + n["o"], w)


def own_norms(x, name, w, c):
    """Each head's by itself, with weights of its own. x: [batch, length, heads, head]."""
    gains = w[name + "_norm.weight"] if c.get("use_qk_norm") else torch.stack(
        [w[f"{name}_layernorm.norms.{head}.weight"] for head in range(x.shape[2])])
    return functional.layer_norm(x, x.shape[-1:], eps=c["eps"]) * gains


def norm(x, name, w, c):
    t = traits(c)
    gain, bias = w.get(name + ".weight"), w.get(name + ".bias")
    if t.get("one"):
        gain = gain + 1
    if t["norm"] == "layer":
        return functional.layer_norm(x, x.shape[-1:], gain, bias, c["eps"])
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c["eps"]) * gain


ACTIVATIONS = {"silu": functional.silu, "gelu": functional.gelu, "relu2": lambda x: functional.relu(x).square(),
               "gelu_new": lambda x: functional.gelu(x, approximate="tanh")}


def mixture(y, p, w, c):
    """Each token's experts by the softmax of their logits alone."""
    flat = y.reshape(-1, y.shape[-1])
    gates, chosen = (flat @ w[p + "router.layer.weight"].T).topk(c["num_experts_per_tok"], -1)
    share = torch.zeros(len(flat), c["num_local_experts"], dtype=y.dtype).scatter(1, chosen, gates.softmax(-1))
    gate, up = torch.einsum("th,efh->etf", flat, w[p + "input_linear.weight"]).chunk(2, -1)
    out = torch.einsum("etf,ehf->eth", functional.silu(gate) * up, w[p + "output_linear.weight"])
    return (share.T[..., None] * out).sum(0).view(y.shape)


def gpt_oss_mixture(y, p, w, c):
    flat, limit = y.reshape(-1, y.shape[-1]), c["swiglu_limit"]
    gates, chosen = plain.linear(flat, p + "router", w).topk(c["num_experts_per_tok"], -1)
    share = torch.zeros(len(flat), c["num_local_experts"], dtype=y.dtype).scatter(1, chosen, gates.softmax(-1))
    both = torch.einsum("th,ehf->etf", flat, w[p + "experts.gate_up_proj"]) + w[p + "experts.gate_up_proj_bias"][:, None]
    gate, up = both[..., ::2].clamp(max=limit), both[..., 1::2].clamp(-limit, limit)
    out = torch.einsum("etf,efh->eth", (up + 1) * gate * torch.sigmoid(1.702 * gate), w[p + "experts.down_proj"])
    return (share.T[..., None] * (out + w[p + "experts.down_proj_bias"][:, None])).sum(0).view(y.shape)


def dbrx_mixture(y, p, w, c):
    flat, count = y.reshape(-1, y.shape[-1]), c["num_local_experts"]
    gates, chosen = (flat @ w[p + "router.layer.weight"].T).softmax(-1).topk(c["num_experts_per_tok"], -1)
    gates = gates / gates.sum(-1, keepdim=True)
    share = torch.zeros(len(flat), count, dtype=y.dtype).scatter(1, chosen, gates)
    gate, up, down = (w[f"{p}experts.mlp.{name}"].view(count, -1, flat.shape[1]) for name in ("w1", "v1", "w2"))
    wide = functional.silu(torch.einsum("th,efh->etf", flat, gate)) * torch.einsum("th,efh->etf", flat, up)
    return (share.T[..., None] * torch.einsum("etf,efh->eth", wide, down)).sum(0).view(y.shape)


def minimax_mixture(y, p, w, c):
    """Each token's experts by sigmoids; a bias takes part in the choice alone."""
    flat = y.reshape(-1, y.shape[-1])
    scores = (flat @ w[p + "gate.weight"].T).sigmoid()
    chosen = (scores + w[p + "e_score_correction_bias"].detach()).topk(c["num_experts_per_tok"], -1)[1]
    gates = scores.gather(1, chosen)
    share = torch.zeros_like(scores).scatter(1, chosen, gates / gates.sum(-1, keepdim=True))
    out = 0
    for e in range(c["num_local_experts"]):
        gate, up, down = (w[f"{p}experts.{e}.{name}.weight"] for name in ("w1", "w3", "w2"))
        out = out + share[:, e, None] * ((functional.silu(flat @ gate.T) * (flat @ up.T)) @ down.T)
    return out.view(y.shape)


def llama4_mixture(y, p, w, c):
    """A gate multiplies what its expert reads."""
    flat, count = y.reshape(-1, y.shape[-1]), c["num_local_experts"]
    gates, chosen = (flat @ w[p + "router.weight"].T).topk(c["num_experts_per_tok"], -1)
    share = torch.zeros(len(flat), count, dtype=y.dtype).scatter(1, chosen, torch.sigmoid(gates))
    both = torch.einsum("eth,ehf->etf", share.T[..., None] * flat, w[p + "experts.gate_up_proj"])
    gate, up = both.chunk(2, -1)
    out = torch.einsum("etf,efh->eth", up * functional.silu(gate), w[p + "experts.down_proj"])
    return gated(y, p + "shared_expert.", w) + out.sum(0).view(y.shape)


def xielu(x, p, w):
    """transformers, activations.py, XIELUActivation."""
    beta, eps = (w[p + name].detach() for name in ("beta", "eps"))
    above, below = functional.softplus(w[p + "alpha_p"]), beta + functional.softplus(w[p + "alpha_n"])
    return torch.where(x > 0, above * x * x + beta * x, (torch.expm1(torch.minimum(x, eps)) - x) * below + beta * x)


def gated(y, p, w):
    return plain.linear(functional.silu(plain.linear(y, p + "gate_proj", w)) * plain.linear(y, p + "up_proj", w),
                        p + "down_proj", w)


def mlp(y, p, w, c):
    n, act = traits(c)["names"], ACTIVATIONS.get(c["hidden_act"])
    if p + "mlp.gate.weight" in w and "n_routed_experts" in c:
        return deepseek_mixture(y, p + "mlp.", w, c)
    if c["model_type"] == "gpt_oss":
        return gpt_oss_mixture(y, p + "mlp.", w, c)
    if c["model_type"] == "minimax_m2":
        return minimax_mixture(y, p + "block_sparse_moe.", w, c)
    if c["model_type"] == "dbrx":
        return dbrx_mixture(y, p + "ffn.", w, c)
    if c["model_type"] == "llama4_text":
        p += "feed_forward."
        return llama4_mixture(y, p, w, c) if p + "router.weight" in w else gated(y, p, w)
    if c.get("num_local_experts"):
        out = mixture(y, p + "block_sparse_moe.", w, c)
        if "shared_intermediate_size" not in c:
            return out
        gate, up = plain.linear(y, p + "shared_mlp.input_linear", w).chunk(2, -1)
        return out + plain.linear(functional.silu(gate) * up, p + "shared_mlp.output_linear", w)
    if "num_experts" in c and "shared_expert_intermediate_size" not in c:
        return decoder.mixture(w, y, p, c, [])
    if "num_experts" in c:
        share = torch.sigmoid(plain.linear(y, p + "mlp.shared_expert_gate", w))
        return decoder.mixture(w, y, p, c, []) + share * gated(y, p + "mlp.shared_expert.", w)
    if "gate_up" in n:
        gate, up = plain.linear(y, p + n["gate_up"], w).chunk(2, -1)
        return plain.linear(act(gate) * up, p + n["down"], w)
    up = plain.linear(y, p + n["up"], w)
    if c["hidden_act"] == "xielu":
        return plain.linear(xielu(up, p + "mlp.act_fn.", w), p + n["down"], w)
    up = act(plain.linear(y, p + n["gate"], w)) * up if is_gated(c) else act(up)
    return plain.linear(up, p + n["down"], w)


def forward(w, ids, c):
    t, scale = traits(c), c.get("residual_multiplier", 1)
    if "scale_depth" in c:
        scale = c["scale_depth"] / math.sqrt(c["num_hidden_layers"])
    n = t["names"]

    def normed(x, p, part):
        return norm(x, p + n[part], w, c) if n.get(part) else x

    x = normed(w[n["tokens"] + ".weight"][ids] * c.get("embedding_multiplier", c.get("scale_emb", 1)), "",
               "first")
    for i in range(c["num_hidden_layers"]):
        p = f"{n['layers']}.{i}."
        y = x if i == 0 and t.get("bare_first") else normed(x, p, "norm1")
        a = normed(attention(y, p, w, c, i), p, "behind1")
        if t.get("parallel"):
            x = x + a + mlp(y, p, w, c)
            continue
        x = x + scale * a
        x = x + scale * normed(mlp(normed(x, p, "norm2"), p, w, c), p, "behind2")
    head = n["tokens"] if c["tie_word_embeddings"] else n["head"]
    rows = w[head + ".weight"]
    if "z_loss_weight" in c:
        rows = functional.normalize(rows)
    x = normed(x, "", "last")
    if "dense" in n:
        x = normed(functional.gelu(x @ w[n["dense"] + ".weight"].T), "", "dense_norm")
    logits = x @ rows.T * c.get("logit_scale", 1) / c.get("logits_scaling", 1)
    if "dim_model_base" in c:
        logits = logits / (c["hidden_size"] / c["dim_model_base"])
    return logits + w[n["head"] + ".bias"] if n["head"] + ".bias" in w else logits


ARCHITECTURES = {"kimi_k2": "DeepseekV3ForCausalLM", "qwen": "QWenLMHeadModel", "chatglm": "ChatGLMForConditionalGeneration"}


def config_of(family, changes):
    kind = type_of(family)
    made = ARCHITECTURES.get(kind, f"{NAMED[kind]}ForCausalLM")
    return {**FAMILIES[family], **(changes or {}), "model_type": kind, "architectures": [made]}


def dbrx_as_written(c):
    experts = {"ffn_hidden_size": "intermediate_size", "moe_num_experts": "num_local_experts",
               "moe_top_k": "num_experts_per_tok", "moe_loss_weight": "router_aux_loss_coef"}
    return {**{key: c[key] for key in ("vocab_size", "output_router_logits", "resid_pdrop", "emb_pdrop", "bos_token_id",
                                       "eos_token_id", "initializer_range", "model_type", "architectures",
                                       "torch_dtype") if key in c},
            **{word: c[key] for key, word in traits(c)["keys"].items() if word},
            "attn_config": {"clip_qkv": c["clip_qkv"], "kv_n_heads": c["num_key_value_heads"],
                            "rope_theta": c["rope_theta"], "attn_pdrop": 0.0},
            "ffn_config": {"ffn_act_fn": {"name": "silu"}, "moe_normalize_expert_weights": 1.0,
                           **{word: c[key] for word, key in experts.items()}}}


def as_written(c):
    if c["model_type"] == "dbrx":
        return dbrx_as_written(c)
    words = {"eps": "rms_norm_eps", **traits(c).get("keys", {})}
    if c["model_type"] == "qwen":  # it counts gates and ups
        c = {**c, "intermediate_size": 2 * c["intermediate_size"]}
    if c["model_type"] == "chatglm":
        c = {**c, "rope_ratio": c["rope_theta"] / 10000}
    if c["model_type"] == "baichuan":
        c = {key: value for key, value in c.items() if value is not None}
    named = {words.get(key, key): value for key, value in c.items()}
    return {key: value for key, value in named.items() if key}


def make(family, folder, seed=1, changes=None, sizes=None, **drawn):
    """`changes`: of the family's config; `sizes`: of decoder.py's BATCH, SEQ, VOCAB; `drawn`: deviation of the first
    weights, recipe, adapter(weights)."""
    vars(decoder).update(sizes or {})
    config, chosen = config_of(family, changes), drawn.get("recipe") or plain.RECIPE
    torch.set_num_threads(1)
    torch.manual_seed(seed)

    def loss_of(w, batch):
        logits = forward(w, batch["input_ids"], config)
        flat, labels = logits[:, :-1].reshape(-1, decoder.VOCAB), batch["labels"][:, 1:].reshape(-1)
        return logits, functional.cross_entropy(flat, labels, label_smoothing=chosen["smoothing"])

    weights = common.draw(shapes(config), drawn.get("deviation", 0.1))
    if traits(config).get("one"):
        weights = {n: t - 1 if "norm" in n and n.endswith("weight") else t for n, t in weights.items()}
    if config["hidden_act"] == "xielu":
        for i in range(config["num_hidden_layers"]):
            p = f"model.layers.{i}.mlp.act_fn."
            weights |= {p + "beta": torch.tensor(0.5), p + "eps": torch.tensor(-1e-6)}
    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, as_written(config), weights, decoder.batches(), loss_of, chosen, adapter)
    if not drawn and config.get("sliding_window"):
        decoder.write_generated(folder, weights, lambda w, ids: forward(w, ids, config))


if __name__ == "__main__":
    make(*sys.argv[1:])
